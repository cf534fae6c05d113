"""The live part of a view: what the run is doing at the cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from journal.records.message import tool_return_ids
from journal.records.usage import add_usage
from projections.fold import RunFold
from projections.streamed import PartialToolCall

PENDING_RETURNS = (
    "pending_tool_returns",
    "pending_approval_tool_returns",
    "deferred_tool_returns",
)
"""Members of a run state that hold the returns of tool calls."""


@dataclass(frozen=True, slots=True)
class OpenToolCall:
    """A tool call without a return: it may be running, or have been cut short."""

    id: str
    name: str
    arguments: Any
    """As the model gave them: any JSON, a raw string, or an invalid-arguments object."""

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.view`."""
        return {"id": self.id, "name": self.name, "arguments": self.arguments}


@dataclass(frozen=True, slots=True)
class Live:
    """What a run is doing at a cursor."""

    status: str | None
    """None until something tells it."""
    node: str | None
    step: int
    text: str
    """Text streamed since the last model request."""
    thinking: str
    """Thinking streamed since the last model request."""
    open_tool_calls: tuple[OpenToolCall, ...]
    partial_tool_calls: tuple[PartialToolCall, ...]
    """Tool calls whose arguments were streamed since the last model request."""
    usage: dict[str, Any]
    output: Any
    error: dict[str, Any] | None
    """`{"error_kind", "message"}` of a failed run."""
    suspended: dict[str, Any] | None
    """`{"reason"}` of a waiting run."""
    last_sequence: int | None
    """Largest sequence of a stream record at the cursor."""

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.view`."""
        return {
            "status": self.status,
            "node": self.node,
            "step": self.step,
            "text": self.text,
            "thinking": self.thinking,
            "open_tool_calls": [call.to_json() for call in self.open_tool_calls],
            "partial_tool_calls": [call.to_json() for call in self.partial_tool_calls],
            "usage": self.usage,
            "output": self.output,
            "error": self.error,
            "suspended": self.suspended,
            "last_sequence": self.last_sequence,
        }


def live(
    fold: RunFold,
    state: dict[str, Any],
    histories: Iterable[list[Any]],
    calls: Iterable[dict[str, Any]],
    returned_before: Callable[[str], bool],
) -> Live:
    """Tell what the run is doing where a fold ended.

    Args:
        state: run state of the latest checkpoint; empty when there is none.
        histories: the message histories known at the cursor.
        calls: the tool calls of the fold.
        returned_before: tells whether the tool call of an id returned before the checkpoint:
            a host does not clear its pending calls, and a compacted history no longer holds
            their returns.
    """
    progress = fold.progress
    streamed = progress.streamed
    output = progress.output
    return Live(
        status=progress.status,
        node=progress.node,
        step=progress.step,
        text=streamed.text,
        thinking=streamed.thinking,
        open_tool_calls=_open_tool_calls(fold, state, histories, calls, returned_before),
        partial_tool_calls=streamed.partial_tool_calls,
        usage=_usage(fold, state),
        output=state.get("output") if output is None else output,
        error=progress.error,
        suspended=progress.suspended,
        last_sequence=fold.last_sequence,
    )


def _usage(fold: RunFold, state: dict[str, Any]) -> dict[str, Any]:
    total: dict[str, Any] = state.get("usage") or add_usage({}, {})
    return total if fold.usage is None else add_usage(total, fold.usage)


def _open_tool_calls(
    fold: RunFold,
    state: dict[str, Any],
    histories: Iterable[list[Any]],
    recorded: Iterable[dict[str, Any]],
    returned_before: Callable[[str], bool],
) -> tuple[OpenToolCall, ...]:
    pending: list[dict[str, Any]] = state.get("pending_tool_calls") or []
    later = list(recorded)
    if not pending and not later:
        return ()
    returned = set(fold.returned)
    for key in PENDING_RETURNS:
        returned.update(part["tool_call_id"] for part in state.get(key) or ())
    for history in histories:
        returned.update(tool_return_ids(history))
    calls: dict[str, dict[str, Any]] = {}
    for call in pending:
        call_id = call["id"]
        if call_id not in returned and call_id not in calls and not returned_before(call_id):
            calls[call_id] = call
    for call in later:
        if call["id"] not in returned:
            calls.setdefault(call["id"], call)
    return tuple(
        OpenToolCall(call["id"], call["name"], call.get("arguments")) for call in calls.values()
    )
