"""The views file as its recorder uses it: one connection that reads and one that writes."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eventsourcing.sqlite import SQLiteCursor, SQLiteDatastore

from journal.stores import sqlite_file, sqlite_views_file, sqlite_views_schema
from journal.stores.sqlite_errors import ENGINE_ERRORS
from journal.stores.sqlite_views_connection import CACHE_KIB, Seat, connect, unusable, use_file
from journal.stores.sqlite_views_file import Places
from journal.stores.sqlite_views_schema import Condition
from journal.stores.views import ViewsUnusable

_datastores: weakref.WeakSet[ViewDatastore] = weakref.WeakSet()

_orphans: list[sqlite3.Connection] = []
"""Connections of a parent process: SQLite forbids even closing them in the child."""

_inherited: set[Path | None] = set()
"""Their files: SQLite takes the parent's locks on them for this process's own."""


class ViewDatastore(SQLiteDatastore):
    """The views of one journal, in a file or in memory; safe for threads.

    Args:
        path: of the file; None for memory.
        journal_path: of the journal's file, whose permissions it gets.
        journal: the journal's id.
        cache_kib: size of the pages each connection keeps.

    Raises:
        ViewsUnusable: the file cannot be opened or made.
    """

    def __init__(
        self,
        path: Path | None,
        journal_path: Path | None,
        journal: str,
        *,
        cache_kib: int = CACHE_KIB,
    ) -> None:
        super().__init__(str(path or ":memory:"), originator_id_type="text")
        self._path = path
        self._journal_path = journal_path
        self._journal = journal
        self._cache_kib = cache_kib
        self._file = ""
        """What the file says it is, so that another one in its place is told apart."""
        self._places: Places | None = None
        self._look_again = 0.0
        self._closed = False
        self.reader = Seat()
        self.writer = self.reader if path is None else Seat()
        self._quiet: list[Seat] = []
        _datastores.add(self)
        with self.reader.lock:
            self.reader.connection = self._connect()

    @property
    def location(self) -> str:
        """What messages call it."""
        return "memory" if self._path is None else str(self._path)

    def begin(self, seat: Seat, statement: str) -> sqlite3.Connection:
        """Take a connection and begin a transaction; `end` must follow.

        Raises:
            ViewsUnusable: it was closed, moved, or others kept it locked.
        """
        thread = threading.get_ident()
        if thread in {self.reader.holder, self.writer.holder}:
            raise RuntimeError("a transaction of the views within another one")
        seat.lock.acquire()
        try:
            seat.holder = thread
            self._must_be_usable()
            if seat.connection is None:
                seat.connection = self._connect()
            seat.connection.execute(statement)
        except ENGINE_ERRORS as error:
            self._leave(seat, error)
            raise unusable(error) from error
        except BaseException as error:
            self._leave(seat, error)
            raise
        return seat.connection

    def end(self, seat: Seat, error: BaseException | None) -> None:
        """Commit, or roll back after an error, and give the connection back.

        Raises:
            ViewsUnusable: it cannot be committed, and was rolled back.
        """
        try:
            if error is None and seat.connection is not None:
                seat.connection.execute("COMMIT")
        except ENGINE_ERRORS as refused:
            error = refused
            raise unusable(refused) from refused
        finally:
            self._leave(seat, error)

    @contextmanager
    def transaction(self, *, commit: bool) -> Iterator[SQLiteCursor]:
        """Lend a cursor of the library's kind, under the rules above."""
        seat = self.writer if commit else self.reader
        connection = self.begin(seat, "BEGIN IMMEDIATE" if commit else "BEGIN")
        cursor = SQLiteCursor(connection.cursor())
        try:
            with cursor:
                yield cursor
        except ENGINE_ERRORS as error:
            self.end(seat, error)
            raise unusable(error) from error
        except BaseException as error:
            self.end(seat, error)
            raise
        self.end(seat, None)

    def close(self) -> None:
        """Close both connections; one that is in use is closed by who uses it."""
        self._closed = True
        for seat in {self.reader, self.writer}:
            if seat.lock.acquire(blocking=False):
                try:
                    seat.close()
                finally:
                    seat.lock.release()

    def quiet(self) -> None:
        """Close the connections of a file and let none be opened until `go_on`; for a fork.

        SQLite keeps the locks of a file once for all connections of a process, and a child
        that opens the file takes those it inherited for its own, which they are not.
        """
        seats = [self.reader] if self._path is None else [self.reader, self.writer]
        for seat in seats:
            # A transaction of this very thread cannot be waited for.
            wait = 0 if seat.holder == threading.get_ident() else sqlite_views_file.WAIT
            if not seat.lock.acquire(timeout=wait):
                continue
            self._quiet.append(seat)
            if self._path is not None:
                seat.close()

    def go_on(self, *, in_child: bool) -> None:
        """Undo `quiet`, in the process that was forked or in its child."""
        for seat in {self.reader, self.writer}:
            if seat in self._quiet:
                seat.lock.release()
            elif in_child:
                if seat.connection is not None:
                    _orphans.append(seat.connection)
                    _inherited.add(self._path)
                seat.forget()
        self._quiet.clear()

    def _must_be_usable(self) -> None:
        if self._closed:
            raise ViewsUnusable(None, "closed")
        now = time.monotonic()
        in_use = self.reader.connection or self.writer.connection
        if self._places is not None and in_use and now >= self._look_again:
            self._places.must_be_in_place()
            self._look_again = now + sqlite_file.LOOK_EVERY

    def _leave(self, seat: Seat, error: BaseException | None) -> None:
        try:
            seat.settle(error)
        finally:
            seat.holder = None
            seat.lock.release()
            if self._closed:
                self.close()

    def _connect(self) -> sqlite3.Connection:
        if self._path is None or self._journal_path is None:
            if self._file:
                raise ViewsUnusable(None, "what was in memory is gone")
            self._file = "memory"
            connection = connect(":memory:", self._cache_kib)
            sqlite_views_schema.create(connection, self._journal)
            return connection
        if self._path in _inherited:
            raise ViewsUnusable(None, "this process was forked while its parent used the file")
        with _explained(), sqlite_views_file.locked(self._path.parent):
            connection = self._open(self._path, self._journal_path)
            if self._places is None or not (self.reader.connection or self.writer.connection):
                self._places = Places(self._path)
        return connection

    def _open(self, path: Path, journal_path: Path) -> sqlite3.Connection:
        """Open the file, or make it; within the lock of its directory."""
        if not sqlite_views_file.exists(path):
            if self._file:
                raise ViewsUnusable(None, "the file was removed")
            sqlite_views_file.make(path, journal_path)
        connection = connect(f"{path.as_uri()}?mode=rw", self._cache_kib)
        try:
            found = sqlite_views_schema.condition(connection, self._journal)
            _must_be_ours(found)
            if found is Condition.OUTDATED and not self._file:
                connection.close()
                sqlite_views_file.remove(path)
                return self._open(path, journal_path)
            if found is Condition.BLANK and not self._file:
                # Before the log is in use, so that the file itself says whose it is.
                connection.execute("PRAGMA synchronous=OFF")
                connection.execute("BEGIN EXCLUSIVE")
                sqlite_views_schema.create(connection, self._journal)
                connection.execute("COMMIT")
            use_file(connection)
            self._file = self._checked(sqlite_views_schema.meta(connection, "file") or "")
        except BaseException:
            connection.close()
            raise
        return connection

    def _checked(self, file: str) -> str:
        if self._file not in {"", file}:
            raise ViewsUnusable(None, "the file was replaced")
        return file


def _must_be_ours(found: Condition) -> None:
    reason = sqlite_views_schema.REASONS.get(found)
    if reason is not None:
        raise ViewsUnusable(None, reason)


@contextmanager
def _explained() -> Iterator[None]:
    """Say why a file cannot be opened or made."""
    try:
        yield
    except ENGINE_ERRORS as error:
        raise unusable(error) from error
    except OSError as error:
        raise ViewsUnusable(None, (error.strerror or str(error)).lower()) from error


def _before_fork() -> None:
    for datastore in list(_datastores):
        datastore.quiet()
    sqlite_views_file.opening.acquire()


def _after_fork_in_parent() -> None:
    for datastore in list(_datastores):
        datastore.go_on(in_child=False)
    sqlite_views_file.opening.release()


def _after_fork_in_child() -> None:
    for datastore in list(_datastores):
        datastore.go_on(in_child=True)
    sqlite_views_file.opening.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
