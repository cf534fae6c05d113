"""A views file under examination: whose it is, its pages, and every row of it.

It is only looked at. What is wrong with it changes no answer, because damaged rows are
noticed when they are read and made again; but that costs time until they are dropped.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from shlex import quote
from typing import Any

from journal.errors import JournalError, JournalNotFound, NotAJournal
from journal.findings import Findings
from journal.ids import StreamId, Version
from journal.progress import Progress
from journal.stores.interface import Store
from journal.stores.sqlite_audit_scan import AuditScan
from journal.stores.sqlite_beside import size
from journal.stores.sqlite_errors import ENGINE_ERRORS, EngineError, primary_code
from journal.stores.sqlite_file import SQLiteFile, find_file
from journal.stores.sqlite_reader import connect_reader, explained, lies_still, watched
from journal.stores.sqlite_views_file import views_path
from journal.stores.sqlite_views_scan import Read, ViewsScan
from journal.stores.sqlite_views_schema import REASONS, Condition, condition

FIRST = 20
"""Findings of SQLite's own checks that are asked for."""

_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, 0}
"""Codes of damage; an error whose text is no text has none."""


class ViewsExamination:
    """Examines the views file of a journal, and notes what it finds.

    Args:
        journal: path of the journal's file.
        journal_id: None where it is not known.
        store: reads the journal's events; None where that is not possible.
    """

    def __init__(  # noqa: PLR0913 - what an examination is of, and whom it tells
        self,
        journal: Path,
        journal_id: str | None,
        store: Store | None,
        findings: Findings,
        progress: Progress,
        *,
        quick: bool,
    ) -> None:
        self._path = views_path(journal)
        self._journal_id = journal_id
        self._store = store
        self._findings = findings
        self._progress = progress
        self._quick = quick
        self._drop = f"`{findings.command} snapshots drop`; they are made again when needed"
        self._noted: list[tuple[str, str, str, str | None]] = []
        """Severity, code, what and stream, until it is known that the file lay still."""

    def look(self) -> dict[str, Any]:
        """Examine the file, and give the facts of it; none where there is no file."""
        facts = {}
        try:
            file = find_file(self._path, create=False)
            facts = {"views_bytes": size(file.path), "views_wal_bytes": size(file.log)}
            still = lies_still(file)
            before = _last_change(file)
            with closing(connect_reader(file)) as connection:
                self._look(connection)
            if still and _last_change(file) != before:
                self._noted.clear()  # it was read without locks
        except JournalNotFound:
            return facts
        except NotAJournal as error:
            self._note_foreign(error.reason)
        except JournalError as error:
            self._note_unreadable(error)
        except ENGINE_ERRORS as error:
            self._note_refused(error)
        for severity, code, what, stream in self._noted:
            note = self._findings.wrong if severity == "wrong" else self._findings.notice
            note(code, what, self._drop, stream=stream)
        return facts

    def _look(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN")  # another process may be creating the schema right now
        found = condition(connection, self._journal_id)
        connection.execute("COMMIT")
        if found is Condition.FOREIGN:
            self._note_foreign(REASONS[found])
        elif found is Condition.NEWER:
            self._findings.notice("snapshots.newer", _about(REASONS[found]), "upgrade runjournal")
        elif found is Condition.CHANGED:
            self._note("wrong", "snapshots.damaged", _about(REASONS[found]))
        elif found is Condition.OUTDATED:
            what = "they are of another journal, or in a past format, and are not used"
            self._note("notice", "snapshots.outdated", what)
        elif found is Condition.USABLE:
            self._look_at_pages(connection)
            self._look_at_rows(connection)

    def _look_at_pages(self, connection: sqlite3.Connection) -> None:
        if self._quick:
            return
        with watched(connection, lambda: self._progress("snapshots", 0, None)):
            rows = connection.execute(f"PRAGMA integrity_check({FIRST})").fetchall()
        for (text,) in rows:
            for line in text.splitlines():
                if line != "ok" and not line.startswith("***"):
                    what = f"the integrity check says: {line}"
                    self._note("wrong", "snapshots.damaged", _about(what))

    def _look_at_rows(self, connection: sqlite3.Connection) -> None:
        scan = ViewsScan(connection)
        for done in scan.scan():
            self._progress("snapshots", done, None)
        for (stream, table), count in scan.damaged.items():
            what = f"damaged rows of {table}: {count}; answers are worked out without them"
            self._note("wrong", "snapshots.damaged", _about(what), stream or None)
        for table, count in scan.lost.items():
            what = f"rows of {table} that are of no stream: {count}"
            self._note("wrong", "snapshots.damaged", _about(what))
        for read in scan.read:
            self._compare(read)
        self._look_at_audit(AuditScan(connection, quick=self._quick))

    def _look_at_audit(self, scan: AuditScan) -> None:
        for done in scan.scan():
            self._progress("audit rows", done, None)
        for table, count in scan.damaged.items():
            what = f"audit: damaged rows of {table}: {count}; answers are worked out without them"
            self._note("wrong", "snapshots.damaged", what)
        try:
            last = scan.state.tracked if self._store is None else self._store.last_position()
        except JournalError:
            return  # damage of the journal, which is noted as such
        if scan.state.tracked > last:
            what = f"audit: the rows take in events up to position {scan.state.tracked}, which the "
            what += "journal does not have, as after a backup was put in its place"
            self._note("notice", "snapshots.ahead", what)

    def _compare(self, read: Read) -> None:
        """Compare a stream's tracking position with the journal, which only grows."""
        if self._store is None:
            return
        stream = StreamId(read.stream)
        try:
            head = self._store.head(stream)
            found = self._store.read_versions(stream, [Version(read.version)])
        except JournalError:
            return  # damage of the journal, which is noted as such
        if not head:
            what = _about("they are of a run that the journal does not have")
            self._note("notice", "snapshots.unknown_run", what, stream)
        elif read.version > head or (found and found[0].position != read.position):
            what = _about(f"they take in events up to version {read.version}, which the journal ")
            what += "does not have, as after a backup was put in its place; they are not used"
            self._note("notice", "snapshots.ahead", what, stream)

    def _note_refused(self, error: EngineError) -> None:
        if primary_code(error) in _DAMAGE:
            self._note("wrong", "snapshots.damaged", _about(str(error)))
        else:
            self._note_unreadable(explained(error, location=str(self._path), operation="read"))

    def _note_unreadable(self, error: JournalError) -> None:
        what = _about(getattr(error, "reason", error.message))
        advice = "see to the cause, or examine it as a user who may write it"
        self._findings.notice("snapshots.unreadable", what, advice)

    def _note_foreign(self, reason: str) -> None:
        what = f"{self._path.name} is no file of snapshots, so there can be none: {reason}"
        advice = f"move it away: `mv {quote(str(self._path))} ELSEWHERE`"
        self._findings.notice("snapshots.foreign", what, advice)

    def _note(self, severity: str, code: str, what: str, stream: str | None = None) -> None:
        self._noted.append((severity, code, what, stream))


def _about(what: str) -> str:
    return f"snapshots: {what}"


def _last_change(file: SQLiteFile) -> tuple[int, int]:
    try:
        return file.path.stat().st_mtime_ns, size(file.log)
    except OSError:
        return 0, 0
