"""The journal file as the recorder uses it: a reading and a writing transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from eventsourcing.sqlite import SQLiteCursor, SQLiteDatastore

from journal.errors import StorageFailed
from journal.stores import sqlite_schema
from journal.stores.sqlite_connection import EventPool
from journal.stores.sqlite_errors import translate
from journal.stores.sqlite_file import find_file

OLDEST_SQLITE = (3, 37, 0)
"""The first with STRICT tables."""


class EventDatastore(SQLiteDatastore):
    """An open journal file, its schema checked.

    Args:
        path: of the file.
        create: write the schema where the file is missing or blank, also one whose
            creation was cut short.
        busy_timeout: seconds to wait for another writer.

    Raises:
        JournalNotFound, NotAJournal, NewerFormat, GuardsMissing, StorageFailed, JournalBusy:
            see `journal.stores.open_store`.
    """

    pool: EventPool

    def __init__(self, path: Path, *, create: bool, busy_timeout: float) -> None:
        super().__init__(str(path), originator_id_type="text")
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            wanted = ".".join(map(str, OLDEST_SQLITE))
            raise StorageFailed(
                str(path),
                "open",
                f"Python has SQLite {sqlite3.sqlite_version}, the journal needs {wanted}",
            )
        self.pool = EventPool(find_file(path, create=create), busy_timeout=busy_timeout)
        try:
            self._open(create=create)
        except BaseException:
            self.close()
            raise

    @property
    def location(self) -> str:
        """What messages call the file."""
        return self.pool.file.location

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for reading.

        Statements must be stepped to their end, so that nothing stays open.

        Raises:
            StorageFailed, JournalBusy, JournalClosed, NotAJournal: instead of SQLite's errors.
        """
        try:
            connection = self.pool.get_connection(is_writer=False)
        except sqlite3.Error as error:
            raise self._translated(error, "open") from error
        try:
            yield connection.sqlite
        except sqlite3.Error as error:
            connection.close()
            raise self._translated(error, "read") from error
        except BaseException:
            connection.close()
            raise
        finally:
            self.pool.put_connection(connection)

    @contextmanager
    def writing(self, *, undo: Callable[[], None] | None = None) -> Iterator[sqlite3.Connection]:
        """Lend the writer's connection for one transaction, committed at the end.

        Any exception rolls it back.

        Args:
            undo: called when it was rolled back, before another thread may write.

        Raises:
            StorageFailed, JournalBusy, JournalClosed, NotAJournal: instead of SQLite's errors.
        """
        try:
            connection = self.pool.get_connection(is_writer=True)
        except sqlite3.Error as error:
            raise self._translated(error, "open") from error
        try:
            connection.sqlite.execute("BEGIN IMMEDIATE")
            yield connection.sqlite
            connection.sqlite.execute("COMMIT")
        except BaseException as error:
            connection.roll_back()
            if undo is not None:
                undo()
            if isinstance(error, sqlite3.Error):
                raise self._translated(error, "write to") from error
            raise
        finally:
            self.pool.put_connection(connection)

    @contextmanager
    def transaction(self, *, commit: bool) -> Iterator[SQLiteCursor]:
        """Lend a cursor of the library's kind, under the rules above."""
        with self.writing() if commit else self.reading() as connection:
            cursor = SQLiteCursor(connection.cursor())
            with cursor:
                yield cursor

    def _open(self, *, create: bool) -> None:
        if create:
            with self.reading() as connection:
                blank = sqlite_schema.is_blank(connection)
            if blank:
                with self.writing() as connection:
                    # Another process may have been faster.
                    if sqlite_schema.is_blank(connection):
                        sqlite_schema.create(connection)
        with self.reading() as connection:
            # One snapshot: another process may be creating the schema right now.
            connection.execute("BEGIN")
            sqlite_schema.check(connection, self.location)
            connection.execute("COMMIT")

    def _translated(self, error: sqlite3.Error, operation: str) -> Exception:
        return translate(
            error,
            location=self.location,
            operation=operation,
            waited=self.pool.busy_timeout,
        )
