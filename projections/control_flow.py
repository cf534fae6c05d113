"""What tools asked for in place of an answer: that a person approves, or a worker takes over.

A host says so in the metadata of the tool's return (`control_flow`), and repeats it in its
next checkpoints. The record of the approval, or of the deferred call, may come only with the
evidence at the end of the run: until then this is all that tells of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from journal.codec import RecordedEvent
from projections.documents import Documents
from projections.fold import RunFold
from projections.levels import Levels, last_return
from projections.looked_up import LookedUp
from projections.order import shaped, text

APPROVAL_REQUIRED: Final = "approval_required"
CALL_DEFERRED: Final = "call_deferred"

_FLOWS = (APPROVAL_REQUIRED, CALL_DEFERRED)

_RETURNS = ("pending_approval_tool_returns", "deferred_tool_returns")
"""Members of a run state that hold the returns of tools that asked."""


@dataclass(frozen=True, slots=True)
class ToolAsked:
    """A tool call that returned with a demand and was not answered yet."""

    control_flow: str
    """`approval_required` or `call_deferred`."""
    tool_call_id: str
    tool_name: str
    metadata: dict[str, Any]
    """Of the tool's return; what the tool itself said stands in `approval` or `deferred`."""
    arguments: Any
    """Those of the call; None where they are not known."""
    recorded_at: int
    """When that was recorded, in microseconds since the epoch."""


def tools_asked(
    levels: Levels, fold: RunFold, looked_up: LookedUp, documents: Documents
) -> list[ToolAsked]:
    """List what tools asked for where a fold ended, in the order of their returns.

    Args:
        levels: the runs that the fold takes in.

    Raises:
        CorruptEvent, BrokenBase: a checkpoint or a return cannot be read.
    """
    asked: dict[str, ToolAsked] = {}
    arguments: dict[str, Any] = {}
    checkpoint = looked_up.one(fold.checkpoint)
    if checkpoint is not None:
        state = documents.inner(checkpoint, "state") or {}
        with shaped(checkpoint):
            for call in state.get("pending_tool_calls") or ():
                arguments[call["id"]] = call.get("arguments")
            for part in (part for key in _RETURNS for part in state.get(key) or ()):
                _take(asked, part, checkpoint, arguments)
    for call_id in fold.returned:
        returned = last_return(levels, fold, call_id)
        if returned is not None:
            arguments |= _arguments(looked_up.one(fold.calls.get(call_id)))
            with shaped(returned):
                part = returned.data["record"]["event"]["tool_return"]
                _take(asked, part, returned, arguments)
    history = looked_up.one(fold.history)
    if asked and history is not None:
        with shaped(history):
            for part in _answers(documents.history(history)):
                asked.pop(part["tool_call_id"], None)
    return list(asked.values())


def _arguments(called: RecordedEvent | None) -> dict[str, Any]:
    """Give the arguments of a recorded tool call, by its id."""
    if called is None:
        return {}
    with shaped(called):
        call = called.data["record"]["event"]["call"]
        return {call["id"]: call.get("arguments")}


def _take(
    asked: dict[str, ToolAsked], part: dict[str, Any], at: RecordedEvent, arguments: dict[str, Any]
) -> None:
    """Take a tool's return: one that asks, or an answer after all."""
    call_id, flow = text(part["tool_call_id"]), control_flow(part)
    asked.pop(call_id, None)
    if flow is not None:
        name, metadata = text(part["name"]), part["metadata"]
        asked[call_id] = ToolAsked(
            flow, call_id, name, metadata, arguments.get(call_id), at.recorded_at
        )


def control_flow(part: dict[str, Any]) -> str | None:
    """Tell what a tool's return asks for: one of the two, or None for an answer."""
    flow = (part.get("metadata") or {}).get("control_flow")
    return flow if flow in _FLOWS else None


def _answers(history: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for message in history:
        if message["kind"] == "request":
            parts = [part for part in message["parts"] if part["kind"] == "tool_return"]
            yield from (part for part in parts if control_flow(part) is None)
