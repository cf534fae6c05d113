"""The dictionary of codec 2: every file holds a copy of its own, and is read with that."""

from __future__ import annotations

import sqlite3
from importlib import resources
from zlib import crc32

from journal.compress import DICTIONARY, Compressor, unpack
from journal.errors import DamagedFile, StorageFailed
from journal.stores.sqlite_datastore import EventDatastore

CHECKSUM = 0x0682ACE3
"""CRC-32 of dictionary 2. A dictionary's number is for ever, and so is this."""

_FIND_TABLE = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'dictionaries'"
_FIND = "SELECT data FROM dictionaries WHERE codec = ?"


class SQLiteDictionary:
    """The dictionary of one journal file."""

    def __init__(self, datastore: EventDatastore) -> None:
        self._datastore = datastore
        self._ours: Compressor | None = None
        """Made with the file's copy."""
        self._shipped: Compressor | None = None
        """For a file that has none yet."""

    def unpack(self, codec: int, blob: bytes) -> bytes:
        """Unpack a row of a codec that names no other row.

        Raises:
            ValueError: as `journal.compress.unpack`.
            DamagedFile: the file's copy of the dictionary is missing or changed.
        """
        if codec != DICTIONARY:
            return unpack(codec, blob)
        return (self._ours or self.of_file()).decompress(blob)

    def of_file(self) -> Compressor:
        """Give the compressor for reading.

        Raises:
            DamagedFile: the file's copy of the dictionary is missing or changed.
        """
        if self._ours is None:
            with self._datastore.reading() as connection:
                data = _copy(connection)
            if data is None:
                raise self._damaged("read", "missing")
            self._ours = self._checked(data, "read")
        return self._ours

    def for_writing(self) -> Compressor:
        """Give the compressor for packing.

        `store` must follow in the transaction, and `stored` after it.

        Raises:
            DamagedFile: the file's copy of the dictionary is changed.
        """
        if self._ours is not None:
            return self._ours
        if self._shipped is None:
            with self._datastore.reading() as connection:
                data = _copy(connection)
            if data is not None:
                self._ours = self._checked(data, "write to")
                return self._ours
            self._shipped = Compressor(_packaged(self._datastore.location))
        return self._shipped

    def store(self, connection: sqlite3.Connection) -> None:
        """Give the file its copy where it has none, in the caller's transaction.

        Raises:
            DamagedFile: it has another one.
        """
        if self._ours is not None:
            return
        data = _copy(connection)
        if data is None:
            data = _packaged(self._datastore.location)
            connection.execute("INSERT INTO dictionaries VALUES (?, ?)", (DICTIONARY, data))
        else:
            self._checked(data, "write to")

    def stored(self) -> None:
        """Note that the transaction was committed."""
        self._ours = self._ours or self._shipped

    def _checked(self, data: bytes, operation: str) -> Compressor:
        if type(data) is not bytes or crc32(data) != CHECKSUM:
            raise self._damaged(operation, "changed")
        return Compressor(data)

    def _damaged(self, operation: str, how: str) -> DamagedFile:
        reason = f"its dictionary {DICTIONARY} is {how}, without which its events cannot be read"
        return DamagedFile(self._datastore.location, operation, reason)


def _copy(connection: sqlite3.Connection) -> bytes | None:
    # A file of format 1 has no such table until it is written.
    if connection.execute(_FIND_TABLE).fetchone() is None:
        return None
    row = connection.execute(_FIND, (DICTIONARY,)).fetchone()
    return None if row is None else row[0]


def _packaged(location: str) -> bytes:
    file = resources.files("journal.stores").joinpath(f"dictionary_{DICTIONARY}.bin")
    data = file.read_bytes()
    if crc32(data) != CHECKSUM:
        reason = f"{file} is not the file that was installed; install runjournal again"
        raise StorageFailed(location, "write to", reason)
    return data
