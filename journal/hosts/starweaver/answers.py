"""Answers to the tool calls that a run left open: here the tools run, outside of any journal.

The runtime can neither run recorded calls nor recorded decisions in a durable run. So they
run first, in a session without a store that ends before a model is asked, and their returns
go into the next request of the continuation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from starweaver import (
    Agent,
    AgentSession,
    ApprovalDecision,
    CapabilityBundle,
    DeferredResult,
    PythonCapability,
    create_agent,
)
from starweaver.errors import StarweaverError
from starweaver.testing import FunctionModel

from journal.hosts.starweaver.resume_point import Part, asks, tool_returns
from projections.resumable import UNKNOWN_AFTER_CRASH

Options: TypeAlias = dict[str, Any]
"""Arguments of `create_agent_runtime` that `create_agent` takes, too."""

OF_THE_RUNTIME = ("stream_archive", "replay_event_log")
"""Arguments of `create_agent_runtime` that `create_agent` does not take."""

OF_THE_ANSWER = ("output_schema", "output_policy")
"""Arguments about the answer at the end, which a session that only runs tools never gets to."""

ASKED_OUTSIDE = "asked_outside_of_a_run"
"""What the model is told of a tool that asked for somebody where the run could not wait."""


def answer_to(call: Part, returned: Part | None) -> Part:
    """Make the answer to a tool call from what the tool returned.

    Args:
        returned: None where nobody knows whether the call took effect.
    """
    if returned is None:
        return _refusal(
            call,
            UNKNOWN_AFTER_CRASH,
            "the process that ran this call ended before its result was recorded; "
            "it may have taken effect or not",
        )
    if asks(returned):
        return _refusal(
            call,
            ASKED_OUTSIDE,
            "the tool asked for a person or a worker while the run was being resumed, where it "
            "cannot wait; call it again",
        )
    return returned


def agent_for(options: Options, **instead: Any) -> Agent:
    """Make an agent without a store from the arguments of a runtime."""
    kept = {key: value for key, value in options.items() if key not in OF_THE_RUNTIME}
    return create_agent(**{**kept, **instead})


async def run_decided(
    session: AgentSession,
    stop: StopBeforeModel,
    approvals: Sequence[ApprovalDecision],
    results: Sequence[DeferredResult],
) -> list[Part]:
    """Run the approved tools of a session that waits, once, and give the answers of all.

    Args:
        session: of an agent that has `stop` among its capabilities.

    Returns:
        What each tool returned.
    """
    try:
        await session.hitl.resume(approvals=approvals, deferred_results=results)
    except StarweaverError:
        if not stop.reached:
            raise
    return tool_returns(session.export_full_state()["message_history"][-1])


class StopBeforeModel:
    """A capability that ends a session's run when its tools have run."""

    def __init__(self) -> None:
        self.reached = False
        hook = PythonCapability("runjournal.stop", on_run_start=self._stop)
        self.bundle = CapabilityBundle("runjournal.stop", hooks=[hook])

    def options(self, options: Options) -> Options:
        """Give an agent's arguments with this first among its capabilities."""
        bundles = [self.bundle, *(options.get("capability_bundles") or ())]
        return {**options, "capability_bundles": bundles}

    def _stop(self, *_: Any) -> None:
        self.reached = True
        raise RuntimeError("the tools have run")


async def run_calls(
    options: Options, history: list[dict[str, Any]], calls: Sequence[Part]
) -> list[Part]:
    """Run tool calls as if the model had just made them, under the agent's own rules.

    Args:
        options: of the agent.
        history: up to the response that makes the calls.

    Returns:
        What each tool returned.
    """
    script = iter([{"tool_calls": [dict(call) for call in calls]}])
    kept = {key: value for key, value in options.items() if key not in OF_THE_ANSWER}
    agent = agent_for(kept, model=FunctionModel(lambda *_: next(script)))
    session = agent.session_from_state({"agent_id": "main", "message_history": history[:-1]})
    run = session.run_stream("")
    answers: list[Part] = []
    try:
        async for event in run:
            answers += [event.raw["event"]["tool_return"]] if event.kind == "tool_return" else []
    except StarweaverError:
        if len(answers) < len(calls):
            raise
    return answers


def _refusal(call: Part, kind: str, error: str) -> Part:
    return {
        "tool_call_id": call["id"],
        "name": call["name"],
        "is_error": True,
        "content": {"kind": kind, "error": error},
    }


def settled(options: Mapping[str, Any]) -> Options:
    """Give arguments that can be used twice: an iterator among them is read."""
    return {
        key: list(value) if isinstance(value, Iterator) else value for key, value in options.items()
    }
