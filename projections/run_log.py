"""The log of a run: its events in logical order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from journal.codec import RecordedEvent
from journal.events import StreamRecorded
from journal.ids import Position, Version
from journal.times import format_time
from projections.order import BEFORE_RECORDS, Entry, anchored
from projections.reading import HasReader
from projections.summary import RECORDS, summarize

_VERSION = re.compile(r"\.v[0-9]+$")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One event of a run, with its place in the logical order."""

    anchor: int
    """A sequence, or -1 before the first record."""
    event: RecordedEvent

    @property
    def version(self) -> Version:
        """Its place in the run by arrival."""
        return self.event.version

    @property
    def position(self) -> Position:
        """Its place in the journal."""
        return self.event.position

    @property
    def recorded_at(self) -> int:
        """Microseconds since the epoch at which it was first recorded."""
        return self.event.recorded_at

    @property
    def name(self) -> str:
        """Its stored name, such as `checkpoint.taken.v1`."""
        return self.event.name

    @property
    def kind(self) -> str:
        """The kind of a stream record, such as `tool_call`; else the name without version."""
        return _record_kind(self.event) or unversioned(self.event.name)

    @property
    def summary(self) -> str:
        """What happened, in one line of plain text, not escaped for a terminal."""
        return summarize(self.event)

    @property
    def known(self) -> bool:
        """Tell whether this version knows the name, and the kind of a stream record."""
        kind = _record_kind(self.event)
        return self.event.known if kind is None else kind in RECORDS

    @property
    def imported(self) -> bool:
        """Tell whether it came in by `ingest`."""
        return self.event.imported

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.log_entry` object that `runjournal log --json` prints."""
        return {
            "schema": "runjournal.log_entry",
            "schema_version": 1,
            "run_id": self.event.run_id,
            "stream": None if self.anchor == BEFORE_RECORDS else self.anchor,
            "version": self.version,
            "position": self.position,
            "recorded_at": format_time(self.recorded_at),
            "name": self.name,
            "kind": self.kind,
            "summary": self.summary,
            "known": self.known,
            "imported": self.imported,
            "data": self.event.data,
        }


def log(
    journal: HasReader,
    run_id: str,
    frm: int | None = None,
    to: int | None = None,
    kinds: Collection[str] | None = None,
) -> Iterator[LogEntry]:
    """List a run's events in logical order.

    Args:
        frm: smallest anchor.
        to: largest anchor, inclusive.
        kinds: only these: event names, with or without their version, and kinds of stream
            records.

    Raises:
        RunNotFound: nothing of this run was ever recorded.
        CorruptEvent: the run is damaged.
    """
    reader = journal.reader
    head = reader.head(run_id)
    wanted = None if kinds is None else frozenset(kinds)

    def chosen() -> Iterator[Entry]:
        return (
            entry
            for entry in anchored(reader.run_events(run_id, upto=head))
            if (frm is None or entry.anchor >= frm)
            and (to is None or entry.anchor <= to)
            and (wanted is None or not wanted.isdisjoint(_kinds(entry.event)))
        )

    # Most runs arrive in their logical order: reading them twice holds none in memory.
    arrived_in_order = all(entry < later for entry, later in pairwise(chosen()))
    entries = chosen() if arrived_in_order else sorted(chosen())
    return (LogEntry(entry.anchor, entry.event) for entry in entries)


def unversioned(name: str) -> str:
    """Leave out the version of a stored name: `checkpoint.taken` of `checkpoint.taken.v1`."""
    return _VERSION.sub("", name)


def _record_kind(event: RecordedEvent) -> str | None:
    if event.name != StreamRecorded.NAME:
        return None
    kind: str = event.data["record"]["event"]["kind"]
    return kind


def _kinds(event: RecordedEvent) -> tuple[str | None, ...]:
    return event.name, unversioned(event.name), _record_kind(event)
