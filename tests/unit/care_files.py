"""Journals to back up and to examine."""

import sqlite3
from contextlib import closing

from journal import Journal
from journal.export import export_all
from journal.stores.sqlite_checksum import checksum
from tests import samples


def write_journal(path, records=300):
    """A journal of one run of session s: opened, records, five checkpoints."""
    with Journal.open(path) as journal, journal.run("r", session_id="s") as run:
        run.append_many([samples.delta(at, "x" * 50) for at in range(records)])
        for at in range(5):
            messages = [samples.user(f"question {each} " * 50) for each in range(at + 1)]
            run.checkpoint(samples.checkpoint(f"k{at}", stream_cursor=at, messages=messages))
    return path


EVENTS = 307
"""Events in it: run and session, 300 records, five checkpoints."""


def lines(path):
    with Journal.open(path, create=False) as journal:
        return list(export_all(journal.reader))


def names(directory):
    return sorted(entry.name for entry in directory.iterdir())


def behind_the_guards(path, statement, *values):
    """Change a journal file as no program of ours can, and put the guards back."""
    with closing(sqlite3.connect(path)) as db, db:
        guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            db.execute(f'DROP TRIGGER "{name}"')
        changed = db.execute(statement, values).rowcount
        for _, sql in guards:
            db.execute(sql)
    return changed


def rewrite(path, stream, version, **columns):
    """Change columns of one event, its checksum made to match."""
    with closing(sqlite3.connect(path)) as db:
        row = db.execute(
            "SELECT names.name, position, version, codec, recorded_at, identity, data "
            "FROM events JOIN streams ON streams.key = stream JOIN names ON names.code = events.name "
            "WHERE streams.name = ? AND version = ?",
            (stream, version),
        ).fetchone()
    names_of = ("name", "position", "version", "codec", "recorded_at", "identity", "data")
    row = dict(zip(names_of, row, strict=True)) | columns
    crc = checksum(stream, **row)
    behind_the_guards(
        path,
        "UPDATE events SET recorded_at = ?, codec = ?, data = ?, checksum = ? WHERE position = ?",
        *(row["recorded_at"], row["codec"], row["data"], crc, row["position"]),
    )
