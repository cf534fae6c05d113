"""The names that audit rows share: each text stored once, under a number."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import Any

from journal.ids import is_text
from journal.stores.sqlite_audit_values import NamesByKey, check, checksum, damaged

BATCH = 256
"""Values that are looked up with one statement, at most. There is one for each power of two."""

_KEPT = 50_000
"""Names that are remembered at most, of those that are not in use."""

_BY_NAME = "SELECT key, name, checksum FROM audit_names WHERE name IN ({})"
_BY_KEY = "SELECT key, name, checksum FROM audit_names WHERE key IN ({})"
_PUT = "INSERT INTO audit_names VALUES (?, ?, ?)"
_LAST = "SELECT seq FROM sqlite_sequence WHERE name = 'audit_names'"


class Names:
    """Names by key and keys by name, as far as they were looked up; None stands for none.

    What is known stays true for as long as nobody removes all names.
    """

    def __init__(self) -> None:
        self.names: dict[int | None, str | None] = {None: None}
        self.keys: dict[str | None, int | None] = {None: None}
        self.sums_upto: int | None = None
        """The key up to which the sums of usage were checked; None where they never were."""

    def look_up(self, connection: sqlite3.Connection, keys: Iterable[int | None]) -> NamesByKey:
        """Learn the names of keys, and give them, perhaps with others.

        Raises:
            ViewsUnusable: one has none, or its row is damaged.
        """
        # Another thread may put another dict in its place, but takes nothing out of this one.
        names = self.names
        wanted = set(keys).difference(names)
        if not wanted:
            return names
        if len(names) > _KEPT:
            names = self.names = {None: None}
            wanted = set(keys) - {None}
        learn = len(self.keys) <= _KEPT
        for key, name in _rows(connection, _BY_KEY, wanted):
            names[key] = name
            if learn:
                self.keys[name] = key
        for missing in wanted.difference(names):
            raise damaged("audit_names", f"there is no row {missing}")
        return names

    def find(self, connection: sqlite3.Connection, names: Collection[str]) -> None:
        """Learn the keys of names, of those that have one."""
        wanted = {name for name in names if name not in self.keys and is_text(name)}
        for key, name in _rows(connection, _BY_NAME, wanted):
            self.keys[name] = key

    def make(self, connection: sqlite3.Connection, names: Collection[str]) -> None:
        """Learn the keys of names, and give one to each that has none."""
        self.find(connection, names)
        # In order, so that the same rows make the same file.
        new = sorted(name for name in names if name not in self.keys)
        if not new:
            return
        row = connection.execute(_LAST).fetchone()
        first = 1 if row is None else row[0] + 1
        keyed = list(enumerate(new, first))
        connection.executemany(_PUT, [(*each, checksum(each)) for each in keyed])
        self.keys.update((name, key) for key, name in keyed)

    def key(self, name: str) -> int:
        """Give the key of a name that was looked for; -1, which no row has, without one."""
        found = self.keys.get(name)
        return -1 if found is None else found


class SharedNames:
    """The names that all readers of a store know; safe for threads."""

    def __init__(self) -> None:
        self._known: tuple[sqlite3.Connection | None, int, Names] = None, 0, Names()

    def of(self, connection: sqlite3.Connection, generation: int) -> Names:
        """Give those of the file that a connection is to, since rows were removed last."""
        of, since, names = self._known
        if of is not connection or since != generation or len(names.keys) > _KEPT:
            names = Names()
            self._known = connection, generation, names
        return names


def batches(values: Collection[Any]) -> Iterator[list[Any]]:
    """Split values for statements: the sizes are powers of two, the last value fills up."""
    found = list(values)
    for start in range(0, len(found), BATCH):
        batch = found[start : start + BATCH]
        size = 1 << (len(batch) - 1).bit_length()
        yield batch + batch[-1:] * (size - len(batch))


@cache
def listed(statement: str, size: int, one: str = "?") -> str:
    """Put parameters for so many values into a statement, in place of `{}`."""
    return statement.format(", ".join([one] * size))


def _rows(
    connection: sqlite3.Connection, statement: str, values: Collection[Any]
) -> Iterator[tuple[int, str]]:
    for batch in batches(values):
        for row in connection.execute(listed(statement, len(batch)), batch).fetchall():
            check("audit_names", row)
            yield row[0], row[1]
