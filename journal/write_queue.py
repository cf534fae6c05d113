"""Group commit: the writes of all threads and tasks, gathered into few transactions.

One caller at a time leads: it takes what waits, commits it as one group, and wakes the
others. A lone thread therefore commits by itself, without a hop to another thread. Tasks of
an event loop never lead; a thread of the queue does it for them.

The queue is bounded. Callers beyond the bound stand outside, first come, first served.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from journal.errors import CommitInterrupted, JournalClosed, NotWritten
from journal.interrupts import InterruptsWait
from journal.metrics import Meter
from journal.pending import Write
from journal.receipt import Receipt

QUEUE_EVENTS = 8192
"""Events in the queue at most; a larger write stands in it alone."""

QUEUE_BYTES = 32 * 1024 * 1024
"""Bytes of JSON in the queue at most, about; a larger write stands in it alone."""

GROUP_EVENTS = 1024
"""Events of several writes committed together at most."""

GROUP_BYTES = 8 * 1024 * 1024
"""Bytes of JSON of several writes committed together at most, about."""

LINGER = 0.05
"""Seconds a lingering write waits for company at most."""


class WriteQueue:
    """Takes writes of any thread or event loop, and settles every one of them.

    Args:
        location: what messages call the journal.
        commit: settles the writes of a group, in order, but for those it gives back, which
            stay first in the queue.
        meter: is told what happens.
    """

    def __init__(
        self,
        location: str,
        commit: Callable[[list[Write]], list[Write]],
        meter: Meter,
    ) -> None:
        self._location = location
        self._commit = commit
        self._meter = meter
        self._changed = threading.Condition()
        self._queue: deque[Write] = deque()
        self._outside: deque[Write] = deque()
        self._group: list[Write] = []
        """Taken from the queue by whoever leads, and not answered yet."""
        self._events = 0
        self._bytes = 0
        self._hurried = 0
        """Writes in the queue that do not linger."""
        self._led = False
        """Whether somebody leads, or was told to."""
        self._thread: threading.Thread | None = None
        self._thread_leads = False
        self._company = 1
        """Writes that were committed together last time: how many may be expected."""
        self._closing = False
        self._failed: list[Write] = []

    def write(self, write: Write) -> list[Receipt]:
        """Write it, in this thread if nobody leads; returns when it is settled.

        Raises:
            JournalError: it was refused; nothing of it was written.
            JournalClosed: the queue was closed before.
        """
        try:
            with InterruptsWait():
                with self._changed:
                    if self._led:
                        write.will_wait()
                        self._enter(write)
                        self._changed.notify_all()
                    else:
                        self._enter(write)
                        self._led = write.leads = True
                if write.leads:
                    self._lead(write)
            while not write.settled:
                write.wait()
                if write.leads:
                    with InterruptsWait():
                        self._lead(write)
        except BaseException:
            self.withdraw(write)
            raise
        return write.result()

    def submit(
        self, write: Write, loop: asyncio.AbstractEventLoop
    ) -> asyncio.Future[list[Receipt]]:
        """Queue a write of an event loop; the future gets its receipts or its error.

        Raises:
            JournalClosed: the queue was closed before.
        """
        write.future = future = loop.create_future()
        with self._changed:
            self._enter(write)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._serve, name="journal-commit", daemon=True
                )
                self._thread.start()
            if not self._led:
                self._led = self._thread_leads = True
                self._changed.notify_all()
            elif self._hurried or len(self._queue) >= self._company:
                self._changed.notify_all()
        return future

    def withdraw(self, write: Write) -> None:
        """Take a write back whose caller no longer waits, unless it is being committed."""
        with InterruptsWait(), self._changed:
            if not write.taken and not write.settled:
                write.settled = True
                if write in self._outside:
                    self._outside.remove(write)
                    self._meter.waiting(len(self._outside))
                elif write in self._queue:
                    self._queue.remove(write)
                    self._leave(write)
            if write.leads:
                write.leads = False
                self._pass_on()

    def close(self) -> None:
        """Settle what waits, and take nothing any more; closing twice does nothing.

        Raises:
            NotWritten: some of what waited was refused; each caller has its own error, too.
        """
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            while self._led:
                self._changed.wait()
            thread, self._thread = self._thread, None
            failed, self._failed = self._failed, []
        if thread is not None:
            thread.join()
        if failed:
            lost = tuple(write.what for write in failed)
            raise NotWritten(self._location, lost, str(failed[0].error))

    def _enter(self, write: Write) -> None:
        if self._closing:
            raise JournalClosed(self._location)
        if self._outside or not self._fits(write):
            self._outside.append(write)
            self._meter.waiting(len(self._outside))
        else:
            self._join(write)

    def _fits(self, write: Write) -> bool:
        return not self._queue or (
            self._events + len(write.offers) <= QUEUE_EVENTS
            and self._bytes + write.size <= QUEUE_BYTES
        )

    def _join(self, write: Write) -> None:
        self._queue.append(write)
        self._events += len(write.offers)
        self._bytes += write.size
        self._hurried += not write.lingers
        self._meter.queued(len(write.offers), write.size)

    def _leave(self, write: Write) -> None:
        self._events -= len(write.offers)
        self._bytes -= write.size
        self._hurried -= not write.lingers
        self._meter.taken(len(write.offers), write.size)

    def _take(self) -> None:
        """Take the next group: at least one write, in order."""
        group = self._group
        events = size = 0
        while self._queue:
            write = self._queue[0]
            events += len(write.offers)
            size += write.size
            if group and (events > GROUP_EVENTS or size > GROUP_BYTES):
                break
            group.append(write)
            self._queue.popleft()
            write.taken = True
            self._leave(write)
        while self._outside and self._fits(self._outside[0]):
            self._join(self._outside.popleft())
            self._meter.waiting(len(self._outside))

    def _put_back(self, writes: list[Write]) -> None:
        if not writes:
            return
        for write in reversed(writes):
            write.taken = False
            self._queue.appendleft(write)
        self._events = sum(len(write.offers) for write in self._queue)
        self._bytes = sum(write.size for write in self._queue)
        self._hurried = sum(not write.lingers for write in self._queue)
        for write in writes:
            self._meter.queued(len(write.offers), write.size)

    def _lead(self, own: Write) -> None:
        """Commit groups until the own write is settled, then let another lead."""
        try:
            while not own.settled:
                with self._changed:
                    self._take()
                self._commit_group()
        finally:
            with self._changed:
                own.leads = False
                self._pass_on()

    def _commit_group(self) -> None:
        group, held_back = self._group, []
        try:
            held_back = self._commit(group)
        except BaseException as error:
            # Whatever went wrong, nobody must wait for ever.
            for write in group:
                if not write.settled:
                    write.error = CommitInterrupted(self._location, repr(error))
                    write.settle()
            raise
        finally:
            self._answer(group)
            with self._changed:
                self._put_back(held_back)
            self._group = []

    def _answer(self, group: list[Write]) -> None:
        """Tell the tasks of each event loop, in one call a loop."""
        loops: dict[asyncio.AbstractEventLoop, list[Write]] = {}
        for write in group:
            if not write.settled:
                continue
            if write.error is not None and self._closing:
                self._failed.append(write)
            if write.future is not None:
                loops.setdefault(write.future.get_loop(), []).append(write)
        for loop, writes in loops.items():
            # A loop that was closed has no tasks that wait.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_resolve, writes)

    def _pass_on(self) -> None:
        """Let the first that waits lead, in its thread, or the queue's thread for a task."""
        if not self._queue:
            self._led = self._thread_leads = False
            self._changed.notify_all()
        elif self._queue[0].future is None:
            self._thread_leads = False
            self._queue[0].leads = True
            self._queue[0].wake()
        else:
            self._thread_leads = True
            self._changed.notify_all()

    def _serve(self) -> None:
        """Lead for the tasks; the queue's own thread runs this until it is closed."""
        while True:
            with self._changed:
                while not self._thread_leads:
                    if self._closing and not self._led:
                        return
                    self._changed.wait()
                self._linger()
                self._take()
                self._company = max(1, len(self._group))
            try:
                self._commit_group()
            finally:
                with self._changed:
                    self._pass_on()

    def _linger(self) -> None:
        """Wait for company while nothing in the queue is in a hurry."""
        while self._queue and not self._hurried and not self._closing:
            left = self._queue[0].queued_at + LINGER - time.monotonic()
            if left <= 0 or len(self._queue) >= self._company:
                return
            self._changed.wait(left)


def _resolve(writes: list[Write]) -> None:
    for write in writes:
        future = write.future
        if future is None or future.done():
            continue  # the task was cancelled; what it wrote stays written
        if write.error is not None:
            future.set_exception(write.error)
        else:
            future.set_result(write.result())
