"""The SQLite engine: a journal in one file."""

from __future__ import annotations

from pathlib import Path

from eventsourcing.persistence import AggregateRecorder, ProcessRecorder
from eventsourcing.sqlite import SQLiteFactory, SQLiteTrackingRecorder
from eventsourcing.utils import Environment, EnvType

from journal.stores.recorder_store import RecorderStore
from journal.stores.sqlite_datastore import EventDatastore
from journal.stores.sqlite_recorder import SQLiteEventRecorder


class EventFactory(SQLiteFactory):
    """Makes the recorder of a journal file, configured as the library does it.

    Environment:
        SQLITE_DBNAME: path of the file.
        SQLITE_BUSY_TIMEOUT: seconds to wait for another writer, 5 where it is missing.
        SQLITE_DURABILITY: `full`, also where it is missing, or `relaxed`.
        CREATE_TABLE: `n` to refuse where there is no journal.
    """

    SQLITE_BUSY_TIMEOUT = "SQLITE_BUSY_TIMEOUT"
    SQLITE_DURABILITY = "SQLITE_DURABILITY"

    datastore: EventDatastore

    def __init__(self, env: Environment | EnvType | None) -> None:
        super().__init__(env)
        self.datastore = EventDatastore(
            Path(self.env.get(self.SQLITE_DBNAME, "")),
            create=self.env_create_table(),
            busy_timeout=float(self.env.get(self.SQLITE_BUSY_TIMEOUT, "5")),
            durability=self.env.get(self.SQLITE_DURABILITY, "full"),
        )

    def application_recorder(self) -> SQLiteEventRecorder:
        """Make the recorder of the file's events."""
        return SQLiteEventRecorder(self.datastore)

    def aggregate_recorder(self, purpose: str = "events") -> AggregateRecorder:
        """Refuse: a journal file holds its events and nothing else."""
        raise NotImplementedError(f"a journal file has no table for {purpose}")

    def tracking_recorder(
        self, tracking_recorder_class: type[SQLiteTrackingRecorder] | None = None
    ) -> SQLiteTrackingRecorder:
        """Refuse: what is derived stands in a file of its own."""
        raise NotImplementedError("a journal file has no table for tracking positions")

    def process_recorder(self) -> ProcessRecorder:
        """Refuse: what is derived stands in a file of its own."""
        raise NotImplementedError("a journal file has no table for tracking positions")


def open_sqlite(path: Path, *, create: bool, busy_timeout: float, durability: str) -> RecorderStore:
    """Open the journal in a file; see `journal.stores.open_store`."""
    factory = EventFactory(
        {
            EventFactory.SQLITE_DBNAME: str(path),
            EventFactory.SQLITE_BUSY_TIMEOUT: str(busy_timeout),
            EventFactory.SQLITE_DURABILITY: durability,
            EventFactory.CREATE_TABLE: "y" if create else "n",
        }
    )
    return RecorderStore(factory.application_recorder(), str(path))
