"""Appends of many callers share a commit, and each of them succeeds or fails alone."""

import asyncio
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest

from journal import AsyncJournal, Journal, write_queue
from journal.errors import (
    JournalClosed,
    NotWritten,
    RecordConflict,
    StorageFailed,
)
from tests import samples
from tests.unit.sqlite_files import stalled

MINUTE = 60.0


def until(true):
    give_up = time.monotonic() + MINUTE
    while not true():
        assert time.monotonic() < give_up
        time.sleep(0.001)


@contextmanager
def group(journal, calls):
    """Make calls in threads so that all but the first wait together; gives their futures."""
    with ThreadPoolExecutor(len(calls) + 1) as pool:
        with stalled(journal.location):
            leader = pool.submit(journal.save_session, samples.session_record())
            until(lambda: journal.metrics().queue_events == 0 and leader.running())
            futures = []
            for number, call in enumerate(calls, 1):
                futures.append(pool.submit(call))
                until(lambda number=number: journal.metrics().queue_events >= number)
        yield futures
        leader.result(MINUTE)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


def test_appends_of_many_threads_share_a_commit(path):
    with Journal.open(path) as journal:
        runs = [journal.run(f"r{n}", session_id="s") for n in range(8)]
        before = journal.metrics()
        with group(
            journal, [lambda run=run: run.append(samples.record(0)) for run in runs]
        ) as all_:
            receipts = [future.result(MINUTE) for future in all_]
        after = journal.metrics()
        assert after.commits - before.commits == 2
        assert after.events - before.events == 9
        assert len({receipt.position for receipt in receipts}) == 8
        for run, receipt in zip(runs, receipts, strict=True):
            [event] = journal.reader.run_events(run.run_id, names=("stream.recorded.v1",))
            assert (event.version, event.position) == (receipt.version, receipt.position)


def test_a_refused_append_fails_alone(path):
    with Journal.open(path) as journal:
        one, two = (journal.run(name, session_id="s") for name in ("one", "two"))
        one.append(samples.record(0))
        calls = [
            lambda: two.append(samples.record(0)),
            lambda: one.append(samples.delta(0, "something else")),
            lambda: two.append(samples.record(1)),
        ]
        with group(journal, calls) as (before, refused, after):
            assert before.result(MINUTE).version == 2
            with pytest.raises(RecordConflict):
                refused.result(MINUTE)
            assert after.result(MINUTE).version == 3


def test_an_append_the_store_cannot_take_fails_alone(path):
    with Journal.open(path) as journal:
        one, two = (journal.run(name, session_id="s") for name in ("one", "two"))
        with closing(sqlite3.connect(path)) as other:
            other.execute(
                "CREATE TRIGGER fault BEFORE INSERT ON events WHEN NEW.identity = 666 "
                "BEGIN SELECT RAISE(ABORT, 'injected'); END"
            )
        calls = [
            lambda: one.append(samples.record(1)),
            lambda: two.append_many([samples.record(1), samples.record(666)]),
            lambda: one.append(samples.record(2)),
        ]
        with group(journal, calls) as (before, refused, after):
            assert before.result(MINUTE).version == 2
            with pytest.raises(StorageFailed, match="injected"):
                refused.result(MINUTE)
            assert after.result(MINUTE).version == 3
        assert journal.reader.head("two") == 1


def test_the_same_record_from_two_callers_at_once_is_recorded_once(path):
    with Journal.open(path) as journal:
        run = journal.run("r", session_id="s")
        with group(journal, [lambda: run.append(samples.record(0))] * 2) as futures:
            first, second = (future.result(MINUTE) for future in futures)
        assert not first.repeated
        assert second.repeated
        assert first.position == second.position


def test_the_same_state_from_two_callers_at_once_is_recorded_once(path):
    with Journal.open(path) as journal:
        run = journal.run("r", session_id="s", conversation_id="c")
        with group(journal, [lambda: run.export_context(samples.context())] * 2) as futures:
            receipts = [future.result(MINUTE) for future in futures]
        assert [receipt.repeated for receipt in receipts] == [False, True]
        assert len(list(journal.reader.run_events("r"))) == 2


def test_a_run_keeps_the_order_of_its_calls(path):
    async def main():
        async with AsyncJournal.open(path) as journal:
            runs = [await journal.run(f"r{n}", session_id="s") for n in range(4)]
            calls = [(run, n) for n in range(100) for run in runs]
            receipts = await asyncio.gather(
                *(run.append(samples.record(1000 - n)) for run, n in calls)
            )
            for run in runs:
                versions = [
                    r.version for (of, _), r in zip(calls, receipts, strict=True) if of is run
                ]
                assert versions == list(range(2, 102))

    asyncio.run(main())


def test_what_follows_a_failure_in_a_run_waits_until_the_failure_was_told(path):
    async def main():
        told = []
        async with AsyncJournal.open(path) as journal:
            run = await journal.run("r", session_id="s")
            other = await journal.run("other", session_id="s")
            await run.append(samples.record(0))

            async def call(name, awaitable):
                try:
                    await awaitable
                except RecordConflict:
                    told.append((name, journal.sync.reader.head("r")))
                else:
                    told.append(name)

            with stalled(path):
                calls = [
                    asyncio.create_task(call("other", other.append(samples.record(0)))),
                    asyncio.create_task(call("bad", run.append(samples.delta(0, "x")))),
                    asyncio.create_task(call("later", run.append(samples.record(1)))),
                ]
                await asyncio.sleep(0.05)
            await asyncio.gather(*calls)
        assert told.index("later") > next(at for at, one in enumerate(told) if "bad" in one)
        assert set(told) >= {"other", "later"}

    asyncio.run(main())


