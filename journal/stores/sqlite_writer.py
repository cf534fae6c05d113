"""The connection that writes: how its transactions begin."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from journal.errors import JournalBusy, ReadOnly, StorageFailed
from journal.stores import sqlite_file
from journal.stores.sqlite_checkpoint import Checkpointer
from journal.stores.sqlite_errors import is_busy
from journal.stores.sqlite_file import UNWRITABLE, SQLiteFile
from journal.stores.sqlite_log import Log
from journal.stores.sqlite_pragmas import data_version, prepare_writer, use_log
from journal.stores.sqlite_turnstile import BURST, Turnstile, pause

LOOK_EVERY_ROWS = 16
"""Rows after which it is looked again, too: the log may grow fast."""


class Writer:
    """Begins the transactions of one journal file, in this process's and others' turn.

    Args:
        durability: `full` or `relaxed`.
        busy_timeout: what a wait that was too long is said to have been, in seconds.
    """

    def __init__(
        self,
        file: SQLiteFile,
        checkpointer: Checkpointer,
        *,
        durability: str,
        busy_timeout: float,
    ) -> None:
        self.turnstile = Turnstile(file, busy_timeout=busy_timeout)
        self._file = file
        self._checkpointer = checkpointer
        self._durability = durability
        self._busy_timeout = busy_timeout
        self._log: Log | None = None
        self._burst_ends = 0.0
        self._look_again = 0.0
        self._look_at = 0
        self._data_version = 0

    def prepare(self, connection: sqlite3.Connection, give_up: float) -> None:
        """Set up a new connection.

        Raises:
            JournalBusy: others kept the file locked.
            ReadOnly: it may not be written.
            StorageFailed: its file system has no shared memory.
        """
        if not self._file.writable:
            raise ReadOnly(self._file.location, "append to", UNWRITABLE)
        since = time.monotonic()
        with self.turnstile.held(give_up):
            while True:
                try:
                    self._set_up(connection)
                except sqlite3.OperationalError as error:
                    # SQLite itself does not wait when several switch a new file at once.
                    if not is_busy(error) or time.monotonic() >= give_up:
                        raise
                    pause(since)
                else:
                    return

    def begin(self, connection: sqlite3.Connection, give_up: float) -> None:
        """Begin a transaction.

        Args:
            give_up: until when to wait for others, by the monotonic clock.

        Raises:
            FileMoved: the file or its log is no longer there.
            JournalBusy: others kept it locked.
            sqlite3.Error: the log cannot be moved into the file, which has become necessary.
        """
        now = time.monotonic()
        if now >= self._look_again or connection.total_changes >= self._look_at:
            self._look()
            self._look_again = now + sqlite_file.LOOK_EVERY
            self._look_at = connection.total_changes + LOOK_EVERY_ROWS
            if self._log is not None and self._checkpointer.tend(
                connection, self._log, lambda: self._alone(connection, give_up), give_up
            ):
                self._burst_ends = 0.0
        if now >= self._burst_ends or not _begun(connection):
            with self.turnstile.held(give_up):
                self._wait_to_begin(connection, give_up)
            self._burst_ends = time.monotonic() + BURST
        if self._log is None:
            self._log = Log(self._file)

    def forget(self) -> None:
        """Forget the connection, which is closed or will be."""
        if self._log is not None:
            self._log.close()
            self._log = None
        self._burst_ends = self._look_again = 0.0
        self._look_at = 0

    def close(self) -> None:
        """Let go of the lock beside the file."""
        self.forget()
        self.turnstile.close()

    def _set_up(self, connection: sqlite3.Connection) -> None:
        mode = use_log(connection)
        if mode != "wal":
            raise StorageFailed(
                self._file.location,
                "append to",
                f"its file system has no shared memory for SQLite (journal mode {mode})",
            )
        prepare_writer(connection, self._durability)

    def _look(self) -> None:
        self._file.must_be_in_place()
        if self._log is not None:
            self._log.must_be_in_place()

    @contextmanager
    def _alone(self, connection: sqlite3.Connection, give_up: float) -> Iterator[None]:
        """Keep others from writing, after the one who is at it."""
        with self.turnstile.held(give_up):
            version = data_version(connection)
            if version != self._data_version:
                time.sleep(BURST)  # others write, too, and may be in the middle of one
                self._data_version = version
            self._wait_to_begin(connection, give_up)
            connection.execute("ROLLBACK")
            yield

    def _wait_to_begin(self, connection: sqlite3.Connection, give_up: float) -> None:
        since = time.monotonic()
        while not _begun(connection):
            if time.monotonic() >= give_up:
                raise JournalBusy(self._file.location, self._busy_timeout)
            pause(since)


def _begun(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if is_busy(error):
            return False
        raise
    return True
