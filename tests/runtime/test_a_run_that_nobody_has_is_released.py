"""A run whose reader was cancelled goes no further: its lease is given back, and it can be resumed."""

import asyncio

from starweaver import Tool, create_agent_runtime
from starweaver.testing import TestModel as ScriptedModel

from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown, record, resume_run
from journal.hosts.starweaver.leasing import LeasingStore
from projections import list_runs
from tests import samples


async def slow() -> str:
    await asyncio.sleep(60)
    return "late"


def agent():
    calls = [{"id": "c1", "name": "slow", "arguments": {}}]
    model = ScriptedModel.responses([ScriptedModel.tool_call_response(calls)])
    return {"model": model, "tools": [Tool(slow, description="Wait.")]}


async def read(store, session):
    runtime = create_agent_runtime(**agent(), session_store=store, durable_session_id=session)
    async for _ in record(runtime.stream("Go.")):
        pass


async def read_on(journal, run_id):
    async for _ in record(await resume_run(journal, run_id, **agent())):
        pass


async def cancelled(reading):
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)


def statuses(journal):
    return {run.status for run in list_runs(journal)}


async def comes_to(journal, wanted):
    while statuses(journal) != {wanted}:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.001)


async def ends(journal, status):
    while status in statuses(journal):  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.001)


def test_a_run_whose_reader_was_cancelled_is_released(journal):
    async def main():
        async with graceful_shutdown():
            store = JournalSessionStore(journal)
            reading = asyncio.create_task(read(store, "s"))
            async with asyncio.timeout(20):
                await comes_to(journal, "running")
                await cancelled(reading)
                del reading
                await comes_to(journal, "crashed")

    asyncio.run(main())


def test_it_is_released_whenever_that_was(journal):
    async def main():
        async with graceful_shutdown():
            store = JournalSessionStore(journal)
            for milliseconds in range(20):
                reading = asyncio.create_task(read(store, f"s{milliseconds}"))
                await asyncio.sleep(milliseconds / 1000)
                await cancelled(reading)
                del reading
            await asyncio.sleep(0.2)  # what is on its way comes
            async with asyncio.timeout(20):
                await comes_to(journal, "crashed")

    asyncio.run(main())


def test_so_is_the_run_that_it_went_on_with(journal):
    async def main():
        async with graceful_shutdown():
            reading = asyncio.create_task(read(JournalSessionStore(journal), "s"))
            async with asyncio.timeout(60):
                await comes_to(journal, "running")
                await cancelled(reading)
                del reading
                await comes_to(journal, "crashed")
                (run,) = list_runs(journal)
                await resume_run(journal, run.run_id, **agent())  # nobody reads it
                await comes_to(journal, "crashed")
                for milliseconds in (0, 10, 20, 30, 40, 50, 60):
                    latest, *_ = list_runs(journal)
                    reading = asyncio.create_task(read_on(journal, latest.run_id))
                    await asyncio.sleep(milliseconds / 1000)
                    await cancelled(reading)
                    del reading
                    await asyncio.sleep(0.1)  # what is on its way comes
                    await ends(journal, "running")

    asyncio.run(main())


def test_what_the_runtime_still_brings_of_a_run_that_was_given_up_takes_no_lease(journal):
    store = LeasingStore(journal)
    store.commit_checkpoint("s", samples.checkpoint("k1"))
    assert store.writes("r")
    store.give_up("r")
    store.commit_checkpoint("s", samples.checkpoint("k2", stream_cursor=1))
    assert not store.writes("r")
    assert [each.status for each in list_runs(journal)] == ["crashed"]
