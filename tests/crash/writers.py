"""Programs that write to a journal until they are killed, or until they did their job."""

import asyncio
import itertools
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from journal import AsyncJournal, Journal
from tests.crash import content
from tests.crash.receipts import ReceiptFile

TASKS = 64
RUNS = 4
"""Runs that the tasks share."""
FOR_EVER = 600
SESSION = {"session_id": "s", "conversation_id": "c"}


@dataclass
class Job:
    """What to write, and where."""

    path: Path
    receipts: Any
    """Takes `begin`, `got` and `note` of a `ReceiptFile`."""
    pace: str
    """How:

    - `load`: on and on,
    - `idle`: a little, then it says so and waits with the journal open,
    - `reopen`: the journal is closed and opened again after every few writes,
    - `twice`: the journal is opened twice; that is all.
    """
    chance: random.Random
    run_id: str = "r"
    first: int = 1
    """The number to start at."""
    options: dict[str, Any] = field(default_factory=dict)
    """For opening the journal."""

    def openings(self, twice):
        """Yield how many writes follow each opening; None for no end."""
        most = {"load": None, "idle": twice // 5, "reopen": 6, "twice": twice}[self.pace]
        while True:
            yield most and self.chance.randint(most // 2, most)
            if self.pace == "twice":
                yield most
                return

    def wrote(self):
        """Stay idle where that is the job."""
        if self.pace == "idle":
            self.receipts.note("idle")
            time.sleep(FOR_EVER)


def singles(job):
    """Write one event a call, of every kind."""

    def one(run, number):
        job.receipts.begin(run.run_id, number)
        receipt = content.write(run, number)
        job.receipts.got(run.run_id, [receipt], [content.payload(run.run_id, number)], number)

    _blocking(job, one, twice=150)


def batches(job):
    """Write records in batches of 2 to 200, all or nothing."""

    def one(run, number):
        size = job.chance.choice([2, 3, 20, 200])
        first = job.first + (number - job.first) * 200
        values = content.batch_of(run.run_id, first, size)
        job.receipts.begin(run.run_id, first, size)
        job.receipts.got(run.run_id, run.append_many(values), values, first)

    _blocking(job, one, twice=20)


def _blocking(job, one, *, twice):
    numbers = itertools.count(job.first)
    for many in job.openings(twice):
        with Journal.open(job.path, **job.options) as journal:
            with journal.run(job.run_id, **SESSION) as run:
                for number in itertools.islice(numbers, many):
                    one(run, number)
            job.wrote()


def tasks(job):
    """Write from 64 tasks to 4 runs through the asynchronous journal."""
    asyncio.run(_tasks(job))


async def _tasks(job):
    numbers = itertools.count(job.first)

    async def one(run, share):
        for number in share:
            job.receipts.begin(run.run_id, number)
            receipt = await content.write(run, number)
            job.receipts.got(run.run_id, [receipt], [content.payload(run.run_id, number)], number)

    for many in job.openings(4 * TASKS):
        async with AsyncJournal.open(job.path, **job.options) as journal:
            runs = [await journal.run(f"{job.run_id}-{at}", **SESSION) for at in range(RUNS)]
            share = itertools.islice(numbers, many)
            await asyncio.gather(*(one(runs[at % RUNS], share) for at in range(TASKS)))
            job.wrote()


PROGRAMS: dict[str, Callable[[Job], None]] = {
    "singles": singles,
    "batches": batches,
    "tasks": tasks,
}


def write(program, receipts, seed, **job):
    """Run a program in a process of its own."""
    PROGRAMS[program](Job(receipts=ReceiptFile(receipts), chance=random.Random(seed), **job))
