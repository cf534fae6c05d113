"""Replaying a run of a million records to random cursors, and walking through it.

    python benchmarks/points.py [--records 1000000] [--checkpoints 20000] [--cursors 1000]
                                [--seed 7] [--db FILE] [--json]

The run is compacted three times and its answers stay below 200 KB. With --db it is kept in
that file, and used again when it is there. Every part has a process of its own: the one that
records, the one that first reads the run, whose replay derives everything, the one that
opens the journal and replays to cursors of all kinds in turn, and the commands `export` and
`log` with their output thrown away.

A replay gives the whole answer as objects; `parse` is orjson.loads of that answer, and `x`
how many times longer the replay takes. `third` rows are of the replays that ended in that
third of the run. Memory is the most that the process ever held.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bounded import Limits, bounded
from long_run import FEWEST, Shape
from long_run_file import RUN, facts_of, record, size
from point_reads import Point, catch_up, read_points, run_command
from report import Row, show

MEGABYTE = 1e6
LIMITS = Limits(seconds=3600, megabytes=16_000)
THIRDS = ("first third", "second third", "last third")


def quantile(values: Sequence[float], part: float) -> float:
    """Give the smallest value that this part of them does not exceed."""
    ordered = sorted(values)
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)]


def row(name: str, points: Sequence[Point]) -> Row:
    """Sum up replays."""
    taken = [point.seconds * 1e3 for point in points]
    times = [point.seconds / point.parse_seconds for point in points]
    return {
        "replays": name,
        "count": len(points),
        "p50 ms": statistics.median(taken),
        "p99 ms": quantile(taken, 0.99),
        "max ms": max(taken),
        "parse p50 ms": statistics.median(point.parse_seconds * 1e3 for point in points),
        "x p50": statistics.median(times),
        "x p99": quantile(times, 0.99),
        "answer KB p50": statistics.median(point.answer_bytes / 1e3 for point in points),
        "answer KB max": max(point.answer_bytes / 1e3 for point in points),
    }


def table(points: Sequence[Point]) -> list[Row]:
    """Make the rows: all, each kind, each third of the run."""
    groups: dict[str, list[Point]] = {"all": list(points)}
    for point in points:
        groups.setdefault(point.kind, []).append(point)
    for name in THIRDS:
        groups[name] = []
    for point in points:
        groups[THIRDS[min(int(point.place * 3), 2)]].append(point)
    return [row(name, group) for name, group in groups.items() if group]


def slowest_by_fastest(rows: Sequence[Row], column: str) -> float:
    """Compare the thirds of the run."""
    values = [each[column] for each in rows if each["replays"] in THIRDS]
    return max(values) / min(values)


def measure(path: Path, shape: Shape, cursors: int) -> tuple[dict[str, float], list[Row]]:
    """Measure everything, recording the run where it is not there yet."""
    facts = facts_of(path, shape) or bounded(LIMITS, record, path, shape)
    views = path.with_name(path.name + ".views")
    for old in path.parent.glob(views.name + "*"):
        old.unlink()
    caught = bounded(LIMITS, catch_up, path)
    found = bounded(LIMITS, read_points, path, facts, cursors)
    rows = table(found.points)
    export = bounded(LIMITS, run_command, path, "export", RUN)
    log = bounded(LIMITS, run_command, path, "log", RUN)
    return {
        "events": facts.versions,
        "recording s": facts.seconds,
        "journal MB": size(path) / MEGABYTE,
        "views MB": size(views) / MEGABYTE,
        "views by journal": size(views) / size(path),
        "first catch-up s": caught.seconds,
        "first catch-up, memory MB": caught.peak / MEGABYTE,
        "opening ms": found.open_seconds * 1e3,
        "first replay after opening ms": found.first_seconds * 1e3,
        "replays, memory MB": found.peak / MEGABYTE,
        "slowest by fastest third, p50": slowest_by_fastest(rows, "p50 ms"),
        "slowest by fastest third, p99": slowest_by_fastest(rows, "p99 ms"),
        "export s": export.seconds,
        "export, memory MB": export.peak / MEGABYTE,
        "log s": log.seconds,
        "log, memory MB": log.peak / MEGABYTE,
    }, rows


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--records", type=int, default=1_000_000, help="records of the run")
    parser.add_argument("--checkpoints", type=int, default=20_000, help="its checkpoints")
    parser.add_argument("--cursors", type=int, default=1000, help="replays to random cursors")
    parser.add_argument("--seed", type=int, default=7, help="of the run and of the cursors")
    parser.add_argument("--db", type=Path, help="keep the run in this file, or use it again")
    chosen = parser.parse_args()
    if chosen.records < FEWEST * chosen.checkpoints:
        parser.error(f"--records: at least {FEWEST} for each checkpoint")
    shape = Shape(chosen.records, chosen.checkpoints, chosen.seed)
    if chosen.db and chosen.db.exists() and facts_of(chosen.db, shape) is None:
        parser.error(f"--db: {chosen.db} is there, and holds no such run recorded here")
    with tempfile.TemporaryDirectory() as folder:
        measured, rows = measure(chosen.db or Path(folder) / "runs.db", shape, chosen.cursors)
    show("points", rows, as_json=chosen.json, measured=measured)


if __name__ == "__main__":
    main()
