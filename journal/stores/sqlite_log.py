"""The write-ahead log beside an open journal: how long it is, and whether it is still there.

Unlike the journal and its `-shm`, the log is a file that SQLite does not lock, so that a
descriptor of it may be closed. Its layout is described at https://sqlite.org/walformat.html.
"""

from __future__ import annotations

import os

from journal.errors import FileMoved
from journal.stores.sqlite_errors import explain
from journal.stores.sqlite_file import SQLiteFile

_HEADER = 32
_FRAME_HEADER = 24
_SALT = 8
"""Bytes that change whenever the log is written from its start again."""


class Log:
    """The log of a connection that has begun a transaction, so that it is there."""

    def __init__(self, file: SQLiteFile) -> None:
        self._path = file.log
        try:
            self._bytes = self._path.open("rb", buffering=0)
        except FileNotFoundError:
            raise FileMoved(str(self._path)) from None
        except OSError as error:
            raise explain(error, location=file.location, operation="write to") from error

    def reaches(self, size: int) -> bool:
        """Tell whether there are more than so many bytes of it in use.

        Its file may be longer: what stood in it before it was begun again is written over.
        """
        self._bytes.seek(0)
        header = self._bytes.read(_HEADER)
        frame = _FRAME_HEADER + int.from_bytes(header[8:12], "big")
        self._bytes.seek(_HEADER + size // frame * frame + 8)
        salt = self._bytes.read(_SALT)
        return salt != b"" and salt == header[16 : 16 + _SALT]

    def must_be_in_place(self) -> None:
        """Refuse to go on without it: others would not see what is written into it.

        Raises:
            FileMoved: it was removed or replaced.
        """
        try:
            found = os.stat(self._path)  # noqa: PTH116 - often, and faster
        except OSError:
            found = None
        if found is None or not os.path.samestat(found, os.fstat(self._bytes.fileno())):
            raise FileMoved(str(self._path))

    def close(self) -> None:
        """Close the descriptor."""
        self._bytes.close()
