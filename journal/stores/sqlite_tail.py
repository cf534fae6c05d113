"""What the writer knows of the end of the journal, so that it need not ask each time."""

from __future__ import annotations

import sqlite3

from journal.ids import StreamId

STREAMS = 4096
"""Streams whose last versions are remembered."""

_LAST = "SELECT position, recorded_at FROM events ORDER BY position DESC LIMIT 1"
_HEAD = """
    SELECT key, coalesce((SELECT max(version) FROM events WHERE stream = key), 0)
    FROM streams WHERE name = ?
"""


class Head:
    """Where one stream stands."""

    __slots__ = ("key", "version")

    def __init__(self, key: int, version: int) -> None:
        self.key = key
        self.version = version


class Tail:
    """The last event and the last versions of streams, within the writer's transaction.

    It is true until another connection commits, which SQLite tells cheaply, or a
    transaction fails, after which `forget` must be called.
    """

    def __init__(self) -> None:
        self.position = 0
        self.recorded_at = 0
        self._heads: dict[StreamId, Head] = {}
        self._data_version: int | None = None

    def refresh(self, connection: sqlite3.Connection) -> None:
        """Read again what others may have changed; the transaction must have begun."""
        seen = connection.execute("PRAGMA data_version").fetchone()[0]
        if seen != self._data_version:
            self.position, self.recorded_at = connection.execute(_LAST).fetchone() or (0, 0)
            self._heads.clear()
            self._data_version = seen
        elif len(self._heads) > STREAMS:
            self._heads.clear()

    def head(self, connection: sqlite3.Connection, stream: StreamId) -> Head:
        """Look up a stream; one that is not there begins at the next position."""
        head = self._heads.get(stream)
        if head is None:
            row = connection.execute(_HEAD, (stream,)).fetchone()
            if row is None:
                row = (self.position + 1, 0)
                connection.execute("INSERT INTO streams VALUES (?, ?)", (row[0], stream))
            head = self._heads[stream] = Head(*row)
        return head

    def forget(self) -> None:
        """Forget everything: the transaction that changed it came to nothing."""
        self._data_version = None
