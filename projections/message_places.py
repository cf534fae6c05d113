"""Where a run had so many messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from journal.codec import RecordedEvent
from journal.errors import CursorOutOfRange
from journal.events import CheckpointTaken, ContextExported, StreamRecorded
from projections.cursors import MessageCursor
from projections.messages import MessageCount, is_own
from projections.order import Bound, Entry, shaped


@dataclass(frozen=True, slots=True)
class Cut:
    """Messages to show at a point that never had exactly so many."""

    messages: int
    """How many."""
    epoch: int
    event: RecordedEvent
    """The event after the point, whose document they begin."""


class _Level(NamedTuple):
    """The number of messages from one event on."""

    start: Bound
    messages: int
    epoch: int
    event: RecordedEvent


def find_messages(
    entries: Iterable[Entry], run_id: str, cursor: MessageCursor
) -> tuple[Bound | None, Cut | None]:
    """Find the point of a message cursor.

    Args:
        entries: all of the run, in any order.

    Returns:
        The exclusive bound of the point, None for the end of the run; and what to cut,
        where the number of messages jumps over the cursor's.

    Raises:
        CursorOutOfRange: the epoch, or every epoch, has fewer messages; or there are not so
            many epochs.
    """
    levels = _levels(entries)
    epoch = _choose_epoch(levels, run_id, cursor)
    count, at = 0, 1
    for level in levels:
        if level.epoch > epoch:
            return level.start, None
        if level.epoch == epoch and level.messages > cursor.messages:
            if at == epoch and count == cursor.messages:
                return level.start, None
            return level.start, Cut(cursor.messages, epoch, level.event)
        count, at = level.messages, level.epoch
    return None, None


def _levels(entries: Iterable[Entry]) -> list[_Level]:
    count = MessageCount()
    levels = []
    for entry in sorted(entry for entry in entries if _changes(entry.event)):
        event = entry.event
        data = event.data
        with shaped(event):
            if event.name == CheckpointTaken.NAME:
                count.checkpoint(data["messages"], data["step"])
            elif event.name == ContextExported.NAME:
                count.history(data["messages"])
            else:
                count.response(data["record"]["event"]["step"])
        levels.append(_Level(entry[:3], count.count, count.epoch, event))
    return levels


def _changes(event: RecordedEvent) -> bool:
    if event.name == StreamRecorded.NAME:
        record = event.data["record"]
        return record["event"]["kind"] == "model_response" and is_own(record)
    if event.name == ContextExported.NAME:
        return event.data.get("messages") is not None
    return event.name == CheckpointTaken.NAME


def _choose_epoch(levels: list[_Level], run_id: str, cursor: MessageCursor) -> int:
    """Choose the epoch: the one named, else the latest that grew to so many messages.

    An epoch that began with more, after a compaction, never had so many: it is meant only
    where it is named, and then its first state is cut.
    """
    fewest, most = {1: 0}, {1: 0}
    for level in levels:
        fewest.setdefault(level.epoch, level.messages)
        most[level.epoch] = max(most.get(level.epoch, 0), level.messages)
    if cursor.epoch is None:
        for epoch in reversed(most):
            if fewest[epoch] <= cursor.messages <= most[epoch]:
                return epoch
        raise CursorOutOfRange(run_id, str(cursor), "message:0", f"message:{max(most.values())}")
    epoch = cursor.epoch
    if epoch not in most:
        last = len(most)
        raise CursorOutOfRange(run_id, str(cursor), "message:0@1", f"message:{most[last]}@{last}")
    if cursor.messages > most[epoch]:
        raise CursorOutOfRange(
            run_id, str(cursor), f"message:0@{epoch}", f"message:{most[epoch]}@{epoch}"
        )
    return epoch
