"""Removing a views file, and telling what is in one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from journal.errors import JournalError, JournalNotFound, StorageFailed
from journal.stores import sqlite_views_file
from journal.stores.sqlite_beside import WAL, beside, size
from journal.stores.sqlite_errors import ENGINE_ERRORS
from journal.stores.sqlite_file import find_file
from journal.stores.sqlite_reader import connect_reader
from journal.stores.sqlite_views_file import views_path
from journal.stores.sqlite_views_schema import APPLICATION_ID, REASONS, Condition, condition
from journal.stores.views import ViewsUnusable

_MAGIC = b"SQLite format 3\0"
_OWNER = slice(68, 72)
"""Where a database says whose it is (https://sqlite.org/fileformat2.html, 1.3)."""

_COUNTS = ("streams WHERE name IS NOT NULL", "pages", "chunks", "documents")


class ViewsContent(NamedTuple):
    """What is in a views file."""

    file: Path
    bytes: int
    """With its log; 0 where there is no file."""
    reason: str | None
    """Why it cannot be used, where that is so."""
    counts: tuple[int, int, int, int] | None
    """Streams, pages, chunks and documents; None where they cannot be counted."""


def look_into_views(journal: Path) -> ViewsContent:
    """Tell what is in the views file of a journal; it is only looked at.

    Raises:
        JournalNotFound, NotAJournal, StorageFailed: there is no journal.
    """
    path = views_path(find_file(journal, create=False).path)
    bytes_ = _size(path)
    try:
        file = find_file(path, create=False)
        with closing(connect_reader(file)) as connection:
            connection.execute("BEGIN")
            reason = REASONS.get(found := condition(connection, None))
            if found is not Condition.USABLE:
                return ViewsContent(path, bytes_, reason, None if reason else (0, 0, 0, 0))
            streams, pages, chunks, documents = (_count(connection, what) for what in _COUNTS)
    except JournalNotFound:
        return ViewsContent(path, bytes_, None, (0, 0, 0, 0))
    except JournalError as error:
        return ViewsContent(path, bytes_, getattr(error, "reason", error.message), None)
    except ENGINE_ERRORS as error:
        return ViewsContent(path, bytes_, str(error), None)
    return ViewsContent(path, bytes_, None, (streams, pages, chunks, documents))


def remove_views(journal: Path) -> tuple[Path, int]:
    """Remove the views file of a journal, whatever state it is in.

    Others who use it notice, and make a new one in time.

    Returns:
        Its path, and its size in bytes with its log: 0 where there was none.

    Raises:
        JournalNotFound, NotAJournal: there is no journal.
        StorageFailed: what is there is no views file, or it cannot be removed.
    """
    path = views_path(find_file(journal, create=False).path)
    try:
        with sqlite_views_file.locked(path.parent):
            if not sqlite_views_file.exists(path):
                return path, 0
            bytes_ = _size(path)
            _must_be_views(path)
            sqlite_views_file.remove(path)
    except ViewsUnusable as error:
        raise StorageFailed(str(path), "remove", error.reason) from error
    except OSError as error:
        raise StorageFailed(str(path), "remove", (error.strerror or str(error)).lower()) from error
    return path, bytes_


def _must_be_views(path: Path) -> None:
    # Not by way of SQLite, which refuses a damaged file. Closing this descriptor drops the
    # locks that this process holds on the file, which is about to go.
    with path.open("rb") as file:
        header = file.read(100)
    if not header:
        return  # its making was cut short
    if not header.startswith(_MAGIC) or header[_OWNER] != APPLICATION_ID.to_bytes(4, "big"):
        reason = "it is not a file of snapshots, and may be another program's: see to it yourself"
        raise StorageFailed(str(path), "remove", reason)


def _count(connection: sqlite3.Connection, what: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {what}").fetchone()[0])


def _size(path: Path) -> int:
    return size(path) + size(beside(path, WAL))
