"""What stands beside a journal file, and who uses it, as the operating system tells.

Nothing here opens the file or its shared memory: closing a descriptor of them would drop the
locks that SQLite holds on them for this process.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from journal.owner import is_running
from journal.stores.sqlite_turnstile import SUFFIX as LOCK

WAL = "-wal"
SHARED_MEMORY = "-shm"
VIEWS = ".views"

UNFINISHED = "unfinished-runjournal-backup-"
"""How the name of a backup in the making begins; the id of the process follows."""

_LOCKS = Path("/proc/locks")

_READ_MARKS = range(123, 128)
"""Bytes of the shared memory that readers lock, one for each place in the log they may
read from (SQLite's file format, "WAL-Index Locks")."""


def beside(path: Path, suffix: str) -> Path:
    """Name a file that belongs to a journal file."""
    return path.with_name(path.name + suffix)


def size(path: Path) -> int:
    """Tell the size of a file in bytes; 0 where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def open_to_others(path: Path) -> Iterator[tuple[Path, int]]:
    """Yield the journal's files that others than their owner may use, with their modes.

    Those beside the journal are named when they are open to more than the journal itself,
    whose mode they get when they are made.
    """
    journal = _mode(path)
    if journal:
        yield path, journal
    views = (VIEWS, VIEWS + WAL, VIEWS + SHARED_MEMORY)
    for suffix in (WAL, SHARED_MEMORY, LOCK, *views):
        one = beside(path, suffix)
        mode = _mode(one)
        if mode & ~journal:
            yield one, mode


def _mode(path: Path) -> int:
    """Give the mode of a file, 0 where it is its owner's only or not there."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0
    return mode if mode & (stat.S_IRWXG | stat.S_IRWXO) else 0


def unfinished_backups(path: Path) -> Iterator[Path]:
    """Yield what backups left in the journal's directory whose process is gone."""
    try:
        found = sorted(path.parent.glob(f"{UNFINISHED}*"))
    except OSError:
        return
    for one in found:
        process = one.name.removeprefix(UNFINISHED).split("-")[0]
        if not (process.isdecimal() and is_running(int(process))):
            yield one


def readers(path: Path) -> set[int]:
    """Tell the processes that are reading the journal this moment, where the system says."""
    return {
        process
        for process, start, end in _holders(beside(path, SHARED_MEMORY), "POSIX")
        if any(start <= mark <= end for mark in _READ_MARKS)
    }


def lock_holders(path: Path) -> set[int]:
    """Tell the processes that hold the lock beside the file, where the system says."""
    return {process for process, _, _ in _holders(beside(path, LOCK), "FLOCK")}


def _holders(path: Path, kind: str) -> Iterator[tuple[int, int, int]]:
    """Yield process, first and last byte of each lock of a file (proc(5), `/proc/locks`)."""
    try:
        about = path.stat()
        lines = _LOCKS.read_text("ascii").splitlines()
    except OSError:
        return
    where = f"{os.major(about.st_dev):02x}:{os.minor(about.st_dev):02x}:{about.st_ino}"
    for line in lines:
        _, *words = line.split()
        if words[0] == kind and words[4] == where:
            end = 2**63 - 1 if words[6] == "EOF" else int(words[6])
            yield int(words[3]), int(words[5]), end
