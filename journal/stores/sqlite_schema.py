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
from journal.stores.sqlite_pragmas import file_format, file_owner

APPLICATION_ID = 0x52756E4A
"""`RunJ`; where SQLite files say whose they are."""

FORMAT = 3
"""The format this version writes, and the newest it reads; the file's user_version."""

SCRIPTS = ("sqlite_schema.sql", "sqlite_schema_2.sql", "sqlite_schema_3.sql")
"""What each format changes of the one before, from format 1."""

_OBJECTS = "SELECT type, name, sql FROM sqlite_schema WHERE substr(name, 1, 7) <> 'sqlite_'"


def is_blank(connection: sqlite3.Connection) -> bool:
    """Tell whether the database holds nothing yet, not even whose it is."""
    return not file_owner(connection) and not connection.execute(_OBJECTS).fetchall()


def create(connection: sqlite3.Connection) -> None:
    """Write the schema, within the caller's transaction."""
    for statement in statements(after=0):
        connection.execute(statement)
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)",
        [
            ("journal", str(uuid4())),
            ("created", time.time_ns() // 1000),
            ("format", FORMAT),
        ],
    )


def upgrade(connection: sqlite3.Connection) -> None:
    """Bring a file of a past format to this one, within the caller's transaction.

    No row is touched: each format only adds tables, or puts a guard in place of another.
    """
    for statement in statements(after=file_format(connection)):
        connection.execute(statement)


def check(connection: sqlite3.Connection, location: str) -> int:
    """Compare what the file says of itself with the packaged schema of its format.

    Returns:
        The format.

    Raises:
        NotAJournal: it is blank, or another program's.
        NewerFormat: a newer version wrote it.
        GuardsMissing: a table, index or trigger is missing, changed, or not the journal's.
    """
    if is_blank(connection):
        raise NotAJournal(location, "the file is empty")
    owner = file_owner(connection)
    if owner != APPLICATION_ID:
        raise NotAJournal(location, f"an SQLite database of another program (id {owner})")
    found = file_format(connection)
    if found > FORMAT:
        raise NewerFormat(location, found, FORMAT)
    if found < 1:
        raise NotAJournal(location, f"format {found} does not exist")
    there = _objects(connection)
    wanted = _wanted(found)
    differing = {key for key in there.keys() | wanted.keys() if there.get(key) != wanted.get(key)}
    if differing:
        raise GuardsMissing(
            location, ", ".join(sorted(f"{kind} {name}" for kind, name in differing))
        )
    return found


def statements(*, after: int, upto: int = FORMAT) -> Iterator[str]:
    """Yield the statements that bring a file from one format to another, in order.

    Args:
        after: the format it has; 0 for a blank file.
        upto: the format it is to have.
    """
    for script in SCRIPTS[after:upto]:
        statement = ""
        text = resources.files("journal.stores").joinpath(script).read_text("utf-8")
        for line in text.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                yield statement
                statement = ""


def _objects(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    return {(kind, name): sql for kind, name, sql in connection.execute(_OBJECTS).fetchall()}


@cache
def _wanted(number: int) -> dict[tuple[str, str], str]:
    # SQLite itself says how it stores the text of each statement.
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in statements(after=0, upto=number):
            connection.execute(statement)
        return _objects(connection)
