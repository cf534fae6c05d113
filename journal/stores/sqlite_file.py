"""The file of a journal, as the operating system sees it.

Nothing here opens an existing file: closing any descriptor of it would drop the locks that
SQLite holds on it for this process.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from journal.errors import FileMoved, JournalNotFound, NotAJournal, ReadOnly, StorageFailed
from journal.stores.sqlite_errors import explain

UNWRITABLE = "no permission to write the file and its directory"

LOOK_EVERY = 0.05
"""Seconds after which it is looked again whether the journal's files are in their places."""


@dataclass(frozen=True, slots=True)
class SQLiteFile:
    """A regular file that exists and may be read."""

    path: Path
    """Absolute, so that a later change of directory does not matter, and without symbolic
    links: SQLite puts its files beside what they lead to."""
    location: str
    """What messages call it."""
    device: int
    inode: int

    @property
    def writable(self) -> bool:
        """Whether the file and its directory may be written now; SQLite needs both."""
        return _may(self.path, os.W_OK) and _may(self.path.parent, os.W_OK | os.X_OK)

    @property
    def log(self) -> Path:
        """The write-ahead log beside it."""
        return self.path.with_name(f"{self.path.name}-wal")

    def must_be_in_place(self) -> None:
        """Refuse to go on with a file that was removed or replaced.

        Raises:
            FileMoved: the path leads elsewhere now.
        """
        try:
            found = os.stat(self.path)  # noqa: PTH116 - often, and faster
        except OSError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != (self.device, self.inode):
            raise FileMoved(self.location)

    def has_log(self) -> bool:
        """Tell whether there are events in a write-ahead log beside it."""
        try:
            return self.log.stat().st_size > 0
        except OSError:
            return False


def find_file(path: Path, *, create: bool) -> SQLiteFile:
    """Find the file at a path.

    Args:
        create: make an empty one, readable by its owner only, where there is none, and
            insist on being allowed to write.

    Raises:
        JournalNotFound: there is none, and `create` is False.
        NotAJournal: something other than a file is there.
        ReadOnly: it cannot be made, or (with `create`) written.
        StorageFailed: it cannot be made or read.
        DiskFull: there is no room to make it.
    """
    location = str(path)
    path = path.absolute()
    if create:
        _create_if_missing(path, location)
    path = Path(os.path.realpath(path))
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if create:
            raise StorageFailed(location, "create", "a symbolic link to nowhere") from None
        raise JournalNotFound(location) from None
    except OSError as error:
        raise StorageFailed(location, "open", (error.strerror or str(error)).lower()) from error
    if stat.S_ISDIR(found.st_mode):
        raise NotAJournal(location, "a directory")
    if not stat.S_ISREG(found.st_mode):
        raise NotAJournal(location, "not a regular file")
    if found.st_size == 1:
        # SQLite takes a file of one byte for an empty one.
        raise NotAJournal(location, "the file is not an SQLite database")
    if not _may(path, os.R_OK):
        raise StorageFailed(location, "read", "no permission to read the file")
    file = SQLiteFile(path, location, found.st_dev, found.st_ino)
    if create and not file.writable:
        raise ReadOnly(location, "write to", UNWRITABLE)
    return file


def _create_if_missing(path: Path, location: str) -> None:
    try:
        if os.path.lexists(path):
            return
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return  # another process was faster
    except OSError as error:
        raise explain(error, location=location, operation="create") from error


def _may(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)
