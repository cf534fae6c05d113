"""What forks add to a journal's file; printed by `disk.py --forks`."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

from checkpoint import checkpoint, message
from records import answer
from report import Row
from texts import words

from journal import Journal
from journal.events import CheckpointTaken, RunForked, SessionRunAdded
from projections import CheckpointCursor, replay

GROWS = ("events", "events_by_version", "events_by_identity", "streams", "leases")
"""Tables and indexes that a fork adds to; SQLite's own index of `streams` counts there."""

_PAGES = "SELECT name, sum(pgsize) FROM dbstat GROUP BY name"
_DATA = """
    SELECT sum(length(data)) FROM events JOIN names ON names.code = events.name
    WHERE names.name = ?
"""


def write_few(path: Path, steps: int, bytes_per_result: int) -> None:
    """Write a run that has one record and one checkpoint a step."""
    texts = words(steps, bytes_per_result)
    with Journal.open(path) as journal, journal.run("run", session_id="session") as run:
        for step, text in enumerate(texts):
            run.append(answer(step, text))
            run.checkpoint(checkpoint(step, [message(at) for at in range(step + 1)]))


def measure_forks(what: str, path: Path, count: int) -> Row:
    """Fork the one run of a journal at checkpoints all along it; what that adds to the file.

    Each fork is released before the next is made, as the command `fork` does.
    """
    before, tables = path.stat().st_size, _tables(path)
    noted = _data(path, SessionRunAdded.NAME)
    with Journal.open(path, create=False) as journal:
        [run_id] = journal.reader.run_ids()
        names = (CheckpointTaken.NAME,)
        taken = [
            event.data["checkpoint_id"] for event in journal.reader.run_events(run_id, names=names)
        ]
        for at in range(count):
            cursor = CheckpointCursor(taken[at * len(taken) // count])
            journal.fork(replay(journal, run_id, at=cursor, tail=0), f"fork_{at}").release()
    added = path.stat().st_size - before
    grown = _tables(path)
    grown.subtract(tables)
    return {
        "run": what,
        "checkpoints": len(taken),
        "file bytes": before,
        "forks": count,
        "added %": 100 * added / before,
        "bytes a fork": added / count,
        **{name: grown[name] / count for name in GROWS},
        "data of run.forked": _data(path, RunForked.NAME) / count,
        "of session's note": (_data(path, SessionRunAdded.NAME) - noted) / count,
    }


def _tables(path: Path) -> Counter[str]:
    """Tell the bytes of the pages of each table and index, as far as SQLite can tell."""
    with closing(sqlite3.connect(path)) as database:
        try:
            pages = dict(database.execute(_PAGES).fetchall())
        except sqlite3.OperationalError:  # this SQLite has no dbstat
            pages = {}
    pages["streams"] = pages.get("streams", 0) + pages.get("sqlite_autoindex_streams_1", 0)
    return Counter(pages)


def _data(path: Path, name: str) -> int:
    with closing(sqlite3.connect(path)) as database:
        return int(database.execute(_DATA, (name,)).fetchone()[0] or 0)
