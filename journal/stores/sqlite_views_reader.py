"""Reading rows of the views file, each with its checksum, within one transaction."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from journal.ids import Position, StreamId, Version
from journal.stores.sqlite_errors import ENGINE_ERRORS
from journal.stores.sqlite_views_connection import unusable
from journal.stores.sqlite_views_recorder import ViewRecorder, application_name
from journal.stores.sqlite_views_rows import (
    LARGEST,
    chunk_checksum,
    document_checksum,
    page_checksum,
    return_checksum,
    tracked_checksum,
    unpacked,
)
from journal.stores.views import Page, Tracked, ViewsUnusable

BATCH = 256
"""Chunks that are fetched with one statement, at most. There is one for each power of two."""

KEY = "SELECT key FROM streams WHERE name = ?"
_TRACKED = """
    SELECT key, version, notification_id, state, checksum
    FROM streams LEFT JOIN tracking ON application_name = name WHERE name = ?
"""
_PAGES = """
    SELECT first, entries, fold, epoch, messages, step, newest, latest, checksum
    FROM pages WHERE stream = ?
"""
_FOLDED = f"{_PAGES} AND fold IS NOT NULL"
_AT = f"{_PAGES} AND first <= ? ORDER BY first DESC LIMIT 1"
_AFTER = f"{_PAGES} AND first > ? ORDER BY first LIMIT ?"
_FOLDED_AT = f"{_FOLDED} AND first <= ? ORDER BY first DESC LIMIT 1"
_BY_NEWEST = f"{_FOLDED} AND newest <= ? ORDER BY newest DESC, first DESC LIMIT 1"
_BY_LATEST = f"{_FOLDED} AND latest <= ? ORDER BY latest DESC, first DESC LIMIT 1"
_BY_MESSAGES = f"""
    {_FOLDED} AND (epoch, messages) <= (?, ?)
    ORDER BY epoch DESC, messages DESC, first DESC LIMIT 1
"""
_BY_STEP = f"{_FOLDED} AND step <= ? ORDER BY step DESC, first DESC LIMIT 1"
_CHUNKS = "SELECT key, stream, data, checksum FROM chunks WHERE key IN ({})"
_DOCUMENT = """
    SELECT version, root, checksum FROM documents
    WHERE stream = ? AND version <= ? ORDER BY version DESC LIMIT 1
"""
_RETURNS = """
    SELECT version, place, checksum FROM returns WHERE stream = ? AND call = ? ORDER BY version
