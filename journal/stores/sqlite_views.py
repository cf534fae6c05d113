"""The views on SQLite: what is derived from a journal, in a file beside it or in memory."""

from __future__ import annotations

from pathlib import Path

from eventsourcing.persistence import AggregateRecorder, ApplicationRecorder, ProcessRecorder
from eventsourcing.sqlite import SQLiteFactory, SQLiteTrackingRecorder
from eventsourcing.utils import Environment, EnvType

from journal.stores.sqlite_views_connection import CACHE_KIB
from journal.stores.sqlite_views_datastore import ViewDatastore
from journal.stores.sqlite_views_file import views_path
from journal.stores.sqlite_views_reader import SQLiteViewReader
from journal.stores.sqlite_views_recorder import ViewRecorder
from journal.stores.sqlite_views_writer import SQLiteViewWriter
from journal.stores.views import ViewReader, ViewStore, ViewWriter


class ViewFactory(SQLiteFactory):
    """Makes the recorder of a journal's views, configured as the library does it.

    Environment:
        SQLITE_DBNAME: path of the journal's file, or `:memory:`.
        JOURNAL_ID: the journal's id.
        CACHE_KIB: size of the pages each connection keeps; there is a default.
    """

    JOURNAL_ID = "JOURNAL_ID"
    CACHE_KIB = "CACHE_KIB"

    datastore: ViewDatastore

    def __init__(self, env: Environment | EnvType | None) -> None:
        super().__init__(env)
        name = self.env.get(self.SQLITE_DBNAME, "")
        journal = None if name == ":memory:" else Path(name)
        path = None if journal is None else views_path(journal)
        self.datastore = ViewDatastore(
            path,
            journal,
            self.env.get(self.JOURNAL_ID, ""),
            cache_kib=int(self.env.get(self.CACHE_KIB, "") or CACHE_KIB),
        )

    def tracking_recorder(
        self, tracking_recorder_class: type[SQLiteTrackingRecorder] | None = None
    ) -> ViewRecorder:
        """Make the recorder of how far each stream was read."""
        del tracking_recorder_class
        return ViewRecorder(self.datastore)

    def aggregate_recorder(self, purpose: str = "events") -> AggregateRecorder:
        """Refuse: a views file holds no events."""
        raise NotImplementedError(f"a views file has no table for {purpose}")

    def application_recorder(self) -> ApplicationRecorder:
        """Refuse: a views file holds no events."""
        raise NotImplementedError("a views file has no table for events")

    def process_recorder(self) -> ProcessRecorder:
        """Refuse: a views file holds no events."""
        raise NotImplementedError("a views file has no table for events")


class SQLiteViewStore:
    """A `ViewStore` of one revision."""

    def __init__(self, recorder: ViewRecorder, revision: int) -> None:
        self._recorder = recorder
        self._revision = revision
        self._swept = False

    @property
    def location(self) -> str:
        """Where the rows are, for messages: a path, or `memory`."""
        return self._recorder.datastore.location

    def reading(self) -> Reading:
        """Look at one state of the rows; see `ViewStore.reading`."""
        return Reading(self._recorder, self._revision)

    def writing(self) -> Writing:
        """Change rows in one transaction; see `ViewStore.writing`."""
        return Writing(self, self._recorder, self._revision)

    def sweep(self, writer: SQLiteViewWriter) -> None:
        """Remove some rows that are of no use, until there are none."""
        if not self._swept or writer.forgot:
            self._swept = not writer.sweep()

    def close(self) -> None:
        """Release everything; twice does nothing."""
        self._recorder.datastore.close()


class Reading:
    """One transaction that reads.

    A class of its own because a generator's would take longer than what it does.
    """

    __slots__ = ("_recorder", "_revision", "_seat")

    def __init__(self, recorder: ViewRecorder, revision: int) -> None:
        self._recorder = recorder
        self._revision = revision
        self._seat = recorder.datastore.reader

    def __enter__(self) -> ViewReader:
        connection = self._recorder.datastore.begin(self._seat, "BEGIN")
        return SQLiteViewReader(self._recorder, self._revision, connection)

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: object
    ) -> None:
        self._recorder.datastore.end(self._seat, error)


class Writing:
    """One transaction that writes."""

    __slots__ = ("_recorder", "_revision", "_seat", "_store", "_writer")

    _writer: SQLiteViewWriter

    def __init__(self, store: SQLiteViewStore, recorder: ViewRecorder, revision: int) -> None:
        self._store = store
        self._recorder = recorder
        self._revision = revision
        self._seat = recorder.datastore.writer

    def __enter__(self) -> ViewWriter:
        connection = self._recorder.datastore.begin(self._seat, "BEGIN IMMEDIATE")
        self._writer = SQLiteViewWriter(self._recorder, self._revision, connection)
        return self._writer

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: object
    ) -> None:
        datastore = self._recorder.datastore
        if error is None:
            try:
                self._store.sweep(self._writer)
            except BaseException as refused:
                datastore.end(self._seat, refused)
                raise
        datastore.end(self._seat, error)


def open_sqlite_views(journal: Path | None, journal_id: str, revision: int) -> ViewStore:
    """Open the views of a journal.

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
        }
    )
    return SQLiteViewStore(factory.tracking_recorder(), revision)
