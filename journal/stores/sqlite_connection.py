"""Connections to the journal file: one that writes, and as many as there are readers.

Every pragma the journal relies on is set here.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from functools import partial
from typing import cast

from eventsourcing.sqlite import SQLiteConnection, SQLiteConnectionPool

from journal.errors import JournalBusy, JournalClosed, StorageFailed
from journal.stores.sqlite_errors import is_busy
from journal.stores.sqlite_file import SQLiteFile

STATEMENTS = 128
"""Prepared statements each connection keeps. (The library's `True` would mean 1.)"""

IDLE_READERS = 8
"""Reader connections kept open for the next read; more are opened when needed."""

LOOK_EVERY = 0.05
"""Seconds after which an append looks again whether the file is still in its place."""

_orphans: list[EventConnection] = []
"""Connections of a parent process: SQLite forbids even closing them in the child."""


class EventConnection(SQLiteConnection):
    """A connection in autocommit mode."""

    def __init__(self, sqlite: sqlite3.Connection) -> None:
        super().__init__(sqlite, max_age=None)
        self.sqlite = sqlite

    def roll_back(self) -> None:
        """Undo the open transaction; closes the connection where even that fails."""
        try:
            if self.sqlite.in_transaction:
                self.sqlite.execute("ROLLBACK")
        except sqlite3.Error:
            self.close()


class EventPool(SQLiteConnectionPool):
    """The connections of one store.

    Unlike the library's pool it has no queue: a reader takes an idle connection or opens
    one, and never waits for a writer.
    """

    def __init__(self, file: SQLiteFile, *, busy_timeout: float) -> None:
        super().__init__(db_name=str(file.path))
        self.file = file
        self.busy_timeout = busy_timeout
        self._process = os.getpid()
        self._writer: EventConnection | None = None
        self._idle: list[EventConnection] = []
        self._reading = 0
        self._look_again = 0.0
        self._changed = threading.Condition()

    def get_connection(
        self, timeout: float | None = None, *, is_writer: bool | None = None
    ) -> EventConnection:
        """Take a connection; `put_connection` must follow.

        Raises:
            JournalBusy: another thread kept the writer for longer than the wait.
            JournalClosed: the pool was closed.
            StorageFailed: it cannot be opened.
        """
        return self._take_writer(timeout) if is_writer else self._take_reader()

    def put_connection(self, conn: SQLiteConnection) -> None:
        """Give a connection back; one that was closed after an error is forgotten."""
        conn = cast("EventConnection", conn)
        if conn.is_writer:
            if self._closed:
                conn.close()
            if conn.closed:
                self._writer = None
            self._writer_lock.release()
            return
        with self._changed:
            self._reading -= 1
            # One that cannot lock the file must not outlive the page it was opened for.
            keep = self.file.writable and len(self._idle) < IDLE_READERS and not self._closed
            if keep and not conn.closed:
                self._idle.append(conn)
            else:
                conn.close()
            self._changed.notify_all()

    def close(self) -> None:
        """Close every connection, after the calls that are using them.

        A call that takes longer than the busy timeout closes its own when it ends.
        """
        if self._process != os.getpid():
            _orphans.extend(self._idle)
            _orphans.extend([self._writer] if self._writer else [])
            return
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._reading, self.busy_timeout)
            while self._idle:
                self._idle.pop().close()
        # The last connection to close moves the log into the file, so it is the writer.
        if self._writer_lock.acquire(timeout=self.busy_timeout):
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            self._writer_lock.release()

    def _take_writer(self, timeout: float | None) -> EventConnection:
        wait = self.busy_timeout if timeout is None else timeout
        if not self._writer_lock.acquire(timeout=wait):
            raise JournalBusy(self.file.location, wait)
        try:
            self._must_be_open()
            if time.monotonic() >= self._look_again:
                self.file.must_be_in_place()
                self._look_again = time.monotonic() + LOOK_EVERY
            if self._writer is None:
                self._writer = self._create_writer()
        except BaseException:
            self._writer_lock.release()
            raise
        self._writer.is_writer = True
        return self._writer

    def _take_reader(self) -> EventConnection:
        with self._changed:
            self._must_be_open()
            self._reading += 1
            if self._idle:
                return self._idle.pop()
        try:
            return self._create_connection()
        except BaseException:
            with self._changed:
                self._reading -= 1
                self._changed.notify_all()
            raise

    def _must_be_open(self) -> None:
        if self._closed:
            raise JournalClosed(self.file.location)

    def _create_connection(self) -> EventConnection:
        if self.file.writable:
            # Able to write, so that the last one out can tidy the log away.
            connection = self._connect("mode=rw")
            connection.execute("PRAGMA query_only=ON")
        elif self.file.has_wal():
            connection = self._connect("mode=ro")
        else:
            # SQLite would put a log of ours, unwritable for its owner, beside the file.
            connection = self._connect("mode=ro&immutable=1")
        return EventConnection(connection)

    def _create_writer(self) -> EventConnection:
        if not self.file.writable:
            raise StorageFailed(
                self.file.location,
                "append to",
                "it is open for reading only: no permission to write the file and its directory",
            )
        connection = self._connect("mode=rw")
        try:
            self._use_wal(connection)
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
        except BaseException:
            connection.close()
            raise
        return EventConnection(connection)

    def _connect(self, options: str) -> sqlite3.Connection:
        self.file.must_be_in_place()
        connection = sqlite3.connect(
            f"{self.file.path.as_uri()}?{options}",
            uri=True,
            timeout=self.busy_timeout,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=STATEMENTS,
        )
        try:
            connection.execute("PRAGMA trusted_schema=OFF")
            # A damaged text must not fail the whole read: its own row's checksum tells.
            connection.text_factory = partial(str, encoding="utf-8", errors="backslashreplace")
        except BaseException:
            connection.close()
            raise
        return connection

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        # SQLite does not wait by itself when several connections switch a new file at once.
        give_up = time.monotonic() + self.busy_timeout
        while True:
            try:
                [(mode,)] = connection.execute("PRAGMA journal_mode=WAL").fetchall()
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > give_up:
                    raise
                time.sleep(0.005)
            else:
                break
        if mode != "wal":
            raise StorageFailed(
                self.file.location,
                "append to",
                f"its file system has no shared memory for SQLite (journal mode {mode})",
            )
