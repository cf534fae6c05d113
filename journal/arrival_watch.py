"""One thread that waits for events on behalf of every task that follows a journal."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from journal.ids import Position

SLICE = 0.2
"""Seconds after which the thread looks whether anybody still waits, or began to."""


class ArrivalWatch:
    """Wakes tasks, of any event loop, when there is an event after their position.

    The thread runs while somebody waits, and for a moment after that.

    Args:
        wait_for: as `journal.stores.interface.Store.wait_for`.
    """

    def __init__(self, wait_for: Callable[[Position, float], bool]) -> None:
        self._wait_for = wait_for
        self._changed = threading.Condition()
        self._awaited: dict[asyncio.Future[None], Position] = {}
        self._thread: threading.Thread | None = None
        self._closed = False

    @contextmanager
    def waking(self, future: asyncio.Future[None], after: Position) -> Iterator[None]:
        """Let a future be done when there is an event after a position, until the block ends."""
        with self._changed:
            self._awaited[future] = after
            self._changed.notify()
            if self._thread is None:
                # A daemon: a loop that was left with a task that waits must not keep the process.
                self._thread = threading.Thread(
                    target=self._run, name="journal-follow", daemon=True
                )
                self._thread.start()
        try:
            yield
        finally:
            with self._changed:
                self._awaited.pop(future, None)

    def close(self) -> None:
        """Wait for the thread; the store was closed, so that it has told everybody."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while (after := self._lowest()) is not None:
            try:
                came = self._wait_for(after, SLICE)
            except Exception as error:  # noqa: BLE001 - those who wait get it
                self._wake(None, error)
            else:
                if came:
                    self._wake(after, None)

    def _lowest(self) -> Position | None:
        """Give the lowest position that is awaited; None, and the thread ends, without one."""
        with self._changed:
            self._changed.wait_for(lambda: self._awaited or self._closed, SLICE)
            if not self._awaited:
                self._thread = None
                return None
            return min(self._awaited.values())

    def _wake(self, after: Position | None, error: Exception | None) -> None:
        with self._changed:
            woken = [
                future
                for future, position in self._awaited.items()
                if after is None or position <= after
            ]
            for future in woken:
                del self._awaited[future]
                with suppress(RuntimeError):  # its loop was closed: nobody waits any more
                    future.get_loop().call_soon_threadsafe(_finish, future, error)


def _finish(future: asyncio.Future[None], error: Exception | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
