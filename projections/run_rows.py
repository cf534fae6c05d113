"""A run's rows in the views, brought up to date before the first look.

Where they turn out to be unusable they are made again, in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from journal.errors import CorruptEvent, RunNotFound, StorageFailed
from journal.ids import RUN_PREFIX, Version, run_stream
from journal.progress import Progress
from journal.reader import Reader
from journal.stores.views import ViewReader, ViewStore, ViewsUnusable
from journal.views import Views
from projections.fold_json import REVISION
from projections.indexing import Indexing, Inherit
from projections.reading import HasReader
from projections.tracking import Tracking, usable

Answer = TypeVar("Answer")

ATTEMPTS = 5
"""Looks at rows that others change or damage meanwhile, before it is an error."""


class RunRows:
    """Answers questions about one run's rows.

    Args:
        inherit: folds what a fork inherits.
        progress: told how many of the run's events were taken in.
    """

    def __init__(
        self, journal: HasReader, run_id: str, inherit: Inherit, progress: Progress
    ) -> None:
        self._reader = journal.reader
        self._views = journal.views
        self._run_id = run_id
        self._stream = run_stream(run_id)
        self._inherit = inherit
        self._progress = progress
        self._store: ViewStore | None = None
        self._tracking: Tracking | None = None
        self.damage: CorruptEvent | None = None
        """Of the event after the last one that could be taken in."""

    @property
    def tracking(self) -> Tracking:
        """How far the run went at the first look.

        Raises:
            RunNotFound: nothing of this run was ever recorded.
        """
        if self._tracking is None:
            self.ask(lambda _: None)
        assert self._tracking is not None  # noqa: S101 - the question was answered
        return self._tracking

    def ask(self, question: Callable[[ViewReader], Answer]) -> Answer:
        """Look at one state of the run's rows.

        Raises:
            RunNotFound: nothing of this run was ever recorded.
        """
        for attempt in range(ATTEMPTS):
            try:
                if self._store is None or attempt:
                    self._store = self._caught_up()
                with self._store.reading() as rows, usable(self._stream):
                    return question(rows)
            except ViewsUnusable as problem:
                self._views.distrust(problem)
                lasting = problem
        raise StorageFailed(
            "what is derived from the journal", "look at", lasting.reason
        ) from lasting

    def _caught_up(self) -> ViewStore:
        """Choose a store, and take what is new in the run into its rows."""
        store = self._views.store(REVISION, self._stream)
        upto = self._reader.head(self._run_id)
        if not upto:
            raise RunNotFound(self._run_id)
        tracking = self._read_tracking(store)
        if tracking is None or tracking.version < upto or tracking.stale:
            tracking = self._take(store, tracking, upto)
        if self._tracking is None:
            self._tracking = tracking
        return store

    def _take(self, store: ViewStore, tracking: Tracking | None, upto: Version) -> Tracking:
        indexing = Indexing(self._reader, store, self._stream)
        while tracking is None or tracking.version < upto or tracking.stale:
            goal = max(upto, _version(tracking))
            try:
                taken = indexing.take(tracking or Tracking(self._stream), goal, self._inherit)
            except CorruptEvent as error:
                if tracking is None or error.stream != self._stream:
                    raise
                if self.damage is not None or error.version <= tracking.version:
                    raise
                # What comes before the damage is folded to its end, and answers.
                self.damage, upto = error, tracking.version
                continue
            tracking = self._read_tracking(store) if taken is None else taken
            self._progress(f"index {self._run_id}", _version(tracking), upto)
        return tracking

    def _read_tracking(self, store: ViewStore) -> Tracking | None:
        with store.reading() as rows:
            row = rows.tracked(self._stream)
        if row is None:
            return None
        tracking = Tracking.of(row)
        if is_of_now(self._views, store, self._reader, tracking):
            return tracking
        # The journal was put back to an earlier state: what follows is another story.
        with store.writing() as rows:
            rows.forget(self._stream)
        return None


def _version(tracking: Tracking | None) -> Version:
    return Version(0) if tracking is None else tracking.version


def is_of_now(views: Views, store: ViewStore, reader: Reader, tracking: Tracking) -> bool:
    """Tell whether rows belong to the events that the journal has now.

    They do not where it was put back to an earlier state, and went on from there.
    """
    stream, version = tracking.stream, tracking.version
    if version > reader.head(stream.removeprefix(RUN_PREFIX)):
        return False
    if views.is_verified(store, stream):
        return True
    [last] = reader.events(stream, [version])
    if (last.position, last.stored_at) != (tracking.position, tracking.stored_at):
        return False
    views.verify(store, stream)
    return True
