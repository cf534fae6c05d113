"""What is opened in a thread is given back where the caller was cancelled meanwhile."""

import asyncio
import gc
import threading
import weakref

import anyio
import pytest

from journal import AsyncJournal, Journal
from journal.acquiring import acquired, carried_out, in_thread
from journal.errors import JournalClosed


async def cancelled(task):
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def wait_for_threads(before):
    while new := set(threading.enumerate()) - before:  # one may begin another
        for thread in new:
            thread.join(20)


def test_it_gives_what_was_made_or_the_error():
    given_back = []

    async def main():
        assert await acquired(in_thread(lambda: "made"), given_back.append) == "made"
        with pytest.raises(ZeroDivisionError):
            await acquired(in_thread(lambda: 1 / 0), given_back.append)

    asyncio.run(main())
    assert given_back == []


def test_an_error_keeps_nothing():
    class Kept:
        pass

    kept = []

    def fails():
        here = Kept()
        kept.append(weakref.ref(here))
        raise ZeroDivisionError

    async def main():
        with pytest.raises(ZeroDivisionError):
            await acquired(in_thread(fails), lambda _: None)
        with pytest.raises(ZeroDivisionError):
            await carried_out(fails)

    gc.collect()
    gc.disable()
    try:
        asyncio.run(main())
        assert [each() for each in kept] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("is_made", [True, False], ids=["made", "failed"])
def test_a_cancelled_caller_leaves_nothing_behind(is_made):
    started, goes_on, given_back = threading.Event(), threading.Event(), threading.Event()
    errors = []
    threading.excepthook, before = errors.append, threading.excepthook

    def make():
        started.set()
        goes_on.wait(20)
        return "made" if is_made else 1 / 0

    async def main():
        waiting = asyncio.create_task(acquired(in_thread(make), lambda _: given_back.set()))
        await asyncio.to_thread(started.wait, 20)
        await cancelled(waiting)
        assert not given_back.is_set()
        goes_on.set()

    try:
        asyncio.run(main())
        assert given_back.wait(20 if is_made else 0.1) is is_made
    finally:
        threading.excepthook = before
    assert errors == []


def test_what_must_be_done_is_done_for_a_caller_that_was_cancelled_before():
    done = threading.Event()

    async def main():
        await cancelled(asyncio.create_task(carried_out(done.set)))

    asyncio.run(main())
    assert done.wait(20)


def test_neither_needs_the_pool_of_an_event_loop_that_ends():
    given_back, done = threading.Event(), threading.Event()

    async def main():
        await asyncio.get_running_loop().shutdown_default_executor()
        assert await acquired(in_thread(lambda: "made"), lambda _: None) == "made"
        for each in (
            acquired(in_thread(lambda: "made"), lambda _: given_back.set()),
            carried_out(done.set),
        ):
            task = asyncio.create_task(each)
            await asyncio.sleep(0)
            task.cancel()

    asyncio.run(main())
    assert given_back.wait(20)
    assert done.wait(20)


def test_a_run_is_released_and_a_journal_closed_also_where_that_is_cancelled(tmp_path):
    opened, before = [], set(threading.enumerate())

    async def main():
        with anyio.CancelScope() as scope:
            async with AsyncJournal.open(tmp_path / "runs.db") as journal:
                opened.append(journal.sync)
                async with await journal.run("r", session_id="s"):
                    scope.cancel()

    asyncio.run(main())
    wait_for_threads(before)
    with pytest.raises(JournalClosed):
        opened[0].run("r")
    with Journal.open(tmp_path / "runs.db") as journal:
        assert not journal.reader.lease("r").expires_at


def test_a_journal_that_nobody_waits_for_any_more_is_closed(tmp_path, monkeypatch):
    opening, goes_on, opened = threading.Event(), threading.Event(), []
    really_open = Journal.open

    def slowly(*args, **kwargs):
        opening.set()
        goes_on.wait(20)
        opened.append(really_open(*args, **kwargs))
        return opened[0]

    monkeypatch.setattr(Journal, "open", slowly)

    async def opens():
        async with AsyncJournal.open(tmp_path / "runs.db"):
            raise AssertionError

    async def main():
        task = asyncio.create_task(opens())
        await asyncio.to_thread(opening.wait, 20)
        await cancelled(task)
        goes_on.set()

    before = set(threading.enumerate())
    asyncio.run(main())
    wait_for_threads(before)
    with pytest.raises(JournalClosed):
        opened[0].run("r")
