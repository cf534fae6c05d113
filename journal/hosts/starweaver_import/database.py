"""A database file that is opened for reading only, as it is at one moment.

Nothing is written to it or beside it, save that SQLite makes the index (`-shm`) of a log
(`-wal`) that was left without one. A database in use is read as it was at one moment, however
long that takes: its writers go on, though their log grows meanwhile. One that nobody uses is
read without locks, as a lock would leave files beside it; should somebody begin to write it,
that is noticed before anything that was read since is taken.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from journal.errors import DamagedSource, InvalidSource, SourceBusy, StorageFailed
from journal.json_door import MAX_BYTES
from journal.stores.sqlite_errors import ENGINE_ERRORS, EngineError, is_busy, primary_code

BUSY_TIMEOUT = 5.0
"""Seconds to wait for a writer that has locked the whole file."""

LARGEST = MAX_BYTES + 64 * 1024
"""Bytes of a row that are read; a record in it has a limit of its own."""

PAGE = 200
"""Rows that a statement gives at once."""

_LOCKED_OUT = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
_WRITTEN = "it was written to, and nobody else used it when the import began"


class TooLargeError(DamagedSource):
    """A row is larger than any that is read."""


class ReadOnlyDatabase:
    """One moment of a database file."""

    def __init__(
        self, path: str | os.PathLike[str], check: Callable[[sqlite3.Connection, str], None]
    ) -> None:
        """Open the file.

        Args:
            path: of a regular file.
            check: looks at the schema, and raises where it is not to be read.

        Raises:
            InvalidSource: there is no such file, it is no database, its log cannot be read
                where it is, or what `check` raised.
            SourceBusy: somebody keeps the whole file locked.
            DamagedSource: it is damaged.
        """
        self.name = os.fspath(path)
        """What messages call it."""
        self._path = _find(self.name)
        options = "mode=ro"
        self._still: list[Any] | None = None
        """What the files looked like, where they are read without locks."""
        if not self._is_used():
            options += "&immutable=1"
            self._still = self._look()
        with self._reading():
            self._connection = sqlite3.connect(
                f"{self._path.as_uri()}?{options}",
                uri=True,
                isolation_level=None,
                timeout=BUSY_TIMEOUT,
            )
        try:
            with self._reading():
                self._prepare()
                check(self._connection, self.name)
            self._must_be_still()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the moment."""
        self._connection.close()

    def first(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """Give the first row of a statement.

        Raises:
            TooLargeError: it is over `LARGEST`.
            SourceBusy, DamagedSource, StorageFailed: it cannot be read.
        """
        with self._reading():
            found: tuple[Any, ...] | None = self._connection.execute(statement, values).fetchone()
        self._must_be_still()
        return found

    def number(self, statement: str, *values: object) -> int:
        """Give the number that a statement counts to."""
        found = self.first(statement, *values)
        return int(found[0]) if found else 0

    def pages(self, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement, read in pages; other statements may run between."""
        with self._reading():
            cursor = self._connection.execute(statement, values)
        while True:
            with self._reading():
                page = cursor.fetchmany(PAGE)
            self._must_be_still()
            if not page:
                return
            yield from page

    def _prepare(self) -> None:
        connection = self._connection
        # What a hostile schema names must not be called, nor a file cut short be mapped.
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA query_only=ON")
        connection.execute("PRAGMA mmap_size=0")
        connection.execute("PRAGMA cell_size_check=ON")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
        connection.text_factory = bytes  # text that is no UTF-8 is a matter of its own row
        connection.execute("BEGIN")  # the moment is that of the first statement after it

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except ENGINE_ERRORS as error:
            self._must_be_still()  # then that is why
            raise self._explained(error) from error

    def _explained(self, error: EngineError) -> Exception:
        if isinstance(error, sqlite3.Error):
            code = primary_code(error)
            if code == sqlite3.SQLITE_TOOBIG:
                return TooLargeError(self.name, "a value is over SQLite's limit")
            if is_busy(error):
                return SourceBusy(self.name, f"{error}, for {BUSY_TIMEOUT:g} s")
            if code == sqlite3.SQLITE_NOTADB:
                return InvalidSource(self.name, "not an SQLite database")
            if code in _LOCKED_OUT:
                return InvalidSource(self.name, f"{error}; {self._remedy()}")
            if code not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
                return StorageFailed(self.name, "read", str(error))
        return DamagedSource(self.name, str(error))

    def _remedy(self) -> str:
        left = [each for each in ("-wal", "-journal") if _size(self._beside(each))]
        if not left:
            return "make it readable, or copy it"
        beside = f"{self._path.name}{left[0]}"
        return (
            f"what is in {beside} belongs to it: let Starweaver open it once, or copy both to a "
            "directory that can be written and open the copy"
        )

    def _is_used(self) -> bool:
        """Tell whether somebody may have it open, or left a log that belongs to it."""
        log, index = self._beside("-wal"), self._beside("-shm")
        return (
            _size(self._beside("-journal")) > 0
            or _size(log) > 0
            or (log.exists() and index.exists())
        )

    def _beside(self, suffix: str) -> Path:
        return self._path.with_name(self._path.name + suffix)

    def _look(self) -> list[Any]:
        try:
            found = self._path.stat()
        except OSError:
            return []
        file = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        return [file, *(_size(self._beside(each)) for each in ("-wal", "-journal"))]

    def _must_be_still(self) -> None:
        if self._still is not None and self._look() != self._still:
            raise SourceBusy(self.name, _WRITTEN)


def _find(name: str) -> Path:
    if "\0" in name:
        raise InvalidSource(name, "a path cannot hold a NUL character")
    path = Path(os.path.realpath(name))
    try:
        found = path.stat()
    except OSError as error:
        raise InvalidSource(name, (error.strerror or str(error)).lower()) from error
    if not stat.S_ISREG(found.st_mode):
        raise InvalidSource(name, "not a regular file")
    if not found.st_size:
        raise InvalidSource(name, "an empty file")
    if not os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
        raise InvalidSource(name, "no permission to read the file")
    return path


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
