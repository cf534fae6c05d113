"""The rows of a run's record, saved by itself or with the evidence: what it newly says."""

from __future__ import annotations

from typing import Any, Final

from projections.audit.cells import digest, host_time, texts_of, told
from projections.audit.event_cells import EventCells, trace_of
from projections.audit.remembered import NO_PLACE, is_first
from projections.order import text

PROMPT: Final = "prompt"

_SAYS = (
    "conversation_id",
    "output_preview",
    "parent_run_id",
    "profile",
    "status",
    "terminal_error",
    "trace_context",
)
"""Members whose change makes a saved record a row of its own."""


def run_saved(cells: EventCells, data: dict[str, Any]) -> None:
    """Write a row when a saved record says something new, and one for its prompt.

    Raises:
        AttributeError, KeyError, TypeError: it has another shape.
    """
    _run_record(cells, data["run"], "run.saved")


def run_committed(cells: EventCells, data: dict[str, Any]) -> None:
    """Write a row of the evidence of a run, and one for the prompt in its record.

    Raises:
        AttributeError, KeyError, TypeError: it has another shape.
    """
    _run_record(cells, data["run"], "run.committed")


def _run_record(cells: EventCells, record: dict[str, Any], kind: str) -> None:
    run = cells.run
    status = text(record["status"])
    found = record.get("terminal_error")
    error = (None, None) if found is None else (text(found["code"]), text(found["message"]))
    run.tell_trace(trace_of(record.get("trace_context")))
    run.parent_run_id = told(record.get("parent_run_id")) or run.parent_run_id
    if run.conversation_id is None:
        run.conversation_id = told(record.get("conversation_id"))
    if run.session_id is None:
        run.session_id = told(record.get("session_id"))
    run.agent = run.agent or told((record.get("metadata") or {}).get("agent_name"))
    run.agent = run.agent or told(record.get("profile"))
    cells.agent = run.agent
    said = digest({name: record.get(name) for name in _SAYS})
    at = host_time(record.get("updated_at"))
    if said != run.said or kind == "run.committed":
        message = error[1]
        cells.put(
            kind,
            text=None if message == run.error else message,
            host_at=at,
            status=status,
            error_kind=error[0],
        )
        run.said = said
    prompt(cells, record.get("input"), host_time(record.get("created_at")))
    run.set_status(status, cells.place, cells.recorded_at, error=error)


def prompt(
    cells: EventCells,
    content: Any,
    host_at: int | None,
    at: int = NO_PLACE,
    *,
    appended: bool = False,
) -> None:
    """Write a row for a prompt that has texts, unless the run had the same one before.

    Args:
        content: as a run record's `input` or a part of a request has it.
        at: see `projections.audit.remembered.is_first`.
    """
    said = texts_of(content)
    if said is not None and is_first(cells.run.prompts, digest(said), at, appended=appended):
        cells.put(PROMPT, text=said, host_at=host_at)
