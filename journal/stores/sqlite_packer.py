"""How rows are packed, and which values of a stream are known to stand in earlier rows.

A value repeated within a stream is stored once: the row that brings it is packed by itself,
and later ones copy the value from it (codec 3). Which row holds which value is remembered
here, in bounded memory; what is forgotten is stored once more.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias
from zlib import crc32

from journal.compress import REPEATED, ZSTD
from journal.ids import StreamId, Version
from journal.stores.interface import NewEvent
from journal.stores.repeated import MOST_BASES, MOST_BYTES, Copy, Repeated, encode, literals_of
from journal.stores.sqlite_dictionary import SQLiteDictionary
from journal.values import large_strings

ROOM = 32 * 1024 * 1024
"""Bytes of JSON of remembered rows, of all streams together."""

LARGEST = ROOM // 2
"""Bytes of the largest row remembered: pictures of several MB are."""

STREAMS = 4096
"""Streams whose past need not be looked at again."""

_PREFIX = 64
"""Bytes of a value that are looked for before all of it is compared."""

Past: TypeAlias = Callable[[StreamId, Version], Iterable[tuple[Version, bytes]]]
"""Reads rows of a stream before a version that are packed by themselves, newest first."""


class _Row(NamedTuple):
    data: bytes
    values: tuple[int, ...]


class _Memory:
    """Rows by stream and version, and by the fingerprints of their values."""

    def __init__(self) -> None:
        self.rows: OrderedDict[tuple[StreamId, Version], _Row] = OrderedDict()
        self._size = 0
        self._holders: dict[StreamId, dict[int, Version]] = {}

    def put(self, stream: StreamId, version: Version, row: _Row) -> None:
        if (stream, version) not in self.rows and row.values and len(row.data) <= LARGEST:
            self.rows[stream, version] = row
            self._size += len(row.data)
            self._holders.setdefault(stream, {}).update(dict.fromkeys(row.values, version))

    def find(self, stream: StreamId, value: int) -> tuple[Version, bytes] | None:
        version = self._holders.get(stream, {}).get(value)
        if version is None:
            return None
        self.rows.move_to_end((stream, version))
        return version, self.rows[stream, version].data

    def make_room(self) -> None:
        while self._size > ROOM:
            (stream, version), row = self.rows.popitem(last=False)
            self._size -= len(row.data)
            holders = self._holders.get(stream, {})
            for value in row.values:
                # Another row may hold it, too.
                if holders.get(value) == version:
                    del holders[value]
            if not holders:
                self._holders.pop(stream, None)


class SQLitePacker:
    """Packs the rows of one journal file; safe to use from several threads."""

    def __init__(self, dictionary: SQLiteDictionary, past: Past) -> None:
        self._dictionary = dictionary
        self._past = past
        self._lock = threading.Lock()
        self._memory = _Memory()
        self._recalled: OrderedDict[StreamId, None] = OrderedDict()

    def batch(self) -> Batch:
        """Begin to pack what one transaction will write.

        Raises:
            DamagedFile: the file's copy of the dictionary is changed.
        """
        return Batch(self, self._dictionary)

    def find(self, stream: StreamId, value: int) -> tuple[Version, bytes] | None:
        """Find a row that holds a value, and its JSON."""
        with self._lock:
            return self._memory.find(stream, value)

    def recall(self, stream: StreamId, before: Version) -> None:
        """Remember the values of a stream that was written before this store was opened."""
        with self._lock:
            known = stream in self._recalled
            self._recalled[stream] = None
            self._recalled.move_to_end(stream)
            if len(self._recalled) > STREAMS:
                self._recalled.popitem(last=False)
        if known:
            return
        rows = []
        left = LARGEST
        for version, data in self._past(stream, before):
            left -= len(data)
            if left < 0:
                break
            values = tuple([value for _, _, value in large_strings(data)])
            rows.append(((stream, version), _Row(data, values)))
        self.remember(reversed(rows))

    def remember(self, rows: Iterable[tuple[tuple[StreamId, Version], _Row]]) -> None:
        """Remember rows that are in the file for good."""
        with self._lock:
            for (stream, version), row in rows:
                self._memory.put(stream, version, row)
            self._memory.make_room()


class Batch:
    """The rows of one transaction: later ones may name earlier ones.

    They are remembered by `keep`, after the commit; a batch that came to nothing is let go.
    """

    def __init__(self, packer: SQLitePacker, dictionary: SQLiteDictionary) -> None:
        self._packer = packer
        self._dictionary = dictionary
        self._compressor = dictionary.for_writing()
        self._memory = _Memory()
        self._compressed = False

    def pack(self, event: NewEvent) -> tuple[int, bytes]:
        """Pack an event; returns the codec's number and the bytes to store."""
        packed = self._pack_values(event) if event.values else None
        if packed is None:
            packed = self._compressor.pack(event.data)
        self._compressed = self._compressed or packed[0] > ZSTD
        return packed

    def store(self, connection: sqlite3.Connection) -> None:
        """Store what is needed to read the rows, in the transaction that stores them.

        Raises:
            DamagedFile: the file's copy of the dictionary is changed.
        """
        if self._compressed:
            self._dictionary.store(connection)

    def keep(self) -> None:
        """Remember the rows: they were committed."""
        if self._compressed:
            self._dictionary.stored()
        if self._memory.rows:
            self._packer.remember(self._memory.rows.items())

    def _pack_values(self, event: NewEvent) -> tuple[int, bytes] | None:
        self._packer.recall(event.stream, event.version)
        packed = self._without_repeats(event)
        if packed is not None:
            return REPEATED, packed
        self._memory.put(event.stream, event.version, _Row(event.data, event.values))
        return None

    def _without_repeats(self, event: NewEvent) -> bytes | None:
        """Pack an event that repeats at least as much as it brings.

        One that brings more is packed by itself, so that later ones can name it.
        """
        if not any(self._find(event.stream, value) for value in event.values):
            return None
        bases: dict[Version, bytes] = {}
        copies = []
        repeats = brings = 0
        for start, end, value in large_strings(event.data):
            found = self._find(event.stream, value)
            at = _place(found[1], event.data, start, end) if found else -1
            if found is None or at < 0 or not _may_name(bases, found, event.version):
                brings += end - start
                continue
            bases.setdefault(*found)
            copies.append(Copy(start, list(bases).index(found[0]), at, end - start))
            repeats += end - start
        if not copies or repeats < brings:
            return None
        return encode(
            Repeated(
                crc32(event.data),
                [event.version - base for base in bases],
                copies,
                self._compressor.compress(literals_of(event.data, copies)),
            )
        )

    def _find(self, stream: StreamId, value: int) -> tuple[Version, bytes] | None:
        return self._memory.find(stream, value) or self._packer.find(stream, value)


def _may_name(bases: dict[Version, bytes], found: tuple[Version, bytes], version: Version) -> bool:
    base, data = found
    if base in bases:
        return True
    # An event whose version is taken already may find later ones; the store refuses it.
    size = sum(map(len, bases.values())) + len(data)
    return base < version and len(bases) < MOST_BASES and size <= MOST_BYTES


def _place(base: bytes, data: bytes, start: int, end: int) -> int:
    """Find a value in the JSON of a base; -1 where it is not, by a chance of fingerprints."""
    begin = data[start - 1 : min(end, start + _PREFIX)]
    value = data[start:end]
    at = base.find(begin)
    while at >= 0 and not base.startswith(value, at + 1):
        at = base.find(begin, at + 1)
    return at + 1 if at >= 0 else -1
