"""The recorder of the views file: the library's, which keeps how far each stream was read."""

from __future__ import annotations

import sqlite3

from eventsourcing.persistence import Tracking
from eventsourcing.sqlite import SQLiteCursor, SQLiteTrackingRecorder

from journal.ids import Position, StreamId
from journal.stores.sqlite_views_datastore import ViewDatastore


class ViewRecorder(SQLiteTrackingRecorder):
    """Keeps tracking positions, one row for each stream of each revision.

    The library's word for who reads is application; each stream's rows are one.
    """

    datastore: ViewDatastore

    def __init__(self, datastore: ViewDatastore) -> None:
        super().__init__(datastore)

    def construct_create_table_statements(self) -> list[str]:
        """Return nothing: the datastore wrote the whole schema when it made the file."""
        return []

    def put_position(self, connection: sqlite3.Connection, name: str, position: Position) -> None:
        """Store a tracking position in the caller's transaction, in place of what was stored."""
        self.drop_position(connection, name)
        # Closed before the commit, which waits for the end of what a statement returns.
        cursor = SQLiteCursor(connection.cursor())
        with cursor:
            self._insert_tracking(cursor, Tracking(name, position))

    @staticmethod
    def drop_position(connection: sqlite3.Connection, name: str) -> None:
        """Drop a tracking position in the caller's transaction."""
        connection.execute("DELETE FROM tracking WHERE application_name = ?", (name,))


def application_name(revision: int, stream: StreamId) -> str:
    """Name the rows of a stream in a revision."""
    return f"{revision}:{stream}"
