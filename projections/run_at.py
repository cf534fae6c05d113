"""A run at a point: its fold, and the events and documents that this refers to."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

from journal.codec import RecordedEvent
from journal.documents import Walk
from journal.errors import CorruptEvent
from journal.ids import Position, StreamId, Version
from journal.reader import Reader
from projections.cursors import Cursor
from projections.documents import Documents
from projections.fold import RunFold
from projections.locate import Located, locate
from projections.look import LookIntoViews
from projections.looked_up import LookedUp
from projections.order import shaped, text
from projections.reading import HasReader
from projections.record_fold import RecordFold
from projections.run_index import RunIndex
from projections.stored_documents import StoredDocuments


class RunAt:
    """A run, up to a cursor or up to a position of the journal."""

    def __init__(self, index: RunIndex, located: Located, walk: Walk | None = None) -> None:
        self.index = index
        self._walk = walk
        self.of = located.index
        """The run that the last event is of: a fork at its beginning, or what it inherits."""
        self.reach = located.reach
        self.looked_up = LookedUp(index.reader)
        self.fold: RunFold
        self.fold, self._newest = self.of.folded(self.reach, self.looked_up.see)

    @classmethod
    def at(cls, index: RunIndex, cursor: Cursor) -> Self:
        """Fold a run up to a cursor; errors as those of `projections.replay`."""
        return cls(index, locate(index, cursor))

    @classmethod
    def upto(cls, index: RunIndex, position: Position | None, walk: Walk | None = None) -> Self:
        """Fold the events of a run up to a position, which is not before its opening.

        Args:
            position: inclusive; None for all of them.
            walk: remembers the documents of other runs of its session.
        """
        if position is None:
            return cls(index, Located(index, index.whole), walk)
        version = version_at(index.reader, index.stream, index.tracking.version, position)
        return cls(index, Located(index, index.first(version)), walk)

    @property
    def record(self) -> RecordFold:
        """What its own record is made of; a fork takes over nothing of another's."""
        return self.fold.record if self.of is self.index else RecordFold(self.opening.recorded_at)

    @cached_property
    def opening(self) -> RecordedEvent:
        """Its first event, also of a fork that is looked at before that."""
        [event] = self.index.reader.events(self.index.stream, [1])
        return event

    @property
    def session_id(self) -> str:
        """The session it was opened in."""
        with shaped(self.opening):
            return text(self.opening.data["session_id"])

    @cached_property
    def newest(self) -> RecordedEvent:
        """The latest event, by arrival, that was taken in; of a fork the opening at least."""
        [event] = self.of.reader.events(self.of.stream, [self._newest])
        return max(event, self.opening, key=lambda one: one.position)

    @cached_property
    def documents(self) -> Documents:
        """Rebuilds documents, each once."""
        return documents_of(self.index.journal, self._walk)

    def records(self, kind: str) -> list[dict[str, Any]]:
        """Give the latest record of each approval, or of each deferred tool call.

        Args:
            kind: `approvals` or `deferred_tools`.
        """
        refs = self.fold.approvals if kind == "approvals" else self.fold.deferred_tools
        return [event.data["record"] for event in self.looked_up.all(list(refs.values()))]


def documents_of(journal: HasReader, walk: Walk | None = None) -> Documents:
    """Make what rebuilds documents with the help of the views, and of those on a walk."""
    look = LookIntoViews(journal.views, journal.reader)
    return Documents(journal.reader, StoredDocuments(look, walk or Walk()))


def version_at(reader: Reader, stream: StreamId, head: Version, position: Position) -> Version:
    """Find the last version of a stream at or before a position; 0 where there is none."""
    low, high = 0, int(head)
    middle = high
    while low < high:
        event = reader.event(stream, Version(middle))
        if event is None:
            raise CorruptEvent(stream, middle, "missing")
        if event.position <= position:
            low = middle
        else:
            high = middle - 1
        middle = (low + high + 1) // 2
    return Version(low)
