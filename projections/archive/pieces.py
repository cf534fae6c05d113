"""A journal's events by position, cut where segments of an archive end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from journal.errors import ArchiveIncomplete
from journal.events import RunArchived
from journal.ids import Position
from journal.reader import Reader
from journal.stores.interface import StoredEvent
from projections.archive.layout import DAY

SEGMENT_EVENTS = 24_576
"""Events of a segment, at most."""

REST = 8_192
"""Where no more than so many events of a day would be left over, they come into the segment."""

SEGMENT_BYTES = 32 * 1024 * 1024
"""Bytes of JSON of a segment, at most; a larger event has one to itself."""


class Piece(NamedTuple):
    """Some events of a segment, one after the other."""

    events: Sequence[StoredEvent]
    ends: bool
    """Whether they are the last of their segment."""


class Cutter:
    """Reads a journal on from a position and says where segments end."""

    def __init__(self, reader: Reader, location: str, after: int, before: int) -> None:
        """Begin.

        Args:
            reader: of the journal.
            location: of the archive, for messages.
            after: the last position that the archive has.
            before: end with the first event stored at this time or later, in microseconds.
        """
        self._reader = reader
        self._location = location
        self._before = before
        self._last = Position(after)
        self._upto = reader.last_position()
        """Of the last event now: those to come are left for the next time."""
        self._start(0)

    def _start(self, day: int) -> None:
        self._day = day
        self._count = 0
        self._bytes = 0
        self._limit = SEGMENT_EVENTS

    def pieces(self) -> Iterator[Piece]:
        """Yield the events, a page or less at a time; the last piece of all ends its segment.

        Raises:
            ArchiveIncomplete: the journal lacks an event in between.
            CorruptEvent: an event cannot be read.
        """
        while self._last < self._upto:
            page = self._reader.stored_events(after=self._last)
            if not page:
                raise self._incomplete(self._upto)
            if self._fits(page):
                yield Piece(page, ends=False)
                continue
            piece: list[StoredEvent] = []
            for stored in page:
                if stored.position != self._last + 1:
                    raise self._incomplete(stored.position - 1)
                if stored.recorded_at >= self._before or stored.position > self._upto:
                    yield from self._end(piece)
                    return
                if self._count and self._is_full(stored):
                    yield Piece(piece, ends=True)
                    piece = []
                    self._count = 0
                if not self._count:
                    self._start(stored.recorded_at // DAY)
                piece.append(stored)
                self._count += 1
                self._bytes += len(stored.data)
                self._last = stored.position
            if piece:
                yield Piece(piece, ends=False)
        yield from self._end([])

    def _fits(self, page: Sequence[StoredEvent]) -> bool:
        """Take in a whole page, where its events go on with the segment and all fit in."""
        first, last = page[0], page[-1]
        size = sum(len(stored.data) for stored in page)
        if not (
            self._count
            and self._count + len(page) <= self._limit
            and self._bytes + size <= SEGMENT_BYTES
            and first.position == self._last + 1
            and last.position == self._last + len(page)
            and last.position <= self._upto
            and last.recorded_at // DAY == self._day
            and last.recorded_at < self._before
        ):
            return False
        self._count += len(page)
        self._bytes += size
        self._last = last.position
        return True

    def _end(self, piece: list[StoredEvent]) -> Iterator[Piece]:
        if self._count:
            self._count = 0
            yield Piece(piece, ends=True)

    def _is_full(self, stored: StoredEvent) -> bool:
        """Tell whether an event does not belong to the segment of those before it."""
        if stored.recorded_at // DAY != self._day:
            return True
        if self._bytes + len(stored.data) > SEGMENT_BYTES:
            return True
        if self._count < self._limit:
            return False
        if self._limit == SEGMENT_EVENTS and self._rest_is_short():
            self._limit += REST
            return False
        return True

    def _rest_is_short(self) -> bool:
        later = self._reader.stored_events(after=Position(self._last + REST), limit=1)
        if not later:
            return True
        return later[0].recorded_at // DAY != self._day or later[0].recorded_at >= self._before

    def _incomplete(self, last: int) -> ArchiveIncomplete:
        return ArchiveIncomplete(self._location, self._last + 1, last, self._held_by())

    def _held_by(self) -> str:
        """Say which archive holds what was dropped, by the first run that tells it."""
        for run_id in self._reader.run_ids():
            event = self._reader.last_run_event(run_id, [RunArchived.NAME])
            if event is not None:
                segment = event.data["segments"][-1]
                return (
                    f"the manifest of its segment {segment['segment']} has the SHA-256 "
                    f"{segment['sha256']}"
                )
        return "no event of the journal tells which"
