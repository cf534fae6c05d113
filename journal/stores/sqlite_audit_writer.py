"""Taking in audit rows, within one transaction of the views file."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from journal.ids import Position
from journal.stores.audit import AuditRow, RunFacts
from journal.stores.sqlite_audit_facts import PUT_RUN, names_in_facts, packed_facts, traces_of
from journal.stores.sqlite_audit_names import Names, batches, listed
from journal.stores.sqlite_audit_pages import (
    APPLICATION,
    must_not_be_newer,
    read_facts,
    state_of,
)
from journal.stores.sqlite_audit_rows import PARTS, PUT_ROW, names_in_row, packed_row
from journal.stores.sqlite_audit_search import clear_texts, put_texts, remove_texts
from journal.stores.sqlite_audit_used import NAMES, USING, put_sums, remove_sums, sums_of
from journal.stores.sqlite_audit_values import bindable, check, checksum
from journal.stores.sqlite_errors import ENGINE_ERRORS
from journal.stores.sqlite_views_connection import unusable
from journal.stores.sqlite_views_recorder import ViewRecorder

_PUT_TRACE = "INSERT INTO audit_traces VALUES (?, ?)"
_DROP_TRACE = "DELETE FROM audit_traces WHERE run_id = ? AND trace_id = ?"
_TRACES = "SELECT run_id, trace_id FROM audit_traces WHERE run_id IN ({})"
_LAST_RUN = "SELECT run_id FROM audit_runs ORDER BY position DESC LIMIT 1"
_PUT_DAMAGE = "INSERT OR REPLACE INTO audit_damage VALUES (?, ?, ?)"
_PUT_STATE = "INSERT OR REPLACE INTO audit_state VALUES (1, ?, ?)"
# An empty text has no words that were taken in.
_TEXTS_OF_RUN = """
    SELECT key, text FROM audit_rows WHERE run_id = ? AND version <= ? AND text <> ''
