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

IDLE = 10.0
"""Seconds after which the queue's thread ends when no task has written."""


class WriteQueue:
    """Takes writes of any thread or event loop, and settles every one of them.

    Args:
        location: what messages call the journal.
        commit: settles the writes of a group, in order.
        meter: is told what happens.
    """

    def __init__(
        self,
        location: str,
        commit: Callable[[list[Write]], None],
        meter: Meter,
    ) -> None:
        self._location = location
        self._commit = commit
        self._meter = meter
        self._changed = threading.Condition()
        self._queue: deque[Write] = deque()
        self._outside: deque[Write] = deque()
        self._standing = 0
        """Writes outside, without those that were withdrawn."""
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
                    leads = not self._led
                    if leads:
                        self._enter(write)
                        self._led = write.leads = True
                    else:
                        write.will_wait()
                        self._enter(write)
                        self._changed.notify_all()
                if leads:
                    self._lead(write)
            while not write.settled:
                write.wait()  # also for the word to lead, which may have come already
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
                # It stays in line and is passed over, for lines are long when this happens.
                write.settled = True
                if write.inside:
                    self._leave(write)
                else:
                    self._stands_outside(-1)
                self._let_in()
            if write.leads:
                write.leads = False
                self._pass_on()

    def tell(self, writes: list[Write]) -> None:
        """Tell the tasks of each event loop what became of their writes, in one call a loop."""
        loops: dict[asyncio.AbstractEventLoop, list[Write]] = {}
        for write in writes:
            if not write.settled or write.told:
                continue
            write.told = True
            if write.error is not None and self._closing:
                self._failed.append(write)
            if write.future is not None:
                loops.setdefault(write.future.get_loop(), []).append(write)
        for loop, some in loops.items():
            # A loop that was closed has no tasks that wait.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_resolve, some)

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
        if self._standing or not self._fits(write):
            self._outside.append(write)
            self._stands_outside(1)
        else:
            self._join(write)

    def _fits(self, write: Write) -> bool:
        return not self._events or (
            self._events + len(write.offers) <= QUEUE_EVENTS
            and self._bytes + write.size <= QUEUE_BYTES
        )

    def _stands_outside(self, more: int) -> None:
        self._standing += more
        self._meter.waiting(self._standing)

    def _join(self, write: Write) -> None:
        write.inside = True
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
        while self._waits():
            write = self._queue[0]
            events += len(write.offers)
            size += write.size
            if group and (events > GROUP_EVENTS or size > GROUP_BYTES):
                break
            group.append(write)
            self._queue.popleft()
            write.taken = True
            self._leave(write)
        self._let_in()

    def _waits(self) -> bool:
        """Tell whether anything is in the queue, once what was withdrawn is out of it."""
        while self._queue and self._queue[0].settled:
            self._queue.popleft()
        return bool(self._queue)

    def _let_in(self) -> None:
        """Let those outside join while there is room: an empty queue has nobody outside."""
        while self._outside and (self._outside[0].settled or self._fits(self._outside[0])):
            write = self._outside.popleft()
            if not write.settled:
                self._stands_outside(-1)
                self._join(write)

    def _lead(self, own: Write) -> None:
        """Commit groups until the own write is settled, then let another lead."""
        try:
            while not own.settled:
                if self._company > 1:
                    time.sleep(0)  # those who were woken may be about to join
                with self._changed:
                    self._take()
                    self._company = max(1, len(self._group))
                self._commit_group()
        finally:
            with self._changed:
                own.leads = False
                self._pass_on()

    def _commit_group(self) -> None:
        group = self._group
        try:
            self._commit(group)
        except BaseException as error:
            # Whatever went wrong, nobody must wait for ever.
            for write in group:
                if not write.settled:
                    write.error = CommitInterrupted(self._location, repr(error))
                    write.settle()
            raise
        finally:
            self.tell(group)
            self._group = []

    def _pass_on(self) -> None:
        """Let the first that waits lead, in its thread, or the queue's thread for a task."""
        if not self._waits():
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
        """Lead for the tasks; the queue's own thread runs this until nothing comes any more."""
        while True:
            with self._changed:
                while not self._thread_leads:
                    if self._closing and not self._led:
                        return
                    if not (self._changed.wait(IDLE) or self._led):
                        self._thread = None  # a journal that nobody closes can be collected
                        return
                self._linger()
                self._take()
                self._company = max(1, len(self._group))
            # Each caller was told already, and others wait for this thread.
            with suppress(BaseException):
                self._commit_group()
            with self._changed:
                self._pass_on()

    def _linger(self) -> None:
        """Wait for company while nothing in the queue is in a hurry."""
        while self._waits() and not self._hurried and not self._closing:
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
