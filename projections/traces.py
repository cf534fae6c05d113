"""Overviews of a run and of a session, a few lines each."""

from __future__ import annotations

from typing import Any

from journal.ids import Position
from projections.blame import blamed_on
from projections.cursors import LATEST, Cursor, as_cursor
from projections.reading import HasReader
from projections.records import record_of
from projections.run_contents import checkpoint_events
from projections.run_index import RunIndex
from projections.session_at import SessionAt
from projections.session_records import session_record_of
from projections.session_snapshot import run_in

OF_RUN = ("output_preview", "stream_cursors", "trace_context", "metadata")
"""Members of a run's record that its trace repeats, where they say something."""

OF_SESSION = ("title", "workspace", "profile", "stream_cursors", "trace_context", "metadata")
"""The same of a session's record."""


def compact_run_trace(
    journal: HasReader, session_id: str, run_id: str, at: Cursor | str = LATEST
) -> dict[str, Any]:
    """Tell in short how a run went up to a cursor.

    Returns:
        Status and times; the ids of its checkpoints in logical order, and the last of them;
        how many approvals and deferred tool calls there are; the sequence of the last stream
        record. What says nothing is left out. Source of the form: `CompactRunTrace` of the
        Starweaver runtime.

    Raises:
        RunNotInSession: the session has no such run.
        InvalidCursor, CheckpointNotFound, CursorOutOfRange, UnknownEvent, CorruptEvent,
        BrokenBase: see `projections.replay`.
    """
    cursor = as_cursor(at)
    index = RunIndex(journal, run_id)
    with blamed_on(index.stream):
        run = run_in(session_id, index, cursor)
        record = record_of(run)
        own = run.of is index
        taken = checkpoint_events(index, run.reach) if own else []
    trace: dict[str, Any] = {
        "session_id": session_id,
        "run_id": run_id,
        "status": record["status"],
        "updated_at": record["updated_at"],
        "approvals": len(run.fold.approvals),
        "deferred_tools": len(run.fold.deferred_tools),
    }
    if taken:
        trace["checkpoints"] = [event.data["checkpoint_id"] for event in taken]
    if run.fold.checkpoint_id is not None:
        trace["latest_checkpoint"] = run.fold.checkpoint_id
    if own and run.fold.last_sequence is not None:
        trace["stream_cursor"] = run.fold.last_sequence
    return trace | {key: record[key] for key in OF_RUN if record.get(key)}


def compact_session_trace(
    journal: HasReader, session_id: str, at: int | None = None
) -> dict[str, Any]:
    """Tell in short how a session stands.

    Args:
        at: as of this position of the journal, inclusive; None for now.

    Returns:
        Status and times; how many runs it has, the last of them by `sequence_no`, and the
        preview of its output. What says nothing is left out. Source of the form:
        `CompactSessionTrace` of the Starweaver runtime.

    Raises:
        SessionNotFound: nothing of this session was recorded by then.
        CorruptEvent, BrokenBase: see `projections.session_record`.
    """
    session = SessionAt(journal, session_id, None if at is None else Position(at))
    record = session_record_of(session)
    numbers = session.numbers
    trace: dict[str, Any] = {
        "session_id": session_id,
        "status": record["status"],
        "created_at": record["created_at"],
        "updated_at": record["updated_at"],
        "runs": len(numbers),
    }
    if numbers:
        latest = max(numbers, key=lambda run_id: numbers[run_id])
        trace["latest_run_id"] = latest
        preview = session.record(latest).get("output_preview")
        if preview is not None:
            trace["last_output_preview"] = preview
    return trace | {key: record[key] for key in OF_SESSION if record.get(key)}
