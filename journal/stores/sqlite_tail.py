"""What the writer knows of the end of the journal, so that it need not ask each time."""

from __future__ import annotations

import sqlite3

from journal.ids import StreamId
from journal.stores.sqlite_pragmas import data_version

STREAMS = 4096
"""Streams whose last versions are remembered."""

_LAST = "SELECT position, recorded_at FROM events ORDER BY position DESC LIMIT 1"
_HEAD = """
    SELECT key,
        coalesce((SELECT max(version) FROM events WHERE stream = key), 0),
        coalesce((SELECT generation FROM leases WHERE stream = key), 0)
    FROM streams WHERE name = ?
"""


class Head:
    """Where one stream stands."""

    __slots__ = ("generation", "key", "version")

    def __init__(self, key: int, version: int, generation: int) -> None:
        self.key = key
        self.version = version
        self.generation = generation
        """Of its lease; 0 where none was ever taken."""


class Tail:
    """The last event, the last versions of streams and the generations of their leases.

    Within the writer's transaction. It is true until another connection commits, which
    SQLite tells cheaply, each connection by numbers of its own, or a transaction fails, after
    which `forget` must be called.
    """

    def __init__(self) -> None:
        self.position = 0
        self.recorded_at = 0
        self.heads: dict[StreamId, Head] = {}
        """Those that are remembered."""
        self._connection: sqlite3.Connection | None = None
        self._data_version: int | None = None

    def refresh(self, connection: sqlite3.Connection) -> None:
        """Read again what others may have changed; the transaction must have begun."""
        seen = data_version(connection)
        if seen != self._data_version or connection is not self._connection:
            self.position, self.recorded_at = connection.execute(_LAST).fetchone() or (0, 0)
            self.heads.clear()
            self._connection, self._data_version = connection, seen
        elif len(self.heads) > STREAMS:
            self.heads.clear()

    def find(self, connection: sqlite3.Connection, stream: StreamId) -> Head | None:
        """Look up a stream; None for one that is not there."""
        head = self.heads.get(stream)
        if head is None:
            row = connection.execute(_HEAD, (stream,)).fetchone()
            if row is None:
                return None
            head = self.heads[stream] = Head(*row)
        return head

    def head(self, connection: sqlite3.Connection, stream: StreamId) -> Head:
        """Look up a stream; one that is not there begins at the next position."""
        head = self.find(connection, stream)
        if head is None:
            key = self.position + 1
            connection.execute("INSERT INTO streams VALUES (?, ?)", (key, stream))
            head = self.heads[stream] = Head(key, 0, 0)
        return head

    def forget(self) -> None:
        """Forget everything: the transaction that changed it came to nothing."""
        self._data_version = None
