"""A cancelled append wrote its event once or not at all, and asking again tells which."""

import asyncio
import random
import sqlite3
import threading
import time
from collections import Counter
from contextlib import closing, suppress

import pytest

from journal import AsyncJournal, Journal
from journal.errors import JournalClosed, JournalError, NotWritten, RunIsLeased
from tests import samples
from tests.crash import content
from tests.crash.check import Found
from tests.crash.writers import SESSION

TASKS = 1000
RUNS = 3


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


async def cancelled(task):
    """Wait for a task; gives its receipt, or None when it was cancelled."""
    try:
        return await task
    except asyncio.CancelledError:
        return None


@pytest.mark.anyio
async def test_a_thousand_cancelled_tasks(path):
    chance = random.Random(1)
    numbers = [n for n in range(2 * TASKS) if content.kind(n) in {"record", "checkpoint"}][:TASKS]
    outcomes = Counter()
    async with AsyncJournal.open(path) as journal:
        runs = [await journal.run(f"r{at}", **SESSION) for at in range(RUNS)]

        async def append(run, number):
            await asyncio.sleep(chance.uniform(0, 0.3))
            task = asyncio.create_task(write(run, number))
            moment = chance.choice([None, 0, chance.uniform(0, 0.01)])
            if moment is not None:
                await asyncio.sleep(moment)
            task.cancel()
            receipt = await cancelled(task)
            if receipt is None and chance.random() < 0.5:
                # Perhaps it is being written at this very moment.
                return await content.write(run, number)
            return receipt

        each = [(chance.choice(runs), number) for number in numbers]
        receipts = await asyncio.gather(*(append(run, number) for run, number in each))
        found = await journal.call(Found, journal.sync)
        found.are_as_made()
        for (run, number), receipt in zip(each, receipts, strict=True):
            there = (run.run_id, number) in found.numbers
            again = await content.write(run, number)
            assert again.repeated == there
            if receipt is not None:
                assert there
                assert (again.version, again.position) == (receipt.version, receipt.position)
            outcomes[receipt is not None, there] += 1
        found = await journal.call(Found, journal.sync)
        found.are_as_made()
        assert {number for _, number in found.numbers} == set(numbers)
        assert len(found.numbers) == TASKS
    # Cancelled before, during and after its commit: all of it came about.
    assert set(outcomes) == {(True, True), (False, True), (False, False)}
    print(outcomes)  # noqa: T201 - for -rP


async def write(run, number):
    return await content.write(run, number)


def batch(number, size, text=""):
    """Make records that say which batch they are of."""
    mark = {"first": number, "size": size}
    return [{**samples.delta(at, text), "batch": mark} for at in range(number, number + size)]


@pytest.mark.anyio
async def test_tasks_that_wait_for_room(path):
    """More is written at once than the queue holds; whole batches are there or absent."""
    chance = random.Random(2)
    batches = [batch(number, 500, "x" * 500) for number in range(0, 12_000, 500)]
    async with AsyncJournal.open(path) as journal:
        run = await journal.run("r", **SESSION)
        tasks = [asyncio.create_task(run.append_many(records)) for records in batches]
        give_up = chance.sample(tasks, 12)
        await asyncio.sleep(0)
        for task in give_up:
            await asyncio.sleep(chance.choice([0, 0, 0.005]))
            task.cancel()
        receipts = [await cancelled(task) for task in tasks]
        assert all(got or task in give_up for got, task in zip(receipts, tasks, strict=True))
        there = {number for _, number in (await journal.call(Found, journal.sync)).numbers}
        for records, got in zip(batches, receipts, strict=True):
            held = [record["sequence"] in there for record in records]
            assert len(set(held)) == 1
            again = await run.append_many(records)
            assert {receipt.repeated for receipt in again} == {held[0]}
            assert got is None or [r.version for r in again] == [r.version for r in got]
        assert len((await journal.call(Found, journal.sync)).numbers) == 12_000
    assert None in receipts, "nothing was cancelled in time: nothing is proved"


@pytest.mark.anyio
async def test_a_cancelled_opening_leaves_the_run_free(path):
    async with AsyncJournal.open(path) as journal:
        for number in range(40):
            task = asyncio.create_task(journal.run(f"r{number}", **SESSION))
            await asyncio.sleep(0)
            task.cancel()
            run = await cancelled(task)
            if run is not None:
                await run.release()
        with Journal.open(path) as other:
            for number in range(40):
                await asyncio.to_thread(take, other, f"r{number}")


def take(journal, run_id):
    """Take a run as soon as it is free, and give it back."""
    for _ in range(500):
        with suppress(RunIsLeased):
            journal.run(run_id, **SESSION).release()
            return
        time.sleep(0.01)
    raise AssertionError(f"nobody writes {run_id}, and yet it is leased")


@pytest.mark.anyio
async def test_closing_while_tasks_append(path):
    """Each call got a receipt, or was told that the journal is closed and wrote nothing."""
    receipted, refused = {}, set()

    async def append(run, first):
        for number in range(first, first + 10_000):
            try:
                receipted[run.run_id, number] = await run.append(samples.record(number))
            except JournalClosed:
                refused.add((run.run_id, number))
                return

    journal = await AsyncJournal.open(path)
    runs = [await journal.run(f"r{at}", **SESSION) for at in range(RUNS)]
    tasks = [asyncio.create_task(append(runs[at % RUNS], at * 10_000)) for at in range(64)]
    await asyncio.sleep(0.1)
    await journal.close()
    async with asyncio.timeout(60):
        await asyncio.gather(*tasks)
    check_closed(path, receipted, refused, 64)


def test_closing_while_threads_append(path):
    receipted, refused = {}, set()
    journal = Journal.open(path)

    def append(run):
        for number in range(1_000_000):
            try:
                receipted[run.run_id, number] = run.append(samples.record(number))
            except JournalClosed:
                refused.add((run.run_id, number))
                return

    runs = [journal.run(f"r{at}", **SESSION) for at in range(8)]
    threads = [threading.Thread(target=append, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    while len(receipted) < 200:
        assert any(thread.is_alive() for thread in threads)
    journal.close()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    check_closed(path, receipted, refused, 8)


def check_closed(path, receipted, refused, callers):
    assert len(refused) == callers
    with Journal.open(path, create=False) as journal:
        found = Found(journal)
    for key, receipt in receipted.items():
        assert found.numbers[key] == receipt.position
    assert found.numbers.keys() == receipted.keys()


@pytest.mark.anyio
async def test_closing_says_what_was_not_written(path):
    """The file is taken away from waiting tasks: each of them is told, and so is who closes."""
    elsewhere = path.with_name("elsewhere.db")
    journal = await AsyncJournal.open(path)
    run = await journal.run("r", **SESSION)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        batches = [batch(number, 500) for number in range(0, 10_000, 500)]
        tasks = [asyncio.create_task(run.append_many(records)) for records in batches]
        closer = asyncio.create_task(journal.close())
        await asyncio.sleep(0.2)
        path.rename(elsewhere)
        other.execute("ROLLBACK")
    with pytest.raises(NotWritten) as told:
        await closer
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, JournalError)]
    assert len(refused) == len(told.value.lost) > 0
    elsewhere.rename(path)
    with Journal.open(path, create=False) as journal:
        there = Found(journal).numbers
    for records, outcome in zip(batches, outcomes, strict=True):
        got = [there.get(("r", record["sequence"])) for record in records]
        wanted = [None] * 500 if outcome in refused else [one.position for one in outcome]
        assert got == wanted
