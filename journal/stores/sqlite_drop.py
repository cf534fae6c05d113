"""Deleting events that are in an archive, in pieces for which no writer waits long."""

from __future__ import annotations

import sqlite3

from journal.ids import StreamId, Version
from journal.stores.interface import LETS_GO

ROWS = 250
"""Rows deleted by one transaction: some milliseconds."""

BYTES = 4 * 1024 * 1024
"""Packed bytes deleted by one, but at least one row; the pages they leave go through the log."""

_LAST = """
    SELECT events.stream, version, events.name = (SELECT code FROM names WHERE name = ?)
    FROM events JOIN streams ON streams.key = events.stream
    WHERE streams.name = ? ORDER BY version DESC LIMIT 1
"""
_NEWEST = f"""
    SELECT position, length(data) FROM events
    WHERE stream = ? AND version <= ? ORDER BY version DESC LIMIT {ROWS}
"""
_DELETE = "DELETE FROM events WHERE position = ?"


def drop_some(connection: sqlite3.Connection, stream: StreamId, upto: Version) -> int:
    """Delete some of the newest rows of a stream up to a version; in the caller's transaction.

    The newest first: each row may name earlier ones, never later ones, so that all that are
    left can be read.

    Returns:
        How many; 0 when there are none left.

    Raises:
        ValueError: the stream does not end with an event that lets them go.
    """
    last = connection.execute(_LAST, (LETS_GO, stream)).fetchone()
    if last is None or not last[2] or last[1] <= upto:
        raise ValueError(f"{stream!r} does not end with {LETS_GO} above version {upto}")
    places: list[tuple[int]] = []
    left = BYTES
    for position, size in connection.execute(_NEWEST, (last[0], upto)).fetchall():
        left -= size
        if places and left < 0:
            break
        places.append((position,))
    connection.executemany(_DELETE, places)
    return len(places)
