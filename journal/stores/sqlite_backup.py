"""Copying a journal file while others write it.

The copy is one snapshot: a read transaction stands open on the source from the first page to
the last, so no writer has to wait and none makes the copy start again. What they write
meanwhile stays in the log, which is moved into the file when the copy is done.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, TypeGuard

from journal.errors import DamagedFile
from journal.progress import Progress
from journal.stores import sqlite_schema
from journal.stores.sqlite_errors import ENGINE_ERRORS, explain, translate
from journal.stores.sqlite_file import SQLiteFile
from journal.stores.sqlite_reader import BUSY_TIMEOUT, connect_reader, explained, watched

STEP = 256
"""Pages copied at a time, 1 MiB: between two steps progress is told."""

SYNC = 1024
"""Pages after which the copy is synced, 4 MiB: one sync of it all at the end would keep the
journal's own syncs waiting (worst of them 70 ms in place of 30, for 100 MB)."""

_WRITES = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_FSYNC,
        sqlite3.SQLITE_IOERR_TRUNCATE,
    }
)
"""Errors of a copy that are the target's and not the source's."""


_SNAPSHOT = """
    SELECT (SELECT count(*) FROM events),
        (SELECT count(*) FROM streams WHERE substr(name, 1, 4) = 'run:')
"""


class Snapshot(NamedTuple):
    """How much was in the journal when the copy began."""

    events: int
    runs: int


def copy_snapshot(file: SQLiteFile, target: Path, name: str, progress: Progress) -> Snapshot:
    """Copy a journal file, as it is this moment, into an empty file.

    Args:
        target: the empty file; what it holds when this fails is of no use.
        name: what messages call the target.

    Raises:
        DiskFull, ReadOnly, StorageFailed: the target cannot be written.
        DamagedFile, StorageFailed, JournalBusy: the source cannot be read.
        NotAJournal, NewerFormat, GuardsMissing: it is none that can be copied.
    """
    try:
        with closing(connect_reader(file)) as source:
            source.execute("BEGIN")
            sqlite_schema.check(source, file.location)
            snapshot = Snapshot(*source.execute(_SNAPSHOT).fetchone())
            with (
                closing(sqlite3.connect(target, isolation_level=None)) as copy,
                target.open("rb") as written,
            ):
                # It is thrown away when anything fails.
                copy.execute("PRAGMA journal_mode=OFF")
                copy.execute("PRAGMA synchronous=OFF")

                def step(_: int, left: int, total: int) -> None:
                    if not (total - left) % SYNC:
                        _sync(written.fileno(), name)
                    progress("copy", total - left, total)

                source.backup(copy, pages=STEP, progress=step)
            source.execute("COMMIT")
    except ENGINE_ERRORS as error:
        if _is_of_target(error):
            raise translate(
                error, location=name, operation="write", waited=BUSY_TIMEOUT, path=target
            ) from error
        raise explained(error, location=file.location, operation="back up") from error
    return snapshot


def _sync(descriptor: int, name: str) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        raise explain(error, location=name, operation="write") from error


def check_pages(path: Path, location: str, progress: Progress) -> None:
    """Let SQLite check every page, index and constraint of a file that nobody writes.

    Raises:
        DamagedFile: something is wrong with it.
    """
    calls = 0

    def tell() -> None:
        nonlocal calls
        calls += 1
        progress("integrity check", calls, None)

    with closing(
        sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)
    ) as connection:
        try:
            with watched(connection, tell):
                found = connection.execute("PRAGMA integrity_check(1)").fetchall()
        except ENGINE_ERRORS as error:
            raise explained(error, location=location, operation="back up") from error
    if found != [("ok",)]:
        raise DamagedFile(location, "back up", f"the integrity check found {found[0][0]}")


def _is_of_target(error: Exception) -> TypeGuard[sqlite3.Error]:
    code = getattr(error, "sqlite_errorcode", 0)
    return bool({code, code & 0xFF} & _WRITES)
