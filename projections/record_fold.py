"""What a run's record is made of, folded with the run: see `projections.records`.

It holds of records where they stand. Whatever a fork inherits is no part of its own record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from journal.codec import RecordedEvent
from journal.events import RunStatusChanged
from journal.facts import status_of
from journal.records.stream_cursor import position_of
from projections.order import Ref, text, whole

MOST = 2**64 - 1
"""Revisions beyond are not counted."""


class CursorAt(NamedTuple):
    """Where the latest stream cursor of a family stands."""

    family: str
    scope: str
    sequence: int
    ref: Ref
    place: int | None
    """In the `stream_cursors` of a run record; None for a cursor saved by itself."""
    saved: Ref | None
    """Where the last one that was saved by itself stands."""


class RecordFold:
    """What became of a run's record; `evolve` takes the run's facts in logical order."""

    __slots__ = (
        "change",
        "checkpoint",
        "cursors",
        "preview",
        "record",
        "revision",
        "saves",
        "status",
        "touched",
        "updated_at",
        "without_output",
    )

    def __init__(self, opened_at: int | None = None, status: str | None = None) -> None:
        self.record: Ref | None = None
        """The run record saved or committed last."""
        self.checkpoint: Ref | None = None
        """The first checkpoint: a run that nobody saved begins as it says."""
        self.status = status
        """As the opening, the record, or a fact after it, says; None where nothing does."""
        self.change: Ref | None = None
        """The last fact after the record that says it."""
        self.preview: Ref | None = None
        """The one of these facts that brought the output preview there is."""
        self.without_output = False
        """Whether the last of them that could bring one brought none: it is dropped then."""
        self.cursors: dict[tuple[str, str], CursorAt] = {}
        """The furthest stream cursors by family and scope, the one saved last at the end."""
        self.revision = 0
        """How often the record changed: by checkpoints, records, statuses, cursors, and once
        by all of a commit."""
        self.saves = 0
        """The same without cursors."""
        self.touched = 0
        """The highest version of what counts as one of `saves`."""
        self.updated_at = opened_at
        """When the last change was recorded, in microseconds since the epoch; None where that
        is the record, and the record tells."""

    def evolve(self, event: RecordedEvent) -> None:
        """Fold a fact of the run; what says nothing of the record changes nothing."""
        match event.name:
            case "checkpoint.taken.v1":
                if self.checkpoint is None:
                    self.checkpoint = Ref.to(event)
                self._saved(event)
            case "run.saved.v1":
                self._record(event)
            case "run.committed.v1":
                self._committed(event)
            case "run.status_changed.v1" | "run.suspended.v1" | "run.resumed.v1":
                self._changed(event)
            case "cursor.saved.v1":
                self._put(event.data["cursor"], Ref.to(event), None)
                self.revision = min(self.revision + 1, MOST)
                self._updated(event)
            case _:
                pass

    def _record(self, event: RecordedEvent) -> None:
        run = event.data["run"]
        first = self.record is None
        self.record = Ref.to(event)
        self.status = text(run["status"])
        self.change = self.preview = None
        self.without_output = False
        for place, cursor in enumerate(run.get("stream_cursors") or ()):
            self._put(cursor, self.record, place)
        self._saved(event)
        counted = event.data.get("revision")
        if counted is not None:  # by another store
            self.revision = whole(counted)
        else:
            self.revision = max(self.revision, whole(run.get("revision", 0)))
        if first or counted is not None:
            self.updated_at = None

    def _committed(self, event: RecordedEvent) -> None:
        # Its items came before it in the same transaction, and count once, together: the
        # revision that it tells has them counted.
        self._record(event)
        self.saves = whole(event.data.get("saves", min(self.saves, self.revision)))
        self.updated_at = None

    def _changed(self, event: RecordedEvent) -> None:
        self.status = status_of(event.name, event.data)
        self.change = Ref.to(event)
        if event.name == RunStatusChanged.NAME:
            said = event.data.get("output_preview") is not None
            self.preview = self.change if said else None
            self.without_output = not said
        self._saved(event)

    def _saved(self, event: RecordedEvent) -> None:
        self.revision = min(self.revision + 1, MOST)
        self.saves = min(self.saves + 1, MOST)
        self.touched = max(self.touched, event.version)
        self._updated(event)

    def _updated(self, event: RecordedEvent) -> None:
        self.updated_at = max(self.updated_at or event.recorded_at, event.recorded_at)

    def _put(self, cursor: dict[str, Any], ref: Ref, place: int | None) -> None:
        """Take a cursor that is not behind the one there is."""
        at = position_of(cursor)
        family, scope, sequence = text(at["family"]), text(at["scope"]), whole(at["sequence"])
        held = self.cursors.get((family, scope))
        if held is None or sequence >= held.sequence:
            saved = ref if place is None else None if held is None else held.saved
            self.cursors.pop((family, scope), None)
            self.cursors[family, scope] = CursorAt(family, scope, sequence, ref, place, saved)

    def refs(self) -> Iterator[Ref | None]:
        """Give where all that it refers to stands."""
        yield from (self.record, self.checkpoint, self.change, self.preview)
        for cursor in self.cursors.values():
            yield from (cursor.ref, cursor.saved)
