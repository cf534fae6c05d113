"""The rows of a views file under examination, in pages, each with its checksum."""

from __future__ import annotations

import sqlite3
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from journal.stores.sqlite_views_rows import (
    chunk_checksum,
    document_checksum,
    page_checksum,
    return_checksum,
    tracked_checksum,
    unpacked,
)

PAGE = 500
"""Rows that are read at a time; nothing is held open between two pages."""

_STREAMS = """
    SELECT key, substr(name, instr(name, ':') + 1), version, notification_id, state, checksum
    FROM streams LEFT JOIN tracking ON application_name = name WHERE name IS NOT NULL
"""
_OF_NO_STREAM = "SELECT count(*) FROM {} WHERE stream NOT IN (SELECT key FROM streams)"
_OTHER_TYPES = (TypeError, ValueError, struct.error)


class _Table(NamedTuple):
    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    """What the checksum is of, in its order; the stream first."""
    packed: tuple[int, ...]
    """Which of them are packed."""
    checksum: Callable[..., int]

    def rows(self, connection: sqlite3.Connection, after: tuple[Any, ...] | None) -> list[Any]:
        """Read a page: of each row the key, the checksum and the columns."""
        key = ", ".join(self.key)
        where = "" if after is None else f"WHERE ({key}) > ({', '.join('?' * len(after))})"
        return connection.execute(
            f"SELECT {key}, checksum, {', '.join(self.columns)} FROM {self.name} {where} "
            f"ORDER BY {key} LIMIT {PAGE}",
            after or (),
        ).fetchall()

    def is_sound(self, checksum: Any, values: list[Any]) -> bool:
        try:
            if self.checksum(*values) != checksum:
                return False
            for at in self.packed:
                if values[at] is not None:
                    unpacked(values[at])
        except _OTHER_TYPES:
            return False
        return True


_COUNTS = ("epoch", "messages", "step", "newest", "latest")
TABLES = (
    _Table(
        "pages",
        ("stream", "first"),
        ("stream", "first", "entries", "fold", *_COUNTS),
        (2, 3),
        page_checksum,
    ),
    _Table("chunks", ("key",), ("stream", "key", "data"), (2,), chunk_checksum),
    _Table(
        "documents",
        ("stream", "version"),
        ("stream", "version", "root"),
        (2,),
        document_checksum,
    ),
    _Table(
        "returns",
        ("stream", "call", "version"),
        ("stream", "call", "version", "place"),
        (),
        return_checksum,
    ),
)


class Read(NamedTuple):
    """How far a stream was read, as its rows say, sound or not."""

    stream: str
    version: Any
    position: Any


class ViewsScan:
    """What a look at every row of a views file came to.

    Rows may be changed by others meanwhile; each is looked at in one state of the file.

    Raises:
        sqlite3.Error, UnicodeDecodeError: pages of the file are damaged.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._names: dict[int, str] = {}
        self.read: list[Read] = []
        """Streams that have a tracking position."""
        self.damaged: Counter[tuple[str, str]] = Counter()
        """Damaged rows by stream and table."""
        self.lost: Counter[str] = Counter()
        """Rows of no stream of the file, by table."""
        self._look_at_streams()

    def scan(self) -> Iterator[int]:
        """Look at every row; yields now and then how many that were."""
        done = 0
        for table in TABLES:
            after = None
            # What is not in order may lead in a circle.
            for _ in range(self._count(f"SELECT count(*) FROM {table.name}") // PAGE + 1):
                rows = table.rows(self._connection, after)
                width = len(table.key)
                for row in rows:
                    self._look_at(table, row[width], list(row[width + 1 :]))
                after = rows[-1][:width] if rows else after
                done += len(rows)
                yield done
            count = self._count(_OF_NO_STREAM.format(table.name))
            if count:
                self.lost[table.name] = count

    def _count(self, statement: str) -> int:
        return int(self._connection.execute(statement).fetchone()[0])

    def _look_at(self, table: _Table, checksum: Any, values: list[Any]) -> None:
        if not table.is_sound(checksum, values):
            self.damaged[self._names.get(values[0], ""), table.name] += 1

    def _look_at_streams(self) -> None:
        rows = self._connection.execute(_STREAMS).fetchall()
        for key, name, version, position, state, checksum in rows:
            self._names[key] = name
            if checksum is None and position is None:
                continue
            try:
                sound = tracked_checksum(key, version, position, state) == checksum
                unpacked(state)
            except _OTHER_TYPES:
                sound = False
            if sound:
                self.read.append(Read(name, version, position))
            else:
                self.damaged[name, "streams"] += 1