def test_deltas_of_several_tasks_wait_for_each_other(path):
    async def main():
        async with AsyncJournal.open(path) as journal:
            runs = [await journal.run(f"r{n}", session_id="s") for n in range(8)]
            before = journal.metrics().commits

            async def stream(run):
                for n in range(30):
                    await run.append(samples.delta(n, f"token {n} "))

            await asyncio.gather(*map(stream, runs))
            assert journal.metrics().events >= 240
            assert journal.metrics().commits - before < 120

    asyncio.run(main())


def test_a_cancelled_append_that_still_waits_is_not_written(path):
    async def main():
        async with AsyncJournal.open(path) as journal:
            run = await journal.run("r", session_id="s")
            with stalled(path):
                leading = asyncio.create_task(run.append(samples.record(0)))
                await asyncio.sleep(0.05)
                waiting = asyncio.create_task(run.append(samples.record(1)))
                await asyncio.sleep(0.05)
                waiting.cancel()
                leading.cancel()
                done = await asyncio.gather(leading, waiting, return_exceptions=True)
                assert all(isinstance(one, asyncio.CancelledError) for one in done)
                assert journal.metrics().queue_events == 0
            # The first was under way and is there; the second was taken back.
            assert (await run.append(samples.record(0))).repeated
            assert not (await run.append(samples.record(1))).repeated

    asyncio.run(main())


def test_a_full_queue_makes_callers_wait_outside_in_order(path, monkeypatch):
    monkeypatch.setattr(write_queue, "QUEUE_EVENTS", 4)

    async def main():
        async with AsyncJournal.open(path) as journal:
            run = await journal.run("r", session_id="s")
            with stalled(path):
                calls = [asyncio.create_task(run.append(samples.record(n))) for n in range(20)]
                await asyncio.sleep(0.1)
                metrics = journal.metrics()
                assert metrics.queue_events <= 4
                assert metrics.waiting >= 12
                calls[-1].cancel()
                await asyncio.wait([calls[-1]])
                assert journal.metrics().waiting == metrics.waiting - 1
            versions = [receipt.version for receipt in await asyncio.gather(*calls[:-1])]
            assert versions == list(range(2, 21))
            assert journal.metrics().waiting == 0
            assert not (await run.append(samples.record(19))).repeated

    asyncio.run(main())


def test_a_full_queue_counts_bytes_too(path, monkeypatch):
    monkeypatch.setattr(write_queue, "QUEUE_BYTES", 1000)

    async def main():
        async with AsyncJournal.open(path) as journal:
            run = await journal.run("r", session_id="s")
            with stalled(path):
                calls = [
                    asyncio.create_task(run.append(samples.delta(n, "x" * 2000))) for n in range(4)
                ]
                await asyncio.sleep(0.1)
                assert journal.metrics().waiting >= 2
            await asyncio.gather(*calls)

    asyncio.run(main())


def test_closing_writes_what_waits(path):
    async def main():
        journal = await AsyncJournal.open(path)
        run = await journal.run("r", session_id="s")
        with stalled(path):
            calls = [asyncio.create_task(run.append(samples.record(n))) for n in range(20)]
            await asyncio.sleep(0.05)
            closing_ = asyncio.create_task(journal.close())
            await asyncio.sleep(0.05)
        await closing_
        assert len(await asyncio.gather(*calls)) == 20
        with pytest.raises(JournalClosed):
            await run.append(samples.record(20))

    asyncio.run(main())
    with Journal.open(path) as journal:
        assert journal.reader.head("r") == 21


def test_closing_says_what_it_could_not_write(path):
    async def main():
        journal = await AsyncJournal.open(path)
        run = await journal.run("r", session_id="s")
        with closing(sqlite3.connect(path)) as other:
            other.execute(
                "CREATE TRIGGER fault BEFORE INSERT ON events "
                "BEGIN SELECT RAISE(ABORT, 'injected'); END"
            )
        with stalled(path):
            calls = [asyncio.create_task(run.append(samples.record(n))) for n in range(3)]
            await asyncio.sleep(0.05)
            closing_ = asyncio.create_task(journal.close())
            await asyncio.sleep(0.05)
        with pytest.raises(NotWritten, match=r"3 writes were not done \(stream record 0 of run:r"):
            await closing_
        for error in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(error, StorageFailed)

    asyncio.run(main())


def test_a_closed_journal_refuses_every_verb(path):
    journal = Journal.open(path)
    run = journal.run("r", session_id="s")
    journal.close()
    journal.close()
    for call in (
        lambda: run.append(samples.record(0)),
        lambda: journal.run("r"),
        lambda: journal.save_session(samples.session_record()),
    ):
        with pytest.raises(JournalClosed):
            call()
    run.release()


def test_a_thread_that_leads_serves_tasks_and_the_other_way_round(path):
    async def main():
        async with AsyncJournal.open(path) as journal:
            runs = [await journal.run(f"r{n}", session_id="s") for n in range(4)]

            def work(run):
                for n in range(100):
                    run.sync.append(samples.record(n))

            async def tasks(run):
                for n in range(100):
                    await run.append(samples.record(n))

            threads = [threading.Thread(target=work, args=(run,)) for run in runs[:2]]
            for thread in threads:
                thread.start()
            await asyncio.gather(*map(tasks, runs[2:]))
            for thread in threads:
                await asyncio.to_thread(thread.join, MINUTE)
            for run in runs:
                assert journal.sync.reader.head(run.run_id) == 101

    asyncio.run(main())
