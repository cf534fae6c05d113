"""A run whose reader was cancelled goes no further: its lease is given back, and it can be resumed."""

import asyncio

import anyio
import pytest
from starweaver import Tool, create_agent_runtime
from starweaver.errors import StreamError
from starweaver.testing import TestModel as ScriptedModel

from journal.executor import Continue, Suspend
from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown, record, resume_run
from journal.hosts.starweaver.leasing import LeasingStore
from journal.run import Run
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
    await read_all(runtime.stream("Go."))


async def read_on(journal, run_id):
    await read_all(await resume_run(journal, run_id, **agent()))


async def read_all(run, **options):
    async for _ in record(run, **options):
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


@pytest.mark.parametrize("milliseconds", [0, 2, 5, 10, 20])
def test_it_is_released_where_it_is_cancelled_again_and_again(journal, milliseconds):
    async def main():
        async with graceful_shutdown():
            with anyio.move_on_after(milliseconds / 1000):
                await read(JournalSessionStore(journal), "s")
            await asyncio.sleep(0.2)  # what is on its way comes
            async with asyncio.timeout(20):
                await ends(journal, "running")

    asyncio.run(main())


def test_it_is_released_where_somebody_keeps_what_was_cancelled(journal):
    async def main():
        async with graceful_shutdown():
            runtime = create_agent_runtime(
                **agent(), session_store=JournalSessionStore(journal), durable_session_id="s"
            )
            kept = runtime.stream("Go.")
            reading = asyncio.create_task(read_all(kept))
            async with asyncio.timeout(20):
                await comes_to(journal, "running")
                await cancelled(reading)
                await comes_to(journal, "crashed")
                assert not kept.is_finished
                with pytest.raises(StreamError, match="interrupted"):
                    await kept.join()
                await comes_to(journal, "cancelled")

    asyncio.run(main())


def test_a_run_that_goes_on_by_itself_keeps_its_lease(journal, monkeypatch):
    really_write = Run.write_soon

    async def main():
        async with graceful_shutdown():
            goes_on, writes = asyncio.Event(), asyncio.Event()

            async def waits() -> str:
                await goes_on.wait()
                return "there"

            async def write_and_wait(*args, **kwargs):
                await really_write(*args, **kwargs)
                if writes.is_set():
                    return
                writes.set()
                await asyncio.sleep(60)

            monkeypatch.setattr(Run, "write_soon", write_and_wait)
            calls = [{"id": "c1", "name": "waits", "arguments": {}}]
            model = ScriptedModel.responses([ScriptedModel.tool_call_response(calls), "done"])
            runtime = create_agent_runtime(
                model=model,
                tools=[Tool(waits, description="Wait.")],
                session_store=JournalSessionStore(journal),
                durable_session_id="s",
            )
            run = runtime.stream("Go.")
            reading = asyncio.create_task(read_all(run))
            async with asyncio.timeout(20):
                await writes.wait()
                run.detach()
                await cancelled(reading)
                await asyncio.sleep(0.1)
                assert statuses(journal) == {"running"}
                goes_on.set()
                await comes_to(journal, "completed")

    asyncio.run(main())


@pytest.mark.parametrize("asked_at", [1, 2, 4])
def test_it_is_released_where_a_policy_suspended_it_meanwhile(journal, asked_at):
    asked = []

    async def reads_until_it_is_suspended(loop, task):
        def policy(_):
            asked.append(1)
            if len(asked) < asked_at:
                return Continue()
            loop.call_soon_threadsafe(task().cancel)
            return Suspend("enough")

        store = JournalSessionStore(journal)
        runtime = create_agent_runtime(**agent(), session_store=store, durable_session_id="s")
        await read_all(runtime.stream("Go."), policy=policy)

    async def main():
        async with graceful_shutdown():
            reading = asyncio.create_task(
                reads_until_it_is_suspended(asyncio.get_running_loop(), lambda: reading)
            )
            await asyncio.gather(reading, return_exceptions=True)
            (run,) = list_runs(journal)
            assert run.status in {"waiting", "crashed"}  # whichever came first
            async with asyncio.timeout(20):
                while journal.reader.lease(run.run_id).expires_at:  # noqa: ASYNC110
                    await asyncio.sleep(0.001)

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
                unread = await resume_run(journal, run.run_id, **agent())
                while len(list(list_runs(journal))) == 1:  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.001)
                del unread
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
