"""Following a journal: its events in the order of their positions, and then what comes."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from journal.codec import RecordedEvent
from journal.feed import Feed
from journal.ids import Position

SLICE = 0.2
"""Seconds after which it is looked again whether a subscription was closed."""


class Subscription:
    """An iterator of recorded events that waits for the next one; see `Journal.subscribe`.

    One thread iterates; any may close it. Between two pages it holds nothing of the journal,
    so that however slow it is, no writer waits and the log does not grow for it. After an
    error it still stands before the event that was to come.
    """

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        """Where the events come from."""
        self._position = feed.awaited
        self._closed = False

    @property
    def position(self) -> Position:
        """How far it got: of the last event given, for `after` of another subscription."""
        return self._position

    def get(self, timeout: float) -> RecordedEvent | None:
        """Give the next event; None when none comes within so many seconds, or it was closed."""
        give_up = time.monotonic() + timeout
        while not (self._closed or self.feed.ready):
            left = give_up - time.monotonic()
            self.feed.advance(max(0.0, min(left, SLICE)))
            if left <= SLICE:
                break
        return self.take() if self.feed.ready and not self._closed else None

    def take(self) -> RecordedEvent:
        """Give the next event, which must be ready; for `AsyncSubscription`."""
        event = self.feed.ready.popleft()
        self._position = event.position
        return event

    def close(self) -> None:
        """End the iteration, also one that waits in another thread; twice does nothing."""
        self._closed = True

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> RecordedEvent:
        while not self._closed:
            event = self.get(SLICE)
            if event is not None:
                return event
        raise StopIteration

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
