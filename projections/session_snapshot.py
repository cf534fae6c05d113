"""All that a session, or one of its runs, is resumed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from journal.errors import RunNotFound, RunNotInSession
from journal.records import RESUMABLE_STATE, unwrap
from projections.blame import blamed_on
from projections.cursors import LATEST, Cursor, LatestCursor, as_cursor
from projections.levels import after_checkpoint
from projections.order import shaped
from projections.reading import HasReader
from projections.records import record_of
from projections.run_at import RunAt
from projections.run_index import RunIndex
from projections.session_at import SessionAt
from projections.session_records import latest_cursors, session_record_of
from projections.tail import Tail


@dataclass(frozen=True, slots=True)
class SessionResumeSnapshot:
    """A session with one of its runs, at a cursor of the run.

    Source of the form: `SessionResumeSnapshot` of the Starweaver runtime. JSON in it is to be
    treated as frozen.
    """

    session: dict[str, Any]
    """The session's record, as of the latest event of the run that was taken in."""
    run: dict[str, Any] | None
    """The run's record; None where the session has no run."""
    state: dict[str, Any]
    """The context state: the run's own where it has one, else the session's; bare."""
    environment_state: dict[str, Any] | None
    """Where the environment's state is: as the run's record says, else the session's."""
    latest_checkpoint: dict[str, Any] | None
    """The last checkpoint in logical order, as handed in."""
    stream_records: Sequence[dict[str, Any]]
    """The stream records after it, in order; see `projections.RunView.tail`."""
    approvals: tuple[dict[str, Any], ...]
    """Each approval's latest record, in the order of the requests, decided ones too."""
    deferred_tools: tuple[dict[str, Any], ...]
    """Each deferred tool call's latest record, in the order of the requests."""
    stream_cursors: tuple[dict[str, Any], ...]
    """The stream cursors of session and run, each family and scope once."""

    def to_json(self) -> dict[str, Any]:
        """Give the object that a host reads."""
        return {
            "session": self.session,
            "run": self.run,
            "state": self.state,
            "environment_state": self.environment_state,
            "latest_checkpoint": self.latest_checkpoint,
            "stream_records": list(self.stream_records),
            "approvals": list(self.approvals),
            "deferred_tools": list(self.deferred_tools),
            "stream_cursors": list(self.stream_cursors),
        }


def resume_snapshot(
    journal: HasReader, session_id: str, run_id: str | None = None, at: Cursor | str = LATEST
) -> SessionResumeSnapshot:
    """Show what a run is resumed from, as it was at a cursor.

    Args:
        run_id: None for the session's active run, else for the one written to last; without
            a run only the session's part is there.
        at: a cursor of the run, or its text form.

    Raises:
        SessionNotFound: nothing of this session was ever recorded.
        RunNotInSession: the session has no such run.
        InvalidCursor, CheckpointNotFound, CursorOutOfRange, UnknownEvent, CorruptEvent,
        BrokenBase: see `projections.replay`.
    """
    cursor = as_cursor(at)
    session = SessionAt(journal, session_id)
    heads = session.heads
    chosen = run_id or heads.active or heads.head
    if chosen is None:
        return _without_run(session)
    index = RunIndex(journal, chosen)
    with blamed_on(index.stream):
        run = run_in(session_id, index, cursor)
        if not isinstance(cursor, LatestCursor):
            session = SessionAt(journal, session_id, run.newest.position)
        return _with_run(session, run)


def run_in(session_id: str, index: RunIndex, cursor: Cursor) -> RunAt:
    """Fold a run of a session up to a cursor.

    Raises:
        RunNotInSession: it is another session's, or nobody's.
    """
    try:
        run = RunAt.at(index, cursor)
    except RunNotFound as error:
        raise RunNotInSession(index.run_id, session_id) from error
    if run.session_id != session_id:
        raise RunNotInSession(index.run_id, session_id)
    return run


def _without_run(session: SessionAt) -> SessionResumeSnapshot:
    record = session_record_of(session)
    return SessionResumeSnapshot(
        session=record,
        run=None,
        state=record["state"],
        environment_state=record.get("environment_state"),
        latest_checkpoint=None,
        stream_records=(),
        approvals=(),
        deferred_tools=(),
        stream_cursors=tuple(record.get("stream_cursors") or ()),
    )


def _with_run(session: SessionAt, run: RunAt) -> SessionResumeSnapshot:
    fold = run.fold
    session_record = session_record_of(session)
    record = record_of(run, session.numbers.get(run.index.run_id))
    state = session_record["state"]
    context = run.looked_up.one(fold.context)
    if context is not None:
        with shaped(context):
            state, _ = unwrap(run.documents.of(context), RESUMABLE_STATE)
    tail = Tail(
        after_checkpoint(run.of.levels(run.reach), fold),
        fold.since,
        fold.tail_records,
        left_out=0,
        looked_up=run.looked_up,
    )
    cursors = [
        *(session_record.get("stream_cursors") or ()),
        *(record.get("stream_cursors") or ()),
    ]
    return SessionResumeSnapshot(
        session=session_record,
        run=record,
        state=state,
        environment_state=record.get("environment_state")
        or session_record.get("environment_state"),
        latest_checkpoint=run.documents.of(run.looked_up.one(fold.checkpoint)),
        stream_records=tail,
        approvals=tuple(run.records("approvals")),
        deferred_tools=tuple(run.records("deferred_tools")),
        stream_cursors=tuple(latest_cursors(cursors, moved=False)),
    )
