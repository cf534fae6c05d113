"""Whatever goes wrong in a shared commit, nobody waits for ever."""

import asyncio
import threading
import time

import pytest

from journal import AsyncJournal, Journal, write_queue
from journal.errors import CommitInterrupted, JournalBusy
from journal.stores import open_store
from tests import samples
from tests.unit.sqlite_files import stalled


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


def test_a_locked_file_is_waited_for_once_by_all_who_wait_together(path):
    async def main():
        store = open_store(path, create=True, busy_timeout=0.5)
        journal = AsyncJournal(Journal(store))
        run = await journal.run("r", session_id="s")
        with stalled(path):
            began = time.monotonic()
            calls = [run.append(samples.record(n)) for n in range(40)]
            errors = await asyncio.gather(*calls, return_exceptions=True)
            assert all(isinstance(error, JournalBusy) for error in errors)
            # The first alone, then the others together: not one after the other.
            assert time.monotonic() - began < 40 * 0.5
        assert not (await run.append(samples.record(0))).repeated
        await journal.close()

    asyncio.run(main())


def test_a_write_outside_the_queue_is_written_when_those_inside_are_cancelled(monkeypatch):
    monkeypatch.setattr(write_queue, "QUEUE_EVENTS", 2)
    began, go_on = threading.Event(), threading.Event()

    async def main():
        async with AsyncJournal.open("memory://") as journal:
            run = await journal.run("run_1", session_id="s1")
            append = journal.sync._store.append

            def slow(*events, **options):
                began.set()
                go_on.wait()
                return append(*events, **options)

            journal.sync._store.append = slow
            first = asyncio.create_task(run.append(samples.record(0)))
            await asyncio.to_thread(began.wait)
            inside = asyncio.create_task(run.append_many([samples.record(1), samples.record(2)]))
            await asyncio.sleep(0)
            outside = asyncio.create_task(run.append(samples.record(3)))
            await asyncio.sleep(0)
            inside.cancel()
            await asyncio.sleep(0)
            go_on.set()
            await first
            return await asyncio.wait_for(outside, 5)

    assert asyncio.run(main()).version == 3


def test_tasks_go_on_after_a_commit_that_failed_unexpectedly():
    async def main():
        async with AsyncJournal.open("memory://") as journal:
            run = await journal.run("run_1", session_id="s1")
            writer = journal.sync._writer
            learn = writer._learn

            def fail(*_):
                writer._learn = learn
                raise MemoryError

            writer._learn = fail
            with pytest.raises(CommitInterrupted):
                await run.append(samples.record(0))
            return await asyncio.wait_for(run.append(samples.record(1)), 5)

    assert asyncio.run(main()).version == 3
