"""Rows that other rows name: found, checked and put together with them.

Many rows of a page name rows of the same page; the others are fetched with one query, packed
as they are, and unpacked when they are needed. What was unpacked stands in a small cache.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from journal.compress import REPEATED
from journal.errors import CorruptEvent
from journal.ids import StreamId, Version
from journal.stores.interface import StoredEvent
from journal.stores.repeated import MOST_BYTES, Repeated, decode, join
from journal.stores.sqlite_datastore import EventDatastore
from journal.stores.sqlite_dictionary import SQLiteDictionary

ROOM = 16 * 1024 * 1024
"""Bytes of JSON that the cache holds: the largest row that is ever named fits."""

FETCH_ROWS = 1000
FETCH_BYTES = 16 * 1024 * 1024
"""Rows and packed bytes fetched before they are needed; the others are when they are."""

PAST_ROWS = 20_000
"""Newest rows of a stream among which earlier values are looked for."""

PAST_LARGE = 500
"""Rows of them that are read."""

PAST_BYTES = 4 * 1024 * 1024
"""Packed bytes of those."""

_LARGE = 64
"""Packed bytes below which a row holds no large value that is worth naming."""

Row: TypeAlias = tuple[Any, ...]
"""The name of the stream, position, version, code of the name, recorded time, codec,
identity, checksum and data."""

Place: TypeAlias = tuple[StreamId, Version]
Build: TypeAlias = Callable[..., StoredEvent]
"""Checks a row and makes an event of it; without a page the row must not name others."""

_STREAM, _VERSION, _CODEC, _DATA = 0, 2, 5, 8

_COLUMNS = """
    streams.name, position, version, events.name, recorded_at, codec, identity, checksum, data
"""
_WANTED = f"""
    WITH wanted (run, place) AS (VALUES {{}})
    SELECT {_COLUMNS} FROM wanted
    JOIN streams ON streams.name = run
    JOIN events ON events.stream = streams.key AND version = place
"""
_PAST = f"""
    SELECT version, size FROM (
        SELECT version, codec, length(data) AS size FROM events
        WHERE stream = (SELECT key FROM streams WHERE name = ?) AND version < ?
        ORDER BY version DESC LIMIT {PAST_ROWS}
    )
    WHERE codec <> {REPEATED} AND size >= {_LARGE} LIMIT {PAST_LARGE}
