"""The recorder of the journal file: the library's, on a row layout of our own."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from eventsourcing.sqlite import SQLiteApplicationRecorder

from journal.errors import CorruptEvent, DamagedFile, LeaseMoved, VersionConflict
from journal.ids import Position, StreamId, Version
from journal.stores import sqlite_leases
from journal.stores.arrivals import Arrivals
from journal.stores.interface import NO_FENCES, Identity, Lease, NameSize, NewEvent, StoredEvent
from journal.stores.recorder import EVERYTHING, EventRecorder
from journal.stores.sqlite_bases import Page, Row, SQLiteBases
from journal.stores.sqlite_checksum import checksum
from journal.stores.sqlite_datastore import EventDatastore
from journal.stores.sqlite_dictionary import SQLiteDictionary
from journal.stores.sqlite_drop import drop_some
from journal.stores.sqlite_insert import insert, refuse_taken_identity, stored_identity
from journal.stores.sqlite_names import SQLiteNames
from journal.stores.sqlite_packer import SQLitePacker
from journal.stores.sqlite_page import fetch_page
from journal.stores.sqlite_tail import Tail

PLAIN_BYTES = 64 * 1024 * 1024
"""Bytes of unpacked data after which it ends."""

_LOWEST = -(2**63)
"""Reading from the start takes in numbers below 1, which only damage makes: it raises then."""

_JOURNAL = "SELECT value FROM meta WHERE key = 'journal'"
_HEAD = "SELECT max(version) FROM events WHERE stream = (SELECT key FROM streams WHERE name = ?)"
_IN_STREAM = "stream = (SELECT key FROM streams WHERE name = ?)"
_COUNT = f"SELECT count(*) FROM events WHERE {_IN_STREAM}"
_SIZES = """
    SELECT names.name, count(*), sum(length(data))
    FROM events JOIN names ON names.code = events.name
    WHERE position > ? AND position <= ? GROUP BY names.code
