"""Lists of runs and sessions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from journal.codec import RecordedEvent
from journal.errors import BrokenBase, CorruptEvent, SessionNotFound, UnknownEvent
from journal.events import DocumentCopied, RunArchived, SessionRunAdded, SessionSaved
from journal.ids import Version, run_stream, session_stream
from journal.lineage import Lineage
from journal.reader import Reader
from journal.times import format_time
from projections.blame import blamed_on
from projections.documents import Documents
from projections.order import shaped, text, whole
from projections.reading import HasReader
from projections.run_index import RunIndex
from projections.standing import UNFINISHED, derived_status


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run, as far as the journal holds it."""

    run_id: str
    session_id: str | None = None
    """None only when the run cannot be read."""
    conversation_id: str | None = None
    status: str | None = None
    """As it stands now (`projections.standing`); None until something tells it."""
    opened_at: int | None = None
    """Microseconds since the epoch at which its first event was recorded."""
    updated_at: int | None = None
    """Microseconds since the epoch at which its last event, by arrival, was recorded."""
    events: int = 0
    messages: int | None = 0
    step: int | None = 0
    """Both None where its events are in an archive only."""
    checkpoint_id: str | None = None
    """Its last checkpoint in logical order."""
    error: str | None = None
    """Why it cannot be read; then nothing else is known but the id and what came before."""
    forked_from: tuple[str, str] | None = None
    """For a fork, the run it was made of, and the cursor."""
    recorded_status: str | None = None
    """As somebody recorded it: `status` is another where the run crashed."""
    suspended: str | None = None
    """Why it waits, where somebody said so."""
    archived: bool = False
    """Whether its events are in an archive only. Without the archive, messages, step and
    checkpoint are not known."""

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.run` object that `runjournal runs --json` prints."""
        return {
            "schema": "runjournal.run",
            "schema_version": 1,
            "run_id": self.run_id,
            "session_id": self.session_id,
            "conversation_id": self.conversation_id,
            "status": self.status,
            "opened_at": _time(self.opened_at),
            "updated_at": _time(self.updated_at),
            "events": self.events,
            "messages": self.messages,
            "step": self.step,
            "checkpoint_id": self.checkpoint_id,
            "error": self.error,
            "forked_from": None
            if self.forked_from is None
            else dict(zip(("run_id", "cursor"), self.forked_from, strict=True)),
            "recorded_status": self.recorded_status,
            "suspended": None if self.suspended is None else {"reason": self.suspended},
            "archived": self.archived,
        }


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session, as far as the journal holds it."""

    session_id: str
    status: str | None = None
    """Of its session record; None when the host saved none."""
    title: str | None = None
    runs: tuple[str, ...] = ()
    """Ids of its runs, in the order in which they were opened."""
    created_at: int | None = None
    """Microseconds since the epoch at which its first event was recorded."""
    updated_at: int | None = None
    """Microseconds since the epoch at which its last event, or one of a run, was recorded."""
    error: str | None = None
    """Why it cannot be read; then nothing else is known but the id."""

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.session` object that `runjournal sessions --json` prints."""
        return {
            "schema": "runjournal.session",
            "schema_version": 1,
            "session_id": self.session_id,
            "status": self.status,
            "title": self.title,
            "runs": list(self.runs),
            "created_at": _time(self.created_at),
            "updated_at": _time(self.updated_at),
            "error": self.error,
        }


def list_runs(
    journal: HasReader,
    session: str | None = None,
    status: str | None = None,
    limit: int | None = None,
    *,
    unfinished: bool = False,
) -> Iterator[RunSummary]:
    """List runs, newest first by their first event.

    A run that cannot be read is listed with its error; it matches no status.

    Args:
        session: only runs of this session.
        status: only runs that are now in this status, which may be `crashed`.
        limit: at most this many.
        unfinished: only runs that wait, were suspended or crashed: those that go on only
            when somebody resumes them.
    """
    if limit is not None and limit < 1:
        return
    found = 0
    for run_id in journal.reader.run_ids():
        summary = _run(journal, run_id, session)
        if summary is None or (status is not None and summary.status != status):
            continue
        if unfinished and summary.status not in UNFINISHED:
            continue
        yield summary
        found += 1
        if found == limit:
            return


def list_sessions(journal: HasReader) -> Iterator[SessionSummary]:
    """List sessions, newest first by their first event.

    A session that cannot be read is listed with its error.
    """
    for session_id in journal.reader.session_ids():
        yield _session(journal.reader, session_id)


def _run(journal: HasReader, run_id: str, session: str | None) -> RunSummary | None:
    reader = journal.reader
    head = reader.head(run_id)
    opened: RecordedEvent | None = None
    try:
        told = reader.archived(run_id)
        if told is not None and reader.dropped(run_id) is not None:
            return _archived(told, session)
        opened = _opening(reader, run_id)
        if session is not None and opened.data.get("session_id") != session:
            return None
        index = RunIndex(journal, run_id)
        with blamed_on(index.stream):
            fold = index.fold_to(index.whole)
        last = reader.last_event(run_id)
        updated_at = None if last is None else last.recorded_at
    except (BrokenBase, CorruptEvent, UnknownEvent) as error:
        return RunSummary(
            run_id,
            session_id=None if opened is None else opened.data.get("session_id"),
            opened_at=None if opened is None else opened.recorded_at,
            events=head,
            error=error.message,
        )
    progress, version = fold.progress, index.tracking.version
    return RunSummary(
        run_id,
        fold.session_id,
        fold.conversation_id,
        derived_status(journal, run_id, progress.status, version=version),
        opened.recorded_at,
        updated_at,
        head - (told is not None),
        fold.messages.count,
        progress.step,
        fold.checkpoint_id,
        forked_from=_forked_from(index.tracking.lineage),
        recorded_status=progress.status,
        suspended=None if progress.suspended is None else progress.suspended["reason"],
        archived=told is not None,
    )


def _archived(told: RecordedEvent, session: str | None) -> RunSummary | None:
    data = told.data
    with shaped(told):
        if session is not None and data["session_id"] != session:
            return None
        return RunSummary(
            data["run_id"],
            data["session_id"],
            data.get("conversation_id"),
            data["status"],
            data["opened_at"],
            data["updated_at"],
            data["through_version"],
            None,
            None,
            forked_from=_forked(data),
            recorded_status=data["status"],
            archived=True,
        )


def _forked(data: dict[str, Any]) -> tuple[str, str] | None:
    return (data["forked_from"], data["cursor"]) if "forked_from" in data else None


def _forked_from(lineage: Lineage | None) -> tuple[str, str] | None:
    return None if lineage is None else (lineage.forked, lineage.cursor)


def _opening(reader: Reader, run_id: str) -> RecordedEvent:
    stream, first = run_stream(run_id), Version(1)
    opened = reader.event(stream, first)
    if opened is None:
        raise CorruptEvent(stream, first, "missing")
    return opened


def _session(reader: Reader, session_id: str) -> SessionSummary:
    saved: RecordedEvent | None = None
    times = []
    runs = []
    try:
        for event in reader.session_events(session_id):
            if event.name == DocumentCopied.NAME:
                continue
            times.append(event.recorded_at)
            if event.name == SessionSaved.NAME:
                saved = event
            elif event.name == SessionRunAdded.NAME:
                with shaped(event):
                    runs.append(text(event.data["run_id"]))
        record = Documents(reader).of(saved) or {}
    except (BrokenBase, CorruptEvent) as error:
        return SessionSummary(session_id, error=error.message)
    except SessionNotFound:
        missing = CorruptEvent(session_stream(session_id), Version(1), "missing")
        return SessionSummary(session_id, error=missing.message)
    created_at = times[0]
    for run_id in runs:
        updated_at = _updated(reader, run_id)
        if updated_at is not None:
            times.append(updated_at)
    return SessionSummary(
        session_id, record.get("status"), record.get("title"), tuple(runs), created_at, max(times)
    )


def _updated(reader: Reader, run_id: str) -> int | None:
    try:
        last = reader.last_event(run_id)
    except CorruptEvent:
        return None  # `list_runs` tells of it
    return None if last is None else _recorded_at(last)


def _recorded_at(last: RecordedEvent) -> int:
    """Tell when the last event of a run was recorded that is its own."""
    if last.name != RunArchived.NAME:
        return last.recorded_at
    with shaped(last):
        return whole(last.data["updated_at"])


def _time(microseconds: int | None) -> str | None:
    return None if microseconds is None else format_time(microseconds)
