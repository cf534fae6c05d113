"""The end of a run, or of the whole journal, by arrival: what `runjournal tail` prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from journal.codec import RecordedEvent
from journal.errors import RunNotFound
from journal.events import StreamRecorded
from journal.ids import Position, Version, run_stream
from journal.reader import Reader
from journal.times import format_time
from projections.order import shaped
from projections.run_log import unversioned
from projections.summary import RECORDS, summarize


@dataclass(frozen=True, slots=True)
class TailEvent:
    """One event in its order of arrival, told in a line."""

    event: RecordedEvent
    kind: str
    """The kind of a stream record, such as `tool_call`; else the name without version."""
    known: bool
    """Whether this version knows the name, and the kind of a stream record."""
    summary: str
    """What happened, in one line of plain text, not escaped for a terminal."""

    @classmethod
    def of(cls, event: RecordedEvent) -> TailEvent:
        """Tell what happened.

        Raises:
            CorruptEvent: its JSON does not have the shape its name promises.
        """
        if event.name != StreamRecorded.NAME:
            return cls(event, unversioned(event.name), event.known, summarize(event))
        with shaped(event):
            kind = str(event.data["record"]["event"]["kind"])
        return cls(event, kind, kind in RECORDS, summarize(event))

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.tail_event` object that `runjournal tail --json` prints.

        Its `position` is what `--after` takes to go on right behind it.
        """
        event = self.event
        return {
            "schema": "runjournal.tail_event",
            "schema_version": 1,
            "position": event.position,
            "run_id": event.run_id,
            "session_id": event.session_id,
            "version": event.version,
            "recorded_at": format_time(event.recorded_at),
            "name": event.name,
            "kind": self.kind,
            "summary": self.summary,
            "known": self.known,
            "imported": event.imported,
            "data": event.data,
        }


def tail_start(reader: Reader, run_id: str | None, count: int) -> Position:
    """Find the position after which the last `count` events stand.

    Args:
        run_id: count only this run's; None for all of the journal.

    Raises:
        RunNotFound: nothing of this run was ever recorded.
    """
    if run_id is None:
        return Position(max(0, reader.last_position() - count))
    head = reader.head(run_id)
    if not head:
        raise RunNotFound(run_id)
    before = reader.event(run_stream(run_id), Version(head - count)) if head > count else None
    return Position(0) if before is None else before.position


def tail_end(reader: Reader, run_id: str | None) -> Position:
    """Find the position of the last event of a run, or of the journal; 0 where there is none."""
    if run_id is None:
        return reader.last_position()
    last = reader.event(run_stream(run_id), reader.head(run_id))
    return Position(0) if last is None else last.position
