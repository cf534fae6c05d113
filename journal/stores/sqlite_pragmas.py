"""Every pragma the journal's connections set, each with its reason."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

SYNCHRONOUS = {"full": "FULL", "relaxed": "NORMAL"}
"""How SQLite syncs for each durability. FULL: the log at every commit. NORMAL: the log before
a checkpoint moves it, the file after; a power cut takes the commits since the last one."""

LOG_KEPT = 16 * 1024 * 1024
"""Bytes of the log's file that are kept to be written over. Writing over blocks a file has is
synced in half the time of making it longer."""

BACKSTOP = 64 * 1024 * 1024
"""Bytes of log at which SQLite itself moves it, within a commit, should nobody else."""


class Checkpointed(NamedTuple):
    """What a checkpoint came to."""

    busy: int
    """1 when another connection was at it, and nothing was done."""
    frames: int
    """Pages in the log; -1 when `busy`."""
    moved: int
    """How many of them stand in the file now."""


def prepare(connection: sqlite3.Connection) -> None:
    """Set up a connection, whatever it is for."""
    # A file from elsewhere must not call functions by way of its schema.
    connection.execute("PRAGMA trusted_schema=OFF")
    # The process dies of a file that is cut short while it is mapped into memory.
    connection.execute("PRAGMA mmap_size=0")


def prepare_reader(connection: sqlite3.Connection) -> None:
    """Set up a connection for reading."""
    # Readers are opened so that they may write, see `EventPool`; they must not write events.
    connection.execute("PRAGMA query_only=ON")


def prepare_writer(connection: sqlite3.Connection, durability: str) -> None:
    """Set up the connection that writes; the log is in use already."""
    connection.execute(f"PRAGMA synchronous={SYNCHRONOUS[durability]}")
    # Where a sync otherwise ends in the disk's memory (macOS), and a power cut takes it.
    connection.execute("PRAGMA fullfsync=ON")
    # An event of no stream and a name of no code are refused, too.
    connection.execute("PRAGMA foreign_keys=ON")
    # What a statement of several rows must undo when one is refused stays in memory, and needs
    # no file and no room elsewhere.
    connection.execute("PRAGMA temp_store=MEMORY")
    # The log is moved by `sqlite_checkpoint`, beside the commits and not within them.
    [(page,)] = connection.execute("PRAGMA page_size").fetchall()
    connection.execute(f"PRAGMA wal_autocheckpoint={BACKSTOP // page}")
    connection.execute(f"PRAGMA journal_size_limit={LOG_KEPT}")


def use_log(connection: sqlite3.Connection) -> str:
    """Switch to a write-ahead log, so that readers and a writer do not wait for each other.

    Returns:
        The mode in force: `wal`, or another where that is not possible.
    """
    [(mode,)] = connection.execute("PRAGMA journal_mode=WAL").fetchall()
    return str(mode)


def checkpoint(connection: sqlite3.Connection) -> Checkpointed:
    """Move the log into the file, as far as nobody reads the file as it is without.

    Neither readers nor writers wait. When all was moved and no reader needs the log, the
    next commit writes it from its start again.
    """
    [row] = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    return Checkpointed(*row)


def data_version(connection: sqlite3.Connection) -> int:
    """Tell a number that changes with every commit of another connection."""
    number: int = connection.execute("PRAGMA data_version").fetchone()[0]
    return number


def file_format(connection: sqlite3.Connection) -> int:
    """Tell the format a file says it has."""
    [(number,)] = connection.execute("PRAGMA user_version").fetchall()
    return int(number)


def file_owner(connection: sqlite3.Connection) -> int:
    """Tell which program a file says it is of; 0 where it says none."""
    [(number,)] = connection.execute("PRAGMA application_id").fetchall()
    return int(number)
