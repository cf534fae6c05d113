"""Tasks follow a journal as threads do, and take none."""

import asyncio
import threading

import pytest

from journal import AsyncJournal, Journal
from journal.errors import JournalClosed, PositionOutOfRange, RunNotFound
from tests import samples

PATIENCE = 60


def watching():
    return [one.name for one in threading.enumerate()].count("journal-follow")


async def until(happened):
    while not happened():  # noqa: ASYNC110 - a thread's doing, which sets no event
        await asyncio.sleep(0.001)


async def take(following, count):
    async with asyncio.timeout(PATIENCE):
        return [await anext(following) for _ in range(count)]


@pytest.fixture(params=["sqlite", "memory"])
def location(request, tmp_path):
    return tmp_path / "runs.db" if request.param == "sqlite" else "memory://"


@pytest.mark.anyio
async def test_first_comes_what_is_there_and_then_what_comes(location):
    async with AsyncJournal.open(location) as journal, await journal.run("a", session_id="s") as a:
        await a.append_many([samples.record(number) for number in range(3)])
        async with journal.subscribe() as following, journal.subscribe(run_id="a") as of_run:
            last = journal.sync.reader.last_position()
            seen = await take(following, last)
            assert [event.position for event in seen] == [*range(1, last + 1)]
            assert (following.position, of_run.position) == (last, 0)
            coming = asyncio.create_task(take(following, 5))
            for number in range(3, 8):
                await a.append(samples.record(number))
            assert await coming == await take(journal.subscribe(after=last), 5)
            assert [event.version for event in await take(of_run, 9)] == [*range(1, 10)]


@pytest.mark.anyio
async def test_one_that_is_cancelled_loses_nothing(location):
    async with AsyncJournal.open(location) as journal, await journal.run("a", session_id="s") as a:

        async def write():
            for number in range(100):
                await a.append(samples.record(number))

        writing = asyncio.create_task(write())
        versions = []
        async with asyncio.timeout(PATIENCE), journal.subscribe(run_id="a") as following:
            while len(versions) < 101:
                try:
                    async with asyncio.timeout(0.0005):
                        versions.append((await anext(following)).version)
                except TimeoutError:
                    await asyncio.sleep(0)
        assert versions == [*range(1, 102)]
        await writing


@pytest.mark.anyio
async def test_many_wait_in_one_thread_and_keep_nobody_from_reading(location):
    async with AsyncJournal.open(location) as journal, await journal.run("a", session_id="s") as a:
        start = await journal.call(journal.sync.reader.last_position)
        many = [journal.subscribe(after=start) for _ in range(40)]
        waiting = [asyncio.create_task(take(one, 2)) for one in many]
        async with asyncio.timeout(PATIENCE):
            await until(watching)
            assert await journal.run_record("a") is None
            for number in range(2):
                await a.append(samples.record(number))
            seen = await asyncio.gather(*waiting)
        assert [[event.position for event in one] for one in seen] == [[start + 1, start + 2]] * 40
        assert watching() <= 1
    assert watching() == 0


@pytest.mark.anyio
async def test_the_thread_ends_when_nobody_waits(location):
    async with AsyncJournal.open(location) as journal:
        waiting = asyncio.create_task(anext(journal.subscribe()))
        async with asyncio.timeout(PATIENCE):
            await until(watching)
            waiting.cancel()
            await until(lambda: not watching())
            await (await journal.run("a", session_id="s")).release()
            assert [e.position for e in await take(journal.subscribe(), 1)] == [1]


@pytest.mark.anyio
async def test_an_event_of_another_process_is_given(tmp_path):
    async with AsyncJournal.open(tmp_path / "runs.db") as journal:
        with Journal.open(tmp_path / "runs.db") as other:
            coming = asyncio.create_task(take(journal.subscribe(), 1))
            await asyncio.sleep(0.05)
            await asyncio.to_thread(other.run, "a", session_id="s")
            assert [event.position for event in await coming] == [1]


@pytest.mark.anyio
async def test_another_task_may_close_it(location):
    async with AsyncJournal.open(location) as journal:
        following = journal.subscribe()

        async def follow():
            return [event async for event in following]

        waiting = asyncio.create_task(follow())
        async with asyncio.timeout(PATIENCE):
            await until(watching)
            await following.close()
            assert await waiting == []
        with pytest.raises(StopAsyncIteration):
            await anext(following)


@pytest.mark.anyio
async def test_it_ends_with_the_journal(location):
    journal = await AsyncJournal.open(location)
    waiting = [asyncio.create_task(anext(journal.subscribe())) for _ in range(3)]
    async with asyncio.timeout(PATIENCE):
        await until(watching)
        await journal.close()
        for one in waiting:
            with pytest.raises(JournalClosed):
                await one
    with pytest.raises(JournalClosed):
        await anext(journal.subscribe())


@pytest.mark.anyio
async def test_wrong_arguments_are_refused_on_entering():
    async with AsyncJournal.open("memory://") as journal:
        with pytest.raises(RunNotFound):
            await journal.subscribe(run_id="a").__aenter__()
        with pytest.raises(PositionOutOfRange):
            await anext(journal.subscribe(after=1))
        async with journal.subscribe(run_id="a", must_exist=False) as following:
            coming = asyncio.create_task(take(following, 1))
            await (await journal.run("b", session_id="s")).release()
            await (await journal.run("a", session_id="s")).release()
            assert [event.run_id for event in await coming] == ["a"]
