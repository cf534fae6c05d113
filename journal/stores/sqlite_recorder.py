"""The recorder of the journal file: the library's, on a row layout of our own."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Any

from eventsourcing.sqlite import SQLiteApplicationRecorder

from journal.compress import pack, unpack
from journal.errors import CorruptEvent, IdentityTaken, VersionConflict
from journal.ids import Position, StreamId, Version
from journal.stores.interface import Identity, NewEvent, StoredEvent
from journal.stores.recorder import EVERYTHING, EventRecorder
from journal.stores.sqlite_checksum import checksum
from journal.stores.sqlite_datastore import EventDatastore
from journal.stores.sqlite_tail import Tail

_LOWEST = -(2**63)
"""Reading from the start takes in numbers below 1, which only damage makes: it raises then."""

_HEAD = "SELECT max(version) FROM events WHERE stream = (SELECT key FROM streams WHERE name = ?)"
_INSERT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_IN_STREAM = "stream = (SELECT key FROM streams WHERE name = ?)"
_FROM_STREAM = f"""
    SELECT position, version, name, recorded_at, codec, identity, checksum, data
    FROM events WHERE {_IN_STREAM}
"""
_FROM_ALL = """
    SELECT streams.name,
        position, version, events.name, recorded_at, codec, identity, checksum, data
    FROM events LEFT JOIN streams ON streams.key = events.stream
    WHERE position > ? AND position <= ?
