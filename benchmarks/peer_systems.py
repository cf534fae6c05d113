"""The systems that are compared, and what is measured of each in a process of its own."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import orjson
from memory import peak_bytes, resident_bytes
from report import median_seconds
from texts import words

PARTS = (0.1, 0.5, 0.9)
"""Where in a run states are read, by their number from the first."""


LONG_SECONDS = 5.0
"""Readings of a state that take longer together are not repeated any more."""


class Reader(Protocol):
    """Reads the states of one recorded run, as the system's documentation says."""

    def at(self, part: float) -> Callable[[], Any]:
        """Look up which state is at a part of the run, and give what reads it."""
        ...

    def history(self) -> Iterator[Any]:
        """Read every state of the run."""
        ...

    def answer(self, state: Any) -> Any:
        """Give a state as JSON."""
        ...

    def results(self, state: Any) -> int:
        """Count the tool results in a state."""
        ...


class System(NamedTuple):
    """One way to record a run and to read it."""

    module: str
    """Imported only where it is measured, so that none pays for another's imports."""
    recorder: str
    """The function of the module that records: `(path, texts) -> None`."""
    reader: str
    """The class of the module that opens a reader: `(path) -> context manager`."""

    def record(self, path: Path, texts: list[str]) -> None:
        """Record a run of one tool step a text."""
        getattr(import_module(self.module), self.recorder)(path, texts)

    def open(self, path: Path) -> AbstractContextManager[Reader]:
        """Open what was recorded."""
        opened: AbstractContextManager[Reader]
        opened = getattr(import_module(self.module), self.reader)(path)
        return opened


SYSTEMS = {
    "langgraph": System("peer_langgraph", "record", "GraphReader"),
    "langgraph saver": System("peer_langgraph", "record", "SaverReader"),
    "langgraph delta": System("peer_langgraph", "record_delta", "DeltaReader"),
    "journal, langgraph's run": System("peer_journal", "record_steps", "JournalReader"),
    "starweaver": System("peer_starweaver", "record", "StoreReader"),
    "journal, starweaver's run": System("peer_journal", "record_agent", "JournalReader"),
}
"""By name; one that records as the one before it reads the same file."""


def record(name: str, path: Path, steps: int, size: int) -> float:
    """Record a run; tells how long that took, from opening the file to closing it."""
    system = SYSTEMS[name]
    import_module(system.module)
    texts = words(steps, size)
    began = time.perf_counter()
    system.record(path, texts)
    return time.perf_counter() - began


class Point(NamedTuple):
    """Reading one state; times in seconds."""

    first: float
    """When it was read for the first time."""
    median: float
    parse: float
    """orjson.loads of the answer."""
    size: int
    """Of the answer as JSON, in bytes."""


def read_points(name: str, path: Path, repeat: int) -> list[Point]:
    """Read the states at the parts of the run."""
    with SYSTEMS[name].open(path) as reader:
        return [_point(reader, part, repeat) for part in PARTS]


def _point(reader: Reader, part: float, repeat: int) -> Point:
    read = reader.at(part)
    began = time.perf_counter()
    state = read()
    first = time.perf_counter() - began
    text = orjson.dumps(reader.answer(state))
    del state  # or it is in memory together with the next
    taken: list[float] = []
    while len(taken) < repeat and sum(taken) < LONG_SECONDS:
        taken.append(median_seconds(read, 1))
    parse = median_seconds(lambda: orjson.loads(text), repeat)
    return Point(first, statistics.median(taken), parse, len(text))


class History(NamedTuple):
    """Reading every state."""

    seconds: float
    peak: int
    """Bytes of resident memory, above what the process held before."""
    states: int


def read_history(name: str, path: Path, steps: int) -> History:
    """Read every state once, counting the tool results in each, and let it go."""
    with SYSTEMS[name].open(path) as reader:
        before = resident_bytes(os.getpid())
        began = time.perf_counter()
        states = most = 0
        for state in reader.history():
            most = max(most, reader.results(state))
            states += 1
        seconds = time.perf_counter() - began
        peak = peak_bytes() - before
    if most != steps:
        raise RuntimeError(f"{name}: {most} results where {steps} were recorded")
    return History(seconds, peak, states)
