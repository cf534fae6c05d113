"""Who appends in a benchmark: one caller, threads, tasks or processes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from crew import Crew, Job
from records import Records
from writers import Append, AppendSoon, Writer, bytes_on_disk, tasks_writer, writer


class Outcome(NamedTuple):
    """What one measurement gave; times in seconds, as the callers saw them."""

    events: int
    """Appended."""
    seconds: float
    """From the first call to the end of the last."""
    latencies: list[float]
    """Of each call."""
    opening: float
    """Of the slowest opening of the file."""
    failures: int
    """Calls that failed and were tried again."""
    disk: int
    """Bytes of the closed file and of what lies beside it."""


def one(made: Writer, path: Path, records: Records, batch: int) -> Outcome:
    """Let one thread append `batch` records a commit."""
    opening = _open(made, path)
    try:
        append = made.caller(0, records)
        latencies: list[float] = []
        began = time.perf_counter()
        append_all(append, _batches(len(records.dicts), batch), latencies)
        seconds = time.perf_counter() - began
    finally:
        made.close()
    return Outcome(
        len(records.dicts), seconds, latencies, opening, made.failures, bytes_on_disk(path)
    )


def threads(made: Writer, path: Path, loads: Sequence[Records]) -> Outcome:
    """Let a thread a load append one record a commit, all at once."""
    opening = _open(made, path)
    try:
        appends = [made.caller(number, records) for number, records in enumerate(loads)]
        latencies: list[list[float]] = [[] for _ in loads]
        start = threading.Barrier(len(loads) + 1)

        def work(number: int) -> None:
            start.wait()
            append_all(appends[number], _singly(loads[number]), latencies[number])

        workers = [threading.Thread(target=work, args=(at,)) for at in range(len(loads))]
        for worker in workers:
            worker.start()
        start.wait()
        began = time.perf_counter()
        for worker in workers:
            worker.join()
        seconds = time.perf_counter() - began
    finally:
        made.close()
    together = [taken for some in latencies for taken in some]
    _must_be_all(together, loads)
    return Outcome(len(together), seconds, together, opening, made.failures, bytes_on_disk(path))


def tasks(name: str, durability: str, path: Path, loads: Sequence[Records]) -> Outcome:
    """Let a task a load append one record a commit, all in one event loop."""
    return asyncio.run(_tasks(name, durability, path, loads))


async def _tasks(name: str, durability: str, path: Path, loads: Sequence[Records]) -> Outcome:
    made = tasks_writer(name, durability)
    before = time.perf_counter()
    await made.open(path)
    opening = time.perf_counter() - before
    latencies: list[float] = []
    try:
        appends = [await made.caller(number, records) for number, records in enumerate(loads)]
        began = time.perf_counter()
        await asyncio.gather(
            *(
                _append_all_soon(append, len(records.dicts), latencies)
                for append, records in zip(appends, loads, strict=True)
            )
        )
        seconds = time.perf_counter() - began
    finally:
        await made.close()
    return Outcome(len(latencies), seconds, latencies, opening, 0, bytes_on_disk(path))


def processes(crew: Crew, jobs: list[Job]) -> Outcome:
    """Let a process a job open the one file at the same time, and append singly."""
    done = crew.work(jobs)
    latencies = [taken for one in done for taken in one.latencies]
    return Outcome(
        len(latencies),
        max(one.ended for one in done) - min(one.began for one in done),
        latencies,
        max(one.opening for one in done),
        sum(one.failures for one in done),
        bytes_on_disk(jobs[0].path),
    )


def append_all(append: Append, batches: Iterator[Sequence[int]], latencies: list[float]) -> None:
    """Append one batch after the other, noting how long each took."""
    clock = time.perf_counter
    for numbers in batches:
        before = clock()
        append(numbers)
        latencies.append(clock() - before)


async def _append_all_soon(append: AppendSoon, count: int, latencies: list[float]) -> None:
    clock = time.perf_counter
    for number in range(count):
        before = clock()
        await append(number)
        latencies.append(clock() - before)


def empty_file(name: str, path: Path) -> int:
    """Measure a file with nothing in it."""
    made = writer(name, "full")
    made.open(path)
    made.close()
    return bytes_on_disk(path)


def _open(made: Writer, path: Path) -> float:
    before = time.perf_counter()
    made.open(path)
    return time.perf_counter() - before


def _batches(count: int, batch: int) -> Iterator[Sequence[int]]:
    for start in range(0, count, batch):
        yield range(start, min(start + batch, count))


def _singly(records: Records) -> Iterator[Sequence[int]]:
    return _batches(len(records.dicts), 1)


def _must_be_all(latencies: list[float], loads: Sequence[Records]) -> None:
    # A thread that failed printed why; its measurement is worth nothing.
    if len(latencies) != sum(len(records.dicts) for records in loads):
        raise RuntimeError("a thread failed")
