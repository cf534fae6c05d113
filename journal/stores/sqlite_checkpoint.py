"""Moving the log into the journal file, so that no commit waits long for it.

A thread moves most of it while commits go on; the writer moves the few pages that came
meanwhile, between two commits, and the log begins anew. Left to itself, SQLite does all of it
within a commit, and a thread alone would never see the end of it.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress

from journal.errors import JournalError
from journal.stores.sqlite_log import Log
from journal.stores.sqlite_pragmas import checkpoint
from journal.stores.sqlite_turnstile import pause

LONG = 4 * 1024 * 1024
"""Bytes of log from which it is moved."""

TOO_LONG = 16 * 1024 * 1024
"""Bytes of log at which the writer waits for the thread, or for another process's."""


class Checkpointer:
    """Keeps the log of one open journal short; used by whoever has the writer.

    Args:
        connect: opens a connection for the thread.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._thread: threading.Thread | None = None
        self._bound = LONG

    def tend(
        self,
        connection: sqlite3.Connection,
        log: Log,
        alone: Callable[[], AbstractContextManager[None]],
        give_up: float,
    ) -> bool:
        """Do what is to be done about the log before the next commit; mostly nothing.

        Args:
            connection: the writer, with no transaction begun.
            alone: keeps other processes from writing.
            give_up: until when to wait for another that moves it, by the monotonic clock.

        Returns:
            Whether the log is long, so that others may want to be alone, too.

        Raises:
            sqlite3.Error: the log cannot be moved.
            JournalBusy: another process did not let this one write.
        """
        if not log.reaches(self._bound):
            if self._bound > LONG and log.reaches(LONG):
                return True
            self._bound = LONG
            if self._thread is not None and not self._thread.is_alive():
                self._thread = None  # another process moved the rest
            return False
        if self._thread is None:
            self._start()
            return True
        too_long = log.reaches(self._bound - LONG + TOO_LONG)
        if self._thread.is_alive():
            if not too_long:
                return True
            self._thread.join()
        with alone():
            done = checkpoint(connection)
            since = time.monotonic()
            while done.busy and too_long and time.monotonic() < give_up:
                pause(since)
                done = checkpoint(connection)
        if not done.busy:  # or it is tried again before the next commit
            self._thread = None
            # A reader of an old state keeps the log from beginning anew: not at once again.
            self._bound += LONG
        return True

    def close(self) -> None:
        """Wait for the thread."""
        if self._thread is not None and self._thread.is_alive():
            self._thread.join()

    def _start(self) -> None:
        # Not a daemon: the interpreter waits for it, and it never runs long.
        self._thread = threading.Thread(target=self._move, name="journal-checkpoint")
        with suppress(RuntimeError):  # no thread to be had: the writer moves all of it
            self._thread.start()

    def _move(self) -> None:
        # The writer moves the rest in any case, and raises what is wrong.
        with suppress(sqlite3.Error, JournalError), closing(self._connect()) as connection:
            checkpoint(connection)
