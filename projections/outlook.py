"""What a host would go on from if it resumed a run now, and what stands in its way."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from journal import times
from journal.errors import RunIsLeased, StateConflict
from journal.events import RunResumed
from journal.ids import run_stream
from journal.leases import leased, why_free
from journal.records import TERMINAL
from projections.reading import HasReader
from projections.replaying import replay
from projections.resumable import (
    PENDING,
    UNKNOWN_AFTER_CRASH,
    InterruptedToolCall,
    ResumeState,
    resume_state,
)
from projections.standing import derived_status
from projections.stopped import stopped_in_order
from projections.view import RunView
from projections.waiting import Waiting
from projections.waiting_item import APPROVAL, DEFERRED_TOOL, WaitingItem

if TYPE_CHECKING:
    from journal import Journal
    from journal.events import Operator


@dataclass(frozen=True, slots=True)
class ResumeOutlook:
    """How a run stands that somebody wants to go on with."""

    run_id: str
    session_id: str
    status: str | None
    """As it stands now, see `projections.standing`."""
    recorded_status: str | None
    suspended: str | None
    """Why it waits, where somebody said so."""
    attempt: int
    """The number of the attempt that would resume it; the first one, which nothing resumed,
    was 1."""
    checkpoint_id: str | None
    """The checkpoint that it would go on from."""
    messages: int
    """Number of messages that it would go on with."""
    open_tool_calls: tuple[InterruptedToolCall, ...]
    """The tool calls without an answer; those in state `unknown_after_crash` may have run."""
    decisions: tuple[WaitingItem, ...]
    """What people decided of the run, also before its last attempt."""
    waiting: tuple[WaitingItem, ...]
    """What nobody decided yet."""
    obstacles: tuple[StateConflict | RunIsLeased, ...]
    """Why it cannot be resumed now."""

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.resume` object that `runjournal resume --json` prints."""
        return {
            "schema": "runjournal.resume",
            "schema_version": 1,
            "run_id": self.run_id,
            "session_id": self.session_id,
            "status": self.status,
            "recorded_status": self.recorded_status,
            "suspended": None if self.suspended is None else {"reason": self.suspended},
            "attempt": self.attempt,
            "checkpoint_id": self.checkpoint_id,
            "messages": self.messages,
            "open_tool_calls": [call.to_json() for call in self.open_tool_calls],
            "decisions": [item.to_json() for item in self.decisions],
            "waiting": [item.to_json() for item in self.waiting],
            "can_resume": not self.obstacles,
            "obstacles": [error.message for error in self.obstacles],
        }


def resume_outlook(journal: HasReader, run_id: str) -> ResumeOutlook:
    """Tell how a run would be resumed now, with what operators allowed; nothing is written.

    Raises:
        RunNotFound: nothing of this run was ever recorded.
        UnknownEvent, CorruptEvent, BrokenBase: the run cannot be read.
    """
    reader = journal.reader
    version = reader.head(run_id)
    view = replay(journal, run_id, tail=0)
    waiting = Waiting(journal, run_id)
    items = [item for kind in (APPROVAL, DEFERRED_TOOL) for item in waiting.items(kind)]
    obstacles: list[StateConflict | RunIsLeased] = []
    lease = reader.lease(run_id)
    if lease is not None and why_free(lease, now := times.now()) is None:
        obstacles.append(leased(run_id, lease, now))
    state, conflict = _state(journal, run_id)
    if conflict is not None:
        obstacles.append(conflict)
    live = view.live
    return ResumeOutlook(
        run_id=run_id,
        session_id=view.session_id,
        status=derived_status(journal, run_id, live.status, version=version),
        recorded_status=live.status,
        suspended=None if live.suspended is None else live.suspended["reason"],
        attempt=reader.count(run_stream(run_id), (RunResumed.NAME,)) + 2,
        checkpoint_id=view.cursor.checkpoint_id,
        messages=len(view.messages),
        open_tool_calls=_open_calls(journal, view) if state is None else state.open_tool_calls,
        decisions=tuple(item for item in items if not item.is_open),
        waiting=tuple(item for item in items if item.is_open),
        obstacles=tuple(obstacles),
    )


def allow_resume(  # noqa: PLR0913 - what is allowed, by whom and why
    journal: Journal,
    run_id: str,
    operator: Operator,
    *,
    accept_rerun: bool | Collection[str] = False,
    trust_imported: bool = False,
    reason: str | None = None,
) -> None:
    """Record what an operator allows the next resume of a run; nothing is run.

    Args:
        accept_rerun: ids of open tool calls that may have run already and may run again;
            True for all that there are now.
        trust_imported: whether decisions that came by `ingest` may be acted on.

    Raises:
        StateConflict: the run ended, or there is nothing of this kind to allow.
        RunIsLeased: somebody is writing the run: what it will need is not known yet.
        RunNotFound: nothing of this run was ever recorded.
    """
    outlook = resume_outlook(journal, run_id)
    what = f"run {run_id!r}"
    for obstacle in outlook.obstacles:
        if isinstance(obstacle, RunIsLeased) or outlook.status in TERMINAL:
            raise obstacle
    calls = [call.id for call in outlook.open_tool_calls if call.state == UNKNOWN_AFTER_CRASH]
    known = {call.id for call in outlook.open_tool_calls}
    rerun = [*calls] if accept_rerun is True else sorted(set(accept_rerun or ()))
    for call_id in rerun:
        if call_id not in known:
            listed = ", ".join(map(repr, sorted(known))) or "none"
            raise StateConflict(what, f"has no open tool call {call_id!r}", f"it has {listed}")
    if accept_rerun is True and not rerun:
        why = "has no tool call that may have run already and was not accepted"
        raise StateConflict(what, why, "resume it without accepting any")
    if trust_imported and not any(item.imported for item in outlook.decisions):
        why = "has no decision that came from another journal"
        raise StateConflict(what, why, "resume it without trusting any")
    journal.allow_resume(
        run_id,
        operator,
        rerun=rerun or None,
        trust_imported=trust_imported or None,
        reason=reason,
    )


def _state(journal: HasReader, run_id: str) -> tuple[ResumeState | None, StateConflict | None]:
    """Tell how it would be resumed; also where only imported decisions stand in the way."""
    try:
        return resume_state(journal, run_id), None
    except StateConflict as conflict:
        try:
            return resume_state(journal, run_id, trust_imported=True), conflict
        except StateConflict:
            return None, conflict


def _open_calls(journal: HasReader, view: RunView) -> tuple[InterruptedToolCall, ...]:
    """Give the open calls of a run that nobody can resume yet; in doubt they may have run."""
    state = PENDING if stopped_in_order(journal, view) else UNKNOWN_AFTER_CRASH
    return tuple(
        InterruptedToolCall(call.id, call.name, call.arguments, state)
        for call in view.live.open_tool_calls
    )
