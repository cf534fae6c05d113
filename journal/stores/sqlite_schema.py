"""The schema of the journal file: written once, and compared at every open."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from importlib import resources
from uuid import uuid4

from journal.errors import GuardsMissing, NewerFormat, NotAJournal

APPLICATION_ID = 0x52756E4A
"""`RunJ`; where SQLite files say whose they are."""

FORMAT = 1
"""Newest format this version reads and writes; stands in the file's user_version."""

_OBJECTS = "SELECT type, name, sql FROM sqlite_schema WHERE substr(name, 1, 7) <> 'sqlite_'"


def is_blank(connection: sqlite3.Connection) -> bool:
    """Tell whether the database holds nothing yet, not even whose it is."""
    return not _application_id(connection) and not connection.execute(_OBJECTS).fetchall()


def create(connection: sqlite3.Connection) -> None:
    """Write the schema, within the caller's transaction."""
    for statement in _statements():
        connection.execute(statement)
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)",
        [
            ("journal", str(uuid4())),
            ("created", time.time_ns() // 1000),
            ("format", FORMAT),
        ],
    )


def check(connection: sqlite3.Connection, location: str) -> None:
    """Compare what the file says of itself with the packaged schema.

    Raises:
        NotAJournal: it is blank, or another program's.
        NewerFormat: a newer version wrote it.
        GuardsMissing: a table, index or trigger is missing, changed, or not the journal's.
    """
    if is_blank(connection):
        raise NotAJournal(location, "the file is empty")
    owner = _application_id(connection)
    if owner != APPLICATION_ID:
        raise NotAJournal(location, f"an SQLite database of another program (id {owner})")
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > FORMAT:
        raise NewerFormat(location, found, FORMAT)
    if found < 1:
        raise NotAJournal(location, f"format {found} does not exist")
    there = _objects(connection)
    wanted = _wanted()
    differing = {key for key in there.keys() | wanted.keys() if there.get(key) != wanted.get(key)}
    if differing:
        raise GuardsMissing(
            location, ", ".join(sorted(f"{kind} {name}" for kind, name in differing))
        )


def _application_id(connection: sqlite3.Connection) -> int:
    number: int = connection.execute("PRAGMA application_id").fetchone()[0]
    return number


def _objects(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    return {(kind, name): sql for kind, name, sql in connection.execute(_OBJECTS).fetchall()}


@cache
def _wanted() -> dict[tuple[str, str], str]:
    # SQLite itself says how it stores the text of each statement.
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in _statements():
            connection.execute(statement)
        return _objects(connection)


def _statements() -> Iterator[str]:
    text = resources.files("journal.stores").joinpath("sqlite_schema.sql").read_text("utf-8")
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
