"""Connections to a views file, or to views in memory."""

from __future__ import annotations

import sqlite3
import threading

from journal.stores import sqlite_views_file
from journal.stores.sqlite_connection import STATEMENTS
from journal.stores.sqlite_errors import EngineError, is_unsure
from journal.stores.sqlite_pragmas import prepare, use_log
from journal.stores.sqlite_views_rows import page_checksum_raised
from journal.stores.views import ViewsUnusable

CACHE_KIB = 8 * 1024
"""Size of the pages each connection keeps, where nothing else is said."""

_LOG_KEPT = 16 * 1024 * 1024
"""Bytes of the log at which it is moved into the file, and that are kept to be written over."""

_PAGE = 4096
"""SQLite's usual bytes a page."""


class Seat:
    """A connection that one thread at a time uses; opened when it is first needed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.connection: sqlite3.Connection | None = None
        self.holder: int | None = None
        """The thread that is within a transaction."""

    def close(self) -> None:
        """Close the connection."""
        if self.connection is not None:
            connection, self.connection = self.connection, None
            connection.close()

    def settle(self, error: BaseException | None) -> None:
        """End the open transaction, after an error; closes what may be of no more use."""
        if self.connection is None:
            return
        cause = error.__cause__ if isinstance(error, ViewsUnusable) else error
        unsure = cause is not None and is_unsure(cause)
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
        except sqlite3.Error:
            unsure = True
        if unsure:
            self.close()

    def forget(self) -> None:
        """Be as new, whatever another process does with it."""
        self.lock = threading.Lock()
        self.connection = None
        self.holder = None


def connect(database: str, cache_kib: int = CACHE_KIB) -> sqlite3.Connection:
    """Open a connection to a file or to memory, in autocommit mode, for any thread."""
    connection = sqlite3.connect(
        database,
        uri=True,
        timeout=sqlite_views_file.WAIT,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=STATEMENTS,
    )
    try:
        prepare(connection)
        connection.execute(f"PRAGMA cache_size=-{cache_kib}")
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.create_function("raised", 5, page_checksum_raised, deterministic=True)
    except BaseException:
        connection.close()
        raise
    return connection


def use_file(connection: sqlite3.Connection) -> None:
    """Set up a connection to a file that has its schema."""
    mode = use_log(connection)
    if mode != "wal":
        raise ViewsUnusable(None, f"its file system has no shared memory (journal mode {mode})")
    # Only what was derived is lost in a power cut, and never the file.
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA wal_autocheckpoint={_LOG_KEPT // _PAGE}")
    connection.execute(f"PRAGMA journal_size_limit={_LOG_KEPT}")


def unusable(error: EngineError) -> ViewsUnusable:
    """Say that no row can be used, after an error of SQLite."""
    named = getattr(error, "sqlite_errorname", "")
    return ViewsUnusable(None, f"{error} ({named})" if named else str(error))
