"""What is opened in a thread is given back where the caller was cancelled meanwhile."""

import asyncio
import threading

import pytest

from journal import AsyncJournal, Journal
from journal.acquiring import acquired
from journal.errors import JournalClosed


def test_it_gives_what_was_made_or_the_error():
    given_back = []

    async def main():
        assert await acquired(lambda: "made", given_back.append) == "made"
        with pytest.raises(ZeroDivisionError):
            await acquired(lambda: 1 / 0, given_back.append)

    asyncio.run(main())
    assert given_back == []


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
        waiting = asyncio.create_task(acquired(make, lambda _: given_back.set()))
        await asyncio.to_thread(started.wait, 20)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert not given_back.is_set()
        goes_on.set()

    try:
        asyncio.run(main())  # waits for the thread
        assert given_back.wait(20 if is_made else 0.1) is is_made
    finally:
        threading.excepthook = before
    assert errors == []


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
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        goes_on.set()

    before = set(threading.enumerate())
    asyncio.run(main())
    for thread in set(threading.enumerate()) - before:
        thread.join(20)
    with pytest.raises(JournalClosed):
        opened[0].run("r")