"""
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
        self._names = SQLiteNames(datastore)
        self._tail = Tail()
        dictionary = SQLiteDictionary(datastore)
        self._bases = SQLiteBases(datastore, dictionary, self._event)
        self._packer = SQLitePacker(dictionary, self._bases.past)
        self.arrivals = Arrivals(datastore.location, self.last_position, shared=True)

    @property
    def file(self) -> Path:
        """The file the events are in, as an absolute path without links."""
        return self.datastore.pool.file.path

    @property
    def journal_id(self) -> str:
        """The id that the journal got when it was made, which its backups have, too.

        Raises:
            DamagedFile: the file does not tell it.
        """
        with self.datastore.reading() as connection:
            rows = connection.execute(_JOURNAL).fetchall()
        if not rows:
            raise DamagedFile(self.datastore.location, "read", "its id is missing")
        return str(rows[0][0])

    def construct_create_table_statements(self) -> list[str]:
        """Return nothing: the datastore wrote the whole schema when it created the file."""
        return []

    def append_events(
        self,
        events: Sequence[NewEvent],
        now: int,
        fences: Mapping[StreamId, int] = NO_FENCES,
        leases: Sequence[Lease] = (),
    ) -> tuple[Position, int]:
        """Store all events or none, and the leases with them, in one transaction."""
        batch = self._packer.batch()
        packed = [batch.pack(event) for event in events]
        tail = self._tail
        with self.datastore.writing(undo=tail.forget) as connection:
            tail.refresh(connection)
            if fences:
                self._refuse_other_generations(connection, fences)
            first = tail.position + 1
            tail.recorded_at = recorded_at = max(now, tail.recorded_at)
            codes = self._names.codes_of(connection, [event.name for event in events])
            batch.store(connection)
            rows = self._rows(connection, events, packed, codes)
            try:
                insert(connection, rows)
            except sqlite3.IntegrityError:
                refuse_taken_identity(connection, events, rows)
                raise
            if leases:
                self._store_leases(connection, leases)
        self.arrivals.tell(Position(first + len(events) - 1))
        self._names.keep(codes)
        batch.keep()
        return Position(first), recorded_at

    def _refuse_other_generations(
        self, connection: sqlite3.Connection, fences: Mapping[StreamId, int]
    ) -> None:
        for stream, generation in fences.items():
            head = self._tail.find(connection, stream)
            found = 0 if head is None else head.generation
            if found != generation:
                raise LeaseMoved(stream, generation, found)

    def _rows(
        self,
        connection: sqlite3.Connection,
        events: Sequence[NewEvent],
        packed: Sequence[tuple[int, bytes]],
        codes: Mapping[str, int],
    ) -> list[tuple[Any, ...]]:
        tail = self._tail
        known, recorded_at, position = tail.heads, tail.recorded_at, tail.position
        rows = []
        for (stream, version, name, _, identity, _), (codec, data) in zip(
            events, packed, strict=True
        ):
            head = known.get(stream) or tail.head(connection, stream)
            if version != head.version + 1:
                raise VersionConflict(stream, version - 1, head.version)
            head.version = version
            tail.position = position = position + 1
            kept = None if identity is None else stored_identity(identity)
            crc = checksum(stream, name, position, version, codec, recorded_at, kept, data)
            rows.append(
                (position, head.key, version, codes[name], codec, recorded_at, kept, crc, data)
            )
        return rows

    def _store_leases(self, connection: sqlite3.Connection, leases: Sequence[Lease]) -> None:
        for lease in leases:
            head = self._tail.find(connection, lease.stream)
            if head is None:
                raise ValueError(f"a lease of {lease.stream!r}, which has no event")
            sqlite_leases.store_lease(connection, head.key, lease)
            head.generation = lease.generation

    def lease(self, stream: StreamId) -> Lease | None:
        """Give the lease of a stream, also a released one."""
        if not self.datastore.has_tables_of(sqlite_leases.FORMAT):
            return None
        with self.datastore.reading() as connection:
            return sqlite_leases.read_lease(connection, stream)

    def leases(self) -> list[Lease]:
        """Give every lease that was not released, oldest stream first."""
        if not self.datastore.has_tables_of(sqlite_leases.FORMAT):
            return []
        with self.datastore.reading() as connection:
            return sqlite_leases.read_live_leases(connection)

    def renew(self, leases: Sequence[Lease]) -> list[Lease]:
        """Store the expiry times of leases, and give those of another generation."""
        with self.datastore.writing(undo=self._tail.forget) as connection:
            return sqlite_leases.renew_leases(connection, leases)

    def drop(self, stream: StreamId, upto: Version) -> int:
        """Delete some of a stream's newest events up to a version; tells how many."""
        with self.datastore.writing(undo=self._tail.forget) as connection:
            return drop_some(connection, stream, upto)

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
        order = f" ORDER BY version {'DESC' if newest_first else 'ASC'} LIMIT ?"
        bounds: list[Any] = [stream, after or _LOWEST, EVERYTHING if upto is None else upto]

        def select(connection: sqlite3.Connection) -> list[Row]:
            named, codes = self._names.condition(connection, "name", names)
            sql = f"{_FROM_STREAM} AND version > ? AND version <= ?{named}{order}"
            rows = fetch_page(connection.execute(sql, (*bounds, *codes, limit)))
            return [(stream, *row) for row in rows]

        return self._read(select)

    def read_versions(self, stream: StreamId, versions: Sequence[Version]) -> list[StoredEvent]:
        """Read events of a stream by rising versions, as many as a page holds."""
        wanted = ", ".join("?" * len(versions))
        sql = f"{_FROM_STREAM} AND version IN ({wanted}) ORDER BY version"

        def select(connection: sqlite3.Connection) -> list[Row]:
            rows = fetch_page(connection.execute(sql, (stream, *versions)))
            return [(stream, *row) for row in rows]

        return self._read(select)

    def count(self, stream: StreamId, names: Collection[str]) -> int:
        """Count the events of a stream that have one of these names."""
        with self.datastore.reading() as connection:
            codes = self._names.known(connection, names)
            sql = f"{_COUNT} AND name IN ({', '.join('?' * len(codes))})"
            return int(connection.execute(sql, (stream, *codes)).fetchall()[0][0])

    def sizes(self, after: Position, upto: Position) -> list[NameSize]:
        """Sum up the events between two positions by stored name."""
        with self.datastore.reading() as connection:
            return [NameSize(*row) for row in connection.execute(_SIZES, (after, upto)).fetchall()]

    def read_positions(
        self,
        *,
        after: Position,
        upto: Position | None = None,
        names: Collection[str] | None = None,
        limit: int,
    ) -> list[StoredEvent]:
        """Read one page of the whole journal by position."""
        bounds: list[Any] = [after or _LOWEST, EVERYTHING if upto is None else upto]

        def select(connection: sqlite3.Connection) -> list[Row]:
            named, codes = self._names.condition(connection, "events.name", names)
            sql = f"{_FROM_ALL}{named} ORDER BY position LIMIT ?"
            return fetch_page(connection.execute(sql, (*bounds, *codes, limit)))

        return self._read(select)

    def find(self, stream: StreamId, identity: Identity) -> StoredEvent | None:
        """Find the event of this identity in a stream."""
        sql = f"{_FROM_STREAM} AND identity = ?"

        def select(connection: sqlite3.Connection) -> list[Row]:
            rows = connection.execute(sql, (stream, stored_identity(identity))).fetchall()
            return [(stream, *row) for row in rows[:1]]

        page = self._read(select)
        return page[0] if page else None

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
        """Wait no longer, and close every connection."""
        self.arrivals.close()
        self.datastore.close()

    def _read(self, select: Callable[[sqlite3.Connection], list[Row]]) -> list[StoredEvent]:
        before: list[Row] = []
        while True:
            with self.datastore.reading() as connection:
                rows = select(connection)
            try:
                return self._page(rows)
            except CorruptEvent:
                # What a row names goes after it: both may have been dropped meanwhile.
                if before and not _positions(before) - _positions(rows):
                    raise
                before = rows

    def _page(self, rows: Sequence[Row]) -> list[StoredEvent]:
        page = self._bases.page(rows)
        events = []
        size = 0
        for row in rows:
            event = self._event(page, *row)
            events.append(event)
            size += len(event.data)
            if size >= PLAIN_BYTES:
                break
        return events

    def _event(  # noqa: PLR0913, PLR0917 - the columns of a row
        self,
        page: Page | None,
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
        name = self._names.of(code)
        if name is None:
            raise CorruptEvent(stream, version, f"the file has no event name of code {code}")
        try:
            crc = checksum(stream, name, position, version, codec, recorded_at, identity, data)
        except (TypeError, struct.error) as error:
            raise CorruptEvent(stream, version, f"a value of another type: {error}") from error
        if crc != stored_checksum:
            raise CorruptEvent(stream, version, "its checksum does not match")
        plain = self._bases.unpack(page, stream, version, codec, data)
        return StoredEvent(position, stream, version, name, recorded_at, plain)


def _positions(rows: Sequence[Row]) -> set[int]:
    return {row[1] for row in rows}
