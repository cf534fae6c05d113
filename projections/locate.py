"""From a cursor to the events it takes in."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from journal.codec import RecordedEvent
from journal.errors import CheckpointNotFound, CursorOutOfRange
from journal.events import CheckpointTaken, StreamRecorded
from journal.ids import Version
from journal.reader import Reader
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
from projections.message_places import Cut, find_messages
from projections.messages import is_own
from projections.order import (
    BEFORE_RECORDS,
    FACT_RANK,
    Bound,
    Entry,
    anchored,
    shaped,
    whole,
)

OPENING = 1
"""Version of the event that opened the run; part of it at every cursor."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a cursor points: the events it takes in."""

    read: Callable[[], Iterator[Entry]]
    """Starts reading them, in the order of arrival; may raise `CursorOutOfRange` at the end,
    when only the last event tells how far the run reaches."""
    cut: Cut | None = None
    """For a `MessageCursor` into a jump: which messages to show instead."""


def locate(  # noqa: PLR0911 - a closed match
    reader: Reader, run_id: str, cursor: Cursor
) -> Place:
    """Find the events that a cursor takes in.

    Raises:
        RunNotFound: nothing of this run was ever recorded.
        CheckpointNotFound: the run has no such checkpoint.
        CursorOutOfRange: the run does not reach so far.
    """
    run = _Run(reader, run_id, reader.head(run_id))
    match cursor:
        case LatestCursor():
            return Place(run.entries)
        case StreamCursor():
            return Place(lambda: _through_sequence(run, cursor))
        case TimeCursor():
            return Place(lambda: _through_time(run, cursor))
        case VersionCursor():
            return Place(_first_versions(run, cursor).entries)
        case CheckpointCursor():
            return _before(run, _after_checkpoint(run, cursor))
        case StepCursor():
            return _before(run, _before_later_step(run, cursor))
        case MessageCursor():
            bound, cut = find_messages(run.entries(), run_id, cursor)
            return _before(run, bound, cut)
        case _:
            assert_never(cursor)


@dataclass(frozen=True, slots=True)
class _Run:
    """A run up to a version: what is appended meanwhile does not move what was found."""

    reader: Reader
    run_id: str
    head: Version

    def events(
        self, *, upto: Version | None = None, names: Collection[str] | None = None
    ) -> Iterator[RecordedEvent]:
        return self.reader.run_events(self.run_id, upto=upto or self.head, names=names)

    def entries(self) -> Iterator[Entry]:
        return anchored(self.events())


def _before(run: _Run, bound: Bound | None, cut: Cut | None = None) -> Place:
    if bound is None:
        return Place(run.entries, cut)
    return Place(lambda: (entry for entry in run.entries() if entry < bound), cut)


def _through_sequence(run: _Run, cursor: StreamCursor) -> Iterator[Entry]:
    largest = BEFORE_RECORDS
    for entry in run.entries():
        anchor = entry.anchor
        if anchor <= cursor.sequence:
            yield entry
        largest = max(largest, anchor)
    if largest == BEFORE_RECORDS:
        raise CursorOutOfRange(run.run_id, str(cursor), "version:1", f"version:{run.head}")
    if cursor.sequence > largest:
        raise CursorOutOfRange(run.run_id, str(cursor), "stream:0", f"stream:{largest}")


def _through_time(run: _Run, cursor: TimeCursor) -> Iterator[Entry]:
    earliest: int | None = None
    latest = 0
    for entry in run.entries():
        at = entry.event.recorded_at
        if earliest is None:
            earliest = latest = at
        earliest = min(earliest, at)
        latest = max(latest, at)
        if at <= cursor.microseconds or entry.version == OPENING:
            yield entry
    if earliest is not None and cursor.microseconds < earliest:
        raise CursorOutOfRange(
            run.run_id, str(cursor), f"time:{format_time(earliest)}", f"time:{format_time(latest)}"
        )


def _first_versions(run: _Run, cursor: VersionCursor) -> _Run:
    if run.head and not 1 <= cursor.version <= run.head:
        raise CursorOutOfRange(run.run_id, str(cursor), "version:1", f"version:{run.head}")
    return replace(run, head=Version(cursor.version))


def _after_checkpoint(run: _Run, cursor: CheckpointCursor) -> Bound:
    for event in run.events(names=(CheckpointTaken.NAME,)):
        with shaped(event):
            found = event.data["checkpoint_id"] == cursor.checkpoint_id
        if not found:
            continue
        anchor = event.data.get("stream_cursor")
        if anchor is None:
            [entry] = deque(anchored(run.events(upto=event.version)), maxlen=1)
            anchor = entry.anchor
        with shaped(event):
            return (whole(anchor), FACT_RANK, event.version + 1)
    raise CheckpointNotFound(run.run_id, cursor.checkpoint_id)


def _before_later_step(run: _Run, cursor: StepCursor) -> Bound | None:
    first: Entry | None = None
    largest = 0
    for entry in run.entries():
        step = _step(entry.event)
        largest = max(largest, step)
        if step > cursor.step and (first is None or entry < first):
            first = entry
    if cursor.step > largest:
        raise CursorOutOfRange(run.run_id, str(cursor), "step:0", f"step:{largest}")
    return None if first is None else first[:3]


def _step(event: RecordedEvent) -> int:
    """Tell the step that a checkpoint or an own model response stands for, else 0."""
    if event.name == CheckpointTaken.NAME:
        with shaped(event):
            return whole(event.data["step"])
    if event.name == StreamRecorded.NAME:
        record = event.data["record"]
        if record["event"]["kind"] == "model_response" and is_own(record):
            with shaped(event):
                return whole(record["event"]["step"])
    return 0
