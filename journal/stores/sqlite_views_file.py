"""The views file as the operating system sees it, and the lock under which it is made.

Who opens, makes or removes it holds a lock on the directory meanwhile. So nobody opens a file
that is being removed: its log and its shared memory, which are found by their names, would be
those of the next one.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from journal.stores.sqlite_beside import SHARED_MEMORY, VIEWS, WAL, beside
from journal.stores.sqlite_turnstile import HAS_LOCKS, pause
from journal.stores.views import ViewsUnusable

if HAS_LOCKS:
    import fcntl

WAIT = 2.0
"""Seconds to wait for other processes."""

_ROLLBACK = "-journal"

opening = threading.RLock()
"""Held by the thread that opens, makes or removes a views file, and during a fork: a child
must not inherit the lock of a directory. It also keeps the descriptor of a file that is being
made apart from SQLite's: closing it would drop the locks of the others."""


def views_path(journal: Path) -> Path:
    """Name the views file of a journal file."""
    return beside(journal, VIEWS)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Keep other threads and processes from opening, making or removing a views file.

    Raises:
        ViewsUnusable: another process kept it locked.
        OSError: the directory cannot be used.
    """
    with opening:
        if not HAS_LOCKS:
            yield
            return
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _wait_for(descriptor)
            yield
        finally:
            os.close(descriptor)


def exists(path: Path) -> bool:
    """Tell whether there is a file that can be used.

    Raises:
        ViewsUnusable: it is no file, or it or its directory may not be written.
        OSError: it cannot be told.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        found = None
    if found is not None and not stat.S_ISREG(found.st_mode):
        raise ViewsUnusable(None, "not a regular file")
    if found is not None and found.st_size == 1:
        # SQLite takes a file of one byte for an empty one.
        raise ViewsUnusable(None, "not an SQLite database")
    usable = found is None or _may(path, os.R_OK | os.W_OK)
    if not (usable and _may(path.parent, os.W_OK | os.X_OK)):
        raise ViewsUnusable(None, "no permission to write the file and its directory")
    return found is not None


def make(path: Path, journal: Path) -> None:
    """Make an empty file, for those who may use the journal; within `locked`.

    Raises:
        ViewsUnusable, OSError: it cannot be made.
    """
    if not _may(journal, os.W_OK):
        raise ViewsUnusable(None, "no permission to write the journal")
    _remove_beside(path)
    about = journal.stat()
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        if os.geteuid() == 0:
            os.fchown(descriptor, about.st_uid, about.st_gid)
        os.fchmod(descriptor, about.st_mode & 0o666)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a file and what stands beside it; within `locked`.

    Who has it open goes on with what is removed, and notices.

    Raises:
        OSError: it cannot be removed.
    """
    path.unlink(missing_ok=True)
    _remove_beside(path)


class Places:
    """Where a file in use, its log and its shared memory stand; they stay while it is open."""

    def __init__(self, path: Path) -> None:
        self._paths = (path, beside(path, WAL), beside(path, SHARED_MEMORY))
        self._found = self._look()

    def must_be_in_place(self) -> None:
        """Refuse to go on when one of them was removed or replaced.

        Raises:
            ViewsUnusable: others would not see what is written, or the other way round.
        """
        if self._look() != self._found:
            raise ViewsUnusable(None, "the file was removed or replaced")

    def _look(self) -> list[tuple[int, int] | None]:
        return [_place(path) for path in self._paths]


def _may(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _place(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - often, and faster
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _remove_beside(path: Path) -> None:
    for suffix in (_ROLLBACK, WAL, SHARED_MEMORY):
        with suppress(FileNotFoundError):
            beside(path, suffix).unlink()


def _wait_for(descriptor: int) -> None:
    since = time.monotonic()
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= since + WAIT:
                raise ViewsUnusable(None, "others keep its directory locked") from None
            pause(since)
        else:
            return
