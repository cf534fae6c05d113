"""Answers of the audit that are tables and blocks: tool calls, usage, failures, approvals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from journal.cli.clock import SECONDS, SHORT, local
from journal.cli.listing import ROOM_FOR_ALL, ROOM_FOR_COUNTS, ROOM_FOR_TIMES
from journal.cli.messages import call_text
from journal.cli.output import Column, Output, Part
from journal.cli.page import field, status
from journal.cli.quantities import count, dollars, duration, percent

if TYPE_CHECKING:
    from projections.audit import Approval, Failure, LastCall, ToolCall, Usage

OUTCOME_STYLES = {
    "ok": "green",
    "error": "red",
    "missing": "red",
    "approval_required": "yellow",
    "deferred": "yellow",
}
"""How tool calls end."""


def show_tools(output: Output, calls: Iterable[ToolCall]) -> None:
    """Print tool calls, one a row; the first column is what replays to the call."""
    times, wide = output.room(ROOM_FOR_TIMES), output.room(ROOM_FOR_ALL)
    columns = [Column("REPLAY TO", folds=True), Column("TOOL", gives_way=True), Column("OUTCOME")]
    columns.append(Column("TOOK", right=True))
    if times:
        columns.append(Column("CALLED"))
    if wide:
        columns += [Column("ERROR", gives_way=True), Column("ARGUMENTS", gives_way=True)]
    form = SECONDS if output.room(ROOM_FOR_COUNTS) else SHORT
    rows = (_tool_row(each, form)[: len(columns)] for each in calls)
    output.table(columns, rows, "no tool calls")


def _tool_row(call: ToolCall, form: str) -> list[Part]:
    return [
        f"{call.run_id} {call.place}",
        call.tool or "-",
        outcome(call.outcome),
        duration(call.duration_ms),
        local(call.called_at if call.called_at is not None else call.returned_at, form),
        (call.error_kind or "", "red"),
        (call.arguments or "", "dim"),
    ]


def outcome(text: str) -> Part:
    """Colour the outcome of a tool call."""
    return (text, OUTCOME_STYLES.get(text, ""))


def show_usage(output: Output, sums: Iterable[Usage]) -> None:
    """Print what was used, one sum a row."""
    rest = iter(sums)
    first = next(rest, None)
    if first is None:
        output.line("no usage")
        return
    keys = [Column(name.upper(), folds=not at) for at, name in enumerate(first.key)]
    rows = chain([first], rest)
    if first.calls is None:
        titles = ["RESPONSES", "INPUT", "OUTPUT", "TOTAL", "COST"]
        if output.room(ROOM_FOR_COUNTS):
            titles[3:3] = ["CACHE READ", "CACHE WRITE"]
        of = _tokens if output.room(ROOM_FOR_COUNTS) else _few_tokens
    else:
        titles, of = ["CALLS", "FAILED", "RATE", "MISSING", "TIME"], _calls
    columns = [*keys, *(Column(title, right=True) for title in titles)]
    output.table(
        columns, ([*(key or "-" for key in one.key.values()), *of(one)] for one in rows), ""
    )


def _keys(used: Usage) -> Iterator[str]:
    return (key or "-" for key in used.key.values())


def _tokens(used: Usage) -> list[Part]:
    before, after = _few_tokens(used)[:3], _few_tokens(used)[3:]
    return [*before, count(used.cache_read_tokens), count(used.cache_write_tokens), *after]


def _few_tokens(used: Usage) -> list[Part]:
    numbers = (used.responses, used.input_tokens, used.output_tokens, used.total_tokens)
    return [*map(count, numbers), dollars(used.cost_micros or None)]


def _calls(used: Usage) -> list[Part]:
    failed, calls = used.failed_calls or 0, used.calls or 0
    return [
        count(calls),
        (count(failed), "red" if failed else ""),
        percent(failed, calls),
        count(used.missing_returns),
        duration(used.duration_ms or None),
    ]


def show_failures(output: Output, failures: Iterable[Failure]) -> None:
    """Print runs that failed, one below the other."""
    empty = True
    for failure in failures:
        if not empty:
            output.line()
        empty = False
        _show_failure(output, failure)
    if empty:
        output.line("no failures")


def _show_failure(output: Output, failure: Failure) -> None:
    output.line((failure.run_id, "bold"), "  ", status(failure.status), whole=True)
    what = ": ".join(text for text in (failure.error_kind, failure.error) if text)
    field(output, "error", (what or "-", "red"))
    field(output, "failed at", local(failure.failed_at))
    if failure.session_id is not None:
        output.line((f"{'session':<13}", "dim"), failure.session_id, whole=True)
    if failure.last_call is not None:
        field(output, "last call", *_last_call(failure.last_call))
        if failure.last_call.result is not None:
            field(output, "returned", failure.last_call.result)
    if failure.last_text:
        field(output, "last text", failure.last_text)
    _replay(output, failure.run_id, failure.place)


def _last_call(call: LastCall) -> list[Part]:
    """Show a call, its outcome first: what follows may be long."""
    text = call_text(call.tool or "?", call.arguments)
    return [outcome(call.outcome), (f"  {call.place}  ", "dim"), (text, "yellow")]


def show_approvals(output: Output, approvals: Iterable[Approval]) -> None:
    """Print approvals, one below the other."""
    empty = True
    for approval in approvals:
        if not empty:
            output.line()
        empty = False
        _show_approval(output, approval)
    if empty:
        output.line("no approvals")


def _show_approval(output: Output, approval: Approval) -> None:
    name = approval.approval_id or approval.call_id or "-"
    output.line((name, "bold"), "  ", status(approval.status), whole=True)
    what: list[Part] = [(call_text(approval.tool or "?", approval.arguments), "yellow")]
    field(output, "action", *what)
    if approval.request is not None:
        field(output, "request", approval.request)
    field(output, "requested", local(approval.requested_at))
    if approval.decided_at is not None:
        by = approval.decided_by or "nobody who is named"
        field(output, "decided by", f"{by} at {local(approval.decided_at)}")
    if approval.waited is not None:
        field(output, "waited", duration(approval.waited // 1000))
    if approval.reason is not None:
        field(output, "reason", approval.reason)
    _replay(output, approval.run_id, approval.place)


def _replay(output: Output, run_id: str, place: str) -> None:
    """Print what replays to a place; never cut, it is to be copied."""
    output.line((f"{'replay to':<13}", "dim"), run_id, (f" {place}", "bold"), whole=True)
