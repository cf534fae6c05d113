"""The log of a run: its events in logical order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from journal.codec import RecordedEvent
from journal.events import CheckpointTaken, ContextExported, StreamRecorded
from journal.ids import Position, Version
from journal.lineage import Bound
from journal.progress import Progress, unseen
from journal.times import format_time
from projections.blame import blamed_on
from projections.messages import MessageCount, is_own
from projections.order import BEFORE_RECORDS, PAST_RANK, RECORD_RANK, shaped
from projections.reach import Reach
from projections.reading import HasReader
from projections.run_index import RunIndex
from projections.summary import RECORDS, summarize

_VERSION = re.compile(r"\.v[0-9]+$")


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The number of messages fell: a new epoch begins."""

    before: int
    """Messages before."""
    messages: int
    """Messages left."""
    epoch: int
    """The epoch that begins, from 1; `message:M@E` names its states."""

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.log_entry`."""
        return {"from": self.before, "to": self.messages, "epoch": self.epoch}


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One event of a run, with its place in the logical order."""

    anchor: int
    """A sequence, or -1 before the first record."""
    event: RecordedEvent
    shrank: Shrunk | None = None
    """Set where the history shrank with this event: the host compacted or emptied it."""

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
            "history_shrank": None if self.shrank is None else self.shrank.to_json(),
            "data": self.event.data,
        }


def log(  # noqa: PLR0913 - its filters
    journal: HasReader,
    run_id: str,
    frm: int | None = None,
    to: int | None = None,
    kinds: Collection[str] | None = None,
    *,
    progress: Progress = unseen,
) -> Iterator[LogEntry]:
    """List a run's events in logical order, those that a fork inherits before its own.

    Args:
        frm: smallest anchor; of a fork, its own, without what it inherits.
        to: largest anchor, inclusive; of a fork, its own.
        kinds: only these: event names, with or without their version, and kinds of stream
            records.
        progress: told how many of the run's events were taken in before the first is given.

    Raises:
        RunNotFound: nothing of this run was ever recorded.
        CorruptEvent: the run is damaged.
    """
    index = RunIndex(journal, run_id, progress)
    wanted = None if kinds is None else frozenset(kinds)
    before = None if to is None else (to, PAST_RANK, 0)
    with blamed_on(index.stream):
        reach = replace(index.whole, before=before)
    return _entries(index, reach, frm, wanted)


def _entries(
    index: RunIndex, reach: Reach, frm: int | None, wanted: frozenset[str] | None
) -> Iterator[LogEntry]:
    with blamed_on(index.stream):
        yield from _chosen(index, reach, frm, wanted)


def _chosen(
    index: RunIndex, reach: Reach, frm: int | None, wanted: frozenset[str] | None
) -> Iterator[LogEntry]:
    after: Bound | None = None
    levels = index.levels(reach)
    messages = MessageCount()
    if frm is not None:
        # Nothing stands exactly here.
        after = (max(frm, BEFORE_RECORDS), RECORD_RANK, 0)
        levels = levels[-1:]
        messages = _messages(index, replace(reach, before=after))
    for of, part in levels:
        for entry in of.entries(part, after if of is index else None):
            event = entry.event
            was = messages.reached
            _count(messages, event)
            shrank = None
            if messages.epoch > was[0]:
                shrank = Shrunk(was[1], messages.count, messages.epoch)
            if wanted is None or not wanted.isdisjoint(_kinds(event)):
                yield LogEntry(entry.anchor, event, shrank)


def _messages(index: RunIndex, reach: Reach) -> MessageCount:
    """Count the messages at the end of a reach; events of any name may stand in it."""
    start = index.start(reach)
    for entry in index.following(reach, start):
        _count(start.fold.messages, entry.event)
    return start.fold.messages


def _count(messages: MessageCount, event: RecordedEvent) -> None:
    data = event.data
    with shaped(event):
        if event.name == CheckpointTaken.NAME:
            messages.checkpoint(data["messages"], data["step"])
        elif event.name == ContextExported.NAME and data.get("messages") is not None:
            messages.history(data["messages"])
        elif _record_kind(event) == "model_response" and is_own(data["record"]):
            messages.response(data["record"]["event"]["step"])


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
