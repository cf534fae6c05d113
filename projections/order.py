"""Logical order: where each event of a run stands, whatever the order of arrival.

A record's anchor is its sequence; that of a checkpoint, and of an exported environment, is its
stream cursor; that of anything else, and of one without, is the largest anchor among lower
versions, or -1. The order is by anchor, records before
others, then by version. It is total, and an event's place in it never changes: what arrives
later takes its own place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

from journal.codec import RecordedEvent
from journal.errors import CorruptEvent, InvalidEnvelope
from journal.events import CheckpointTaken, EnvironmentExported, StreamRecorded
from journal.ids import StreamId, Version
from journal.lineage import Bound

BEFORE_RECORDS = -1
"""Anchor of what came before the first record."""

RECORD_RANK = 0
FACT_RANK = 1
PAST_RANK = 2
"""Above every rank: `(anchor, PAST_RANK, 0)` is right after everything of an anchor."""


_SAYING_WHERE = (CheckpointTaken.NAME, EnvironmentExported.NAME)
"""Events that may tell their anchor, whenever they arrive."""


class Entry(NamedTuple):
    """An event with its place; entries compare in logical order."""

    anchor: int
    """A sequence, or -1 before the first."""
    rank: int
    """0 for a stream record, 1 for anything else: records come first at an anchor."""
    version: int
    """Distinct within a run, so that comparing never goes further."""
    event: RecordedEvent

    @property
    def place(self) -> Bound:
        """Where it stands, without the event."""
        return self[:3]


class Ref(NamedTuple):
    """An event, by where it stands; a fold holds no more of it than that."""

    stream: StreamId
    version: Version

    @classmethod
    def to(cls, event: RecordedEvent) -> Self:
        """Refer to an event."""
        return cls(event.stream, event.version)


def anchored(events: Iterable[RecordedEvent], largest: int = BEFORE_RECORDS) -> Iterator[Entry]:
    """Give a run's events their places.

    Args:
        events: in version order, none left out.
        largest: the largest anchor of the events before these.

    Yields:
        Entries in the order of arrival.

    Raises:
        CorruptEvent: a stream record without a sequence or a kind, or a place that is no
            whole number.
    """
    make = tuple.__new__  # Entry(...) takes twice as long, and this is the hot path
    for event in events:
        name = event.name
        rank = FACT_RANK
        anchor = largest
        if name == StreamRecorded.NAME:
            rank = RECORD_RANK
            try:
                record = event.data["record"]
                anchor = whole(record["sequence"])
                text(record["event"]["kind"])
            except (KeyError, TypeError) as error:
                raise misshapen(event, error) from error
        elif name in _SAYING_WHERE:
            cursor = event.data.get("stream_cursor")
            if cursor is not None:
                with shaped(event):
                    anchor = whole(cursor)
        if anchor > largest:  # noqa: PLR1730 - the hot path, and max() takes twice as long
            largest = anchor
        yield make(Entry, (anchor, rank, event.version, event))


def misshapen(event: RecordedEvent, error: Exception) -> CorruptEvent:
    """Make the error for an event whose JSON lacks what its name promises."""
    return CorruptEvent(event.stream, event.version, f"not a {event.name}: {error!r}")


@contextmanager
def shaped(event: RecordedEvent) -> Iterator[None]:
    """Look into the JSON of an event, or into the document rebuilt from it.

    Raises:
        CorruptEvent: in place of what goes wrong where the JSON has another shape than the
            event's name promises.
    """
    try:
        yield
    except (AttributeError, InvalidEnvelope, KeyError, TypeError) as error:
        raise misshapen(event, error) from error


def whole(value: Any) -> int:
    """Take a value that must be a whole number.

    Raises:
        TypeError: it is none.
    """
    if type(value) is not int:
        raise TypeError(f"{value!r} is no whole number")
    return value


def text(value: Any) -> str:
    """Take a value that must be a text.

    Raises:
        TypeError: it is none.
    """
    if type(value) is not str:
        raise TypeError(f"{value!r} is no text")
    return value
