"""What lies beside a journal file under examination: its log, locks, permissions, leftovers."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from shlex import quote

from journal.owner import is_running
from journal.stores.sqlite_beside import (
    lock_holders,
    open_to_others,
    readers,
    size,
    unfinished_backups,
)
from journal.stores.sqlite_examine import SQLiteExamination
from journal.stores.sqlite_pragmas import BACKSTOP

LARGE = 2 * BACKSTOP
"""Bytes of log that are only reached when something keeps it from being moved: a full one and
one transaction more are less."""

WATCHED = 1.0
"""Seconds for which somebody must be seen to hold something before it is noted."""

_PAUSE = 0.05


class SQLiteSurroundings:
    """Looks around twice, at the beginning and at the end, to tell who stays from who comes."""

    def __init__(self, examined: SQLiteExamination) -> None:
        self._examined = examined
        self._findings = examined.findings
        self._began = time.monotonic()
        self._commits = examined.commits()
        self._changed = self._last_change()
        self._readers: set[int] = set()
        self._holders: set[int] = set()
        if examined.file is not None:
            self._readers = readers(examined.file.path)
            self._holders = lock_holders(examined.file.path)

    def look(self) -> None:
        """Note what there is to note."""
        file = self._examined.file
        if file is None:
            return
        path = file.path
        for one, mode in open_to_others(path):
            what = f"others than its owner may use {one.name} (mode {mode:04o})"
            self._findings.notice("file.permissions", what, f"`chmod 600 {quote(str(one))}`")
        if not file.writable:
            what = "this user may read it, but not write the file and its directory"
            advice = "nothing, if it is only to be read"
            self._findings.notice("file.read_only", what, advice)
        for one in unfinished_backups(path):
            what = f"a backup was ended before it was whole: {one.name}"
            self._findings.notice("backup.unfinished", what, f"`rm {quote(str(one))}`")
        self._look_at_log()
        self._look_at_lock()
        if self._examined.lies_still and self._last_change() != self._changed:
            what = "others wrote it during the examination, so what was found may be mistaken"
            advice = "examine it again, or as a user who may write it"
            self._findings.notice("file.changed", what, advice)

    def _last_change(self) -> tuple[int, int]:
        file = self._examined.file
        if file is None:
            return 0, 0
        return file.path.stat().st_mtime_ns, size(file.log)

    def _look_at_log(self) -> None:
        bytes_ = self._examined.facts.get("wal_bytes", 0)
        if bytes_ <= LARGE:
            return
        what = f"its log has grown to {bytes_ / 1e6:.0f} MB, more than is usual"
        staying = self._staying(readers, self._readers)
        if staying:
            what += f"; {_processes(staying)} kept reading during the examination"
        advice = (
            "end reads that stay open; when all have closed the journal, the log is moved into "
            "the file"
        )
        self._findings.notice("wal.large", what, advice)

    def _look_at_lock(self) -> None:
        staying = self._staying(lock_holders, self._holders)
        if staying and self._examined.commits() == self._commits:
            what = f"{_processes(staying)} held the writers' lock all the time and wrote nothing"
            advice = "see whether it is stopped or hangs, and end it: others cannot write"
            self._findings.notice("lock.held", what, advice)

    def _staying(self, look: Callable[[Path], set[int]], first: set[int]) -> set[int]:
        """Tell who of those that were there first is there whenever one looks."""
        staying = set(first)
        if self._examined.file is not None:
            while staying and time.monotonic() < self._began + WATCHED:
                time.sleep(_PAUSE)
                staying &= look(self._examined.file.path)
        return staying


def _processes(ids: set[int]) -> str:
    """Name processes; the system tells those of other containers as 0."""
    return ", ".join(map(_process, sorted(ids)))


def _process(id_: int) -> str:
    if not id_:
        return "a process of another container"
    gone = "" if is_running(id_) else " (gone, but one that it forked holds on)"
    return f"process {id_}{gone}"
