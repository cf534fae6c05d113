"""The journal file as the recorder uses it: a reading and a writing transaction."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from eventsourcing.sqlite import SQLiteCursor, SQLiteDatastore

from journal.errors import DamagedFile, JournalError, NotAJournal, StorageFailed
from journal.stores import sqlite_schema
from journal.stores.sqlite_connection import EventConnection, EventPool
from journal.stores.sqlite_errors import (
    ENGINE_ERRORS,
    EngineError,
    is_unsure,
    primary_code,
    translate,
)
from journal.stores.sqlite_file import find_file
from journal.stores.sqlite_pragmas import file_format

OLDEST_SQLITE = (3, 37, 0)
"""The first with STRICT tables."""


class EventDatastore(SQLiteDatastore):
    """An open journal file, its schema checked.

    Args:
        path: of the file.
        create: write the schema where the file is missing or blank, also one whose
            creation was cut short, and bring one of a past format to this one.
        busy_timeout: seconds to wait for another writer.
        durability: `full` or `relaxed`.

    Raises:
        JournalNotFound, NotAJournal, NewerFormat, GuardsMissing, ReadOnly, DiskFull,
        DamagedFile, StorageFailed, JournalBusy: see `journal.stores.open_store`.
    """

    pool: EventPool

    def __init__(self, path: Path, *, create: bool, busy_timeout: float, durability: str) -> None:
        super().__init__(str(path), originator_id_type="text")
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            wanted = ".".join(map(str, OLDEST_SQLITE))
            raise StorageFailed(
                str(path),
                "open",
                f"Python has SQLite {sqlite3.sqlite_version}, the journal needs {wanted}",
            )
        file = find_file(path, create=create)
        self.pool = EventPool(file, busy_timeout=busy_timeout, durability=durability)
        self._format = 0
        """What the file was last found to have; 0 until it was looked at."""
        try:
            self._open(create=create)
        except BaseException:
            self.close()
            raise

    @property
    def location(self) -> str:
        """What messages call the file."""
        return self.pool.file.location

    def has_tables_of(self, number: int) -> bool:
        """Tell whether the file has the tables of a format, which another may have added."""
        if self._format < number:
            with self.reading() as connection:
                self._format = file_format(connection)
        return self._format >= number

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for reading.

        Statements must be stepped to their end or their cursor closed, so that nothing
        stays open.

        Raises:
            JournalBusy, JournalClosed, FileMoved, ReadOnly, DamagedFile, StorageFailed,
            NotAJournal: instead of SQLite's errors.
        """
        try:
            connection = self.pool.get_connection(is_writer=False)
        except ENGINE_ERRORS as error:
            raise self._translated(error, "open") from error
        try:
            yield connection.sqlite
        except ENGINE_ERRORS as error:
            connection.close()
            raise self._unread(error) from error
        except BaseException:
            connection.close()
            raise
        finally:
            self.pool.put_connection(connection)

    def writing(
        self, *, undo: Callable[[], None] | None = None
    ) -> AbstractContextManager[sqlite3.Connection]:
        """Lend the writer's connection for one transaction, committed at the end.

        Any exception rolls it back. A file of a past format is first brought to this one.

        Args:
            undo: called when it was rolled back, before another thread may write.

        Raises:
            JournalBusy, DiskFull, JournalClosed, FileMoved, ReadOnly, DamagedFile,
            StorageFailed, NotAJournal: instead of SQLite's errors.
        """
        if self._format != sqlite_schema.FORMAT:
            self._upgrade()
        return self._transaction(undo)

    @contextmanager
    def transaction(self, *, commit: bool) -> Iterator[SQLiteCursor]:
        """Lend a cursor of the library's kind, under the rules above."""
        with self.writing() if commit else self.reading() as connection:
            cursor = SQLiteCursor(connection.cursor())
            with cursor:
                yield cursor

    def _transaction(self, undo: Callable[[], None] | None = None) -> Transaction:
        return Transaction(self, undo)

    def _open(self, *, create: bool) -> None:
        if create and not self._is_current():
            # In turn, so that many who open a new file at once all succeed.
            with self.pool.writer.turnstile.held(time.monotonic() + self.pool.busy_timeout):
                self._create_or_upgrade()
        with self.reading() as connection:
            # One snapshot: another process may be changing the schema right now.
            connection.execute("BEGIN")
            self._format = sqlite_schema.check(connection, self.location)
            connection.execute("COMMIT")

    def _is_current(self) -> bool:
        if not self.pool.file.path.stat().st_size:
            return False
        with self.reading() as connection:
            return not sqlite_schema.is_blank(connection) and (
                file_format(connection) >= sqlite_schema.FORMAT
            )

    def _create_or_upgrade(self) -> None:
        with self.reading() as connection:
            blank = sqlite_schema.is_blank(connection)
        if not blank:
            self._upgrade()
            return
        with self._transaction() as connection:
            # A program that does not stand in the turnstile may have been faster.
            if sqlite_schema.is_blank(connection):
                sqlite_schema.create(connection)

    def _upgrade(self) -> None:
        with self.reading() as connection:
            connection.execute("BEGIN")
            found = sqlite_schema.check(connection, self.location)
            connection.execute("COMMIT")
        if found < sqlite_schema.FORMAT:
            with self._transaction() as connection:
                sqlite_schema.check(connection, self.location)
                sqlite_schema.upgrade(connection)
        self._format = sqlite_schema.FORMAT

    def _unread(self, error: EngineError) -> JournalError:
        file = self.pool.file
        if primary_code(error) == sqlite3.SQLITE_CANTOPEN and (
            file.has_log() and not file.writable
        ):
            return StorageFailed(
                file.location,
                "read",
                f"a crash left its log {file.log.name}, which must be put in order first; that "
                "needs permission to write the file and its directory: open it once with it",
            )
        return self._translated(error, "read")

    def unwritten(self, error: EngineError) -> JournalError:
        """Turn SQLite's error, which writing met, into the journal's."""
        return self._translated(error, "write to", looks=True)

    def _translated(
        self, error: EngineError, operation: str, *, looks: bool = False
    ) -> JournalError:
        translated = translate(
            error,
            location=self.location,
            operation=operation,
            waited=self.pool.busy_timeout,
            path=self.pool.file.path if looks else None,
        )
        if self._format and isinstance(translated, NotAJournal):
            return DamagedFile(self.location, operation, translated.reason)
        return translated