"""


class SQLiteBases:
    """The rows of one journal file as others name them; safe to use from several threads."""

    def __init__(
        self, datastore: EventDatastore, dictionary: SQLiteDictionary, build: Build
    ) -> None:
        self._datastore = datastore
        self._dictionary = dictionary
        self._build = build
        self._lock = threading.Lock()
        self._cache: OrderedDict[Place, bytes] = OrderedDict()
        self._size = 0

    def page(self, rows: Sequence[Row]) -> Page | None:
        """Make ready what the rows of a page name; None where they name nothing."""
        if REPEATED not in {row[_CODEC] for row in rows}:
            return None
        return Page(self, self._dictionary, rows)

    def unpack(
        self, page: Page | None, stream: StreamId, version: Version, codec: int, blob: bytes
    ) -> bytes:
        """Unpack a row whose checksum matches.

        Args:
            page: of the row; None where nothing on its page names others.

        Raises:
            CorruptEvent: it, or a row it names, is damaged.
            DamagedFile: the file's copy of the dictionary is missing or changed.
        """
        if codec == REPEATED:
            if page is None:
                raise CorruptEvent(stream, version, "another row names it, and it names others")
            return page.restore(stream, version, blob)
        try:
            data = self._dictionary.unpack(codec, blob)
        except ValueError as error:
            raise CorruptEvent(stream, version, str(error)) from error
        if page is not None:
            page.seen(stream, version, data)
        return data

    def past(self, stream: StreamId, before: Version) -> Iterator[tuple[Version, bytes]]:
        """Read the newest large rows before a version, newest first, as far as is bounded."""
        with self._datastore.reading() as connection:
            sizes = connection.execute(_PAST, (stream, before)).fetchall()
        places = []
        left = PAST_BYTES
        for version, size in sizes:
            left -= size
            if left < 0:
                break
            places.append((stream, version))
        fetched = self.fetch(places)
        for place in places:
            try:
                data = self.find(place, fetched)
            except CorruptEvent:
                continue  # no new row names it; whoever reads it is told
            if data is not None:
                yield place[1], data

    def find(self, place: Place, fetched: dict[Place, Row]) -> bytes | None:
        """Give the JSON of a row that names no other; None where there is no row.

        Raises:
            CorruptEvent: it is damaged, or names others itself.
        """
        with self._lock:
            data = self._cache.get(place)
            if data is not None:
                self._cache.move_to_end(place)
                return data
        row = fetched.get(place) or self.fetch([place]).get(place)
        if row is None:
            return None
        data = self._build(None, *row).data
        self.keep(place, data)
        return data

    def fetch(self, places: Sequence[Place]) -> dict[Place, Row]:
        """Fetch rows as they are, as far as is bounded; what is not there is left out."""
        found: dict[Place, Row] = {}
        if not places:
            return found
        wanted = ", ".join(["(?, ?)"] * len(places))
        left = FETCH_BYTES
        with self._datastore.reading() as connection:
            parts = [part for place in places for part in place]
            rows = connection.execute(_WANTED.format(wanted), parts)
            for row in rows:
                found[row[_STREAM], row[_VERSION]] = row
                left -= sys.getsizeof(row[_DATA])  # also of what damage made of it
                if left < 0:
                    break
            rows.close()
        return found

    def missing(self, places: Sequence[Place]) -> list[Place]:
        """Tell which rows are not in the cache."""
        with self._lock:
            return [place for place in places if place not in self._cache]

    def keep(self, place: Place, data: bytes) -> None:
        """Put a row into the cache."""
        with self._lock:
            if place not in self._cache and len(data) <= ROOM:
                self._cache[place] = data
                self._size += len(data)
            while self._size > ROOM:
                self._size -= len(self._cache.popitem(last=False)[1])


class Page:
    """What the rows of one page name."""

    def __init__(
        self, bases: SQLiteBases, dictionary: SQLiteDictionary, rows: Sequence[Row]
    ) -> None:
        self._bases = bases
        self._dictionary = dictionary
        self._repeated: dict[Place, Repeated] = {}
        self._awaited: set[Place] = set()
        """Rows of the page itself that come before one that names them."""
        earlier: set[Place] = set()
        elsewhere: dict[Place, None] = {}
        for row in rows:
            place = row[_STREAM], row[_VERSION]
            if row[_CODEC] != REPEATED:
                earlier.add(place)
                continue
            for named in self._take_apart(place, row[_DATA]):
                if named in earlier:
                    self._awaited.add(named)
                else:
                    elsewhere[named] = None
        self._fetched = bases.fetch(bases.missing([*elsewhere])[:FETCH_ROWS])

    def seen(self, stream: StreamId, version: Version, data: bytes) -> None:
        """Take note of a row of the page that names no other."""
        if (stream, version) in self._awaited:
            self._bases.keep((stream, version), data)

    def restore(self, stream: StreamId, version: Version, blob: bytes) -> bytes:
        """Put a row together with what it names.

        Raises:
            CorruptEvent: it or a row it names is damaged; the error names both.
            DamagedFile: the file's copy of the dictionary is missing or changed.
        """
        row = self._repeated.get((stream, version))
        try:
            if row is None:
                row = decode(blob)
            bases = self._find(stream, version, row)
            literals = self._dictionary.of_file().decompress(row.literals)
            return join(row, literals, bases)
        except ValueError as error:
            reason = str(error)
            if row is not None:
                versions = ", ".join([str(version - distance) for distance in row.distances])
                reason = f"it repeats values of version {versions}: {reason}"
            raise CorruptEvent(stream, version, reason) from error

    def _take_apart(self, place: Place, blob: bytes) -> list[Place]:
        try:
            row = self._repeated[place] = decode(blob)
            return [(place[0], Version(place[1] - distance)) for distance in row.distances]
        except (ValueError, TypeError):
            return []  # damaged: the checksum tells, or `restore`

    def _find(self, stream: StreamId, version: Version, row: Repeated) -> list[bytes]:
        found = []
        left = MOST_BYTES
        for distance in row.distances:
            place = stream, Version(version - distance)
            try:
                data = self._bases.find(place, self._fetched)
            except CorruptEvent as error:
                raise ValueError(f"version {error.version} is damaged, {error.reason}") from error
            if data is None:
                raise ValueError(f"version {place[1]} is not there")
            left -= len(data)
            if left < 0:
                raise ValueError(f"together they are over {MOST_BYTES} bytes")
            found.append(data)
        return found
