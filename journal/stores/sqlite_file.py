"""The file of a journal, as the operating system sees it.

Nothing here opens an existing file: closing any descriptor of it would drop the locks that
SQLite holds on it for this process.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from journal.errors import JournalNotFound, NotAJournal, StorageFailed


@dataclass(frozen=True, slots=True)
class SQLiteFile:
    """A regular file that exists and may be read."""

    path: Path
    """Absolute, so that a later change of directory does not matter."""
    location: str
    """What messages call it."""
    writable: bool
    """Whether the file and its directory may be written; SQLite needs both."""
    device: int
    inode: int

    def must_be_in_place(self) -> None:
        """Refuse to go on with a file that was removed or replaced.

        Raises:
            StorageFailed: the path leads elsewhere now.
        """
        try:
            found = os.stat(self.path)  # noqa: PTH116 - before every append, and faster
        except OSError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != (self.device, self.inode):
            raise StorageFailed(
                self.location,
                "use",
                "the file was removed or replaced while it was open; open the journal again",
            )

    def has_wal(self) -> bool:
        """Tell whether there are events in a write-ahead log beside it."""
        try:
            return self.path.with_name(self.path.name + "-wal").stat().st_size > 0
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
        StorageFailed: it cannot be made, read, or (with `create`) written.
    """
    location = str(path)
    path = path.absolute()
    if create:
        _create_if_missing(path, location)
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if create:
            raise StorageFailed(location, "create", "a symbolic link to nowhere") from None
        raise JournalNotFound(location) from None
    except OSError as error:
        raise StorageFailed(location, "open", _reason(error)) from error
    if stat.S_ISDIR(found.st_mode):
        raise NotAJournal(location, "a directory")
    if not stat.S_ISREG(found.st_mode):
        raise NotAJournal(location, "not a regular file")
    if found.st_size == 1:
        # SQLite takes a file of one byte for an empty one.
        raise NotAJournal(location, "the file is not an SQLite database")
    if not _may(path, os.R_OK):
        raise StorageFailed(location, "read", "no permission to read the file")
    writable = _may(path, os.W_OK) and _may(path.parent, os.W_OK | os.X_OK)
    if create and not writable:
        raise StorageFailed(
            location, "write to", "no permission to write the file and its directory"
        )
    return SQLiteFile(path, location, writable, found.st_dev, found.st_ino)


def _create_if_missing(path: Path, location: str) -> None:
    try:
        if os.path.lexists(path):
            return
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return  # another process was faster
    except OSError as error:
        raise StorageFailed(location, "create", _reason(error)) from error


def _may(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
