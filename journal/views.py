"""The views of a journal: where projections keep what they derived from its events."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from journal.ids import StreamId
from journal.stores.audit import AuditStore
from journal.stores.views import AUDIT, ViewStore, ViewsUnusable

RETRY_SECONDS = 30.0
"""After this time a views file that could not be used as a whole is tried again."""

Opener = Callable[[int, bool], ViewStore]
"""Opens the rows of a revision: in the file beside the journal, or (True) in memory."""

AuditOpener = Callable[[int, bool], AuditStore]
"""Does so with the rows of the audit."""


S = TypeVar("S", ViewStore, AuditStore)


class Views:
    """Gives projections a place for their rows: a file, or memory where it cannot be used.

    A file that is damaged, locked or not writable costs time and never an answer: rows of
    one stream that are damaged are made again in memory, for as long as the journal is open.
    """

    def __init__(self, opener: Opener, audit_opener: AuditOpener) -> None:
        self._open = opener
        self._open_audit = audit_opener
        self._lock = threading.Lock()
        self._stores: dict[tuple[int, bool], ViewStore] = {}
        self._audits: dict[tuple[int, bool], AuditStore] = {}
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
            return self._given(self._stores, self._open, revision, stream)

    def audit(self, revision: int) -> AuditStore:
        """Give the store to use for the rows of the audit.

        Args:
            revision: of the code that makes the rows; those of another are not seen.
        """
        with self._lock:
            return self._given(self._audits, self._open_audit, revision, AUDIT)

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
            self._close(self._stores, in_memory=True)
            self._close(self._audits, in_memory=True)

    def _note(self, problem: ViewsUnusable) -> None:
        if problem.stream is None:
            self._away_until = time.monotonic() + RETRY_SECONDS
            self._close(self._stores, in_memory=False)
            self._close(self._audits, in_memory=False)
            self._verified.clear()
        else:
            self._distrusted.add(problem.stream)

    def _given(
        self,
        opened: dict[tuple[int, bool], S],
        opener: Callable[[int, bool], S],
        revision: int,
        stream: StreamId,
    ) -> S:
        if stream not in self._distrusted and time.monotonic() >= self._away_until:
            try:
                return self._opened(opened, opener, (revision, False))
            except ViewsUnusable as problem:
                self._note(problem)
        return self._opened(opened, opener, (revision, True))

    def _opened(
        self,
        opened: dict[tuple[int, bool], S],
        opener: Callable[[int, bool], S],
        key: tuple[int, bool],
    ) -> S:
        if self._closed:
            raise ViewsUnusable(None, "closed")
        if key not in opened:
            opened[key] = opener(*key)
        return opened[key]

    @staticmethod
    def _close(opened: dict[tuple[int, bool], S], *, in_memory: bool) -> None:
        for key in list(opened):
            if in_memory or not key[1]:
                opened.pop(key).close()
