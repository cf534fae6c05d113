"""The audit rows on SQLite: tables of the views file, or of views in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from journal.ids import Position
from journal.stores.audit import AuditReader, AuditStore, AuditWriter, Selected
from journal.stores.sqlite_audit_names import SharedNames
from journal.stores.sqlite_audit_pages import Pages
from journal.stores.sqlite_audit_query import select
from journal.stores.sqlite_audit_reader import SQLiteAuditReader
from journal.stores.sqlite_audit_values import check
from journal.stores.sqlite_audit_writer import SQLiteAuditWriter
from journal.stores.sqlite_views import ViewFactory
from journal.stores.sqlite_views_recorder import ViewRecorder

_CACHE_KIB = 32 * 1024
"""A question about a day looks at rows all over the file, and its pages are asked for again."""

_DROPPED = "SELECT count(*) FROM audit_runs WHERE archived = 1"
_DAMAGE = "SELECT position, reason, checksum FROM audit_damage ORDER BY position"


class SQLiteAuditStore:
    """An `AuditStore` of one revision of the rows."""

    def __init__(self, recorder: ViewRecorder, revision: int) -> None:
        self._recorder = recorder
        self._revision = revision
        self._names = SharedNames()

    @property
    def location(self) -> str:
        """Where the rows are, for messages: a path, or `memory`."""
        return self._recorder.datastore.location

    def reading(self, *, after: Position = Position(0)) -> Reading:
        """Look at one state of the rows; see `AuditStore.reading`."""
        return Reading(self._recorder, self._revision, after, self._names)

    def writing(self) -> Writing:
        """Change rows in one transaction; see `AuditStore.writing`."""
        return Writing(self._recorder, self._revision)

    def damage(self) -> Sequence[tuple[Position, str]]:
        """List the events that could not be read, by position, and why."""
        pages = Pages(self._recorder, self._revision, Position(0), self._names)
        if not pages.is_ours:
            return []
        found = pages.all(_DAMAGE)
        for row in found:
            check("audit_damage", row)
        return [(Position(position), reason) for position, reason, _ in found]

    def dropped(self) -> int:
        """Count the runs whose events are in an archive only."""
        pages = Pages(self._recorder, self._revision, Position(0), self._names)
        return int(pages.all(_DROPPED)[0][0]) if pages.is_ours else 0

    def query(self, sql: str, *, rows: int, seconds: float, megabytes: int) -> Selected:
        """Run one SELECT of people; see `AuditStore.query`."""
        pages = Pages(self._recorder, self._revision, Position(0), self._names)
        with pages.page() as connection:
            return select(connection, sql, rows=rows, seconds=seconds, megabytes=megabytes)

    def close(self) -> None:
        """Release everything; twice does nothing."""
        self._recorder.datastore.close()


class Reading:
    """Looks at one state of the rows; between two pages nothing is held."""

    def __init__(
        self, recorder: ViewRecorder, revision: int, after: Position, known: SharedNames
    ) -> None:
        self._made_of = recorder, revision, after, known

    def __enter__(self) -> AuditReader:
        return SQLiteAuditReader(*self._made_of)

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: object
    ) -> None:
        """Do nothing: every page was ended by itself."""


class Writing:
    """One transaction that writes."""

    def __init__(self, recorder: ViewRecorder, revision: int) -> None:
        self._recorder = recorder
        self._revision = revision
        self._seat = recorder.datastore.writer

    def __enter__(self) -> AuditWriter:
        datastore = self._recorder.datastore
        connection = datastore.begin(self._seat, "BEGIN IMMEDIATE")
        try:
            return SQLiteAuditWriter(self._recorder, self._revision, connection)
        except BaseException as error:
            datastore.end(self._seat, error)
            raise

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: object
    ) -> None:
        self._recorder.datastore.end(self._seat, error)


def open_sqlite_audit(journal: Path | None, journal_id: str, revision: int) -> AuditStore:
    """Open the audit rows of a journal.

    Args:
        journal: path of the journal's file; None for memory.
        journal_id: the journal's id.
        revision: of the rows.

    Raises:
        ViewsUnusable: the file cannot be opened or made.
    """
    factory = ViewFactory(
        {
            ViewFactory.SQLITE_DBNAME: ":memory:" if journal is None else str(journal),
            ViewFactory.JOURNAL_ID: journal_id,
            ViewFactory.CACHE_KIB: str(_CACHE_KIB),
        }
    )
    return SQLiteAuditStore(factory.tracking_recorder(), revision)
