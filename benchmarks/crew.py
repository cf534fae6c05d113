"""Processes that append to one file at the same time, kept from one measurement to the next."""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from records import Records, make
from writers import writer


class Job(NamedTuple):
    """What one process does: open the file, append singly, close it."""

    name: str
    durability: str
    path: Path
    number: int
    size: int
    count: int


class Done(NamedTuple):
    """What it took; times in seconds, by the clock that all processes share."""

    began: float
    ended: float
    opening: float
    latencies: list[float]
    failures: int


class Crew:
    """Up to `count` processes that are started once."""

    def __init__(self, count: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        self._processes = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def work(self, jobs: list[Job]) -> list[Done]:
        """Do one job a process, all starting at the same time.

        Raises:
            EOFError: a process failed, and printed why.
        """
        pipes = self._pipes[: len(jobs)]
        for pipe, job in zip(pipes, jobs, strict=True):
            pipe.send(job)
        for pipe in pipes:
            pipe.recv()
        for pipe in pipes:
            pipe.send("go")
        return [pipe.recv() for pipe in pipes]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join()


def _serve(pipe: Connection) -> None:
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        records = make(job.count, job.size, seed=job.number)
        pipe.send("ready")
        pipe.recv()
        pipe.send(_work(job, records))


def _work(job: Job, records: Records) -> Done:
    made = writer(job.name, job.durability)
    latencies: list[float] = []
    began = time.perf_counter()
    made.open(job.path)
    try:
        append = made.caller(job.number, records)
        opening = time.perf_counter() - began
        for at in range(job.count):
            before = time.perf_counter()
            append((at,))
            latencies.append(time.perf_counter() - before)
        ended = time.perf_counter()
    finally:
        made.close()
    return Done(began, ended, opening, latencies, made.failures)
