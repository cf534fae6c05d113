"""Fair waiting between processes: a lock on a small file beside the journal.

SQLite's own lock keeps writers apart, but the one that asks at the right moment gets it, and
others wait for seconds. Therefore who wants to write goes through a turnstile: one at a time
stands in it, until the write before is done, and is the next to write. Nothing depends on the
lock but the order; who passes it by, as other programs do, still waits for SQLite's.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from journal.errors import JournalBusy
from journal.stores.sqlite_errors import explain
from journal.stores.sqlite_file import SQLiteFile

try:
    import fcntl
except ImportError:  # Windows
    HAS_LOCKS = False
    """Where there are none, SQLite's own lock is waited for, in no order."""
else:
    HAS_LOCKS = True

SUFFIX = "-lock"

BURST = 0.001
"""Seconds for which a writer may go on without standing in it again: each change of writers
costs about as much as a commit. Not when the log is long: who shortens it must be let alone."""

PAUSE = 0.0001
"""Seconds between two tries; the same for all who wait, so that none has better chances."""

LONG_PAUSE = 0.002
"""Seconds between two tries of who has waited for a second: somebody keeps the lock."""

_turnstiles: weakref.WeakSet[Turnstile] = weakref.WeakSet()


def pause(since: float) -> None:
    """Wait a little before the next try.

    Args:
        since: when the waiting began, by the monotonic clock.
    """
    time.sleep(PAUSE if time.monotonic() < since + 1 else LONG_PAUSE)


class Turnstile:
    """The lock beside one journal file, for one thread of this process at a time."""

    def __init__(self, file: SQLiteFile, *, busy_timeout: float) -> None:
        self._file = file
        self._path = Path(f"{file.path}{SUFFIX}")
        self._busy_timeout = busy_timeout
        self._descriptor: int | None = None
        self._opened: os.stat_result | None = None
        self._holds = 0
        _turnstiles.add(self)

    @contextmanager
    def held(self, give_up: float) -> Iterator[None]:
        """Stand in the turnstile; within itself it does nothing.

        Args:
            give_up: until when to wait, by the monotonic clock. There is always one try.

        Raises:
            JournalBusy: another stood in it until then.
            ReadOnly, DiskFull, StorageFailed: the file of the lock cannot be opened or made.
        """
        if not HAS_LOCKS:
            yield
            return
        self._holds += 1
        try:
            if self._holds == 1:
                self._take(give_up)
            yield
        finally:
            self._holds -= 1
            if not self._holds and self._descriptor is not None:
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go, and remove the file unless it is in use.

        Who waits for the lock of a removed file notices when it gets it, and takes the one
        in its place.
        """
        if self._descriptor is None:
            return
        if self._try(self._descriptor) and self._is_in_place():
            with suppress(OSError):  # an empty file left behind harms nobody
                self._path.unlink()
        self.forget()

    def forget(self) -> None:
        """Close the descriptor: what a forked process does with its parent's."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _take(self, give_up: float) -> None:
        since = time.monotonic()
        while True:
            descriptor = self._open() if self._descriptor is None else self._descriptor
            if self._try(descriptor):
                if self._is_in_place():
                    return
                self.forget()
            elif time.monotonic() >= give_up:
                raise JournalBusy(self._file.location, self._busy_timeout)
            else:
                pause(since)

    def _open(self) -> int:
        try:
            opened = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            self._descriptor = opened
            self._make_usable(opened)
        except OSError as error:
            self.forget()
            raise explain(error, location=str(self._path), operation="lock") from error
        return opened

    def _make_usable(self, descriptor: int) -> None:
        """Let those use the lock who may write the journal, as SQLite does with its files."""
        self._opened = lock = os.fstat(descriptor)
        journal = self._file.path.stat()
        if os.geteuid() == 0 and (lock.st_uid, lock.st_gid) != (journal.st_uid, journal.st_gid):
            os.fchown(descriptor, journal.st_uid, journal.st_gid)
        mode = journal.st_mode & 0o666
        if lock.st_mode & 0o777 != mode and lock.st_uid == os.geteuid():
            os.fchmod(descriptor, mode)

    @staticmethod
    def _try(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _is_in_place(self) -> bool:
        try:
            found = os.stat(self._path)  # noqa: PTH116 - on the way of writes
        except OSError:
            return False  # opening it again tells what is wrong
        return self._opened is not None and os.path.samestat(found, self._opened)


def _forget_all() -> None:
    # The lock belongs to what was opened, which the child shares with its parent: it would
    # be held until both close it.
    for turnstile in list(_turnstiles):
        turnstile.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
