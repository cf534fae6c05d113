"""The events of a whole journal that can be read, past those that cannot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from journal.codec import RecordedEvent, decode
from journal.errors import CorruptEvent
from journal.ids import Position
from journal.stores.interface import Store, StoredEvent


class Damaged(NamedTuple):
    """An event that cannot be read."""

    position: Position
    reason: str


class Stretch(NamedTuple):
    """All that stands after a position, up to another."""

    stored: Sequence[StoredEvent]
    """Not decoded: to do so one by one, and to keep none, takes half the time."""
    damaged: list[Damaged]
    """What was passed over, in order of position; `events` adds to it."""
    upto: Position
    """Of the last of both."""
    size: int
    """Bytes of the events' JSON."""

    def events(self) -> Iterator[RecordedEvent]:
        """Decode the events one by one, and pass over those that cannot be."""
        for stored in self.stored:
            try:
                yield decode(stored)
            except CorruptEvent as error:
                self.damaged.append(Damaged(stored.position, _reason(error)))


def stretches(store: Store, after: Position, limit: int) -> Iterator[Stretch]:
    """Yield the events of a journal in order of position, a page at a time.

    Args:
        after: exclusive.
        limit: at most so many events a page.
    """
    while True:
        try:
            page = store.read_all(after=after, limit=limit)
        except CorruptEvent as error:
            found = _up_to_damage(store, after, limit, error)
        else:
            if not page:
                return
            found = _stretch(page)
        yield found
        after = found.upto


def _up_to_damage(store: Store, after: Position, limit: int, error: CorruptEvent) -> Stretch:
    """Read what can be read before a damaged event; where that is nothing, pass over it."""
    while limit > 1:
        limit //= 2
        try:
            return _stretch(store.read_all(after=after, limit=limit))
        except CorruptEvent as nearer:
            error = nearer
    position = _position(store, after, error)
    return Stretch([], [Damaged(position, _reason(error))], position, 0)


def _position(store: Store, after: Position, error: CorruptEvent) -> Position:
    """Find where the next event stands, which is damaged.

    That is the first position after which another one is next; positions may be unused.
    """
    low, step = after, 1
    while _is_next(store, Position(low + step), error):
        low = Position(low + step)
        step *= 2
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        if _is_next(store, Position(middle), error):
            low = Position(middle)
        else:
            high = middle
    return Position(high)


def _is_next(store: Store, after: Position, error: CorruptEvent) -> bool:
    try:
        store.read_all(after=after, limit=1)
    except CorruptEvent as found:
        return (found.stream, found.version) == (error.stream, error.version)
    return False


def _stretch(page: Sequence[StoredEvent]) -> Stretch:
    return Stretch(page, [], page[-1].position, sum(len(stored.data) for stored in page))


def _reason(error: CorruptEvent) -> str:
    return f"event {error.version} of {error.stream!r}: {error.reason}"
