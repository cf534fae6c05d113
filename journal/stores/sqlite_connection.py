"""Connections to the journal file: one that writes, and as many as there are readers."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial
from typing import cast

from eventsourcing.sqlite import SQLiteConnection, SQLiteConnectionPool

from journal.errors import JournalBusy, JournalClosed
from journal.stores import sqlite_file
from journal.stores.sqlite_checkpoint import Checkpointer
from journal.stores.sqlite_file import SQLiteFile
from journal.stores.sqlite_pragmas import prepare, prepare_reader
from journal.stores.sqlite_writer import Writer

STATEMENTS = 128
"""Prepared statements each connection keeps. (The library's `True` would mean 1.)"""

IDLE_READERS = 8
"""Reader connections kept open for the next read; more are opened when needed."""

_orphans: list[EventConnection] = []
"""Connections of a parent process: SQLite forbids even closing them in the child."""


_pools: weakref.WeakSet[EventPool] = weakref.WeakSet()

_quiet: list[EventPool] = []
"""Pools that are kept from opening connections while the process is being forked."""


class EventConnection(SQLiteConnection):
    """A connection in autocommit mode."""

    def __init__(self, sqlite: sqlite3.Connection, *, lasting: bool) -> None:
        super().__init__(sqlite, max_age=None)
        self.sqlite = sqlite
        self.lasting = lasting
        """Whether it may be kept for the next one who asks."""

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

    Args:
        busy_timeout: seconds to wait for other writers.
        durability: `full` or `relaxed`.
    """

    def __init__(self, file: SQLiteFile, *, busy_timeout: float, durability: str) -> None:
        super().__init__(db_name=str(file.path))
        self.file = file
        self.busy_timeout = busy_timeout
        self._process = os.getpid()
        self._checkpointer = Checkpointer(
            lambda: connect(file, "mode=rw", prepare_reader, timeout=0)
        )
        self.writer = Writer(
            file, self._checkpointer, durability=durability, busy_timeout=busy_timeout
        )
        self._writing: EventConnection | None = None
        self._idle: list[EventConnection] = []
        self._reading = 0
        self._look_again = 0.0
        self._changed = threading.Condition()
        _pools.add(self)

    def get_connection(
        self, timeout: float | None = None, *, is_writer: bool | None = None
    ) -> EventConnection:
        """Take a connection; `put_connection` must follow.

        Raises:
            JournalBusy: another thread kept the writer for longer than the wait.
            JournalClosed: the pool was closed.
            FileMoved, ReadOnly, StorageFailed: it cannot be opened.
        """
        if is_writer:
            wait = self.busy_timeout if timeout is None else timeout
            return self.take_writer(time.monotonic() + wait)
        return self._take_reader()

    def put_connection(self, conn: SQLiteConnection) -> None:
        """Give a connection back; one that was closed after an error is forgotten."""
        if conn is self._writing:
            self.give_writer(self._writing)
            return
        conn = cast("EventConnection", conn)
        with self._changed:
            self._reading -= 1
            keep = conn.lasting and len(self._idle) < IDLE_READERS and not self._closed
            if keep and not conn.closed:
                self._idle.append(conn)
            else:
                conn.close()
            self._changed.notify_all()

    def take_writer(self, give_up: float) -> EventConnection:
        """Take the connection that writes; `give_writer` must follow.

        Args:
            give_up: until when to wait for other threads, by the monotonic clock.

        Raises:
            JournalBusy, JournalClosed, FileMoved, ReadOnly, StorageFailed: see
                `get_connection`.
        """
        lock = self._writer_lock
        if not lock.acquire(blocking=False) and not _acquired(lock, give_up):
            raise JournalBusy(self.file.location, self.busy_timeout)
        try:
            self._must_be_open()
            if self._writing is None:
                self._writing = self._create_writer(give_up)
        except BaseException:
            lock.release()
            raise
        return self._writing

    def give_writer(self, connection: EventConnection) -> None:
        """Give back the connection that writes."""
        if self._closed:
            connection.close()
        if connection.closed:
            self._writing = None
            self.writer.forget()
        if self._closed:
            self.writer.close()
        self._writer_lock.release()

    def close(self) -> None:
        """Close every connection, after the calls that are using them.

        A call that takes longer than the busy timeout closes its own when it ends.
        """
        if self._process != os.getpid():
            _orphans.extend(self._idle)
            _orphans.extend([self._writing] if self._writing else [])
            return
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._reading, self.busy_timeout)
            while self._idle:
                self._idle.pop().close()
        # The last connection to close moves the log into the file, so it is the writer.
        if self._writer_lock.acquire(timeout=self.busy_timeout):
            self._checkpointer.close()
            self.writer.forget()
            if self._writing is not None:
                self._writing.close()
                self._writing = None
            self.writer.close()
            self._writer_lock.release()

    def quiet(self) -> bool:
        """Close every connection and open none until `go_on`; for a fork.

        SQLite keeps the locks of a file once for all connections of a process, and a child
        that opens the file takes those it inherited for its own, which they are not.

        Returns:
            Whether it is; not when calls of other threads, or of this one, take too long.
        """
        if self._closed or self._process != os.getpid():
            return False
        if not self._writer_lock.acquire(timeout=self.busy_timeout):
            return False
        self._changed.acquire()
        if not self._changed.wait_for(lambda: not self._reading, self.busy_timeout):
            self._changed.release()
            self._writer_lock.release()
            return False
        self._checkpointer.close()
        while self._idle:
            self._idle.pop().close()
        if self._writing is not None:
            self.writer.forget()
            self._writing.close()
            self._writing = None
        return True

    def go_on(self) -> None:
        """Undo `quiet`, in the process that was forked."""
        self._changed.release()
        self._writer_lock.release()

    def _take_reader(self) -> EventConnection:
        with self._changed:
            self._must_be_open()
            now = time.monotonic()
            if now >= self._look_again:
                self.file.must_be_in_place()
                self._look_again = now + sqlite_file.LOOK_EVERY
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
        lasting = self.file.writable
        if lasting:
            # Able to write, so that the last one out can tidy the log away.
            options = "mode=rw"
        elif self.file.has_log():
            options = "mode=ro"
        else:
            # SQLite would put a log of ours, unwritable for its owner, beside the file.
            options = "mode=ro&immutable=1"
        connection = connect(self.file, options, prepare_reader, timeout=self.busy_timeout)
        # One that cannot lock the file must not outlive the page it was opened for.
        return EventConnection(connection, lasting=lasting)

    def _create_writer(self, give_up: float) -> EventConnection:
        def prepare_writer(connection: sqlite3.Connection) -> None:
            self.writer.prepare(connection, give_up)

        # It waits for others by itself, in their turn, and never in SQLite's.
        connection = connect(self.file, "mode=rw", prepare_writer, timeout=0)
        return EventConnection(connection, lasting=True)


def connect(
    file: SQLiteFile,
    options: str,
    finish: Callable[[sqlite3.Connection], None],
    *,
    timeout: float,
) -> sqlite3.Connection:
    r"""Open a connection to a journal file, in autocommit mode, for any thread.

    Damaged texts come with `\xNN` for what is not UTF-8.

    Args:
        options: of the URI: how the file is opened.
        finish: sets up the rest; when it raises, the connection is closed.
        timeout: seconds that SQLite waits for others' locks.

    Raises:
        FileMoved: the file is no longer there.
        sqlite3.Error: it cannot be opened.
    """
    file.must_be_in_place()
    connection = sqlite3.connect(
        f"{file.path.as_uri()}?{options}",
        uri=True,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=STATEMENTS,
    )
    try:
        prepare(connection)
        # A damaged text must not fail the whole read: its own row's checksum tells.
        connection.text_factory = partial(str, encoding="utf-8", errors="backslashreplace")
        finish(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _acquired(lock: threading.Lock, give_up: float) -> bool:
    return lock.acquire(timeout=max(0.0, give_up - time.monotonic()))


def _before_fork() -> None:
    _quiet.extend(pool for pool in list(_pools) if pool.quiet())


def _after_fork() -> None:
    while _quiet:
        _quiet.pop().go_on()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_quiet.clear
    )
