"""Appending stream records, against raw sqlite3 and the library's recorder as shipped.

    python benchmarks/append.py [--mode threads:64] [--size 300] [--durability full] [--quick]

`raw` inserts the same JSON, as it is handed in, into the journal's own schema with its guards:
one writer, as many rows a transaction. `library` is the library's recorder with the same
callers; it always syncs. Every figure is the median of several runs, of which each goes
through all writers; latencies are of all runs together. Bytes on disk are those of the closed
file above an empty one's, the opening of the runs included.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import callers
from callers import Outcome
from crew import Crew, Job
from records import SIZES, Records, join, make
from report import Row, arguments, show
from writers import DURABILITIES, sync_ms, writer

NAMES = ("raw", "library", "journal, dicts", "journal, bytes")

MODES = {
    "single": {1: 600},
    "batch": {10: 2000, 100: 5000, 1000: 8000},
    "threads": {1: 400, 8: 800, 64: 1280},
    "tasks": {1: 400, 8: 800, 64: 1280, 512: 2048},
    "processes": {1: 500, 2: 1000, 4: 2000},
}
"""By mode and by how many (records a commit, callers): records appended in one run."""

ONE_WRITER = 600
"""Records that `raw` appends singly, where it stands for many callers."""

AIMS = {
    "single:1": (0.85, 0.85, "raw"),
    "batch:100": (0.5, 0.7, "raw"),
    "batch:1000": (0.5, 0.7, "raw"),
    "threads:64": (5.0, 5.0, "library"),
    "tasks:64": (5.0, 5.0, "library"),
}
"""The project's aims under full durability: times what for dicts, for bytes, and of what."""


class Case(NamedTuple):
    """One line of the table but for its writer."""

    mode: str
    many: int
    size: int
    durability: str
    records: int

    @property
    def callers(self) -> int:
        """Number of callers, each with a run of its own."""
        return 1 if self.mode in {"single", "batch"} else self.many

    @property
    def batch(self) -> int:
        """Records a commit."""
        return self.many if self.mode == "batch" else 1


def cases(chosen: argparse.Namespace) -> Iterator[Case]:
    """Give what the options choose."""
    for (mode, sizes), size, durability in product(
        MODES.items(), chosen.size or SIZES, chosen.durability or DURABILITIES
    ):
        for many, records in sizes.items():
            if not chosen.mode or {mode, f"{mode}:{many}"} & set(chosen.mode):
                few = max(many, records // 10)
                yield Case(mode, many, size, durability, few if chosen.quick else records)


def run(case: Case, name: str, path: Path, records: list[Records], crew: Crew) -> Outcome:
    """Measure one writer once, on a new file."""
    if case.mode in {"single", "batch"}:
        return callers.one(writer(name, case.durability), path, records[0], case.batch)
    if name == "raw":
        few = join(records, ONE_WRITER)
        return callers.one(writer(name, case.durability), path, few, 1)
    if case.mode == "threads":
        return callers.threads(writer(name, case.durability), path, records)
    if case.mode == "tasks":
        return callers.tasks(name, case.durability, path, records)
    jobs = [
        Job(name, case.durability, path, number, case.size, len(some.dicts))
        for number, some in enumerate(records)
    ]
    return callers.processes(crew, jobs)


def measure(case: Case, folder: Path, repeat: int, crew: Crew) -> Iterator[Row]:
    """Measure all writers, in turns, so that what disturbs one disturbs all."""
    each = case.records // case.callers
    records = [make(each, case.size, seed) for seed in range(case.callers)]
    # What is handed in was there before: collecting garbage should not look at it again.
    gc.collect()
    gc.freeze()
    outcomes: dict[str, list[Outcome]] = {name: [] for name in NAMES}
    for _ in range(repeat):
        for name in NAMES:
            with tempfile.TemporaryDirectory(dir=folder) as own:
                outcomes[name].append(run(case, name, Path(own) / "runs.db", records, crew))
    with tempfile.TemporaryDirectory(dir=folder) as own:
        empty = {name: callers.empty_file(name, Path(own) / name) for name in NAMES}
    rates = {
        name: statistics.median(o.events / o.seconds for o in outcomes[name]) for name in NAMES
    }
    content = sum(some.size for some in records) / (each * case.callers)
    for name in NAMES:
        latencies = sorted(taken for one in outcomes[name] for taken in one.latencies)
        disk = statistics.median((o.disk - empty[name]) / o.events for o in outcomes[name])
        row: Row = {
            "mode": f"{case.mode}:{case.many}",
            "bytes": round(content),
            "durability": case.durability,
            "writer": name,
            "events/s": round(rates[name]),
            "x raw": rates[name] / rates["raw"],
            "x library": rates[name] / rates["library"],
            "p50 ms": latencies[len(latencies) // 2] * 1000,
            "p99 ms": latencies[len(latencies) * 99 // 100] * 1000,
            "max ms": latencies[-1] * 1000,
            "open ms": max(one.opening for one in outcomes[name]) * 1000,
            "failures": sum(one.failures for one in outcomes[name]),
            "disk bytes": round(disk),
            "disk x": disk / content,
        }
        yield row | {"aim": aim(case, name, row)}


def aim(case: Case, name: str, row: Row) -> str:
    """Say whether the line reaches what the project aims at; empty where it has no aim."""
    if not name.startswith("journal") or case.durability != "full":
        return ""
    key = f"{case.mode}:{case.many}"
    if case.mode == "processes":
        return f"max below 100 ms: {_yes(row['max ms'] < 100 and not row['failures'])}"
    if key not in AIMS:
        return ""
    dicts, texts, reference = AIMS[key]
    wanted = dicts if name.endswith("dicts") else texts
    return f">= {wanted} x {reference}: {_yes(row[f'x {reference}'] >= wanted)}"


def _yes(reached: Any) -> str:
    return "yes" if reached else "no"


def main() -> None:
    """Run and print."""
    parser = arguments(__doc__.splitlines()[0])
    known = [*MODES, *(f"{mode}:{many}" for mode, sizes in MODES.items() for many in sizes)]
    parser.add_argument(
        "--mode", action="append", choices=known, metavar="MODE", help=", ".join(known)
    )
    parser.add_argument(
        "--size", action="append", type=int, choices=SIZES, help="bytes of a record"
    )
    parser.add_argument("--durability", action="append", choices=DURABILITIES)
    parser.add_argument(
        "--folder", type=Path, help="where the files are made: on the disk to measure"
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the records, once")
    parser.set_defaults(repeat=3)
    chosen = parser.parse_args()
    repeat = 1 if chosen.quick else chosen.repeat
    rows: list[Row] = []
    with (
        tempfile.TemporaryDirectory(dir=chosen.folder) as name,
        Crew(max(MODES["processes"])) as crew,
    ):
        sync = sync_ms(Path(name))
        for case in cases(chosen):
            rows += measure(case, Path(name), repeat, crew)
    show("append", rows, as_json=chosen.json, measured={"sync of 4 KB, ms": sync})


if __name__ == "__main__":
    main()
