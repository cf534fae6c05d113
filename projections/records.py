"""A run's durable record, as the run's events leave it at a cursor.

The record that the host saved or committed last is told as it was handed in, and what came
after it is laid over. A run that nobody saved has the record that its opening and its first
checkpoint make. What says nothing is left out. Source of the form, and of what is laid over:
the session store of the Starweaver runtime, 0.15.
"""

from __future__ import annotations

from typing import Any

from journal.codec import RecordedEvent
from journal.errors import CorruptEvent, SessionNotFound
from journal.events import RUN_NOTES, RunStatusChanged
from journal.facts import CHECKPOINT_DIAGNOSTICS, STATUS_DIAGNOSTICS
from journal.numbers import SessionNumbers
from journal.times import format_time
from projections.blame import blamed_on
from projections.cursors import LATEST, Cursor, as_cursor
from projections.order import shaped, text, whole
from projections.past_damage import numbers_past_damage
from projections.reading import HasReader
from projections.record_fold import CursorAt
from projections.run_at import RunAt
from projections.run_index import RunIndex


def run_record(journal: HasReader, run_id: str, at: Cursor | str = LATEST) -> dict[str, Any]:
    """Give a run's record at a cursor, bare.

    Args:
        at: a cursor, or its text form.

    Returns:
        `latest_checkpoint` is the last in logical order, `stream_cursors` are the furthest of
        each family, `revision` counts what changed the record. Treat it as frozen.

    Raises:
        InvalidCursor, RunNotFound, CheckpointNotFound, CursorOutOfRange, UnknownEvent,
        CorruptEvent, BrokenBase: see `projections.replay`.
    """
    cursor = as_cursor(at)
    index = RunIndex(journal, run_id)
    with blamed_on(index.stream):
        return record_of(RunAt.at(index, cursor))


def record_of(run: RunAt, number: int | None = None) -> dict[str, Any]:
    """Make the record of a run at a point.

    Args:
        number: its place among the runs of its session, where the caller knows.
    """
    told = run.record
    run.looked_up.fetch([*told.refs(), run.fold.checkpoint])
    saved = run.looked_up.one(told.record)
    if saved is None:
        record = _begun(run)
    else:
        with shaped(saved):
            record = {**saved.data["run"]}
    change = run.looked_up.one(told.change)
    if change is not None:
        _change(record, run, change)
    latest = run.looked_up.one(run.fold.checkpoint)
    if latest is not None:
        with shaped(latest):
            _latest_checkpoint(record, run, latest)
    if told.cursors:
        record["stream_cursors"] = [cursor_of(run, at) for at in told.cursors.values()]
    if not record.get("sequence_no"):
        record["sequence_no"] = _number(run) if number is None else number
    record["revision"] = max(1, told.revision)
    if told.updated_at is not None:
        record["updated_at"] = format_time(told.updated_at)
    return record


def status_of(run: RunAt) -> str:
    """Tell the status that a run's record has; see `record_of`.

    What checkpoints and stream records say of the moment counts only where it is all there is:
    a run begins as its first checkpoint says.
    """
    told = run.record.status
    first = run.looked_up.one(run.record.checkpoint)
    if told is None and first is not None:
        with shaped(first):
            told = text(first.data["status"])
        return "running" if told == "starting" else told
    return "running" if told is None else told


def _begun(run: RunAt) -> dict[str, Any]:
    """Make the record of a run that nobody saved, from its opening and first checkpoint."""
    status = status_of(run)
    record: dict[str, Any] = {
        "session_id": run.session_id,
        "run_id": run.index.run_id,
        "status": status,
        "created_at": format_time(run.opening.recorded_at),
    }
    conversation_id = run.opening.data.get("conversation_id") or run.fold.conversation_id
    if conversation_id is not None:
        record["conversation_id"] = conversation_id
    first = run.looked_up.one(run.record.checkpoint)
    if first is not None:
        state = run.documents.inner(first, "state") or {}
        for key in ("parent_run_id", "parent_task_id"):
            if state.get(key) is not None:
                record[key] = state[key]
        if first.data.get("trace_context"):
            record["trace_context"] = first.data["trace_context"]
    if status in CHECKPOINT_DIAGNOSTICS:
        why = run.opening.data.get("terminal_error")
        record["terminal_error"] = CHECKPOINT_DIAGNOSTICS[status] if why is None else why
    return record


def _change(record: dict[str, Any], run: RunAt, change: RecordedEvent) -> None:
    """Lay the last status over a record, and what came with it."""
    told = run.record
    record["status"] = status = status_of(run)
    record.pop("terminal_error", None)
    if status in STATUS_DIAGNOSTICS:
        why = change.data.get("terminal_error") if change.name == RunStatusChanged.NAME else None
        record["terminal_error"] = STATUS_DIAGNOSTICS[status] if why is None else why
    preview = run.looked_up.one(told.preview)
    if preview is not None:
        record["output_preview"] = preview.data["output_preview"]
    elif told.without_output:
        record.pop("output_preview", None)


def _latest_checkpoint(record: dict[str, Any], run: RunAt, latest: RecordedEvent) -> None:
    """Name the last checkpoint in logical order, as the host did where it names the same."""
    told = record.get("latest_checkpoint")
    if told is not None and told.get("checkpoint_id") == latest.data["checkpoint_id"]:
        return
    taken = run.documents.of(latest) or {}
    found = {
        "checkpoint_id": latest.data["checkpoint_id"],
        "run_id": taken["run_id"],
        "sequence": whole(latest.data["step"]),
        "node": "".join(word.capitalize() for word in text(latest.data["node"]).split("_")),
        "created_at": format_time(latest.recorded_at),
    }
    if latest.data.get("stream_cursor") is not None:
        found["stream_cursor"] = latest.data["stream_cursor"]
    if taken.get("metadata"):
        found["metadata"] = taken["metadata"]
    record["latest_checkpoint"] = found


def cursor_of(run: RunAt, at: CursorAt) -> dict[str, Any]:
    """Give a stream cursor as it was handed in."""
    [event] = run.looked_up.all([at.ref])
    with shaped(event):
        cursors = event.data["run"]["stream_cursors"] if at.place is not None else None
        found: dict[str, Any] = event.data["cursor"] if cursors is None else cursors[at.place]
        return found


def _number(run: RunAt) -> int:
    """Look up a run's place among those of its session."""
    told: int | None = run.opening.data.get("sequence_no")
    if told is not None:
        return told
    reader, run_id = run.index.reader, run.index.run_id
    numbers = SessionNumbers()
    try:
        for note in reader.session_events(run.session_id, names=RUN_NOTES):
            with shaped(note):
                numbers.take(note)
    except (CorruptEvent, SessionNotFound):
        return numbers_past_damage(reader, run.session_id).get(run_id, 1)
    return numbers.of.get(run_id, 1)
