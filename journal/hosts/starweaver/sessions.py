"""Sessions of the runtime, rebuilt from what was recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from starweaver import Agent, AgentSession, ApprovalDecision, DeferredResult, SessionArchive

from journal.hosts.starweaver.resume_point import Part
from journal.records import CHECKPOINT, TERMINAL, unwrap
from projections import Decisions
from projections.session_snapshot import SessionResumeSnapshot

DURABLE_IDS = ("starweaver.durable_run_id", "starweaver.durable_session_id")
"""Metadata of a state by which a runtime would take a new run for the one it is of."""


def rebuild_session(agent: Agent, snapshot: SessionResumeSnapshot) -> AgentSession:
    """Rebuild the session of a run, with the history of its latest checkpoint.

    A session that waits is rebuilt through an archive: `session.hitl` has what it waits for,
    and goes on with decisions (see `decisions`). It has no store, so what it does then is not
    recorded; `resume_run` goes on with a run in a journal.

    Args:
        agent: made as the one that ran, with the same tools.
        snapshot: from `projections.resume_snapshot`.
    """
    if snapshot.latest_checkpoint is None:
        return agent.session_from_state(portable(snapshot.state))
    checkpoint, _ = unwrap(snapshot.latest_checkpoint, CHECKPOINT)
    state = checkpoint["state"]
    context = {**portable(snapshot.state), "message_history": state["message_history"]}
    if state["status"] != "waiting":
        if returns := state.get("pending_tool_returns"):
            context["pending_tool_returns"] = returns
        return agent.session_from_state(context)
    return agent.session_from_archive(SessionArchive.from_state(context, last_run_state=state))


def decisions(
    given: SessionResumeSnapshot | Decisions, *, run_id: str | None = None
) -> tuple[list[ApprovalDecision], list[DeferredResult]]:
    """Give what was decided in the form that a session's `hitl.resume` takes.

    Whether a decision may be acted on is not looked at: `projections.resume` does that, and
    gives those that may.

    Args:
        run_id: of the state that the session is rebuilt from, where that is another run's: a
            fork's is its source's.
    """
    return (
        [
            _approval(one, run_id or one["run_id"])
            for one in given.approvals
            if one["status"] != "pending"
        ],
        [
            _result(one, run_id or one["run_id"])
            for one in given.deferred_tools
            if one["status"] in TERMINAL
        ],
    )


def waiting_session(
    agent: Agent, context: Mapping[str, Any], run_state: Part, given: Decisions
) -> AgentSession:
    """Make a session that waits for exactly what was decided.

    Args:
        context: a context state with the history up to there.
        run_state: of the run's last checkpoint.
        given: what was decided.
    """
    approvals = [(one["action_id"], one["action_name"]) for one in given.approvals]
    deferred = [(one["tool_call_id"], one["tool_name"]) for one in given.deferred_tools]
    asked = {
        "pending_approval_tool_returns": _asking(run_state, approvals, "approval_required"),
        "deferred_tool_returns": _asking(run_state, deferred, "call_deferred"),
    }
    state = {**run_state, "status": "waiting", **asked}
    return agent.session_from_archive(SessionArchive.from_state(context, last_run_state=state))


def portable(context: Mapping[str, Any]) -> dict[str, Any]:
    """Give a context state without the ids of the run it is of."""
    metadata = context.get("metadata") or {}
    kept = {key: value for key, value in metadata.items() if key not in DURABLE_IDS}
    return {**context, "metadata": kept}


def _asking(run_state: Part, calls: Iterable[tuple[str, str]], flow: str) -> list[Part]:
    """Give the returns of tools that asked, as the state has them or as far as is known."""
    held = [
        *(run_state.get("pending_approval_tool_returns") or ()),
        *(run_state.get("deferred_tool_returns") or ()),
    ]
    by_call = {one["tool_call_id"]: one for one in held}
    return [
        by_call.get(call_id)
        or {
            "tool_call_id": call_id,
            "name": name,
            "content": {},
            "is_error": True,
            "metadata": {"control_flow": flow},
        }
        for call_id, name in calls
    ]


def _approval(record: Mapping[str, Any], run_id: str) -> ApprovalDecision:
    said = record.get("decision") or {}
    approved = record["status"] == "approved"
    return ApprovalDecision(
        id=f"approval_{run_id}_{record['action_id']}",
        approved=approved,
        decided_by=said.get("decided_by"),
        reason=said.get("reason") or (None if approved else record["status"]),
        metadata=dict(said.get("metadata") or {}),
    )


def _result(record: Mapping[str, Any], run_id: str) -> DeferredResult:
    return DeferredResult(
        id=f"deferred_{run_id}_{record['tool_call_id']}",
        status=record["status"],
        response=record.get("response"),
        metadata=dict(record.get("metadata") or {}),
    )
