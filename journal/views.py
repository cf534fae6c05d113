"""The views of a journal: where projections keep what they derived from its events."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from journal.ids import StreamId
from journal.stores.views import ViewStore, ViewsUnusable

RETRY_SECONDS = 30.0
"""After this time a views file that could not be used as a whole is tried again."""

Opener = Callable[[int, bool], ViewStore]
"""Opens the rows of a revision: in the file beside the journal, or (True) in memory."""


class Views:
    """Gives projections a place for their rows: a file, or memory where it cannot be used.

    A file that is damaged, locked or not writable costs time and never an answer: rows of
    one stream that are damaged are made again in memory, for as long as the journal is open.
    """

    def __init__(self, opener: Opener) -> None:
        self._open = opener
        self._lock = threading.Lock()
        self._stores: dict[tuple[int, bool], ViewStore] = {}
        self._distrusted: set[StreamId] = set()
        self._verified: set[tuple[int, StreamId]] = set()
        self._away_until = 0.0
        self._closed = False

    def store(self, revision: int, stream: StreamId) -> ViewStore:
        """Give the store to use for a stream's rows.

        Args:
            revision: of the code that makes the rows; those of another are not seen.
        """
        with self._lock:
            in_memory = stream in self._distrusted or time.monotonic() < self._away_until
            if not in_memory:
                try:
                    return self._store(revision, in_memory=False)
                except ViewsUnusable as problem:
                    self._note(problem)
            return self._store(revision, in_memory=True)

    def is_verified(self, store: ViewStore, stream: StreamId) -> bool:
        """Tell whether `verify` was called of a store that is still in use."""
        return (id(store), stream) in self._verified

    def verify(self, store: ViewStore, stream: StreamId) -> None:
        """Remember that a stream's rows belong to the events that the journal has now."""
        with self._lock:
            if store in self._stores.values():
                self._verified.add((id(store), stream))

    def distrust(self, problem: ViewsUnusable) -> None:
        """Use memory for what turned out unusable: a stream's rows, or for a while all."""
        with self._lock:
            self._note(problem)

    def close(self) -> None:
        """Close what was opened; twice does nothing."""
        with self._lock:
            self._closed = True
            while self._stores:
                self._stores.popitem()[1].close()

    def _note(self, problem: ViewsUnusable) -> None:
        if problem.stream is None:
            self._away_until = time.monotonic() + RETRY_SECONDS
            opened = [key for key in self._stores if not key[1]]
            for key in opened:
                self._stores.pop(key).close()
            self._verified.clear()
        else:
            self._distrusted.add(problem.stream)

    def _store(self, revision: int, *, in_memory: bool) -> ViewStore:
        if self._closed:
            raise ViewsUnusable(None, "closed")
        key = revision, in_memory
        if key not in self._stores:
            self._stores[key] = self._open(revision, in_memory)
        return self._stores[key]
