"""The schema of the views file: written once, and compared at every open."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from enum import Enum, auto
from functools import cache
from importlib import resources
from uuid import uuid4

from journal.stores.sqlite_pragmas import file_format, file_owner

APPLICATION_ID = 0x52756E56
"""`RunV`; where SQLite files say whose they are."""

FORMAT = 2
"""The format this version writes, and the only one it reads; the file's user_version."""

_OBJECTS = "SELECT type, name, sql FROM sqlite_schema WHERE substr(name, 1, 7) <> 'sqlite_'"


class Condition(Enum):
    """What a database is to a journal."""

    BLANK = auto()
    """It holds nothing yet."""
    USABLE = auto()
    """It holds the journal's views."""
    OUTDATED = auto()
    """It holds views of another journal, or in a past format."""
    FOREIGN = auto()
    """It is another program's."""
    NEWER = auto()
    """A newer version made it."""
    CHANGED = auto()
    """It has other tables than its format."""


REASONS = {
    Condition.FOREIGN: "an SQLite database of another program",
    Condition.NEWER: f"of a newer format; this runjournal reads format {FORMAT}",
    Condition.CHANGED: "its tables are not those that runjournal makes",
}
"""Why a file in such a condition cannot be used, and is left alone."""


def condition(connection: sqlite3.Connection, journal: str | None) -> Condition:
    """Look at what a database says of itself.

    Args:
        journal: the id of the journal; None where it is not known.
    """
    there = {(kind, name): sql for kind, name, sql in connection.execute(_OBJECTS).fetchall()}
    owner, found = file_owner(connection), file_format(connection)
    if not owner and not there:
        return Condition.BLANK
    if owner != APPLICATION_ID:
        return Condition.FOREIGN
    if found > FORMAT:
        return Condition.NEWER
    if found < FORMAT:
        return Condition.OUTDATED
    if there != _wanted():
        return Condition.CHANGED
    ours = journal in {None, meta(connection, "journal")}
    return Condition.USABLE if ours else Condition.OUTDATED


def meta(connection: sqlite3.Connection, key: str) -> str | None:
    """Read what the file says of itself under a key."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def create(connection: sqlite3.Connection, journal: str) -> None:
    """Write the schema, within the caller's transaction."""
    for statement in _statements():
        connection.execute(statement)
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)", [("file", str(uuid4())), ("journal", journal)]
    )


def _statements() -> Iterator[str]:
    statement = ""
    file = resources.files("journal.stores").joinpath("sqlite_views_schema.sql")
    for line in file.read_text("utf-8").splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


@cache
def _wanted() -> dict[tuple[str, str], str]:
    # SQLite itself says how it stores the text of each statement.
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in _statements():
            connection.execute(statement)
        return {(kind, name): sql for kind, name, sql in connection.execute(_OBJECTS)}
