"""SQLite's errors, and the operating system's, as the journal's."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from journal.errors import (
    DamagedFile,
    DiskFull,
    FileMoved,
    JournalBusy,
    JournalError,
    NotAJournal,
    ReadOnly,
    StorageFailed,
)
from journal.stores.sqlite_cause import find_cause

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NOT_WRITABLE = {errno.EROFS, errno.EACCES, errno.EPERM}

_KINDS: dict[int, Callable[[str, str, str], JournalError]] = {
    sqlite3.SQLITE_CORRUPT: DamagedFile,
    sqlite3.SQLITE_FULL: DiskFull,
    sqlite3.SQLITE_READONLY: ReadOnly,
}

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_REFUSED = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
_UNSURE = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CORRUPT}


ENGINE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite's errors come as. Python cannot make an exception of a message that quotes a
damaged name, and raises UnicodeDecodeError in its place."""

EngineError: TypeAlias = sqlite3.Error | UnicodeDecodeError


def is_busy(error: sqlite3.Error) -> bool:
    """Tell whether another connection's lock is the cause."""
    return primary_code(error) in _BUSY


def is_unsure(error: BaseException) -> bool:
    """Tell whether a connection should be replaced after an error."""
    if isinstance(error, sqlite3.Error):
        return primary_code(error) in _UNSURE | _REFUSED
    return isinstance(error, UnicodeDecodeError)


def translate(
    error: EngineError, *, location: str, operation: str, waited: float, path: Path | None = None
) -> JournalError:
    """Turn an SQLite error into the journal's.

    Args:
        operation: what was tried, as the verb in "cannot <verb> runs.db".
        waited: the busy timeout, in seconds.
        path: the file, where writing it was tried: then it is looked into why that failed.
    """
    if isinstance(error, UnicodeDecodeError):
        return DamagedFile(location, operation, "what SQLite says of its damage is no text")
    code = primary_code(error)
    if code in _BUSY:
        return JournalBusy(location, waited)
    if code == sqlite3.SQLITE_NOTADB:
        return NotAJournal(location, "the file is not an SQLite database")
    if _extended(error) == sqlite3.SQLITE_READONLY_DBMOVED:
        return FileMoved(location)
    cause = find_cause(path) if path is not None and code in _REFUSED else None
    if cause is not None:
        return explain(cause, location=location, operation=operation)
    named = f" ({error.sqlite_errorname})" if code == sqlite3.SQLITE_IOERR else ""
    return _KINDS.get(code, StorageFailed)(location, operation, f"{error}{named}")


def explain(error: OSError, *, location: str, operation: str) -> JournalError:
    """Turn an error of the operating system into the journal's."""
    reason = (error.strerror or str(error)).lower()
    if error.errno in _NO_ROOM:
        return DiskFull(location, operation, reason)
    if error.errno in _NOT_WRITABLE:
        return ReadOnly(location, operation, reason)
    return StorageFailed(location, operation, reason)


def primary_code(error: EngineError) -> int:
    """Give the low byte of an error's code; the others say more about the same error."""
    return _extended(error) & 0xFF


def _extended(error: EngineError) -> int:
    # Errors that Python's module raises by itself have no code.
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code
