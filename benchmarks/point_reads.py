"""Replays of the long run at random cursors, each process's own part of `points.py`."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from long_run_file import RUN, Facts
from memory import peak_bytes

from journal import Journal
from journal.cli.main import main
from journal.times import format_time
from projections import replay

WARM = 50
"""Replays before those that count, to other cursors."""

PARSES = 3
"""Times an answer is parsed; the fastest counts."""


class Point(NamedTuple):
    """One replay."""

    kind: str
    place: float
    """Where in the run it ended, from 0 to 1."""
    seconds: float
    parse_seconds: float
    """orjson.loads of the answer."""
    answer_bytes: int


class Points(NamedTuple):
    """What a process that opens the journal and replays found."""

    open_seconds: float
    first_seconds: float
    """The first replay after opening."""
    points: list[Point]
    peak: int


class Walk(NamedTuple):
    """What a process that reads the whole run took."""

    seconds: float
    peak: int


def cursor_makers(facts: Facts, dice: random.Random) -> dict[str, Callable[[], str]]:
    """Give what makes a random cursor, for each kind."""
    last = len(facts.epochs)

    def message_of_epoch() -> str:
        epoch = dice.randint(1, last)
        return f"message:{dice.randint(*facts.epochs[epoch - 1])}@{epoch}"

    return {
        "stream": lambda: f"stream:{dice.randrange(facts.shape.records)}",
        "message": lambda: f"message:{dice.randint(1, max(most for _, most in facts.epochs))}",
        "message@epoch": message_of_epoch,
        "checkpoint": lambda: f"checkpoint:checkpoint_{dice.randint(1, facts.shape.checkpoints)}",
        "step": lambda: f"step:{dice.randint(0, facts.shape.steps)}",
        "version": lambda: f"version:{dice.randint(1, facts.versions)}",
        "time": lambda: f"time:{format_time(dice.randint(facts.started, facts.ended))}",
    }


def catch_up(path: Path) -> Walk:
    """Replay the end of a run that nothing was derived from yet."""
    began = time.perf_counter()
    with Journal.open(path, create=False) as journal:
        replay(journal, RUN)
    return Walk(time.perf_counter() - began, peak_bytes())


def run_command(path: Path, *arguments: str) -> Walk:
    """Run a command of the command line, its output thrown away.

    Raises:
        RuntimeError: it did not do what was asked.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.argv = ["runjournal", "--db", str(path), *arguments]
    began = time.perf_counter()
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{arguments}: exit code {end.code}") from end
    return Walk(time.perf_counter() - began, peak_bytes())


def read_points(path: Path, facts: Facts, count: int) -> Points:
    """Replay to random cursors, of all kinds in turn."""
    dice = random.Random(facts.shape.seed)
    makers = list(cursor_makers(facts, dice).items())
    began = time.perf_counter()
    with Journal.open(path, create=False) as journal:
        opened = time.perf_counter()
        replay(journal, RUN, at=makers[0][1]()).to_json()
        first = time.perf_counter()
        for at in range(WARM):
            replay(journal, RUN, at=makers[at % len(makers)][1]())
        points = [_point(journal, facts, *makers[at % len(makers)]) for at in range(count)]
    return Points(opened - began, first - opened, points, peak_bytes())


def _point(journal: Journal, facts: Facts, kind: str, make: Callable[[], str]) -> Point:
    at = make()
    began = time.perf_counter()
    answer = replay(journal, RUN, at=at).to_json()
    seconds = time.perf_counter() - began
    raw = orjson.dumps(answer)
    place = (answer["cursor"]["stream"] or 0) / facts.shape.records
    return Point(kind, place, seconds, min(_parse(raw) for _ in range(PARSES)), len(raw))


def _parse(raw: bytes) -> float:
    began = time.perf_counter()
    parsed: Any = orjson.loads(raw)
    seconds = time.perf_counter() - began
    del parsed
    return seconds