"""


class SQLiteViewReader:
    """A `ViewReader` within a transaction of the caller."""

    def __init__(
        self, recorder: ViewRecorder, revision: int, connection: sqlite3.Connection
    ) -> None:
        self._recorder = recorder
        self._revision = revision
        self._connection = connection
        self._keys: dict[StreamId, int] = {}

    def tracked(self, stream: StreamId) -> Tracked | None:
        """Tell how far a stream was read; see `ViewReader.tracked`."""
        rows = self._all(_TRACKED, application_name(self._revision, stream))
        if not rows:
            return None
        [(key, version, position, state, checksum)] = rows
        self._keys[stream] = key
        if checksum is None and position is None:
            return None
        _check(stream, "tracking", checksum, tracked_checksum, key, version, position, state)
        plain = _plain(stream, "tracking", state)
        return Tracked(stream, Version(version), Position(position), plain)

    def page_at(self, stream: StreamId, key: bytes) -> Page | None:
        """Give the last page that begins at or before a key."""
        return self._page(_AT, stream, key)

    def pages_after(self, stream: StreamId, key: bytes, *, limit: int) -> Sequence[Page]:
        """Give the pages that begin after a key, in order."""
        return self._pages(_AFTER, stream, key, limit)

    def page_within(
        self, stream: StreamId, key: bytes, *, newest: int | None, latest: int | None
    ) -> Page | None:
        """Give the last page at or before a key with a fold within limits.

        The limits never fall from page to page, so the pages within each of them come first.
        """
        bounds: list[tuple[str, int | bytes]] = [(_FOLDED_AT, key)]
        if newest is not None:
            bounds.append((_BY_NEWEST, _bounded(newest)))
        if latest is not None:
            bounds.append((_BY_LATEST, _bounded(latest)))
        found = None
        for statement, bound in bounds:
            page = self._page(statement, stream, bound)
            if page is None:
                return None
            if found is None or page.first < found.first:
                found = page
        return found

    def page_by_messages(self, stream: StreamId, epoch: int, messages: int) -> Page | None:
        """Give the last page with a fold whose epoch and messages are not above."""
        return self._page(_BY_MESSAGES, stream, _bounded(epoch), _bounded(messages))

    def page_by_step(self, stream: StreamId, step: int) -> Page | None:
        """Give the last page with a fold whose step is at most this."""
        return self._page(_BY_STEP, stream, _bounded(step))

    def chunks(self, stream: StreamId, keys: Sequence[int]) -> Mapping[int, bytes]:
        """Give chunks by their keys; all of them, or it raises."""
        if not keys:
            return {}
        wanted = list(dict.fromkeys(keys))
        owner = self._key(stream)
        found: dict[int, bytes] = {}
        for start in range(0, len(wanted), BATCH):
            batch = wanted[start : start + BATCH]
            size = 1 << (len(batch) - 1).bit_length()
            rows = self._all(_chunks(size), *batch, *batch[:1] * (size - len(batch)))
            for key, of, data, checksum in rows:
                if of == owner:
                    _check(stream, "chunk", checksum, chunk_checksum, of, key, data)
                    found[key] = _plain(stream, "chunk", data)
        for key in wanted:
            if key not in found:
                raise ViewsUnusable(stream, f"chunk {key} is missing")
        return found

    def document(self, stream: StreamId, version: Version) -> tuple[Version, bytes] | None:
        """Give the last stored document at or below a version, and its version."""
        owner = self._key(stream)
        rows = [] if owner is None else self._all(_DOCUMENT, owner, _bounded(version))
        if not rows or owner is None:
            return None
        [(at, root, checksum)] = rows
        _check(stream, "document", checksum, document_checksum, owner, at, root)
        return Version(at), _plain(stream, "document", root)

    def returns(self, stream: StreamId, call: bytes) -> Sequence[tuple[Version, bytes]]:
        """Give version and place of every stored return of a tool call, by version."""
        owner = self._key(stream)
        if owner is None:
            return []
        found = []
        for version, place, checksum in self._all(_RETURNS, owner, call):
            _check(stream, "return", checksum, return_checksum, owner, call, version, place)
            found.append((Version(version), bytes(place)))
        return found

    def _page(self, statement: str, stream: StreamId, *bounds: int | bytes) -> Page | None:
        pages = self._pages(statement, stream, *bounds)
        return pages[0] if pages else None

    def _pages(self, statement: str, stream: StreamId, *bounds: int | bytes) -> list[Page]:
        owner = self._key(stream)
        if owner is None:
            return []
        pages = []
        for first, entries, fold, *numbers, checksum in self._all(statement, owner, *bounds):
            _check(stream, "page", checksum, page_checksum, owner, first, entries, fold, *numbers)
            known = b"" if fold is None else _plain(stream, "page", fold)
            pages.append(Page(first, _plain(stream, "page", entries), known, *numbers))
        return pages

    def _key(self, stream: StreamId) -> int | None:
        key = self._keys.get(stream)
        if key is None:
            rows = self._all(KEY, application_name(self._revision, stream))
            if not rows:
                return None
            key = self._keys[stream] = rows[0][0]
        return key

    def _all(self, statement: str, *values: Any) -> list[Any]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except ENGINE_ERRORS as error:
            raise unusable(error) from error


@cache
def _chunks(size: int) -> str:
    return _CHUNKS.format(",".join("?" * size))


def _bounded(number: int) -> int:
    return max(-LARGEST, min(number, LARGEST))


def _check(
    stream: StreamId, what: str, stored: Any, checksum: Callable[..., int], *values: Any
) -> None:
    """Compare a row's checksum with what was stored."""
    try:
        if checksum(*values) == stored:
            return
    except (TypeError, struct.error) as error:
        raise _damaged(stream, what, f"a value of another type: {error}") from error
    raise _damaged(stream, what, "its checksum does not match")


def _plain(stream: StreamId, what: str, blob: bytes) -> bytes:
    try:
        return unpacked(blob)
    except ValueError as error:
        raise _damaged(stream, what, str(error)) from error


def _damaged(stream: StreamId, what: str, why: str) -> ViewsUnusable:
    return ViewsUnusable(stream, f"a {what} row is damaged: {why}")
