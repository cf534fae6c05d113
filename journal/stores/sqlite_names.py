"""The stored names of events, and the codes that stand for them in the rows of one file."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence

from journal.stores.sqlite_datastore import EventDatastore


class SQLiteNames:
    """The names of one journal file as far as they are known; others may add more."""

    def __init__(self, datastore: EventDatastore) -> None:
        self._datastore = datastore
        self._codes: Mapping[str, int] = {}
        self._names: dict[int, str] = {}

    def of(self, code: int) -> str | None:
        """Give the name of a code; None where the file has none."""
        if code not in self._names:
            with self._datastore.reading() as connection:
                self._names.update(connection.execute("SELECT code, name FROM names").fetchall())
        return self._names.get(code)

    def codes_of(self, connection: sqlite3.Connection, names: Sequence[str]) -> Mapping[str, int]:
        """Give the codes of names, and add those that are new, in the caller's transaction.

        Returns:
            All codes there are then; after the commit they are to be kept.
        """
        if all(name in self._codes for name in names):
            return self._codes
        codes = _stored(connection)
        for name in names:
            if name not in codes:
                codes[name] = len(codes) + 1
                connection.execute("INSERT INTO names VALUES (?, ?)", (codes[name], name))
        return codes

    def keep(self, codes: Mapping[str, int]) -> None:
        """Take the codes of a transaction that was committed."""
        self._codes = codes

    def known(self, connection: sqlite3.Connection, names: Collection[str]) -> list[int]:
        """Give the codes of those of these names that the file has."""
        if not self._codes.keys() >= set(names):
            self._codes = _stored(connection)
        return [self._codes[name] for name in names if name in self._codes]

    def condition(
        self, connection: sqlite3.Connection, column: str, names: Collection[str] | None
    ) -> tuple[str, list[int]]:
        """Give the end of a WHERE clause that picks events of these names, and its values."""
        if names is None:
            return "", []
        codes = self.known(connection, names)
        return f" AND {column} IN ({', '.join('?' * len(codes))})", codes


def _stored(connection: sqlite3.Connection) -> dict[str, int]:
    return dict(connection.execute("SELECT name, code FROM names").fetchall())
