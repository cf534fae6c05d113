"""What waits for a person, and what a person decided."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from journal.cli.clock import local
from journal.cli.messages import call_text, shown
from journal.cli.output import Output, Part
from journal.cli.page import status

if TYPE_CHECKING:
    from projections import Decided, WaitingItem


def show_approvals(output: Output, items: Iterable[WaitingItem]) -> None:
    """Print approvals, one below the other."""
    _show_items(output, items, "approvals")


def show_deferred_tools(output: Output, items: Iterable[WaitingItem]) -> None:
    """Print deferred tool calls, one below the other."""
    _show_items(output, items, "deferred tool calls")


def show_decided(output: Output, decided: Decided) -> None:
    """Print what was decided, and that nothing was run with it."""
    show_item(output, decided.item)
    if decided.repeated:
        _field(output, "repeated", "this was recorded before, and stays as it is")
    else:
        _field(output, "run next", "nothing was run; its host resumes the run with this")


def _show_items(output: Output, items: Iterable[WaitingItem], what: str) -> None:
    empty = True
    for item in items:
        if not empty:
            output.line()
        empty = False
        if item.error is None:
            show_item(output, item)
        else:
            _field(output, "run", shown(item.run_id))
            _field(output, "unreadable", (item.error, "red"))
    if empty:
        output.line(f"no {what}")


def show_item(output: Output, item: WaitingItem) -> None:
    """Print an approval or a deferred tool call."""
    record = item.record
    output.line((shown(item.id), "bold"), "  ", status(item.status), whole=True)
    _field(output, "run", shown(item.run_id), "  ", status(item.run_status))
    _field(output, "session", shown(item.session_id))
    if "reviewed_arguments" in record:
        arguments = record["reviewed_arguments"]
        _field(output, "action", call_text(shown(item.name), arguments))
    else:
        _field(output, "action" if "action_name" in record else "tool", shown(item.name))
    if record.get("request") is not None:
        _field(output, "request", shown(record["request"]))
    _field(output, "recorded", local(item.recorded_at))
    if item.derived:
        _field(output, "asked by", "the tool; the run has made no record of it yet")
    if item.inherited:
        _field(output, "inherited", f"of run {shown(record.get('run_id'))}, which it forked")
    if record.get("response") is not None:
        _field(output, "response", shown(record["response"]))
    _show_decision(output, item)
    if item.imported:
        _field(output, "imported", ("from another journal", "yellow"), _trust(item))


def _field(output: Output, name: str, *parts: Part) -> None:
    """Print a named field whole: who decides must see all of it."""
    output.line((f"{name:<13}", "dim"), *parts, whole=True)


def _show_decision(output: Output, item: WaitingItem) -> None:
    decision = item.decision
    if decision is None:
        return
    account = "" if decision.user is None else f" ({decision.user}@{shown(decision.host)})"
    by = shown(decision.by) if decision.by is not None else "nobody who is named"
    _field(output, "decided by", f"{by}{account} at {shown(decision.at or '-')}")
    if decision.reason is not None:
        _field(output, "reason", shown(decision.reason))


def _trust(item: WaitingItem) -> str:
    return "" if item.is_open else ": resumes nothing without --trust-imported"
