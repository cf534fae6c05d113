"""Whether an archive has a run, event by event, as the journal has it; and what it waits for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from journal.codec import decode
from journal.errors import JournalError
from journal.events import (
    ApprovalDecided,
    ApprovalRequested,
    DeferredToolRequested,
    DeferredToolResolved,
)
from journal.ids import Position, StreamId
from journal.progress import Progress
from journal.reader import Reader
from journal.stores.interface import StoredEvent
from projections.archive.compared import archived_events, differing
from projections.archive.examine_file import examine_file
from projections.archive.filesystem import Place
from projections.archive.layout import KINDS
from projections.archive.manifest import ArchiveSegment
from projections.order import shaped

OPEN = frozenset({"pending", "running", "waiting"})
"""Statuses of an approval or a deferred tool call that somebody still has to settle."""

_ITEMS = {
    ApprovalDecided.NAME: "approval_id",
    ApprovalRequested.NAME: "approval_id",
    DeferredToolRequested.NAME: "deferred_id",
    DeferredToolResolved.NAME: "deferred_id",
}


class Evidence:
    """What was found of some runs in the segments of an archive that were looked at.

    Args:
        streams: of the runs.
    """

    def __init__(self, place: Place, reader: Reader, streams: Collection[StreamId]) -> None:
        self._place = place
        self._reader = reader
        self._streams = frozenset(streams)
        self._equal: Counter[StreamId] = Counter()
        self._open: dict[StreamId, set[str]] = {}
        self._faults: dict[int, str] = {}
        self._different: dict[StreamId, str] = {}

    def look_at(self, segment: ArchiveSegment, progress: Progress) -> None:
        """Check the files of a segment, and compare its events of these runs with the journal's."""
        fault = self.fault(segment)
        if fault is not None:
            return
        archived = {
            event.position: event
            for event in archived_events(self._place, segment)
            if event.stream in self._streams
        }
        for stored in self._between(segment.first_position, segment.last_position):
            if stored.stream not in self._streams:
                continue
            event = archived.get(stored.position)
            difference = "not in the archive" if event is None else differing(event, stored)
            if difference is not None:
                self._different.setdefault(
                    stored.stream, f"event {stored.version} differs: {difference}"
                )
                continue
            self._equal[stored.stream] += 1
            self._note(stored)
        progress("compare", segment.last_position, None)

    def fault(self, segment: ArchiveSegment) -> str | None:
        """Tell what is wrong with the files of a segment; None where nothing is."""
        if segment.segment not in self._faults:
            self._faults[segment.segment] = self._examined(segment)
        return self._faults[segment.segment] or None

    def missing(self, stream: StreamId, through: int) -> str | None:
        """Tell in what the archive and the journal differ about a run; None where in nothing.

        Args:
            through: the last version that both must have.
        """
        if stream in self._different:
            return self._different[stream]
        if self._equal[stream] != through:
            return f"{self._equal[stream]} of {through} events are the same in both"
        return None

    def open_items(self, stream: StreamId) -> Collection[str]:
        """List the approvals and deferred tool calls of a run that are still open."""
        return self._open.get(stream, ())

    def _examined(self, segment: ArchiveSegment) -> str:
        for kind in KINDS:
            try:
                found = examine_file(self._place, segment, kind)
            except JournalError as error:  # of the system: the runs in it stay
                return error.message
            if found is not None:
                return f"{segment.file(kind).path} {found[1]}"
        return ""

    def _note(self, stored: StoredEvent) -> None:
        key = _ITEMS.get(stored.name)
        if key is None:
            return
        event = decode(stored)
        with shaped(event):
            record = event.data["record"]
            items = self._open.setdefault(stored.stream, set())
            (items.add if record["status"] in OPEN else items.discard)(record[key])

    def _between(self, first: int, last: int) -> Iterator[StoredEvent]:
        after = Position(first - 1)
        while after < last and (page := self._reader.stored_events(after=after)):
            for stored in page:
                if stored.position > last:
                    return
                yield stored
            after = page[-1].position
