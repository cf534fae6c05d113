"""A run whose reader was cancelled goes no further: its lease is given back, and it can be resumed."""

import asyncio

from starweaver import Tool, create_agent_runtime
from starweaver.testing import TestModel as ScriptedModel

from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown, record
from journal.hosts.starweaver.leasing import LeasingStore
from projections import list_runs
from tests import samples


async def slow() -> str:
    await asyncio.sleep(60)
    return "late"


async def comes_to(journal, status):
    while not list(list_runs(journal, status=status)):  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.05)


def test_a_run_whose_reader_was_cancelled_is_released(journal):
    calls = [{"id": "c1", "name": "slow", "arguments": {}}]

    async def read(store):
        runtime = create_agent_runtime(
            model=ScriptedModel.responses([ScriptedModel.tool_call_response(calls)]),
            tools=[Tool(slow, description="Wait.")],
            session_store=store,
            durable_session_id="s",
        )
        async for _ in record(runtime.stream("Go.")):
            pass

    async def main():
        async with graceful_shutdown():
            store = JournalSessionStore(journal)
            reading = asyncio.create_task(read(store))
            async with asyncio.timeout(20):
                await comes_to(journal, "running")
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
                del reading
                await comes_to(journal, "crashed")

    asyncio.run(main())


def test_what_the_runtime_still_brings_of_a_run_that_was_given_up_takes_no_lease(journal):
    store = LeasingStore(journal)
    store.commit_checkpoint("s", samples.checkpoint("k1"))
    assert store.writes("r")
    store.give_up("r")
    store.commit_checkpoint("s", samples.checkpoint("k2", stream_cursor=1))
    assert not store.writes("r")
    assert [each.status for each in list_runs(journal)] == ["crashed"]