"""
_REMOVE = "DELETE FROM audit_rows WHERE run_id = ? AND version <= ?"
_ALL = ("audit_rows", "audit_used", "audit_runs", "audit_traces", "audit_damage", "audit_names")


class SQLiteAuditWriter:
    """An `AuditWriter` within a transaction of the caller."""

    def __init__(
        self, recorder: ViewRecorder, revision: int, connection: sqlite3.Connection
    ) -> None:
        self._recorder = recorder
        self._revision = revision
        self._connection = connection
        self._names = Names()
        with _explained():
            self._state = state_of(connection)
        must_not_be_newer(self._state, revision)

    def tracked(self) -> Position:
        """Tell the position up to which the rows take the journal in."""
        return self._state.tracked if self._is_ours() else Position(0)

    def facts(self, run_ids: Collection[str]) -> Mapping[str, RunFacts]:
        """Give the facts of those of these runs that are known."""
        if not (self._is_ours() and run_ids):
            return {}
        with _explained():
            self._names.find(self._connection, run_ids)
            keys = {self._names.key(each) for each in run_ids}
            found = read_facts(self._connection, self._names, keys - {-1})
        return {each.run_id: each for each in found.values()}

    def last_run(self) -> RunFacts | None:
        """Give the facts of the run whose event was taken in last."""
        if not self._is_ours():
            return None
        with _explained():
            keys = {key for [key] in self._connection.execute(_LAST_RUN)}
            found = read_facts(self._connection, self._names, keys)
        return next(iter(found.values()), None)

    def put(self, rows: Iterable[AuditRow], facts: Iterable[RunFacts], upto: Position) -> None:
        """Store new rows and the facts of runs, in place of those before; and the position.

        Raises:
            ValueError: a row is of no event that is new, or they are not in order.
        """
        new, runs = list(rows), list(facts)
        self._must_be_new(new, upto)
        with _explained():
            self._make_ours()
            traces = {run.run_id: traces_of(run) for run in runs}
            self._names.make(self._connection, _names_in(new, runs, traces.values()))
            keys = self._names.keys
            stored = [packed_row(row, keys) for row in new]
            self._connection.executemany(PUT_ROW, map(bindable, stored))
            put_sums(self._connection, sums_of(stored, keys))
            texts = ((row[0], each.text) for row, each in zip(stored, new, strict=True))
            put_texts(self._connection, ((key, text) for key, text in texts if text))
            packed = (bindable(packed_facts(run, keys)) for run in runs)
            self._connection.executemany(PUT_RUN, packed)
            self._put_traces(traces)
            self._recorder.put_position(self._connection, APPLICATION, upto)
        self._state = self._state._replace(tracked=upto)

    def note_damage(self, position: Position, reason: str) -> None:
        """Remember that an event could not be read, and was passed over."""
        with _explained():
            self._make_ours()
            values = position, reason, checksum((position, reason))
            self._connection.execute(_PUT_DAMAGE, values)

    def remove(self, run_id: str, upto: int) -> None:
        """Remove a run's rows up to a version."""
        if not self._is_ours():
            return
        with _explained():
            self._names.find(self._connection, [run_id, *NAMES])
            run = self._names.key(run_id)
            which = run, upto
            remove_texts(self._connection, self._connection.execute(_TEXTS_OF_RUN, which))
            self._connection.execute(_REMOVE, which)
            remove_sums(self._connection, run)
            keys = self._names.keys
            left = self._connection.execute(USING, (run, keys.get(NAMES[0]))).fetchall()
            for row in left:
                check("audit_rows", row)
            put_sums(self._connection, sums_of(left, keys))
            self._put_state(self._state.generation + 1)

    def clear(self) -> None:
        """Remove everything."""
        with _explained():
            clear_texts(self._connection)
            for table in _ALL:
                self._connection.execute(f"DELETE FROM {table}")
            self._recorder.drop_position(self._connection, APPLICATION)
            self._put_state(self._state.generation + 1)
        self._names = Names()
        self._state = self._state._replace(tracked=Position(0))

    def _is_ours(self) -> bool:
        return self._state.revision == self._revision

    def _make_ours(self) -> None:
        if not self._is_ours():
            self.clear()

    def _put_state(self, generation: int) -> None:
        self._connection.execute(_PUT_STATE, (self._revision, generation))
        self._state = self._state._replace(revision=self._revision, generation=generation)

    def _must_be_new(self, rows: Sequence[AuditRow], upto: Position) -> None:
        tracked = self.tracked()
        if upto < tracked:
            raise ValueError(f"rows take the journal in up to {tracked}, not only {upto}")
        last = int(tracked), PARTS
        for row in rows:
            place = row.position, row.part
            if place <= last or row.position > upto:
                raise ValueError(f"row {place} does not follow {last} up to {upto}")
            last = place

    def _put_traces(self, traces: Mapping[str, Sequence[str]]) -> None:
        keys = self._names.key
        wanted = {(keys(run), keys(trace)) for run, each in traces.items() for trace in each}
        there: set[tuple[int, int]] = set()
        for batch in batches([keys(run) for run in traces]):
            there.update(self._connection.execute(listed(_TRACES, len(batch)), batch))
        self._connection.executemany(_DROP_TRACE, there - wanted)
        self._connection.executemany(_PUT_TRACE, wanted - there)


@contextmanager
def _explained() -> Iterator[None]:
    """Say that nothing can be stored, after an error of SQLite."""
    try:
        yield
    except ENGINE_ERRORS as error:
        raise unusable(error) from error


def _names_in(
    rows: Sequence[AuditRow], runs: Sequence[RunFacts], traces: Iterable[Sequence[str]]
) -> set[str]:
    found: set[str | None] = set()
    found.update(*map(names_in_row, rows), *map(names_in_facts, runs), *traces)
    return {name for name in found if name is not None}