"""


class SQLiteEventRecorder(EventRecorder, SQLiteApplicationRecorder):
    """Keeps events in the tables of `sqlite_schema.sql`; FORMAT.md describes them."""

    datastore: EventDatastore

    def __init__(self, datastore: EventDatastore) -> None:
        super().__init__(datastore, events_table_name="events")
        self.select_max_notification_id_statement = "SELECT max(position) FROM events"
        self._codes: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._tail = Tail()

    def construct_create_table_statements(self) -> list[str]:
        """Return nothing: the datastore wrote the whole schema when it created the file."""
        return []

    def append_events(self, events: Sequence[NewEvent], now: int) -> tuple[Position, int]:
        """Store all events or none, in one transaction."""
        packed = [pack(event.data) for event in events]
        tail = self._tail
        rows = []
        with self.datastore.writing(undo=tail.forget) as connection:
            tail.refresh(connection)
            first = tail.position + 1
            tail.recorded_at = recorded_at = max(now, tail.recorded_at)
            codes = self._codes_of(connection, events)
            for event, (codec, data) in zip(events, packed, strict=True):
                head = tail.head(connection, event.stream)
                if event.version != head.version + 1:
                    raise VersionConflict(event.stream, event.version - 1, head.version)
                head.version += 1
                tail.position += 1
                position, version, name = Position(tail.position), event.version, event.name
                identity = None if event.identity is None else _stored_identity(event.identity)
                crc = checksum(
                    event.stream, name, position, version, codec, recorded_at, identity, data
                )
                rows.append(
                    (
                        position,
                        head.key,
                        version,
                        codes[name],
                        codec,
                        recorded_at,
                        identity,
                        crc,
                        data,
                    )
                )
            try:
                connection.executemany(_INSERT, rows)
            except sqlite3.IntegrityError:
                _refuse_taken_identity(connection, events, first)
                raise
        self._codes = codes
        return Position(first), recorded_at

    def head(self, stream: StreamId) -> Version:
        """Tell the last version of a stream, 0 where it has none."""
        with self.datastore.reading() as connection:
            [(version,)] = connection.execute(_HEAD, (stream,)).fetchall()
        return Version(version or 0)

    def read_stream(  # noqa: PLR0913 - a range, a filter and a direction
        self,
        stream: StreamId,
        *,
        after: Version,
        upto: Version | None,
        names: Collection[str] | None,
        newest_first: bool,
        limit: int,
    ) -> list[StoredEvent]:
        """Read one page of a stream by version."""
        sql = f"{_FROM_STREAM} AND version > ? AND version <= ?"
        bounds: list[Any] = [stream, after or _LOWEST, EVERYTHING if upto is None else upto]
        with self.datastore.reading() as connection:
            if names is not None:
                codes = self._known_codes(connection, names)
                sql += f" AND name IN ({', '.join('?' * len(codes))})"
                bounds += codes
            sql += f" ORDER BY version {'DESC' if newest_first else 'ASC'} LIMIT ?"
            rows = connection.execute(sql, (*bounds, limit)).fetchall()
        return [self._event(stream, *row) for row in rows]

    def read_positions(
        self,
        *,
        after: Position,
        upto: Position | None = None,
        names: Collection[str] | None = None,
        limit: int,
    ) -> list[StoredEvent]:
        """Read one page of the whole journal by position."""
        sql = _FROM_ALL
        bounds: list[Any] = [after or _LOWEST, EVERYTHING if upto is None else upto]
        with self.datastore.reading() as connection:
            if names is not None:
                codes = self._known_codes(connection, names)
                sql += f" AND events.name IN ({', '.join('?' * len(codes))})"
                bounds += codes
            sql += " ORDER BY position LIMIT ?"
            rows = connection.execute(sql, (*bounds, limit)).fetchall()
        return [self._event(*row) for row in rows]

    def find(self, stream: StreamId, identity: Identity) -> StoredEvent | None:
        """Find the event of this identity in a stream."""
        sql = f"{_FROM_STREAM} AND identity = ?"
        with self.datastore.reading() as connection:
            row = connection.execute(sql, (stream, _stored_identity(identity))).fetchone()
        return self._event(stream, *row) if row else None

    def streams(
        self, *, prefix: str, before: Position | None, limit: int
    ) -> list[tuple[StreamId, Position]]:
        """List streams and the positions of their first events, positions descending."""
        # As bytes: UTF-8 sorts like its code points, and no byte of it is above F4.
        low = prefix.encode()
        with self.datastore.reading() as connection:
            rows = connection.execute(
                "SELECT name, key FROM streams WHERE key < ? AND CAST(name AS BLOB) >= ? "
                "AND CAST(name AS BLOB) < ? ORDER BY key DESC LIMIT ?",
                (EVERYTHING if before is None else before, low, low + b"\xff", limit),
            ).fetchall()
        return [(StreamId(name), Position(key)) for name, key in rows]

    def close(self) -> None:
        """Close every connection."""
        self.datastore.close()

    def _event(  # noqa: PLR0913, PLR0917 - the columns of a row
        self,
        stream: StreamId | None,
        position: Position,
        version: Version,
        code: int,
        recorded_at: int,
        codec: int,
        identity: int | bytes | None,
        stored_checksum: int,
        data: bytes,
    ) -> StoredEvent:
        if stream is None:
            raise CorruptEvent("?", version, f"position {position} is of no stream of the file")
        name = self._names.get(code) or self._learn_name(stream, version, code)
        try:
            crc = checksum(stream, name, position, version, codec, recorded_at, identity, data)
        except (TypeError, struct.error) as error:
            raise CorruptEvent(stream, version, f"a value of another type: {error}") from error
        if crc != stored_checksum:
            raise CorruptEvent(stream, version, "its checksum does not match")
        try:
            plain = unpack(codec, data)
        except ValueError as error:
            raise CorruptEvent(stream, version, str(error)) from error
        return StoredEvent(position, stream, version, name, recorded_at, plain)

    def _learn_name(self, stream: StreamId, version: Version, code: int) -> str:
        with self.datastore.reading() as connection:
            self._names.update(connection.execute("SELECT code, name FROM names").fetchall())
        if code not in self._names:
            raise CorruptEvent(stream, version, f"the file has no event name of code {code}")
        return self._names[code]

    def _codes_of(
        self, connection: sqlite3.Connection, events: Sequence[NewEvent]
    ) -> dict[str, int]:
        codes = self._codes
        if not all(event.name in codes for event in events):
            codes = _stored_names(connection)
            for event in events:
                if event.name not in codes:
                    codes[event.name] = len(codes) + 1
                    connection.execute(
                        "INSERT INTO names VALUES (?, ?)", (codes[event.name], event.name)
                    )
        return codes

    def _known_codes(self, connection: sqlite3.Connection, names: Collection[str]) -> list[int]:
        if not self._codes.keys() >= set(names):
            self._codes = _stored_names(connection)
        return [self._codes[name] for name in names if name in self._codes]


def _stored_names(connection: sqlite3.Connection) -> dict[str, int]:
    return dict(connection.execute("SELECT name, code FROM names").fetchall())


def _stored_identity(identity: Identity) -> int | bytes:
    if isinstance(identity, str):
        return blake2b(identity.encode(), digest_size=16).digest()
    return identity if identity < 2**63 else identity - 2**64


def _refuse_taken_identity(
    connection: sqlite3.Connection, events: Sequence[NewEvent], first: int
) -> None:
    # The events before the one refused are still there, until the rollback.
    stored = connection.execute("SELECT max(position) FROM events").fetchone()[0] or 0
    refused = events[stored + 1 - first]
    if refused.identity is None:
        return
    row = connection.execute(
        f"SELECT version FROM events WHERE {_IN_STREAM} AND identity = ?",
        (refused.stream, _stored_identity(refused.identity)),
    ).fetchone()
    if row is not None:
        raise IdentityTaken(refused.stream, refused.version - 1, row[0], refused.identity)
