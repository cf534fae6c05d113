"""Suspending a run of the runtime, which has no hook for that.

Inside the store's `commit_checkpoint`, while the runtime waits, its run is interrupted: the
runtime goes no further, and says that the run was cancelled. The journal says that it waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import ReferenceType, ref

from starweaver import AgentRun

from journal.boundary import SuspendRequest
from journal.executor import Policy, Suspend, decided
from journal.hosts.starweaver.readers import recorded_runs
from journal.hosts.starweaver.resume_point import asks, called
from journal.records import AgentCheckpoint
from journal.run import Run

OVER = ("validate_output", "run_complete", "run_failed")
"""Nodes at which nothing is left to stop: the model has given its answer."""

BETWEEN = ("run_start", "prepare_model_request", "before_model_request")
"""Nodes at which no tool call is open, and no answer of the model is lost."""


@dataclass(frozen=True, slots=True)
class Suspension:
    """Where a run is interrupted, and why."""

    run: ReferenceType[AgentRun]
    """It may be dropped before its evidence is there: nothing here keeps it."""
    reason: str
    checkpoint: Mapping[str, Any]

    def carry_out(self) -> None:
        """Interrupt the run."""
        run = self.run()
        if run is not None:
            run.interrupt(self.reason)


def suspend_where_wanted(
    run: Run, checkpoint: Mapping[str, Any], of_source: SuspendRequest | None = None
) -> Suspension | None:
    """Record that a run is suspended at a checkpoint of it that is durable, if that is wanted.

    What an operator asked for waits until no tool call is open; a policy stops the run at
    once. A run that waits at the checkpoint is not interrupted: its reason is recorded.

    Args:
        run: of the checkpoint.
        checkpoint: its last one.
        of_source: what an operator asked for of the run that this one goes on with.

    Returns:
        The suspension to be carried out; None where the run goes on, or waits already.

    Raises:
        AgentExecutorError: the policy failed.
    """
    recorded = recorded_runs.of(run.run_id)
    if recorded is None or _is_over(checkpoint):
        return None
    waits = checkpoint["state"]["status"] == "waiting"
    reason = _requested(run, of_source) if waits or _is_between(checkpoint) else None
    if reason is None and recorded.policy is not None:
        reason = asyncio.run(_wanted(recorded.policy, checkpoint))
    if reason is None:
        return None
    run.suspend(reason, checkpoint_id=checkpoint["checkpoint_id"])
    return None if waits else Suspension(ref(recorded.run), reason, checkpoint)


def as_suspended(commit: Mapping[str, Any], suspension: Suspension) -> dict[str, Any]:
    """Give the evidence of an interrupted run the history that it goes on from.

    The runtime answers the tool calls that it left open with errors, as nothing would ever
    answer them.
    """
    state = suspension.checkpoint["state"]
    context = {**commit["context_state"], "message_history": state["message_history"]}
    if returns := state.get("pending_tool_returns"):
        context["pending_tool_returns"] = returns
    return {**commit, "context_state": context}


async def _wanted(policy: Policy, checkpoint: Mapping[str, Any]) -> str | None:
    decision = await decided(policy, AgentCheckpoint.from_json(dict(checkpoint)))
    return decision.reason if isinstance(decision, Suspend) else None


def _requested(run: Run, of_source: SuspendRequest | None) -> str | None:
    asked = run.suspend_requested() or of_source
    return None if asked is None else asked.message


def _is_between(checkpoint: Mapping[str, Any]) -> bool:
    """Tell whether no tool call is open at a checkpoint."""
    if checkpoint["node"] in BETWEEN:
        return True
    calls = _Calls(checkpoint["state"])
    return checkpoint["node"] == "tool_return" and calls.made <= calls.answered


def _is_over(checkpoint: Mapping[str, Any]) -> bool:
    """Tell whether a run stops at a checkpoint, or right after it, in any case."""
    node, state = checkpoint["node"], checkpoint["state"]
    if node in OVER:
        return True
    if node == "model_response":
        last = state["message_history"][-1]
        return all(called(part) is None for part in last["parts"])
    calls = _Calls(state)
    all_are_back = calls.made <= calls.answered | calls.asking
    return bool(calls.asking) and all_are_back and state["status"] != "waiting"


class _Calls:
    """The ids of the tool calls of a run state."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        returns = state.get("pending_tool_returns") or ()
        asking = [
            *(state.get("pending_approval_tool_returns") or ()),
            *(state.get("deferred_tool_returns") or ()),
            *(answer for answer in returns if asks(answer)),
        ]
        self.made = {call["id"] for call in state.get("pending_tool_calls") or ()}
        self.answered = {each["tool_call_id"] for each in returns if not asks(each)}
        self.asking = {each["tool_call_id"] for each in asking}
        """Those of tools that wait for a person or a worker."""