class Transaction:
    """One transaction of the writer: begun on entry, committed or rolled back on exit.

    A class of its own because a generator's would take longer than what it does.
    """

    __slots__ = ("_connection", "_datastore", "_undo")

    _connection: EventConnection

    def __init__(self, datastore: EventDatastore, undo: Callable[[], None] | None) -> None:
        self._datastore = datastore
        self._undo = undo

    def __enter__(self) -> sqlite3.Connection:
        datastore = self._datastore
        pool = datastore.pool
        give_up = time.monotonic() + pool.busy_timeout
        try:
            connection = self._connection = pool.take_writer(give_up)
        except ENGINE_ERRORS as error:
            raise datastore.unwritten(error) from error
        try:
            pool.writer.begin(connection.sqlite, give_up)
        except BaseException as error:
            try:
                self._roll_back(error)
            finally:
                pool.give_writer(connection)
            raise
        return connection.sqlite

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: object
    ) -> None:
        try:
            if error is None:
                self._connection.sqlite.execute("COMMIT")
        except BaseException as refused:
            self._roll_back(refused)
            raise
        else:
            if error is not None:
                self._roll_back(error)
        finally:
            self._datastore.pool.give_writer(self._connection)

    def _roll_back(self, error: BaseException) -> None:
        """Roll back after an error, and raise the journal's in place of SQLite's."""
        self._connection.roll_back()
        if is_unsure(error):
            # What it holds of the file may no longer be what is there.
            self._connection.close()
        if self._undo is not None:
            self._undo()
        if isinstance(error, ENGINE_ERRORS):
            raise self._datastore.unwritten(error) from error
