"""Looking at the rows of any run, for documents that others are based on."""

from __future__ import annotations

from collections.abc import Callable

from journal.errors import RunIsArchived
from journal.ids import StreamId
from journal.reader import Reader
from journal.stores.views import ViewReader, ViewsUnusable
from journal.views import Views
from projections.fold_json import REVISION
from projections.run_rows import is_of_now
from projections.stored_documents import Answer
from projections.tracking import Tracking, usable


class LookIntoViews:
    """A `Look` at a journal's views, that goes without rows that are unusable."""

    def __init__(self, views: Views, reader: Reader) -> None:
        self._views = views
        self._reader = reader

    def __call__(
        self, stream: StreamId, question: Callable[[ViewReader], Answer], /
    ) -> Answer | None:
        """Answer a question; None for rows that are of other events than the journal has."""
        try:
            store = self._views.store(REVISION, stream)
            if not self._views.is_verified(store, stream):
                with store.reading() as rows:
                    row = rows.tracked(stream)
                if row is None or not is_of_now(self._views, store, self._reader, Tracking.of(row)):
                    return None
            with store.reading() as rows, usable(stream):
                return question(rows)
        except RunIsArchived:
            return None
        except ViewsUnusable as problem:
            self._views.distrust(problem)
            return None
