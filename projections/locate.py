"""From a cursor to the events it takes in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from journal.errors import CheckpointNotFound, CorruptEvent, CursorOutOfRange
from journal.ids import Version
from journal.lineage import Bound
from journal.stores.views import Page, ViewReader
from journal.times import format_time
from projections.cursors import (
    CheckpointCursor,
    Cursor,
    LatestCursor,
    MessageCursor,
    StepCursor,
    StreamCursor,
    TimeCursor,
    VersionCursor,
)
from projections.fold import RunFold
from projections.indexing import MOST_COUNTED
from projections.named_places import checkpoint_name
from projections.order import (
    BEFORE_RECORDS,
    FACT_RANK,
    PAST_RANK,
    Ref,
    shaped,
    whole,
)
from projections.places import place_of
from projections.reach import Reach
from projections.run_index import RunIndex


@dataclass(frozen=True, slots=True)
class Cut:
    """Messages to show at a point that never had exactly so many."""

    messages: int
    """How many."""
    epoch: int
    event: Ref
    """The event after the point, whose document they begin."""


@dataclass(frozen=True, slots=True)
class Located:
    """What a cursor takes in."""

    index: RunIndex
    """Of the run, or of one that it inherits from."""
    reach: Reach
    cut: Cut | None = None
    """For a `MessageCursor` into a jump: which messages to show instead."""


def locate(index: RunIndex, cursor: Cursor) -> Located:  # noqa: PLR0911 - a closed match
    """Find the events that a cursor takes in.

    Raises:
        RunNotFound: nothing of this run was ever recorded.
        CheckpointNotFound: the run has no such checkpoint.
        CursorOutOfRange: the run does not reach so far.
    """
    match cursor:
        case LatestCursor():
            return Located(index, index.whole)
        case StreamCursor():
            return Located(index, _through_sequence(index, cursor))
        case TimeCursor():
            return Located(index, _through_time(index, cursor))
        case VersionCursor():
            return Located(index, _first_versions(index, cursor))
        case CheckpointCursor():
            return _after_checkpoint(index, index.whole, cursor)
        case StepCursor():
            return _before_later_step(index, cursor)
        case MessageCursor():
            return _before_more_messages(index, cursor)
        case _:
            assert_never(cursor)


def _through_sequence(index: RunIndex, cursor: StreamCursor) -> Reach:
    reach, largest = index.whole, index.tracking.largest
    if largest == BEFORE_RECORDS:
        raise CursorOutOfRange(index.run_id, str(cursor), "version:1", f"version:{reach.version}")
    if cursor.sequence > largest:
        raise CursorOutOfRange(index.run_id, str(cursor), "stream:0", f"stream:{largest}")
    return replace(reach, before=(cursor.sequence, PAST_RANK, 0))


def _through_time(index: RunIndex, cursor: TimeCursor) -> Reach:
    reach, earliest = index.whole, index.earliest()
    if cursor.microseconds < earliest:
        first, last = format_time(earliest), format_time(index.tracking.latest)
        raise CursorOutOfRange(index.run_id, str(cursor), f"time:{first}", f"time:{last}")
    return replace(reach, until=cursor.microseconds)


def _first_versions(index: RunIndex, cursor: VersionCursor) -> Reach:
    reach = index.first(Version(cursor.version))
    head = index.tracking.version
    if not 1 <= cursor.version <= head:
        raise CursorOutOfRange(index.run_id, str(cursor), "version:1", f"version:{head}")
    return reach


def _after_checkpoint(index: RunIndex, reach: Reach, cursor: CheckpointCursor) -> Located:
    for of, inherited in reversed(index.levels(reach)):
        event = of.reader.checkpoint_event(of.run_id, cursor.checkpoint_id)
        if event is None or not inherited.takes(event.version, event.recorded_at):
            continue
        anchor = event.data.get("stream_cursor")
        if anchor is None:
            anchor = _anchor(of, event.version, cursor.checkpoint_id)
        with shaped(event):
            place = (whole(anchor), FACT_RANK, event.version)
        if inherited.before is None or place < inherited.before:
            return Located(of, replace(inherited, before=_after(place)))
    raise CheckpointNotFound(index.run_id, cursor.checkpoint_id)


def _anchor(index: RunIndex, version: int, checkpoint_id: str) -> int:
    """Look up the anchor of a checkpoint that does not say where it was taken."""
    name = checkpoint_name(checkpoint_id)
    found = index.ask(
        lambda rows: [
            place_of(key) for at, key in rows.returns(index.stream, name) if at == version
        ]
    )
    if not found:
        raise CorruptEvent(index.stream, version, f"no checkpoint {checkpoint_id!r}")
    return found[0][0]


def _after(place: Bound) -> Bound:
    anchor, rank, version = place
    return anchor, rank, version + 1


def _before_later_step(index: RunIndex, cursor: StepCursor) -> Located:
    reach = index.whole
    largest = index.fold_to(reach).furthest
    if cursor.step > largest:
        raise CursorOutOfRange(index.run_id, str(cursor), "step:0", f"step:{largest}")

    def beyond(fold: RunFold) -> bool:
        return fold.furthest > cursor.step

    def nearest(of: RunIndex, rows: ViewReader) -> Page | None:
        return rows.page_by_step(of.stream, min(cursor.step, MOST_COUNTED - 1))

    found = index.crossing(reach, beyond, nearest)
    if found is None:
        return Located(index, reach)
    return Located(found.of, replace(found.reach, before=found.entry.place))


def _before_more_messages(index: RunIndex, cursor: MessageCursor) -> Located:
    reach = index.whole
    epoch = _choose_epoch(index.fold_to(reach).messages.epochs, index.run_id, cursor)
    target = epoch, cursor.messages

    def beyond(fold: RunFold) -> bool:
        return fold.messages.reached > target

    def nearest(of: RunIndex, rows: ViewReader) -> Page | None:
        return rows.page_by_messages(of.stream, epoch, min(cursor.messages, MOST_COUNTED))

    found = index.crossing(reach, beyond, nearest)
    if found is None:
        return Located(index, reach)
    event = found.entry.event
    cut = None
    if found.before != target and found.epoch == epoch:
        cut = Cut(cursor.messages, epoch, Ref.to(event))
    return Located(found.of, replace(found.reach, before=found.entry.place), cut)


def _choose_epoch(epochs: list[list[int]], run_id: str, cursor: MessageCursor) -> int:
    """Choose the epoch: the one named, else the latest that grew to so many messages.

    An epoch that began with more, after a compaction, never had so many: it is meant only
    where it is named, and then its first state is cut.
    """
    if cursor.epoch is None:
        for epoch in range(len(epochs), 0, -1):
            fewest, most = epochs[epoch - 1]
            if fewest <= cursor.messages <= most:
                return epoch
        most = max(most for _, most in epochs)
        raise CursorOutOfRange(run_id, str(cursor), "message:0", f"message:{most}")
    epoch, last = cursor.epoch, len(epochs)
    if epoch > last:
        most = epochs[-1][1]
        raise CursorOutOfRange(run_id, str(cursor), "message:0@1", f"message:{most}@{last}")
    most = epochs[epoch - 1][1]
    if cursor.messages > most:
        raise CursorOutOfRange(run_id, str(cursor), f"message:0@{epoch}", f"message:{most}@{epoch}")
    return epoch
