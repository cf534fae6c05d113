"""The leases in the journal file: one row a stream, the only rows that change."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from journal.errors import CorruptEvent, LeaseMoved
from journal.ids import StreamId, Version
from journal.stores.interface import Lease

FORMAT = 2
"""The first format that has them."""

_TYPES = (str, int, str, str, int, str, int)

_LEASES = """
    SELECT name, generation, owner, host, process, started, expires_at
    FROM leases JOIN streams ON streams.key = leases.stream
"""
_REPLACE = """
    UPDATE leases SET generation = ?, owner = ?, host = ?, process = ?, started = ?, expires_at = ?
    WHERE stream = ? AND (generation < ? OR generation = ? AND expires_at <> 0)
"""
_INSERT = "INSERT INTO leases VALUES (?, ?, ?, ?, ?, ?, ?)"
_OF_GENERATION = """
    WHERE stream = (SELECT key FROM streams WHERE name = ?) AND generation = ?
        AND expires_at <> 0
"""
_RENEW = f"UPDATE leases SET expires_at = ? {_OF_GENERATION}"
_RELEASE = f"""
    UPDATE leases SET owner = '', host = '', process = 0, started = '', expires_at = 0
    {_OF_GENERATION}
"""


def read_lease(connection: sqlite3.Connection, stream: StreamId) -> Lease | None:
    """Read the lease of a stream, None where none was ever taken."""
    rows = connection.execute(f"{_LEASES} WHERE name = ?", (stream,)).fetchall()
    return _lease(rows[0]) if rows else None


def read_live_leases(connection: sqlite3.Connection) -> list[Lease]:
    """Read every lease that was not released, oldest stream first."""
    sql = f"{_LEASES} WHERE expires_at <> 0 ORDER BY stream"
    return [_lease(row) for row in connection.execute(sql).fetchall()]


def store_lease(connection: sqlite3.Connection, key: int, lease: Lease) -> None:
    """Store a lease in place of its stream's, within the caller's transaction.

    One that was released stays so until a higher generation takes its place.

    Args:
        key: the stream's.

    Raises:
        LeaseMoved: the stored generation is higher.
    """
    row = lease[1:]
    if connection.execute(_REPLACE, (*row, key, lease.generation, lease.generation)).rowcount:
        return
    held = read_lease(connection, lease.stream)
    if held is not None:
        if held.generation > lease.generation:
            raise LeaseMoved(lease.stream, lease.generation, held.generation)
        return  # it was released
    connection.execute(_INSERT, (key, *row))


def renew_leases(connection: sqlite3.Connection, leases: Sequence[Lease]) -> list[Lease]:
    """Store new expiry times, within the caller's transaction, but for those released.

    Returns:
        The stored leases of other generations, which were left alone.
    """
    moved = []
    for lease in leases:
        place = (lease.stream, lease.generation)
        if lease.expires_at:
            changed = connection.execute(_RENEW, (lease.expires_at, *place)).rowcount
        else:
            changed = connection.execute(_RELEASE, place).rowcount
        if not changed:
            held = read_lease(connection, lease.stream)
            if held is not None and held.generation != lease.generation:
                moved.append(held)
    return moved


def _lease(row: tuple[Any, ...]) -> Lease:
    if tuple(map(type, row)) != _TYPES:
        raise CorruptEvent(str(row[0]), Version(0), "its lease holds a value of another type")
    return Lease(StreamId(row[0]), *row[1:])
