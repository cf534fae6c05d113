"""Stretches of a stream: how much of it is read from an archive at once, and what is kept of it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from journal.ids import StreamId
from journal.stores.interface import StoredEvent
from projections.archive.catalogue import Span
from projections.archive.parts import Part

EVENTS_AT_ONCE = 2048
BYTES_AT_ONCE = 8 * 1024 * 1024
"""Of the events' JSON; one event may be larger."""

ROOM = 16 * 1024 * 1024
"""Bytes of events that are kept, besides the ones read last."""


class Stretch(NamedTuple):
    """A range of versions, both ends inclusive, and the segments that hold it."""

    low: int
    high: int
    parts: tuple[Part, ...]


class Piece(NamedTuple):
    """Events as they were read: those of a range that exist, in order."""

    low: int
    high: int
    events: Sequence[StoredEvent]


def stretches_of(spans: Sequence[Span]) -> list[Stretch]:
    """Cut a stream into stretches of at most so many events; small segments go together."""
    found: list[Stretch] = []
    for part, first, last, _ in spans:
        if found and last - found[-1].low < EVENTS_AT_ONCE:
            before = found.pop()
            found.append(Stretch(before.low, last, (*before.parts, part)))
            continue
        found += [
            Stretch(low, min(low + EVENTS_AT_ONCE - 1, last), (part,))
            for low in range(first, last + 1, EVENTS_AT_ONCE)
        ]
    return found


class Pieces:
    """The pieces read last, within a bound of bytes; safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[StreamId | None, int], Piece] = OrderedDict()
        self._size = 0

    def get(self, stream: StreamId | None, low: int) -> Piece | None:
        """Give the piece of a stream, or of the whole journal, that begins at a place."""
        with self._lock:
            piece = self._held.get((stream, low))
            if piece is not None:
                self._held.move_to_end((stream, low))
            return piece

    def put(self, stream: StreamId | None, piece: Piece) -> None:
        """Keep a piece; those not used for longest go."""
        key = stream, piece.low
        with self._lock:
            if key in self._held:
                return
            self._held[key] = piece
            self._size += _size(piece)
            while self._size > ROOM and len(self._held) > 1:
                self._size -= _size(self._held.popitem(last=False)[1])


def _size(piece: Piece) -> int:
    return sum(len(event.data) + 200 for event in piece.events)
