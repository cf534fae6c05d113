"""Questions across all runs of a journal: live, archived, and beside what others do.

    python benchmarks/audit.py [--events 2000000] [--runs 40000] [--db FILE] [--asked 20]
                               [--no-peers] [--folder DIR] [--repeat 5] [--json]

The journal is made (see `audit_journal.py`), or copied from --db. Its rows are built, then all
of it is asked six questions: live, with its first half archived (`mixed`), and from an archive
of all of it alone. The same are asked of SQLite over the event sourcing library's table, by
json_extract, with its primary key only and with indexes on expressions, and of DuckDB over
zstd JSON lines, a file a day. What is asked about is chosen at random: --asked different tools
with days, traces, phrases of three words, and runs.

Every question has a process of its own. `first` is its first answer with the files out of the
system's cache, without the time of opening them; p50 and p95 are of the others, and `x` is the
p50 by that of the live answer. `found` counts what the first answers held: the others know
nothing of what is recorded twice, so theirs are about the same. `same` compares the audit's
answers to the live ones, byte by byte. MB is the most memory that the process held.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import audit_parts as parts
from audit_journal import Shape, record
from audit_parts import Answered, Built, Places, places
from audit_peers import size
from audit_questions import QUESTIONS, Asked, find_asked
from bounded import Limits, NotDone, bounded
from points import quantile
from report import Row, arguments, show

MEGABYTE = 1e6
LIMITS = Limits(seconds=7200, megabytes=16_000)
LIVE_AIMS = dict(zip(QUESTIONS, (20, 20, 20, 20, 50, 400), strict=True))
ARCHIVED_AIMS = dict(zip(QUESTIONS, (100, 50, 1500, 50, 250, 250), strict=True))
MOST_MEGABYTES = 300
LAGS = (1000, 10_000)

Ask = Callable[[Places, str, Asked, int], Answered]


class Benchmark:
    """Measures one journal."""

    def __init__(self, where: Places, asked: Asked, repeat: int) -> None:
        self._where, self._asked, self._repeat = where, asked, repeat
        self._live: dict[str, Answered] = {}
        self.rows: list[Row] = []
        self.measured: dict[str, float | str] = {}

    def build(self) -> None:
        """Take in the journal."""
        built = self._done("first catch-up", parts.catch_up_first)
        self.measured["catch-up events/s"] = built.events / built.seconds
        self.measured["catch-up, memory MB"] = built.peak / MEGABYTE
        files = self._where.journal.parent.glob(self._where.journal.name + "*")
        sizes = {path.name: path.stat().st_size for path in files}
        views = sum(count for name, count in sizes.items() if ".views" in name)
        journal = sum(sizes.values()) - views
        self.measured["events"] = built.events
        self.measured["journal MB"] = journal / MEGABYTE
        self.measured["views MB"] = views / MEGABYTE
        self.measured["journal bytes an event"] = journal / built.events
        self.measured["views bytes an event"] = views / built.events

    def archive(self, before: int, share: str) -> Built:
        """Archive what is before a time."""
        built: Built = bounded(LIMITS, parts.write_archive, self._where, before)
        name = f"archiving {share}"
        self.measured[f"{name} events/s"] = built.events / built.seconds
        self.measured[f"{name}, memory MB"] = built.peak / MEGABYTE
        _say(f"{name}: {built.seconds:.1f} s")
        return built

    def archive_all(self) -> None:
        """Archive the rest, and say how large all of it is."""
        self.archive(parts.FOREVER, "the rest")
        folder, measured = self._where.archive, self.measured
        events = float(measured["events"])
        for kind in ("events", "rows", "runs", "segments"):
            found = size(path for path in (folder / kind).rglob("*") if path.is_file())
            measured[f"archive, {kind} MB"] = found / MEGABYTE
        whole = size(path for path in folder.rglob("*") if path.is_file())
        live = float(measured["journal MB"]) + float(measured["views MB"])
        measured["archive bytes an event"] = whole / events
        measured["archive by journal and views"] = whole / MEGABYTE / live

    def lag(self) -> None:
        """Ask after new events."""
        for each in bounded(LIMITS, parts.lag, self._where, LAGS):
            self.measured[f"answer after {each.events} new events, ms"] = each.seconds * 1e3

    def peers(self) -> None:
        """Make the files of the others."""
        where = self._where
        for name, work, files in (
            ("library table", parts.write_plain, lambda: [where.table]),
            ("indexed table", parts.write_indexed, lambda: [where.indexed]),
            ("JSON lines", parts.write_json_lines, lambda: list(where.lines.iterdir())),
        ):
            built = self._done(name, work)
            self.measured[f"{name}, made in s"] = built.seconds
            self.measured[f"{name} MB"] = size(files()) / MEGABYTE

    def _done(self, name: str, work: Callable[[Places], Built]) -> Built:
        built: Built = bounded(LIMITS, work, self._where)
        _say(f"{name}: {built.seconds:.1f} s")
        return built

    def ask(self, system: str, ask: Ask) -> None:
        """Ask all six."""
        for name in QUESTIONS:
            row: Row = {"question": name, "of": system}
            try:
                answered = bounded(LIMITS, ask, self._where, name, self._asked, self._repeat)
            except NotDone as why:
                _say(f"{system}, {name}: {why}")
                self.rows.append({**row, **dict.fromkeys(_COLUMNS)})
                continue
            live = self._live.setdefault(name, answered)
            self.rows.append(row | _columns(answered, live))
            _say(f"{system}, {name}: {self.rows[-1]['p50 ms']:.1f} ms")


_COLUMNS = ("found", "open ms", "first ms", "p50 ms", "p95 ms", "x", "same", "MB")


def _columns(answered: Answered, live: Answered) -> Row:
    median = statistics.median(answered.warm)
    same = "yes" if answered.digest == live.digest else "NO"
    values = (
        answered.found,
        answered.opening * 1e3,
        answered.first * 1e3,
        median * 1e3,
        quantile(answered.warm, 0.95) * 1e3,
        median / statistics.median(live.warm),
        same if answered.digest else None,
        answered.peak / MEGABYTE,
    )
    return dict(zip(_COLUMNS, values, strict=True))


def aims(measured: dict[str, Any], rows: list[Row]) -> Iterator[str]:
    """Say which of the project's aims are reached."""
    most = max((row["MB"] or 0 for row in rows if row["same"] is not None), default=0)
    wanted: list[tuple[str, float, float]] = [
        (f"{row['of']}, {row['question']}: p50 ms", row["p50 ms"], -limits[row["question"]])
        for of, limits in (("live", LIVE_AIMS), ("archived", ARCHIVED_AIMS))
        for row in rows
        if row["of"] == of and row["p50 ms"] is not None
    ]
    wanted += [
        ("memory of a question, MB", most, -MOST_MEGABYTES),
        ("first catch-up, memory MB", measured["catch-up, memory MB"], -MOST_MEGABYTES),
        ("archiving, memory MB", measured["archiving the rest, memory MB"], -MOST_MEGABYTES),
        ("archive, bytes an event", measured["archive bytes an event"], -150),
        ("archive by journal and views", measured["archive by journal and views"], -1 / 7),
        ("archiving, events/s", measured["archiving the rest events/s"], 60_000),
        ("catch-up, events/s", measured["catch-up events/s"], 30_000),
    ]
    for what, reached, limit in wanted:
        within = reached <= -limit if limit < 0 else reached >= limit
        bound = "at most" if limit < 0 else "at least"
        yes = "yes" if within else "no"
        yield f"{what} {reached:,.2f}, wanted {bound} {abs(limit):,.2f}: {yes}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def prepare(chosen: argparse.Namespace, where: Places) -> None:
    """Make the journal, or copy it."""
    if chosen.db is not None:
        shutil.copy(chosen.db, where.journal)
    else:
        record(where.journal, Shape(chosen.events, chosen.runs))


