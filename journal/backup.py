"""Backups: a copy of a journal file, taken while others write it, and verified.

The copy is a journal of its own, the same in every event. It begins with no lease held, so
that the owners of the original's leases do not keep its first user waiting; generations are
kept, so they go on rising.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from journal.codec import decode
from journal.errors import (
    CorruptEvent,
    DamagedFile,
    InvalidLocation,
    TargetExists,
)
from journal.ids import RUN_PREFIX, Position
from journal.progress import Progress, unseen
from journal.reader import PAGE
from journal.stores import Store, open_store
from journal.stores.location import MemoryLocation, parse_location
from journal.stores.sqlite_backup import Snapshot, check_pages, copy_snapshot
from journal.stores.sqlite_beside import UNFINISHED
from journal.stores.sqlite_errors import explain
from journal.stores.sqlite_file import find_file

BLOCK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class BackupResult:
    """A backup that is in its place, synced and verified."""

    location: str
    """The journal that was copied."""
    target: str
    """The copy."""
    events: int
    runs: int
    bytes: int
    """Size of the copy."""

    def to_json(self) -> dict[str, Any]:
        """Give it as a JSON object."""
        return {
            "schema": "runjournal.backup",
            "schema_version": 1,
            "location": self.location,
            "target": self.target,
            "events": self.events,
            "runs": self.runs,
            "bytes": self.bytes,
        }


def back_up(
    location: str | os.PathLike[str],
    target: str | os.PathLike[str],
    progress: Progress = unseen,
) -> BackupResult:
    """Copy a journal, as it is this moment, to a file that does not exist yet.

    Writers go on meanwhile. The copy is made under another name in the target's directory
    and gets its own when it is synced and verified: its schema and pages are checked, and
    every event is read. A failure leaves nothing behind; a kill leaves a file whose name
    begins with `unfinished-runjournal-backup-`.

    Args:
        location: the journal, as for `Journal.open`.
        target: the file to make, readable by its owner only.
        progress: told the pages copied and the events verified.

    Raises:
        InvalidLocation: either is no file of the system.
        TargetExists: there is something at the target.
        DiskFull, ReadOnly, StorageFailed: the target cannot be written.
        DamagedFile: the journal is damaged, so there is no sound copy of it.
        JournalNotFound, NotAJournal, NewerFormat, GuardsMissing, JournalBusy: as when it is
            opened.
    """
    source = find_file(_file(location), create=False)
    path = _file(target)
    if os.path.lexists(path):
        raise TargetExists(str(target))
    with _temporary(path) as temporary:
        snapshot = copy_snapshot(source, temporary, str(path), progress)
        with closing(open_store(temporary, create=False)) as copy:
            _release_leases(copy)
        _sync(temporary, str(path))
        check_pages(temporary, source.location, progress)
        _verify(temporary, source.location, snapshot, progress)
        size = temporary.stat().st_size
        _put(temporary, path)
    return BackupResult(str(location), str(target), snapshot.events, snapshot.runs, size)


def _file(location: str | os.PathLike[str]) -> Path:
    parsed = parse_location(location)
    if isinstance(parsed, MemoryLocation):
        raise InvalidLocation(
            str(parsed), "it is in memory, and a backup is made from a file to a file"
        )
    return parsed.path


@contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    """Make an empty file for the copy; nothing of that name is there in the end."""
    directory = path.absolute().parent
    made = directory / f"{UNFINISHED}{os.getpid()}-{secrets.token_hex(4)}"
    with _writing(str(path)):
        os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        yield made
    finally:
        for left in directory.glob(f"{made.name}*"):
            left.unlink(missing_ok=True)


def _release_leases(copy: Store) -> None:
    held = copy.leases()
    if held:
        copy.renew([lease._replace(expires_at=0) for lease in held])


def _sync(path: Path, target: str) -> None:
    with _writing(target), _descriptor(path) as file:
        os.fsync(file)
        if hasattr(os, "posix_fadvise"):
            # What is verified is to come from the disk and not from the system's memory; from
            # start to end, as the checks jump to and fro.
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            while os.read(file, BLOCK):
                pass


def _verify(path: Path, location: str, snapshot: Snapshot, progress: Progress) -> None:
    with closing(open_store(path, create=False)) as copy:
        try:
            events = _read_events(copy, snapshot.events, progress)
        except CorruptEvent as error:
            reason = f"event {error.version} of {error.stream!r} is damaged ({error.reason})"
            raise DamagedFile(location, "back up", reason) from error
        found = Snapshot(events, _count_runs(copy))
    if found != snapshot:
        counted = "{} events of {} runs"
        reason = f"it has {counted.format(*snapshot)}, and the copy {counted.format(*found)}"
        raise DamagedFile(location, "back up", reason)


def _read_events(copy: Store, total: int, progress: Progress) -> int:
    read, after = 0, Position(0)
    while page := copy.read_all(after=after, limit=PAGE):
        for stored in page:
            decode(stored)
        read += len(page)
        after = page[-1].position
        progress("verify", read, total)
    return read


def _count_runs(copy: Store) -> int:
    counted, before = 0, None
    while page := copy.streams(prefix=RUN_PREFIX, before=before, limit=PAGE):
        counted += len(page)
        before = page[-1][1]
    return counted


def _put(temporary: Path, path: Path) -> None:
    """Give the copy its name; where another took it meanwhile, that one stays."""
    with _writing(str(path)):
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise TargetExists(str(path)) from None
        except OSError:  # a file system without links: the name is taken first
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            except FileExistsError:
                raise TargetExists(str(path)) from None
            temporary.replace(path)
        try:
            temporary.unlink(missing_ok=True)
            with _descriptor(path.absolute().parent) as directory:
                os.fsync(directory)
        except BaseException:
            path.unlink()
            raise


@contextmanager
def _descriptor(path: Path) -> Iterator[int]:
    opened = os.open(path, os.O_RDONLY)
    try:
        yield opened
    finally:
        os.close(opened)


@contextmanager
def _writing(target: str) -> Iterator[None]:
    """Raise the journal's errors, with the target's name, instead of the system's."""
    try:
        yield
    except OSError as error:
        raise explain(error, location=target, operation="write") from error
