"""Events to interchange lines: JSON that another journal, or a script, can read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from journal.ancestry import ancestry
from journal.archived import must_be_here
from journal.codec import RecordedEvent
from journal.documents import Walk
from journal.errors import CorruptEvent
from journal.events import (
    RUN_NOTES,
    ApprovalDecided,
    ApprovalRequested,
    CheckpointTaken,
    ContextExported,
    CursorSaved,
    DeferredToolRequested,
    DeferredToolResolved,
    DocumentCopied,
    EventData,
    RunArchived,
    RunSaved,
    SessionSaved,
    StreamRecorded,
)
from journal.ids import Version, run_stream
from journal.reader import Reader
from journal.times import format_time

Line = dict[str, Any]

_PLAIN = {
    ApprovalDecided.NAME: ("approval", "record"),
    ApprovalRequested.NAME: ("approval", "record"),
    DeferredToolRequested.NAME: ("deferred_tool", "record"),
    DeferredToolResolved.NAME: ("deferred_tool", "record"),
    RunSaved.NAME: ("run", "run"),
}
"""Events whose record names its owner: the type of their line and the record's member."""

_OWNED = {
    CursorSaved.NAME: ("stream_cursor", "cursor"),
    StreamRecorded.NAME: ("stream_record", "record"),
}
"""The same for records that the line must give an owner."""


def export_run(reader: Reader, run_id: str) -> Iterator[Line]:
    """Yield one run's events as interchange lines, in order of arrival.

    Before a fork's own come those of its ancestors, the oldest run first, each up to the last
    version that is inherited: also those between that the fork does not take in, as versions
    have no gaps.

    Raises:
        RunNotFound: no event of this run was ever recorded.
        RunIsArchived: its events, or an ancestor's, are in an archive only.
        UnknownEvent: an event was written by a newer runjournal.
        BrokenBase: an ancestor lacks what the run inherits.
    """
    lines = _Lines(reader)
    for inherited in reversed(ancestry(reader, run_id)):
        for event in reader.run_events(inherited.source, upto=inherited.version):
            yield from lines.of(event)
    for event in reader.run_events(run_id):
        yield from lines.of(event)


def count_lines(reader: Reader, run_id: str) -> int:
    """Tell how many lines `export_run` yields; 0 for an unknown run.

    Raises:
        CorruptEvent, BrokenBase: as `export_run`.
    """
    inherited = sum(one.version for one in ancestry(reader, run_id))
    return inherited + reader.head(run_id) - (reader.archived(run_id) is not None)


def export_all(reader: Reader) -> Iterator[Line]:
    """Yield every event of the journal as interchange lines, in order of arrival.

    Raises:
        RunIsArchived: events of a run are in an archive only, so that they would be missing;
            raised before the first line. Read the journal together with its archive, or
            export the other runs one by one.
        UnknownEvent: an event was written by a newer runjournal.
    """
    for run_id in reader.run_ids():
        must_be_here(reader.store, run_stream(run_id))
    lines = _Lines(reader)
    for event in reader.all_events():
        yield from lines.of(event)


class _Lines:
    """Makes lines, remembering each run's session and the last documents."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._walk = Walk(room=64)
        self._sessions: dict[str, str] = {}
        self._versions: dict[str, int] = {}

    def of(self, event: RecordedEvent) -> Iterator[Line]:
        """Yield the line of an event; none for one that another line implies."""
        before = self._versions.get(event.stream, 0)
        if event.version != before + 1:
            if event.run_id is not None:
                must_be_here(self._reader.store, event.stream)  # it was dropped meanwhile
            raise CorruptEvent(event.stream, before + 1, f"missing: {event.version} is next")
        self._versions[event.stream] = event.version
        if event.name in RUN_NOTES or event.name == RunArchived.NAME:
            return
        if event.name == DocumentCopied.NAME and event.run_id is None:
            return
        try:
            line = self._body(event)
        except (KeyError, TypeError) as error:
            reason = f"it lacks or misplaces {error}"
            raise CorruptEvent(event.stream, event.version, reason) from error
        line["recorded_at"] = format_time(event.recorded_at)
        line["version"] = event.version
        if "redacted" in event.data:
            line["redacted"] = event.data["redacted"]
        yield line

    def _body(self, event: RecordedEvent) -> Line:
        data, name = event.data, event.name
        if name == DocumentCopied.NAME:
            of = {"version": data["version"]}
            return {"type": "event", "run_id": event.run_id, "name": name, "data": of}
        if name in _OWNED:
            kind, key = _OWNED[name]
            return {"type": kind, **self._owner(event), key: data[key]}
        if name in _PLAIN:
            kind, key = _PLAIN[name]
            return {"type": kind, **_counted(data), key: data[key]}
        if "delta" in data:
            return self._document(event)
        _ = event.event  # an unknown or damaged event is an error, not a line
        facts = {k: v for k, v in data.items() if k not in ("imported", "redacted")}
        owner = {"run_id": event.run_id} if event.run_id else {"session_id": event.session_id}
        return {"type": "event", **owner, "name": name, "data": facts}

    def _document(self, event: RecordedEvent) -> Line:
        owner = self._owner(event)
        document = self._reader.document(event, self._walk)
        if event.name == SessionSaved.NAME:
            return {"type": "session", **_counted(event.data), "session": document}
        if event.name == CheckpointTaken.NAME:
            session_id = owner["session_id"]
            return {"type": "checkpoint", "session_id": session_id, "checkpoint": document}
        if event.name == ContextExported.NAME:
            return {"type": "context_state", **owner, "state": document}
        told = {key: event.data[key] for key in ("stream_cursor",) if key in event.data}
        return {"type": "environment_state", **owner, **told, "state": document}

    def _owner(self, event: RecordedEvent) -> Line:
        if event.session_id is not None:
            return {"session_id": event.session_id}
        run_id = str(event.run_id)
        session_id = self._sessions.get(run_id)
        if session_id is None:
            opened = self._reader.event(run_stream(run_id), Version(1))
            if opened is None:
                raise CorruptEvent(event.stream, 1, "missing")
            session_id = self._sessions[run_id] = opened.data["session_id"]
        return {"session_id": session_id, "run_id": run_id}


def _counted(data: EventData) -> Line:
    """Give the revision that another store had counted, where an event tells it."""
    return {key: data[key] for key in ("revision",) if key in data}
