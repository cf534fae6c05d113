"""The long run in a journal file, with notes of what it holds, to be used again."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from long_run import LongRun, Shape

from journal import Journal

RUN, SESSION = "run", "session"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a recorded run holds, so that cursors into it can be made without reading it."""

    shape: Shape
    epochs: list[tuple[int, int]]
    """The fewest and the most messages in the checkpoints of each."""
    versions: int
    started: int
    ended: int
    """Times of the first and the last event, in microseconds since the epoch."""
    seconds: float
    """Time taken to record it."""


def facts_of(path: Path, shape: Shape) -> Facts | None:
    """Read the notes of a file; None where there is none with such a run."""
    notes = _notes(path)
    if not (path.exists() and notes.exists()):
        return None
    found = json.loads(notes.read_text("utf-8"))
    if Shape(**found.pop("shape")) != shape:
        return None
    found["epochs"] = [tuple(each) for each in found["epochs"]]
    return Facts(shape=shape, **found)


def record(path: Path, shape: Shape) -> Facts:
    """Record the run as a host does, in a new file: records, then their checkpoint, durably."""
    epochs: list[tuple[int, int]] = []
    began = time.perf_counter()
    making = 0.0
    with Journal.open(path) as journal:
        run = journal.run(RUN, session_id=SESSION, conversation_id="conversation")
        stretches = LongRun(shape).stretches()
        started = None
        while True:
            before = time.perf_counter()
            stretch = next(stretches, None)
            making += time.perf_counter() - before
            if stretch is None:
                break
            first, *_ = run.append_many(stretch.records)
            last = run.checkpoint(stretch.checkpoint)
            started = started or first.recorded_at
            if stretch.compacts or not epochs:
                epochs.append((stretch.messages, stretch.messages))
            epochs[-1] = (epochs[-1][0], stretch.messages)
    seconds = time.perf_counter() - began - making
    facts = Facts(shape, epochs, last.version, started, last.recorded_at, seconds)
    _notes(path).write_text(json.dumps(asdict(facts)), "utf-8")
    return facts


def size(path: Path) -> int:
    """Give the size of a file with its write-ahead log, in bytes; 0 where there is none."""
    parts = (path, path.with_name(path.name + "-wal"))
    return sum(part.stat().st_size for part in parts if part.exists())


def _notes(path: Path) -> Path:
    return path.with_name(path.name + ".notes.json")
