"""The rows of a run's events besides its stream records, name by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from projections.audit.cells import brief_json, host_time, text_or_json, told
from projections.audit.event_cells import EventCells, trace_of
from projections.audit.run_record_rows import run_committed, run_saved
from projections.audit.run_state import Trace
from projections.order import text

TellEvent = Callable[[EventCells, dict[str, Any]], None]
"""Writes the rows of an event's JSON, and tells the run."""

Error = tuple[str | None, str | None]


def terminal_error(data: dict[str, Any]) -> Error:
    """Take why a run failed or was cancelled, where it is said: code and message."""
    error = data.get("terminal_error")
    return (None, None) if error is None else (text(error["code"]), text(error["message"]))


def _opened(cells: EventCells, data: dict[str, Any]) -> None:
    run = cells.run
    run.session_id = text(data["session_id"])
    run.conversation_id = told(data.get("conversation_id")) or run.conversation_id
    kind, message = terminal_error(data)
    cells.put("run.opened", text=message, status=data.get("status"), error_kind=kind)


def _forked(cells: EventCells, data: dict[str, Any]) -> None:
    run = cells.run
    run.session_id = text(data["session_id"])
    run.conversation_id = told(data.get("conversation_id")) or run.conversation_id
    run.forked_from = text(data.get("forked") or data["source"])
    cells.put("run.forked", text=f"{run.forked_from} at {data['cursor']}")


def _status_changed(cells: EventCells, data: dict[str, Any]) -> None:
    status, error = text(data["status"]), terminal_error(data)
    reason = told(data.get("reason"))
    said = reason or error[1] or told(data.get("output_preview"))
    cells.put("run.status_changed", text=said, status=status, error_kind=error[0])
    if error == (None, None):
        error = None, reason
    cells.run.set_status(status, cells.place, cells.recorded_at, error=error)


def _suspended(cells: EventCells, data: dict[str, Any]) -> None:
    cells.put(
        "run.suspended",
        text=data["reason"],
        item_id=data.get("checkpoint_id"),
        status="waiting",
    )
    cells.run.set_status("waiting", cells.place, cells.recorded_at)


def _resumed(cells: EventCells, _: dict[str, Any]) -> None:
    cells.put("run.resumed", status="running")
    cells.run.set_status("running", cells.place, cells.recorded_at)


def _sealed(cells: EventCells, _: dict[str, Any]) -> None:
    cells.put("run.sealed")


def _approval(kind: str) -> TellEvent:
    def tell(cells: EventCells, data: dict[str, Any]) -> None:
        record = data["record"]
        decision = record.get("decision") or {}
        decided = kind == "approval.decided"
        said = decision.get("reason") if decided else record.get("request")
        time = decision.get("decided_at") or record.get("updated_at" if decided else "created_at")
        cells.put(
            kind,
            text=text_or_json(said),
            host_at=host_time(time),
            tool=text(record["action_name"]),
            call_id=record.get("action_id"),
            item_id=text(record["approval_id"]),
            status=text(record["status"]),
            actor=told(decision.get("decided_by")),
            trace=_own_trace(cells, record),
        )

    return tell


def _deferred_tool(kind: str) -> TellEvent:
    def tell(cells: EventCells, data: dict[str, Any]) -> None:
        record = data["record"]
        resolved = kind == "deferred_tool.resolved"
        said = record.get("response" if resolved else "request")
        cells.put(
            kind,
            text=text_or_json(said),
            host_at=host_time(record.get("updated_at" if resolved else "created_at")),
            tool=text(record["tool_name"]),
            call_id=record.get("tool_call_id"),
            item_id=text(record["deferred_id"]),
            status=text(record["status"]),
            trace=_own_trace(cells, record),
        )

    return tell


def _own_trace(cells: EventCells, record: dict[str, Any]) -> Trace | None:
    trace = trace_of(record.get("trace_context"))
    cells.run.note_trace(trace)
    return trace


def _claimed(cells: EventCells, data: dict[str, Any]) -> None:
    claim = data["claim"]
    cells.put(
        "resume.claimed",
        host_at=host_time(claim.get("created_at")),
        item_id=text(claim["claim_id"]),
        status=text(claim["state"]),
    )


def _claim_fact(kind: str) -> TellEvent:
    def tell(cells: EventCells, data: dict[str, Any]) -> None:
        cells.put(kind, item_id=text(data["claim_id"]))

    return tell


def _by_operator(kind: str) -> TellEvent:
    def tell(cells: EventCells, data: dict[str, Any]) -> None:
        who = data["operator"]
        name = told(who.get("name")) or f"{who['user']}@{who['host']}"
        cells.put(kind, text=data.get("reason"), actor=name)

    return tell


def _environment(cells: EventCells, _: dict[str, Any]) -> None:
    cells.put("environment.exported")


def _acknowledged(cells: EventCells, data: dict[str, Any]) -> None:
    cells.put("publication.acknowledged", text=data["target"])


def unknown_event(cells: EventCells, name: str, data: dict[str, Any]) -> None:
    """Write the row of an event of an unknown name: its JSON, cut where it is long."""
    cells.put(unversioned(name), text=brief_json(data))


def unversioned(name: str) -> str:
    """Give an event's name without its version."""
    stem, dot, version = name.rpartition(".v")
    return stem if dot and version.isdecimal() else name


EVENT_ROWS: Final[dict[str, TellEvent | None]] = {
    "approval.decided.v1": _approval("approval.decided"),
    "approval.requested.v1": _approval("approval.requested"),
    "cursor.saved.v1": None,
    "deferred_tool.requested.v1": _deferred_tool("deferred_tool.requested"),
    "deferred_tool.resolved.v1": _deferred_tool("deferred_tool.resolved"),
    "document.copied.v1": None,
    "environment.exported.v1": _environment,
    "publication.acknowledged.v1": _acknowledged,
    "resume.allowed.v1": _by_operator("resume.allowed"),
    "resume.claimed.v1": _claimed,
    "resume.released.v1": _claim_fact("resume.released"),
    "resume.started.v1": _claim_fact("resume.started"),
    "run.committed.v1": run_committed,
    "run.forked.v1": _forked,
    "run.lease_taken.v1": None,
    "run.opened.v1": _opened,
    "run.resumed.v1": _resumed,
    "run.saved.v1": run_saved,
    "run.sealed.v1": _sealed,
    "run.status_changed.v1": _status_changed,
    "run.suspend_requested.v1": _by_operator("run.suspend_requested"),
    "run.suspended.v1": _suspended,
}
"""What tells each event besides stream records and documents; None where it gives no row."""
