"""One state of the audit rows, read in pages: each is a short transaction of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from journal.ids import Position
from journal.stores.audit import AuditRow, RunFacts
from journal.stores.sqlite_audit_facts import RUN_STORED, keys_in_facts, unpacked_facts
from journal.stores.sqlite_audit_names import Names, SharedNames, batches, listed
from journal.stores.sqlite_audit_rows import (
    ROW_STORED,
    after_key,
    keys_in_row,
    last_key,
    row_key,
    unpacked_row,
)
from journal.stores.sqlite_audit_values import check, damaged
from journal.stores.sqlite_errors import ENGINE_ERRORS
from journal.stores.sqlite_views_connection import unusable
from journal.stores.sqlite_views_recorder import ViewRecorder
from journal.stores.views import AUDIT, ViewsUnusable

APPLICATION = "audit"
"""The name of the rows' tracking position."""

COLUMNS = ", ".join(f"r.{name}" for name in ROW_STORED)
ROWS = f"SELECT {COLUMNS} FROM audit_rows AS r"
RUNS = f"SELECT {', '.join(RUN_STORED)} FROM audit_runs"
_BY_KEYS = f"{ROWS} WHERE r.key IN ({{}})"
_BY_RUNS = f"{RUNS} WHERE run_id IN ({{}})"
_STATE = """
    SELECT revision, generation, notification_id
    FROM audit_state LEFT JOIN tracking ON application_name = ?
"""


class State(NamedTuple):
    """What the rows are, all together."""

    revision: int
    """Of the code that made them; 0 where there are none."""
    generation: int
    """Rises whenever rows are removed."""
    tracked: Position


def state_of(connection: sqlite3.Connection) -> State:
    """Read what the rows are."""
    row = connection.execute(_STATE, (APPLICATION,)).fetchone()
    if row is None:
        return State(0, 0, Position(0))
    return State(row[0], row[1], Position(row[2] or 0))


class Pages:
    """Reads what was stored when it was made: rows up to the tracking position of then.

    Facts are as they are at each page.

    Raises:
        ViewsUnusable: rows were removed since then, also from within every method.
    """

    def __init__(
        self, recorder: ViewRecorder, revision: int, after: Position, known: SharedNames
    ) -> None:
        self._datastore = recorder.datastore
        with self._transaction() as connection:
            self._state = state_of(connection)
            self.names = known.of(connection, self._state.generation)
        must_not_be_newer(self._state, revision)
        self.is_ours = self._state.revision == revision
        """Whether there is anything, and of this code."""
        self.is_empty = not (self.is_ours and self._state.tracked)
        """Whether no event was taken in."""
        self.after = after_key(after)
        """Keys of rows are above this,"""
        self.upto = last_key(self._state.tracked)
        """and at most this."""

    @contextmanager
    def page(self) -> Iterator[sqlite3.Connection]:
        """Read in one transaction."""
        with self._transaction() as connection:
            now = state_of(connection)
            if (now.revision, now.generation) != self._state[:2]:
                raise ViewsUnusable(None, "rows were removed while they were read")
            yield connection

    def keys(self, names: Collection[str]) -> dict[str, int]:
        """Give the keys of names; -1 for one that no row has."""
        with self.page() as connection:
            self.names.find(connection, names)
        return {name: self.names.key(name) for name in names}

    def all(self, statement: str, *values: Any) -> list[Any]:
        """Run a statement and give what it selects."""
        with self.page() as connection:
            return connection.execute(statement, values).fetchall()

    def rows(self, statement: str, *values: Any) -> list[AuditRow]:
        """Run a statement that selects `COLUMNS`, and give the rows."""
        with self.page() as connection:
            return self.read_rows(connection, statement, values)

    def read_rows(
        self, connection: sqlite3.Connection, statement: str, values: Sequence[Any]
    ) -> list[AuditRow]:
        """Do as `rows` within a transaction."""
        stored = connection.execute(statement, values).fetchall()
        for row in stored:
            check("audit_rows", row)
        try:  # most often all names are known
            return [unpacked_row(row, self.names.names) for row in stored]
        except KeyError:
            needed = {key for row in stored for key in keys_in_row(row)}
        names = self.names.look_up(connection, needed)
        return [unpacked_row(row, names) for row in stored]

    def rows_of(self, keys: Sequence[int]) -> list[AuditRow]:
        """Give rows by their keys, in the order of the keys."""
        found: dict[int, AuditRow] = {}
        with self.page() as connection:
            for batch in batches(keys):
                for row in self.read_rows(connection, listed(_BY_KEYS, len(batch)), batch):
                    found[row_key(row.position, row.part)] = row
        for key in keys:
            if key not in found:
                raise damaged("audit_rows", f"there is no row {key}")
        return [found[key] for key in keys]

    def facts_of(self, runs: Sequence[int]) -> dict[int, RunFacts]:
        """Give the facts of runs by their keys, as far as they are known."""
        with self.page() as connection:
            return read_facts(connection, self.names, runs)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        seat = self._datastore.reader
        connection = self._datastore.begin(seat, "BEGIN")
        try:
            yield connection
        except ENGINE_ERRORS as error:
            self._datastore.end(seat, error)
            raise unusable(error) from error
        except BaseException as error:
            self._datastore.end(seat, error)
            raise
        self._datastore.end(seat, None)


def read_facts(
    connection: sqlite3.Connection, names: Names, runs: Collection[int]
) -> dict[int, RunFacts]:
    """Give the facts of runs by their keys, within a transaction."""
    stored = []
    for batch in batches(runs):
        stored += connection.execute(listed(_BY_RUNS, len(batch)), batch).fetchall()
    for row in stored:
        check("audit_runs", row)
    try:
        return {row[0]: unpacked_facts(row, names.names) for row in stored}
    except KeyError:
        needed = {key for row in stored for key in keys_in_facts(row)}
    known = names.look_up(connection, needed)
    return {row[0]: unpacked_facts(row, known) for row in stored}


def must_not_be_newer(state: State, revision: int) -> None:
    """Leave rows alone that newer code made.

    Raises:
        ViewsUnusable: these are.
    """
    if state.revision > revision:
        raise ViewsUnusable(AUDIT, "a newer runjournal made the rows of the audit")
