"""The journal beside what else keeps an agent's states: bytes, times and memory.

    python benchmarks/peers.py [--steps 50,100,200,500,1000] [--bytes 2000] [--system NAME]
                               [--limit-seconds 300] [--limit-mb 6000] [--folder DIR] [--json]

One run of N tool steps, each with different text as result, and a state after each thing
that happens. LangGraph runs a graph with its `SqliteSaver`, read through the graph as
documented and, cheaper, through the saver; `delta` is its beta `DeltaChannel`. Starweaver
runs an agent with its `SqliteSessionStore`. The journal keeps the same runs. All of them
sync every commit. Every recording and every reading has a process of its own.

`disk` is all files after closing, `after reading` with what readers left beside them.
States are read at 10, 50 and 90 % of all, `first` the first time and then the median of
several; `parse` is orjson.loads of that answer. `history` reads every state once, and MB is
the resident memory it takes at most. What goes over a limit is left out, and is not tried
with more steps. Needs pip install 'runjournal[bench]'.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import groupby
from math import log
from pathlib import Path
from typing import Any

from bounded import Limits, NotDone, bounded
from peer_systems import PARTS, SYSTEMS, read_history, read_points, record
from report import Row, arguments, show

PACKAGES = ("langgraph", "langgraph-checkpoint-sqlite", "starweaver", "runjournal")
GRAPH, AGENT = "journal, langgraph's run", "journal, starweaver's run"
MEGABYTE = 1e6


class Peers:
    """Measures systems, the shortest runs first, and remembers what could not be done."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self._chosen = chosen
        self._limits = Limits(chosen.limit_seconds, chosen.limit_mb)
        self._not_done: dict[tuple[Any, ...], str] = {}

    def rows(self, steps: int, folder: Path) -> Iterator[Row]:
        """Measure one length of the run, giving a row for each system."""
        names = [name for name in SYSTEMS if name in (self._chosen.system or SYSTEMS)]
        for _, group in groupby(names, key=lambda name: SYSTEMS[name][:2]):
            with tempfile.TemporaryDirectory(dir=folder) as own:
                yield from self._recorded(list(group), steps, Path(own) / "runs.db")

    def _recorded(self, names: list[str], steps: int, path: Path) -> Iterator[Row]:
        problems: list[str] = []
        chosen = self._chosen
        seconds = self._try(problems, record, names[0], path, steps, chosen.bytes)
        disk = None if seconds is None else _size(path)
        for name in names:
            row: Row = {"system": name, "steps": steps, "states": None}
            row |= {"record s": seconds, "disk MB": disk}
            noted = problems.copy()
            points = history = None
            if seconds is not None:
                points = self._try(noted, read_points, name, path, chosen.repeat)
                history = self._try(noted, read_history, name, path, steps)
            row["after reading MB"] = None if disk is None else _size(path)
            for at, part in enumerate(PARTS):
                row[f"{part:.0%} ms"] = points and points[at].median * 1000
            row["first ms"] = points and points[-1].first * 1000
            row["parse ms"] = points and points[-1].parse * 1000
            row["x parse"] = points and points[-1].median / points[-1].parse
            row["history s"] = history and history.seconds
            row["history MB"] = history and history.peak / MEGABYTE
            row["states"] = history and history.states
            yield row | {"not run": "; ".join(noted)}

    def _try(self, problems: list[str], work: Callable[..., Any], name: str, *args: Any) -> Any:
        """Measure, or note why not."""
        key = work.__name__, name
        if key not in self._not_done:
            try:
                return bounded(self._limits, work, name, *args)
            except NotDone as why:
                self._not_done[key] = f"{work.__name__} {why}"
        problems.append(self._not_done[key])
        return None


def _size(path: Path) -> float:
    return sum(part.stat().st_size for part in path.parent.glob(path.name + "*")) / MEGABYTE


def exponents(rows: list[Row]) -> dict[str, float]:
    """Fit how the disk grows with the steps: least squares of the logarithms."""
    found = {}
    for name in SYSTEMS:
        measured = [row for row in rows if row["system"] == name and row["disk MB"] is not None]
        if len(measured) > 1:
            fit = statistics.linear_regression(
                [log(row["steps"]) for row in measured], [log(row["disk MB"]) for row in measured]
            )
            found[name] = fit.slope
    return found


def aims(rows: list[Row], growth: dict[str, float]) -> Iterator[str]:
    """Say which of the project's aims are reached, as far as they were measured."""
    by_name = {(row["system"], row["steps"]): row for row in rows}

    def ratio(column: str, steps: int, ours: str, theirs: str) -> float | None:
        one, other = by_name.get((ours, steps)), by_name.get((theirs, steps))
        if one is None or other is None or one[column] is None or other[column] is None:
            return None
        return float(one[column] / other[column])

    wanted = [
        ("disk MB", 500, GRAPH, "langgraph", 0.01),
        ("disk MB", 100, AGENT, "starweaver", 0.02),
        ("90% ms", 500, GRAPH, "langgraph", 1.0),
        ("90% ms", 500, GRAPH, "langgraph saver", 1.0),
        ("history s", 500, GRAPH, "langgraph", 0.2),
        ("history s", 500, GRAPH, "langgraph saver", 0.2),
        ("history MB", 500, GRAPH, "langgraph", 0.2),
        ("history MB", 500, GRAPH, "langgraph saver", 0.2),
    ]
    for column, steps, ours, theirs, most in wanted:
        reached = ratio(column, steps, ours, theirs)
        if reached is not None:
            what = f"{ours}, {steps} steps: {column} by that of {theirs}"
            yield f"{what}: {reached:.4f}, wanted {most}: {_yes(reached <= most)}"
    for name in (GRAPH, AGENT):
        if name in growth:
            reached = growth[name]
            yield f"{name}: growth of disk {reached:.2f}, wanted 1.05: {_yes(reached <= 1.05)}"
        slowest = max((row["x parse"] or 0 for row in rows if row["system"] == name), default=0)
        if slowest:
            yield f"{name}: read at 90% by parse {slowest:.1f}, wanted 3: {_yes(slowest <= 3)}"


def _yes(reached: bool) -> str:  # noqa: FBT001 - the only thing said
    return "yes" if reached else "no"


def main() -> None:
    """Run and print."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--steps", default="50,100,200,500,1000", help="numbers, with commas")
    parser.add_argument("--bytes", type=int, default=2000, help="bytes of one tool result")
    parser.add_argument("--system", action="append", choices=SYSTEMS, help="only this; again")
    parser.add_argument(
        "--limit-seconds", type=float, default=300, help="for one recording or reading"
    )
    parser.add_argument("--limit-mb", type=float, default=6000, help="of memory, for the same")
    parser.add_argument("--folder", type=Path, help="where the files are made")
    chosen = parser.parse_args()
    peers = Peers(chosen)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        for steps in sorted(map(int, chosen.steps.split(","))):
            for row in peers.rows(steps, Path(folder)):
                rows.append(row)
                print(f"{row['system']}, {steps} steps", file=sys.stderr)
    growth = exponents(rows)
    measured = {package: version(package) for package in PACKAGES}
    measured |= {f"growth of disk, {name}": slope for name, slope in growth.items()}
    show("peers", rows, as_json=chosen.json, measured=measured, aims=list(aims(rows, growth)))


if __name__ == "__main__":
    main()
