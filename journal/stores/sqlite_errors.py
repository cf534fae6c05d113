"""SQLite's errors as the journal's."""

from __future__ import annotations

import sqlite3

from journal.errors import JournalBusy, JournalError, NotAJournal, StorageFailed


def is_busy(error: sqlite3.Error) -> bool:
    """Tell whether another connection's lock is the cause."""
    return _code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def translate(
    error: sqlite3.Error, *, location: str, operation: str, waited: float
) -> JournalError:
    """Turn an SQLite error into the journal's.

    Args:
        operation: what was tried, as the verb in "cannot <verb> runs.db".
        waited: the busy timeout, in seconds.
    """
    if is_busy(error):
        return JournalBusy(location, waited)
    if _code(error) == sqlite3.SQLITE_NOTADB:
        return NotAJournal(location, "the file is not an SQLite database")
    return StorageFailed(location, operation, str(error))


def _code(error: sqlite3.Error) -> int:
    # The low byte; the others say more about the same error. Errors that Python's module
    # raises by itself have none.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