def measure(chosen: argparse.Namespace, folder: Path) -> Benchmark:
    """Measure everything."""
    where = places(folder)
    prepare(chosen, where)
    asked = find_asked(where.journal, chosen.asked, seed=7)
    benchmark = Benchmark(where, asked, chosen.repeat)
    benchmark.build()
    benchmark.ask("live", parts.ask_live)
    benchmark.archive(parts.middle(where), "a half")
    benchmark.ask("mixed", parts.ask_mixed)
    benchmark.archive_all()
    benchmark.ask("archived", parts.ask_archived)
    if chosen.peers:
        benchmark.peers()
        benchmark.ask("library table", parts.ask_table)
        benchmark.ask("indexed table", parts.ask_indexed)
        benchmark.ask("JSON lines", parts.ask_lines)
    benchmark.lag()
    return benchmark


def main() -> None:
    """Run and print."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=Shape().events, help="of the journal")
    parser.add_argument("--runs", type=int, default=Shape().runs, help="of the journal")
    parser.add_argument("--db", type=Path, help="measure a copy of this journal")
    parser.add_argument("--asked", type=int, default=20, help="different things to ask about")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="only the audit")
    parser.add_argument("--folder", type=Path, help="a new folder, to keep what is made")
    chosen = parser.parse_args()
    if chosen.folder is not None:
        chosen.folder.mkdir(parents=True)
        found = measure(chosen, chosen.folder)
    else:
        with tempfile.TemporaryDirectory() as folder:
            found = measure(chosen, Path(folder))
    said = list(aims(found.measured, found.rows))
    show("audit", found.rows, as_json=chosen.json, measured=found.measured, aims=said)


if __name__ == "__main__":
    main()
