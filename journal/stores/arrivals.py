"""Waiting for events: told by whoever appends here, found by one who looks for all.

What this process appends is told at once. What others append must be looked for: one of those
who wait does it for all of them, so that any number costs no more than one.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from journal.errors import JournalClosed
from journal.ids import Position

OFTEN = 0.02
"""Seconds between two looks while events come."""

SELDOM = 0.05
"""Seconds between two looks when none came for a while."""

SLOWER = 1.1
"""How much longer each look that finds nothing makes the time until the next."""


class Arrivals:
    """The last position as far as it is known, and those who wait for a higher one.

    Args:
        location: what messages call the journal.
        look: tells the last position.
        shared: whether others append where this process is not told, so that somebody must
            look.
    """

    def __init__(self, location: str, look: Callable[[], Position], *, shared: bool) -> None:
        self._location = location
        self._look_up = look
        self._shared = shared
        self._process = os.getpid()
        self._changed = threading.Condition()
        self._last = Position(0)
        self._closed = False
        self._looking = False
        self._pace = OFTEN
        self._due = 0.0

    def tell(self, last: Position) -> None:
        """Wake those who wait for this position, which was committed."""
        with self._changed:
            if last > self._last:
                self._last = last
                self._changed.notify_all()

    def wait_for(self, after: Position, timeout: float) -> bool:
        """Wait until there is an event after a position; see `Store.wait_for`.

        Raises:
            JournalClosed: it was closed meanwhile.
        """
        give_up = time.monotonic() + timeout
        with self._changed:
            try:
                if timeout <= 0 and self._last <= after:
                    self._look()
                while self._is_awaited(after) and (left := give_up - time.monotonic()) > 0:
                    if self._looking or not self._shared:
                        self._changed.wait(min(left, threading.TIMEOUT_MAX))
                    else:
                        self._look_for_all(after, give_up)
                return self._last > after
            finally:
                if not self._looking:
                    self._changed.notify()  # somebody else must look now

    def close(self) -> None:
        """Let those who wait go, with `JournalClosed`; in a forked process there are none."""
        if os.getpid() != self._process:
            return
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _is_awaited(self, after: Position) -> bool:
        if self._closed:
            raise JournalClosed(self._location)
        return self._last <= after

    def _look_for_all(self, after: Position, give_up: float) -> None:
        self._looking = True
        try:
            while self._is_awaited(after) and (now := time.monotonic()) < give_up:
                if now < self._due:
                    self._changed.wait(min(self._due, give_up) - now)
                else:
                    self._look()
        finally:
            self._looking = False

    def _look(self) -> None:
        """Look up the last position; meanwhile others may append and wait."""
        self._changed.release()
        try:
            found = self._look_up()
        finally:
            self._changed.acquire()
        self._pace = OFTEN if found > self._last else min(self._pace * SLOWER, SELDOM)
        self._due = time.monotonic() + self._pace
        if found > self._last:
            self._last = found
            self._changed.notify_all()
