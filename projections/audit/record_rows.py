"""The rows of stream records, kind by kind.

Deltas of the model, the nodes it passes and the marks of checkpoints give none. A record of
a child that was merged into its parent's stream gives the same rows, and tells nothing of the
parent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from projections.audit.cells import brief_json, digest, host_time, saturated, text_or_json, told
from projections.audit.costs import usage_snapshot
from projections.audit.event_cells import NO_USAGE, EventCells, usage_of
from projections.children import response_text
from projections.control_flow import APPROVAL_REQUIRED, CALL_DEFERRED, control_flow
from projections.order import text

REPEATED: Final = "repeated"
"""Status of a model response that was recorded before."""

FLOWS: Final = {APPROVAL_REQUIRED: "approval_required", CALL_DEFERRED: "deferred"}
"""Status of a return that asks for something, by its control flow."""

AS_CHECKPOINTS: Final = frozenset(("model_response", "tool_call", "tool_return"))
"""Kinds of the records that tell what the messages of a checkpoint tell, too."""

Tell = Callable[[EventCells, dict[str, Any]], None]
"""Writes the rows of a record's event, and tells the run, when the record is its own."""


def record_rows(cells: EventCells, record: dict[str, Any], told_by: Tell) -> None:
    """Write the rows of a stream record.

    Args:
        cells: at the record's event.
        told_by: what tells its kind.

    Raises:
        AttributeError, KeyError, TypeError: it has another shape.
    """
    source = record.get("source")
    if source is not None:
        child = source.get("run_id")
        cells.child_run_id = None if child is None else text(child)
        cells.account = text(child or source["agent_id"])
        cells.agent = text(source["agent_name"])
        cells.own = False
    told_by(cells, record["event"])


def _status(cells: EventCells, event: dict[str, Any]) -> None:
    """Take the status of a node; it gives no row."""
    if cells.own:
        cells.run.set_status(text(event["status"]), cells.place, cells.recorded_at)


def _run_start(cells: EventCells, event: dict[str, Any]) -> None:
    conversation = text(event["conversation_id"])
    if cells.own:
        cells.run.set_status("running", cells.place, cells.recorded_at)
        if cells.run.conversation_id is None:
            cells.run.conversation_id = conversation
    cells.put("run_start", status="running")


def _model_request(cells: EventCells, event: dict[str, Any]) -> None:
    cells.put("model_request", step=event["step"])


def _model_response(cells: EventCells, event: dict[str, Any]) -> None:
    step, response = event["step"], event["response"]
    answer = response_text(response) or None
    fresh = cells.run.responses.is_new(cells.account, digest([step, response]))
    cells.put(
        "model_response",
        text=answer,
        host_at=host_time(response.get("timestamp")),
        step=step,
        status=None if fresh else REPEATED,
        model=response.get("model_name"),
        usage=usage_of(response["usage"]) if fresh else NO_USAGE,
    )
    if cells.own and answer is not None:
        cells.run.tell_text(answer, cells.place[0])


def _tool_call(cells: EventCells, event: dict[str, Any]) -> None:
    call = event["call"]
    tool, call_id = text(call["name"]), text(call["id"])
    cells.put(
        "tool_call",
        text=text_or_json(call.get("arguments")),
        step=event["step"],
        tool=tool,
        call_id=call_id,
    )
    if cells.own:
        cells.run.tell_call(tool, call_id, cells.place[0])


def _tool_return(cells: EventCells, event: dict[str, Any]) -> None:
    put_return(cells, event["tool_return"], event["step"])


def put_return(
    cells: EventCells,
    answer: dict[str, Any],
    step: Any,
    *,
    host_at: int | None = None,
    from_state: bool = False,
) -> None:
    """Write the row of a tool's return.

    Raises:
        AttributeError, KeyError, TypeError: it has another shape.
    """
    content = answer["content"]
    failed, flow = answer["is_error"], control_flow(answer)
    status = FLOWS[flow] if flow is not None else "error" if failed else "ok"
    kind = content.get("kind") if status == "error" and type(content) is dict else None
    cells.put(
        "tool_return",
        text=text_or_json(content),
        host_at=host_at,
        step=step,
        tool=text(answer["name"]),
        call_id=text(answer["tool_call_id"]),
        status=status,
        error_kind=told(kind),
        duration=duration_of(answer.get("metadata") or {}),
        from_state=from_state,
    )


def duration_of(metadata: dict[str, Any]) -> int | None:
    """Tell how long a tool took, in milliseconds, where the host says it."""
    value = metadata.get("duration_ms")
    if type(value) is int:
        return saturated(value)
    if type(value) is float:
        return saturated(round(value))
    return None


def _custom(cells: EventCells, event: dict[str, Any]) -> None:
    custom = event["event"]
    kind, payload = text(custom["kind"]), custom["payload"]
    if kind == "usage_snapshot" and type(payload) is dict:
        usage_snapshot(cells, payload)
        return
    if type(payload) is dict:
        said = told(payload.get("message")) or told(payload.get("text"))
        if said is None and payload.keys() != {"run_id"}:
            said = brief_json(payload)
    else:
        said = payload if type(payload) is str else brief_json(payload)
    cells.put(f"custom:{kind}", text=said)


def _suspended(cells: EventCells, event: dict[str, Any]) -> None:
    cells.put("suspended", text=event["reason"], node=event["node"], status="waiting")
    if cells.own:
        cells.run.set_status("waiting", cells.place, cells.recorded_at)


def _output_retry(cells: EventCells, event: dict[str, Any]) -> None:
    cells.put("output_retry", text=event["prompt"])


def _steering_guard(cells: EventCells, event: dict[str, Any]) -> None:
    cells.put("steering_guard", text=event["prompt"], step=event["step"])


def _run_complete(cells: EventCells, event: dict[str, Any]) -> None:
    cells.put("run_complete", text=text_or_json(event["output"]), status="completed")
    if cells.own:
        cells.run.set_status("completed", cells.place, cells.recorded_at)


def _run_cancelled(cells: EventCells, event: dict[str, Any]) -> None:
    reason = text(event["reason"])
    cells.put("run_cancelled", text=reason, status="cancelled")
    if cells.own:
        error = (None, reason)
        cells.run.set_status("cancelled", cells.place, cells.recorded_at, error=error)


def _run_failed(cells: EventCells, event: dict[str, Any]) -> None:
    error = text(event["error_kind"]), text(event["message"])
    cells.put("run_failed", text=error[1], status="failed", error_kind=error[0])
    if cells.own:
        cells.run.set_status("failed", cells.place, cells.recorded_at, error=error)


def unknown_record(cells: EventCells, event: dict[str, Any]) -> None:
    """Write the row of a record of an unknown kind: its JSON, cut where it is long."""
    cells.put(text(event["kind"]), text=brief_json(event))


RECORDS: Final[dict[str, Tell | None]] = {
    "checkpoint": None,
    "custom": _custom,
    "model_request": _model_request,
    "model_response": _model_response,
    "model_stream": None,
    "node_complete": _status,
    "node_start": _status,
    "output_retry": _output_retry,
    "run_cancelled": _run_cancelled,
    "run_complete": _run_complete,
    "run_failed": _run_failed,
    "run_start": _run_start,
    "steering_guard": _steering_guard,
    "suspended": _suspended,
    "tool_call": _tool_call,
    "tool_return": _tool_return,
}
"""What tells each kind of stream record; None where it gives no row and says no status."""
