"""A journal file under examination: whose it is, its schema, its pages, its connection.

Whatever is wrong with the file becomes a finding. Nothing is changed, and no writer waits.
"""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from eventsourcing.sqlite import SQLiteDatastore

from journal.errors import (
    DamagedFile,
    GuardsMissing,
    JournalBusy,
    JournalError,
    JournalNotFound,
    NewerFormat,
    NotAJournal,
)
from journal.findings import Findings
from journal.progress import Progress
from journal.stores import sqlite_schema
from journal.stores.recorder_store import RecorderStore
from journal.stores.sqlite_beside import size
from journal.stores.sqlite_datastore import EventDatastore
from journal.stores.sqlite_errors import ENGINE_ERRORS
from journal.stores.sqlite_file import SQLiteFile, find_file
from journal.stores.sqlite_pragmas import file_format
from journal.stores.sqlite_reader import connect_reader, explained, lies_still, watched
from journal.stores.sqlite_recorder import SQLiteEventRecorder

FIRST = 20
"""Findings of SQLite's own checks that are asked for; after those it looks no further."""

_META = """
    SELECT key, value FROM meta
    WHERE key = 'journal' AND typeof(value) = 'text'
        OR key = 'created' AND typeof(value) = 'integer'
"""

_NOTHING = {"ok", "*** in database main ***"}

_COLUMNS = """
    SELECT position, stream, version, events.name, codec, recorded_at, identity, checksum, data,
        streams.key, streams.name, names.code, names.name
    FROM events, streams, names LIMIT 0
"""


class SQLiteExamination:
    """A file that is being examined.

    Raises:
        JournalNotFound: there is nothing at the path.
        JournalBusy: somebody keeps the whole file locked, which no writer of ours does.
    """

    def __init__(self, path: Path, findings: Findings, progress: Progress) -> None:
        self.path = path
        self.findings = findings
        self.progress = progress
        self.facts: dict[str, Any] = {}
        self.file: SQLiteFile | None = None
        self.recorder: SQLiteEventRecorder | None = None
        """Reads the events; None where the file has no tables to read them from."""
        self.lies_still = False
        """Whether it is read without locks; see `sqlite_reader.lies_still`."""
        self._connection: sqlite3.Connection | None = None
        with self.finding("file.unreadable"):
            self.file = find_file(path, create=False)
            self.lies_still = lies_still(self.file)
            connection = connect_reader(self.file)
            try:
                self._look(self.file, connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection

    def store(self, recorder: SQLiteEventRecorder) -> RecorderStore:
        """Give the store to read the events with."""
        return RecorderStore(recorder, str(self.path))

    def commits(self) -> int | None:
        """Give a number that is another one after every commit of others."""
        if self._connection is None:
            return None
        number: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        return number

    def check_pages(self) -> None:
        """Let SQLite check every page, index, constraint and reference."""
        connection = self._connection
        if connection is None:
            return
        calls = 0

        def tell() -> None:
            nonlocal calls
            calls += 1
            self.progress("integrity check", calls, None)

        with self.finding("file.damaged"), watched(connection, tell):
            for (text,) in connection.execute(f"PRAGMA integrity_check({FIRST})").fetchall():
                for line in text.splitlines():
                    if line not in _NOTHING:
                        what = f"the integrity check says: {line}"
                        self.findings.damage("file.damaged", what)
            for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchall():
                # The rows of events are looked at one by one.
                if table != "events":
                    what = f"row {row} of table {table} names a row that {parent} does not have"
                    self.findings.damage("file.reference", what)

    def close(self) -> None:
        """Close the connection; the file and its log are as they were."""
        if self._connection is not None:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def finding(self, code: str) -> Iterator[None]:
        """Make a finding of what SQLite or the file system refuses.

        Args:
            code: of the finding, where the error does not say it.
        """
        try:
            yield
        except ENGINE_ERRORS as error:
            raised = explained(error, location=str(self.path), operation="read")
            if isinstance(raised, JournalBusy):
                raise raised from error
            self._note(code, raised)
        except (JournalBusy, JournalNotFound):
            raise
        except JournalError as error:
            self._note(code, error)

    def _note(self, code: str, error: JournalError) -> None:
        if isinstance(error, NotAJournal):
            advice = "name another file; an empty one becomes a journal when it is opened to write"
            self.findings.wrong("file.not_a_journal", error.reason, advice)
        elif isinstance(error, NewerFormat):
            what = f"it has format {error.found}, this runjournal reads up to {error.known}"
            self.findings.wrong("format.newer", what, "upgrade runjournal")
        elif isinstance(error, GuardsMissing):
            what = f"missing, changed or added: {error.missing}; events may have been altered"
            self.findings.damage("schema.changed", what)
        elif isinstance(error, DamagedFile):
            self.findings.damage("file.damaged", error.reason)
        else:
            advice = "see to the cause, or examine it as a user who may write it"
            self.findings.wrong(code, getattr(error, "reason", error.message), advice)

    def _look(self, file: SQLiteFile, connection: sqlite3.Connection) -> None:
        about = file.path.stat()
        self.facts |= {
            "file_bytes": about.st_size,
            "wal_bytes": size(file.log),
            "mode": f"{stat.S_IMODE(about.st_mode):04o}",
            "writable": file.writable,
            "newest_format": sqlite_schema.FORMAT,
            "sqlite": sqlite3.sqlite_version,
        }
        connection.execute("BEGIN")  # another process may be creating the schema right now
        self._look_at_schema(connection)
        connection.execute("COMMIT")

    def _look_at_schema(self, connection: sqlite3.Connection) -> None:
        self.facts["format"] = file_format(connection)
        try:
            found = sqlite_schema.check(connection, str(self.path))
        except NewerFormat as error:
            self._note("", error)
            return
        except (GuardsMissing, NotAJournal) as error:
            self._note("", error)
        else:
            self.findings.opens = True
            if found < sqlite_schema.FORMAT:
                self._note_older(found)
        with suppress(sqlite3.OperationalError):  # tables are missing, as was said
            connection.execute(_COLUMNS)
            for key, value in connection.execute(_META).fetchall():
                self.facts[key] = value
            self.recorder = SQLiteEventRecorder(_Datastore(str(self.path), connection))

    def _note_older(self, found: int) -> None:
        what = f"it has format {found}; this runjournal writes format {sqlite_schema.FORMAT}"
        advice = (
            "nothing: the first that opens it to write adds the tables and guards it lacks, in one "
            "transaction, and changes no event; older versions do not open it after that"
        )
        self.findings.notice("format.older", what, advice)


class _Datastore(EventDatastore):
    """Lends one connection, to a file that need not be sound."""

    def __init__(self, location: str, connection: sqlite3.Connection) -> None:
        SQLiteDatastore.__init__(self, location, originator_id_type="text")
        self._location = location
        self._connection = connection
        self._format = 0

    @property
    def location(self) -> str:
        return self._location

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        try:
            yield self._connection
        except ENGINE_ERRORS as error:
            raise explained(error, location=self._location, operation="read") from error
