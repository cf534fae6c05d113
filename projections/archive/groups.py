"""Events of some streams, mixed as they were stored, by their streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from journal.codec import RecordedEvent
from journal.ids import RunId, SessionId
from journal.stores.interface import StoredEvent


class Group(NamedTuple):
    """Events of one stream, in order of version."""

    run_id: RunId | None
    session_id: SessionId | None
    """As of `RecordedEvent`: one of the two."""
    events: list[RecordedEvent]
    data: list[bytes]
    """Their JSON as stored."""


def by_stream(stored: Sequence[StoredEvent], events: Sequence[RecordedEvent]) -> list[Group]:
    """Group events by stream.

    Args:
        stored: the events as they are stored.
        events: the same, decoded.
    """
    groups: dict[str, Group] = {}
    for each, event in zip(stored, events, strict=True):
        group = groups.get(each.stream)
        if group is None:
            group = groups[each.stream] = Group(event.run_id, event.session_id, [], [])
        group.events.append(event)
        group.data.append(each.data)
    return list(groups.values())
