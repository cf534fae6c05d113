"""The events of a journal, or of one run, after a position: a page at a time, in order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence

from journal.archived import must_be_here
from journal.codec import RecordedEvent, decode
from journal.errors import CorruptEvent, PositionOutOfRange, RunNotFound
from journal.ids import Position, StreamId, Version, run_stream
from journal.stores.interface import Store, StoredEvent

PAGE = 1000
"""Events read at a time."""

DECODED = 1024 * 1024
"""Bytes of JSON after which no more events of a page are decoded in advance."""


class Feed:
    """Every event of a journal after a position, but for those of runs that were dropped.

    Where a run was dropped, its `run.archived` event tells where the others are.

    It holds one page and nothing of the store. One thread takes from `ready`; any may fill it.

    Args:
        after: exclusive; 0 is before the first event.

    Raises:
        PositionOutOfRange: the journal never was at this position.
    """

    def __init__(self, store: Store, after: int) -> None:
        last = store.last_position()
        if not 0 <= after <= last:
            raise PositionOutOfRange(store.location, after, last)
        self.ready: deque[RecordedEvent] = deque()
        """The next events."""
        self.awaited = Position(after)
        """Nothing more can be read before there is an event after this position."""
        self._store = store
        self._page: deque[StoredEvent] = deque()
        self._filling = threading.Lock()

    def advance(self, timeout: float) -> None:
        """Wait for events, at most for so many seconds, and make them ready.

        Raises:
            CorruptEvent: the next one is damaged; those before it were given.
        """
        if self._page or self._store.wait_for(self.awaited, timeout):
            with self._filling:
                if not self.ready:
                    self._fill()

    def read(self, limit: int) -> Sequence[StoredEvent]:
        """Read the next page."""
        page = self._store.read_all(after=self.awaited, limit=limit)
        if page:
            self.awaited = page[-1].position
        return page

    def _fill(self) -> None:
        if not self._page:
            try:
                page = self.read(PAGE)
            except CorruptEvent:
                page = self.read(1)  # so that those before the damaged one are given
            self._page.extend(page)
        size = 0
        while self._page and size < DECODED:
            try:
                self.ready.append(decode(self._page[0]))
            except CorruptEvent:
                if not self.ready:
                    raise
                return
            size += len(self._page.popleft().data)


class RunFeed(Feed):
    """The events of one run after a position of the journal; read by version.

    Args:
        must_exist: False to begin with a run of which there is no event yet.

    Raises:
        RunNotFound: there is none.
        RunIsArchived: what comes next is in an archive only; also later.
        PositionOutOfRange: see `Feed`.
    """

    def __init__(self, store: Store, after: int, run_id: str, *, must_exist: bool) -> None:
        super().__init__(store, after)
        self._stream = run_stream(run_id)
        head = store.head(self._stream)
        if must_exist and not head:
            raise RunNotFound(run_id)
        self._version = _version_at(store, self._stream, self.awaited, head)

    def read(self, limit: int) -> Sequence[StoredEvent]:
        """Read the next page; an empty one tells up to which position there is nothing."""
        last = self._store.last_position()
        page = self._store.read_stream(self._stream, after=self._version, limit=limit)
        for expected, stored in enumerate(page, self._version + 1):
            if stored.version != expected:
                must_be_here(self._store, self._stream)
                reason = f"missing: version {stored.version} follows {expected - 1}"
                raise CorruptEvent(self._stream, expected, reason)
        if page:
            self._version, last = page[-1].version, page[-1].position
        self.awaited = last
        return page


def _version_at(store: Store, stream: StreamId, position: Position, head: Version) -> Version:
    """Find the last version of a stream at or before a position; 0 where there is none."""
    low, high = 0, int(head) if position else 0
    while low < high:
        middle = (low + high + 1) // 2
        found = store.read_stream(stream, after=Version(middle - 1), upto=Version(middle))
        if not found:
            must_be_here(store, stream)
            raise CorruptEvent(stream, middle, "missing")
        if found[0].position <= position:
            low = middle
        else:
            high = middle - 1
    return Version(low)
