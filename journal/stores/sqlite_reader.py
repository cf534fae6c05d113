"""A connection to a journal file for those who only look at it, and long statements on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from journal.errors import JournalError
from journal.stores.sqlite_beside import beside, size
from journal.stores.sqlite_connection import connect
from journal.stores.sqlite_errors import EngineError, translate
from journal.stores.sqlite_file import SQLiteFile
from journal.stores.sqlite_pragmas import prepare_reader

BUSY_TIMEOUT = 5.0
"""Seconds to wait for whoever has locked the whole file, which no writer of ours does."""

OFTEN = 100_000
"""SQLite's instructions between two calls of `watched`'s function: some milliseconds."""


def connect_reader(file: SQLiteFile) -> sqlite3.Connection:
    """Open a connection that changes neither the file nor its log, also when it is closed.

    Raises:
        FileMoved, sqlite3.Error: see `journal.stores.sqlite_connection.connect`.
    """
    return connect(file, _options(file), prepare_reader, timeout=BUSY_TIMEOUT)


def lies_still(file: SQLiteFile) -> bool:
    """Tell whether it is read without locks, as a file that nobody changes.

    That is the only way for those who may not write, when there is no log: they would have to
    make one. Somebody else may begin to write it all the same.
    """
    return not (file.writable or file.has_log() or size(beside(file.path, "-journal")))


def _options(file: SQLiteFile) -> str:
    if lies_still(file):
        return "mode=ro&immutable=1"
    if file.has_log() or size(beside(file.path, "-journal")):
        # One that may write would move the log into the file when it is the last to close.
        return "mode=ro"
    # Without a log, one that may only read would leave an empty one.
    return "mode=rw"


def explained(error: EngineError, *, location: str, operation: str) -> JournalError:
    """Turn what a connection raised into the journal's error."""
    return translate(error, location=location, operation=operation, waited=BUSY_TIMEOUT)


@contextmanager
def watched(connection: sqlite3.Connection, tell: Callable[[], None]) -> Iterator[None]:
    """Call a function often while long statements run; what it raises stops them."""
    raised: list[BaseException] = []

    def call() -> int:
        try:
            tell()
        except BaseException as error:  # noqa: BLE001 - SQLite cannot pass it on
            raised.append(error)
            return 1
        return 0

    connection.set_progress_handler(call, OFTEN)
    try:
        yield
    except sqlite3.OperationalError as error:
        if raised:
            raise raised[0] from None
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            raise KeyboardInterrupt from None  # it came before `call` could catch it
        raise
    finally:
        connection.set_progress_handler(None, OFTEN)
