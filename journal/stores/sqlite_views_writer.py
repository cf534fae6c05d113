"""Changing rows of the views file, within one transaction."""

from __future__ import annotations

import sqlite3
from typing import Any

from journal.ids import StreamId, Version
from journal.stores.sqlite_errors import ENGINE_ERRORS
from journal.stores.sqlite_views_connection import unusable
from journal.stores.sqlite_views_reader import KEY, SQLiteViewReader
from journal.stores.sqlite_views_recorder import ViewRecorder, application_name
from journal.stores.sqlite_views_rows import (
    LARGEST,
    chunk_checksum,
    digest,
    document_checksum,
    pack,
    page_checksum,
    return_checksum,
    tracked_checksum,
)
from journal.stores.views import Page, Tracked, ViewsUnusable

SLICE = 200
"""Rows of a kind that are removed in one transaction, of those that wait for it."""

_NEW_STREAM = "INSERT INTO streams (revision, name) VALUES (?, ?)"
_TRACK = "UPDATE streams SET version = ?, state = ?, checksum = ? WHERE key = ?"
_REMOVE_STREAM = "DELETE FROM streams WHERE key = ?"
_PUT_PAGE = "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_RAISE = """
    UPDATE pages SET newest = max(newest, ?3), latest = max(latest, ?4),
        checksum = raised(checksum, newest, latest, max(newest, ?3), max(latest, ?4))
    WHERE stream = ?1 AND first > ?2 AND (newest < ?3 OR latest < ?4)
"""
_FIND_CHUNK = "SELECT key FROM chunks WHERE stream = ? AND digest = ?"
_LAST_CHUNK = "SELECT seq FROM sqlite_sequence WHERE name = 'chunks'"
_PUT_CHUNK = "INSERT INTO chunks VALUES (?, ?, ?, ?, ?)"
_PUT_DOCUMENT = "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)"
_PUT_RETURN = "INSERT OR REPLACE INTO returns VALUES (?, ?, ?, ?, ?)"
_OLD = "SELECT name FROM streams WHERE name IS NOT NULL AND revision < ?"
_LET_GO = "UPDATE streams SET name = NULL WHERE name = ?"
_WAITING = "SELECT key FROM streams WHERE name IS NULL LIMIT 1"
_REMOVE = tuple(
    f"""
    DELETE FROM {table} WHERE stream = ?1 AND {key} IN (
        SELECT {key} FROM {table} WHERE stream = ?1 LIMIT {SLICE}
    )
    """
    for table, key in (
        ("pages", "first"),
        ("chunks", "key"),
        ("documents", "version"),
        ("returns", "call"),
    )
)


class SQLiteViewWriter(SQLiteViewReader):
    """A `ViewWriter` within a transaction of the caller."""

    def __init__(
        self, recorder: ViewRecorder, revision: int, connection: sqlite3.Connection
    ) -> None:
        super().__init__(recorder, revision, connection)
        self.forgot = False
        """Whether `forget` was called."""
        self._last_chunk: int | None = None

    def track(self, tracked: Tracked) -> None:
        """Store how far a stream was read, in place of what was stored."""
        stream, version, position, plain = tracked
        _must_fit(stream, version, position)
        owner = self._owner(stream)
        state = pack(plain)
        crc = tracked_checksum(owner, version, position, state)
        self._run(_TRACK, version, state, crc, owner)
        try:
            name = application_name(self._revision, stream)
            self._recorder.put_position(self._connection, name, position)
        except ENGINE_ERRORS as error:
            raise unusable(error) from error

    def put_page(self, stream: StreamId, page: Page) -> None:
        """Store a page, in place of one that begins at the same key."""
        first, entries, fold, *numbers = page
        _must_fit(stream, *numbers)
        owner = self._owner(stream)
        packed = pack(entries), pack(fold) if fold else None
        crc = page_checksum(owner, first, *packed, *numbers)
        self._run(_PUT_PAGE, owner, first, *packed, *numbers, crc)

    def raise_limits(self, stream: StreamId, key: bytes, *, newest: int, latest: int) -> None:
        """Raise the limits of every page that begins after a key to at least these."""
        _must_fit(stream, newest, latest)
        self._run(_RAISE, self._owner(stream), key, newest, latest)

    def put_chunk(self, stream: StreamId, data: bytes) -> int:
        """Store a chunk and give its key; that of an equal one the stream has already."""
        owner, name = self._owner(stream), digest(data)
        known = self._all(_FIND_CHUNK, owner, name)
        if known:
            return int(known[0][0])
        if self._last_chunk is None:
            rows = self._all(_LAST_CHUNK)
            self._last_chunk = rows[0][0] if rows else 0
        key = self._last_chunk + 1
        packed = pack(data)
        self._run(_PUT_CHUNK, key, owner, name, chunk_checksum(owner, key, packed), packed)
        self._last_chunk = key
        return key

    def put_document(self, stream: StreamId, version: Version, root: bytes) -> None:
        """Store the document of an event."""
        _must_fit(stream, version)
        owner, packed = self._owner(stream), pack(root)
        crc = document_checksum(owner, version, packed)
        self._run(_PUT_DOCUMENT, owner, version, crc, packed)

    def put_return(self, stream: StreamId, call: bytes, version: Version, place: bytes) -> None:
        """Store that a tool call returned; see `ViewWriter.put_return`."""
        _must_fit(stream, version)
        owner = self._owner(stream)
        crc = return_checksum(owner, call, version, place)
        self._run(_PUT_RETURN, owner, call, version, place, crc)

    def forget(self, stream: StreamId) -> None:
        """Drop every row of a stream: none is found any more, and `sweep` removes them."""
        self.forgot = True
        self._let_go(application_name(self._revision, stream))
        self._keys.pop(stream, None)

    def sweep(self) -> bool:
        """Remove some of the rows that are of no use: forgotten ones, and of past revisions.

        Returns:
            Whether there are more.
        """
        for (name,) in self._all(_OLD, self._revision):
            self._let_go(name)
        waiting = self._all(_WAITING)
        if not waiting:
            return False
        owner = waiting[0][0]
        if not sum(self._run(statement, owner) for statement in _REMOVE):
            self._run(_REMOVE_STREAM, owner)
        return True

    def _let_go(self, name: str) -> None:
        self._run(_LET_GO, name)
        try:
            self._recorder.drop_position(self._connection, name)
        except ENGINE_ERRORS as error:
            raise unusable(error) from error

    def _owner(self, stream: StreamId) -> int:
        key = self._key(stream)
        if key is None:
            name = application_name(self._revision, stream)
            self._run(_NEW_STREAM, self._revision, name)
            [(key,)] = self._all(KEY, name)
            self._keys[stream] = key
        return key

    def _run(self, statement: str, *values: Any) -> int:
        try:
            return self._connection.execute(statement, values).rowcount
        except ENGINE_ERRORS as error:
            raise unusable(error) from error


def _must_fit(stream: StreamId, *numbers: int) -> None:
    if any(not -LARGEST <= number <= LARGEST for number in numbers):
        raise ViewsUnusable(stream, "a number outside 64 bits cannot be stored")
