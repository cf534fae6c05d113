"""Rows of the table of events, as they are inserted."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any, TypeAlias

from journal.errors import IdentityTaken
from journal.stores.interface import Identity, NewEvent

TOGETHER = 32
"""Rows inserted by one statement: it takes a third less time than as many statements."""

TOGETHER_BYTES = 1024 * 1024
"""Bytes of data one statement may hold; SQLite copies all of them first."""

Row: TypeAlias = tuple[Any, ...]
"""The columns of `events`, in their order: position first, data last."""

_ROW = "(?, ?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT = f"INSERT INTO events VALUES {_ROW}"
_HOLDER = """
    SELECT version FROM events
    WHERE stream = (SELECT key FROM streams WHERE name = ?) AND identity = ?
"""


def stored_identity(identity: Identity) -> int | bytes:
    """Give an identity as the column holds it; FORMAT.md, "Identities"."""
    if isinstance(identity, str):
        return blake2b(identity.encode(), digest_size=16).digest()
    return identity if identity < 2**63 else identity - 2**64


def insert(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    """Insert rows of rising positions, within the caller's transaction.

    Raises:
        sqlite3.IntegrityError: a guard or an index refuses one; some before it are inserted.
    """
    if len(rows) == 1:
        connection.execute(_INSERT, rows[0])
        return
    for start in range(0, len(rows), TOGETHER):
        some = rows[start : start + TOGETHER]
        if sum([len(row[-1]) for row in some]) <= TOGETHER_BYTES:
            connection.execute(_insert_many(len(some)), [*chain.from_iterable(some)])
        else:
            connection.executemany(_INSERT, some)


def refuse_taken_identity(
    connection: sqlite3.Connection, events: Sequence[NewEvent], rows: Sequence[Row]
) -> None:
    """Find out, after `insert` failed, whether an identity was taken.

    Raises:
        IdentityTaken: it was.
    """
    first: int = rows[0][0]
    # What was inserted before is still there, until the rollback.
    with suppress(sqlite3.IntegrityError):
        connection.executemany(_INSERT, rows[_last_position(connection) + 1 - first :])
    refused = events[_last_position(connection) + 1 - first]
    if refused.identity is None:
        return
    holder = (refused.stream, stored_identity(refused.identity))
    found = connection.execute(_HOLDER, holder).fetchall()
    if found:
        raise IdentityTaken(refused.stream, refused.version - 1, found[0][0], refused.identity)


def _last_position(connection: sqlite3.Connection) -> int:
    [(position,)] = connection.execute("SELECT coalesce(max(position), 0) FROM events").fetchall()
    return int(position)


@lru_cache(maxsize=TOGETHER)
def _insert_many(count: int) -> str:
    return _INSERT + f", {_ROW}" * (count - 1)
