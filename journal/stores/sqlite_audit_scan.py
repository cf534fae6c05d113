"""The audit rows of a views file under examination: each with its checksum, names and words."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from journal.stores.sqlite_audit_facts import RUN_STORED, keys_in_facts
from journal.stores.sqlite_audit_pages import ROWS, State, state_of
from journal.stores.sqlite_audit_rows import ROW_STORED, keys_in_row
from journal.stores.sqlite_audit_search import can_be_sought, query
from journal.stores.sqlite_audit_used import NAMES, stored_sums, sums_of
from journal.stores.sqlite_audit_values import Keys, check
from journal.stores.views import ViewsUnusable
from journal.words import words

PAGE = 500
"""Rows that are read at a time; nothing is held open between two pages."""

_TEXT = ROW_STORED.index("text")
_NAMED = "SELECT count(*) FROM audit_names WHERE key IN ({})"
_HAS_WORD = "SELECT 1 FROM audit_words WHERE audit_words MATCH ? AND rowid = ?"
_NEXT_RUNS = f"""
    SELECT run_id FROM audit_runs WHERE run_id > ?
    UNION SELECT run_id FROM audit_used WHERE run_id > ?
    ORDER BY run_id LIMIT {PAGE}
"""
_OF_RUN = f"{ROWS} INDEXED BY audit_rows_by_run WHERE r.run_id = ?"
_KEYS = "SELECT key, name FROM audit_names WHERE name IN ({})"
_NO_RUN = "SELECT count(*) FROM audit_traces WHERE run_id NOT IN (SELECT run_id FROM audit_runs)"


class _Table(NamedTuple):
    name: str
    columns: Sequence[str]
    """The key first, the checksum last."""
    names: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None
    """Gives the keys of names in a row."""

    def rows(self, connection: sqlite3.Connection, after: int) -> list[tuple[Any, ...]]:
        key = self.columns[0]
        return connection.execute(
            f"SELECT {', '.join(self.columns)} FROM {self.name} WHERE {key} > ? "
            f"ORDER BY {key} LIMIT {PAGE}",
            (after,),
        ).fetchall()


TABLES = (
    _Table("audit_names", ("key", "name", "checksum"), None),
    _Table("audit_rows", ROW_STORED, keys_in_row),
    _Table("audit_runs", RUN_STORED, keys_in_facts),
    _Table("audit_damage", ("position", "reason", "checksum"), None),
)


class AuditScan:
    """What a look at every audit row came to.

    Args:
        quick: leave out whether every text is found by its longest word, and whether sums are
            those of the rows.

    Raises:
        sqlite3.Error, UnicodeDecodeError: pages of the file are damaged.
    """

    def __init__(self, connection: sqlite3.Connection, *, quick: bool) -> None:
        self._connection = connection
        self._quick = quick
        self.state: State = state_of(connection)
        """How far the rows take the journal in."""
        self.damaged: Counter[str] = Counter()
        """Damaged rows by table; in `audit_words` texts that are not found."""
        self._known: set[int] = set()

    def scan(self) -> Iterator[int]:
        """Look at every row; yields now and then how many that were."""
        done = 0
        for table in TABLES:
            after = -1
            while True:
                # One state for a page and its names and words: others may remove rows.
                self._connection.execute("BEGIN")
                try:
                    rows = table.rows(self._connection, after)
                    self._look_at(table, rows)
                finally:
                    self._connection.execute("COMMIT")
                done += len(rows)
                yield done
                # What is not in order may lead in a circle.
                if not rows or rows[-1][0] <= after:
                    break
                after = rows[-1][0]
        yield from self._scan_sums(done)
        self.damaged["audit_traces"] += self._connection.execute(_NO_RUN).fetchone()[0]
        self.damaged = +self.damaged

    def _scan_sums(self, done: int) -> Iterator[int]:
        """Check the sums of every run, and compare them with its rows; `quick` does without."""
        after = -1
        while True:
            self._connection.execute("BEGIN")
            try:
                runs = [run for (run,) in self._connection.execute(_NEXT_RUNS, (after, after))]
                found = self._connection.execute(_KEYS.format("?, ?"), NAMES)
                keys: dict[str | None, int | None] = {name: key for key, name in found}
                for run in runs:
                    self.damaged["audit_used"] += self._wrong_sums(run, keys)
            finally:
                self._connection.execute("COMMIT")
            done += len(runs)
            yield done
            if not runs or runs[-1] <= after:
                return
            after = runs[-1]

    def _wrong_sums(self, run: int, keys: Keys) -> int:
        try:
            kept = stored_sums(self._connection, [run])
        except ViewsUnusable:
            return 1
        if self._quick:
            return 0
        # All of them: a damaged one may look as if it were not to be summed.
        rows = self._connection.execute(_OF_RUN, (run,)).fetchall()
        try:
            for row in rows:
                check("audit_rows", row)
        except ViewsUnusable:
            return 0  # the rows are what is damaged
        made = sums_of(rows, keys)
        return sum(kept.get(group) != made.get(group) for group in kept.keys() | made.keys())

    def _look_at(self, table: _Table, rows: list[tuple[Any, ...]]) -> None:
        for row in rows:
            try:
                check(table.name, row)
            except ViewsUnusable:
                self.damaged[table.name] += 1
                continue
            if table.names is not None and not self._has_names(table.names(row)):
                self.damaged[table.name] += 1
            if table.names is keys_in_row and not self._quick:
                self.damaged["audit_words"] += not self._is_found(row[0], row[_TEXT])

    def _has_names(self, keys: tuple[int | None, ...]) -> bool:
        wanted = {key for key in keys if key is not None} - self._known
        if wanted:
            listed = ", ".join("?" * len(wanted))
            found = self._connection.execute(_NAMED.format(listed), tuple(wanted)).fetchone()
            if found[0] != len(wanted):
                return False
            if len(self._known) > PAGE * PAGE:
                self._known.clear()
            self._known |= wanted
        return True

    def _is_found(self, key: int, text: str | None) -> bool:
        longest = max(words(text or ""), key=len, default="")
        if not can_be_sought([longest]):
            return True
        values = query([longest]), key
        return self._connection.execute(_HAS_WORD, values).fetchone() is not None
