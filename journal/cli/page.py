"""The page of a run at a cursor, and the one of its resume evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from journal.cli.failures import complain
from journal.cli.messages import ROLE_STYLES, Said, call_text, said, shown
from journal.cli.output import Output, Part, joined

if TYPE_CHECKING:
    from projections import CursorReached, Live, Redaction, RunView

STATUS_STYLES = {
    "completed": "green",
    "failed": "red",
    "cancelled": "yellow",
    "waiting": "yellow",
    "running": "blue",
    "crashed": "red",
    "pending": "yellow",
    "approved": "green",
    "denied": "red",
}

TAIL = 8
"""Records after the checkpoint, and redacted values, that are shown; `full` shows all."""


def show_view(output: Output, view: RunView) -> None:
    """Print a run at a cursor as a page."""
    show_header(output, view)
    show_messages(output, view.messages)
    if view.streaming:
        _show_streamed(output, view.live)
    show_open_calls(output, view.live)
    _section(output, "children", map(_child, view.children))
    _section(output, "approvals", map(_approval, view.approvals))
    _section(output, "deferred tools", map(_deferred_tool, view.deferred_tools))
    _show_tail(output, view)
    _show_redacted(output, view.redacted)


def show_header(output: Output, view: RunView) -> None:
    """Print which run it is, where the cursor stands and how the run does."""
    live = view.live
    field(output, "run", view.run_id)
    field(output, "session", shown(view.session_id))
    if view.conversation_id is not None:
        field(output, "conversation", shown(view.conversation_id))
    field(output, "cursor", *_reached(view.cursor))
    if view.cursor.checkpoint_id is not None:
        field(output, "checkpoint", shown(view.cursor.checkpoint_id))
    doing: list[Part] = [status(live.status)]
    if live.node is not None:
        doing.append(f" at {live.node}, step {live.step}")
    if live.suspended is not None:
        doing.append(f": {shown(live.suspended['reason'])}")
    field(output, "status", *doing)
    used = ", ".join(_used(live))
    if used:
        field(output, "usage", used)
    if live.error is not None:
        kind, message = live.error["error_kind"], live.error["message"]
        field(output, "error", (f"{shown(kind)}: {shown(message)}", "red"))
    if live.output is not None:
        field(output, "output", shown(live.output))
    trace_id = view.trace_context.get("trace_id")
    if trace_id is not None:
        field(output, "trace", shown(trace_id))
    states = (("context", view.context_state), ("environment", view.environment_state))
    exported = " and ".join(name for name, state in states if state is not None)
    if exported:
        field(output, "exported", f"{exported} state (--json shows it)")


def show_messages(output: Output, messages: Iterable[dict[str, Any]]) -> None:
    """Print messages, one part a line, numbered as message cursors count."""
    for number, message in enumerate(messages, 1):
        if number == 1:
            heading(output, "messages")
        show_message(output, number, message)


def show_message(output: Output, number: int, message: dict[str, Any]) -> None:
    """Print a message, one part a line; of several instructions in a row only the first."""
    parts = list(said(message))
    for at, part in enumerate(parts):
        repeated = at > 0 and part.role == parts[at - 1].role == "instruction"
        if output.full or not repeated:
            show_said(output, "" if at else str(number), part)


def show_said(output: Output, number: str, part: Said) -> None:
    """Print one part of a message."""
    style = ROLE_STYLES.get(part.role, "")
    text_style = style if part.role in ("error", "instruction", "system", "thinking") else ""
    output.line((f"{number:>4} ", "dim"), (f"{part.role:<11} ", style), (part.text, text_style))


def show_open_calls(output: Output, live: Live) -> None:
    """Print the tool calls that have no return."""
    calls = [
        ("", (f"{call_text(call.name, call.arguments)} ", "yellow"), (shown(call.id), "dim"))
        for call in live.open_tool_calls
    ]
    _section(output, "open tool calls", calls)


def show_evidence(output: Output, view: RunView) -> bool:
    """Print the resume evidence at the cursor; tell whether there is any."""
    if output.json:
        output.document(evidence_json(view))
    elif view.evidence is not None:
        field(output, "run", view.run_id)
        field(output, "cursor", *_reached(view.cursor))
        field(output, "checkpoint", shown(view.cursor.checkpoint_id))
        heading(output, "resume evidence")
        show_fields(output, view.evidence)
    if view.evidence is None:
        complain(
            f"run {view.run_id!r} has no checkpoint at {view.cursor.requested}, so there is no "
            "evidence to resume from; try a later cursor"
        )
    return view.evidence is not None


def evidence_json(view: RunView) -> dict[str, Any]:
    """Give the `runjournal.evidence` object; its evidence is null before a checkpoint."""
    return {
        "schema": "runjournal.evidence",
        "schema_version": 1,
        "run_id": view.run_id,
        "cursor": view.cursor.to_json(),
        "evidence": view.evidence,
    }


def show_fields(output: Output, value: dict[str, Any]) -> None:
    """Print the members of an object, those of inner objects by their path."""
    fields = list(_paths(value))
    width = max((len(path) for path, _ in fields), default=0)
    for path, each in fields:
        style = STATUS_STYLES.get(each, "") if isinstance(each, str) else ""
        output.line((f"  {path:<{width}}  ", "dim"), (shown(each), style))


def _paths(value: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, each in value.items():
        if isinstance(each, dict) and each:
            yield from _paths(each, f"{before}{key}.")
        else:
            yield before + key, each


def field(output: Output, name: str, *parts: Part) -> None:
    """Print a named field of a page's head."""
    output.line((f"{name:<13}", "dim"), *parts)


def heading(output: Output, title: str, *after: Part) -> None:
    """Print the title of a part of a page, an empty line before it."""
    output.line()
    output.line((title, "bold"), *after)


def status(text: str | None) -> Part:
    """Colour a status."""
    return ("-", "dim") if text is None else (shown(text), STATUS_STYLES.get(shown(text), ""))


def _section(output: Output, title: str, rows: Iterable[tuple[Part, ...]]) -> None:
    for at, row in enumerate(rows):
        if not at:
            heading(output, title)
        output.line("  ", *row, whole=True)


def _reached(cursor: CursorReached) -> list[Part]:
    places = [f"version {cursor.version}"]
    if cursor.stream is not None:
        places.insert(0, f"stream {cursor.stream}")
    epoch = f" of epoch {cursor.epoch}" if cursor.epoch > 1 else ""
    derived = ", derived" if cursor.derived else ""
    places.append(f"message {cursor.message}{epoch}{derived}")
    return [(cursor.requested, "bold"), "  ", *joined(((place, "dim") for place in places), ", ")]


def _used(live: Live) -> Iterator[str]:
    for name, count in live.usage.items():
        if isinstance(count, int) and count:
            yield f"{name.removesuffix('_tokens').replace('_', ' ')} {count:,}"


def _show_streamed(output: Output, live: Live) -> None:
    rows: list[tuple[Part, ...]] = []
    if live.thinking:
        rows.append((("thinking  ", "dim italic"), (live.thinking, "dim italic")))
    if live.text:
        rows.append((("text  ", "green"), live.text))
    for call in live.partial_tool_calls:
        text = call_text(call.name or "?", call.arguments_text)
        rows.append((("call  ", "yellow"), text))
    _section(output, "streamed since the last model request", rows)


def _child(child: Any) -> tuple[Part, ...]:
    about = f"  {child.records} records  "
    return (
        (shown(child.agent_name), "bold"),
        "  ",
        status(child.status),
        (about, "dim"),
        child.text,
    )


def _approval(record: dict[str, Any]) -> tuple[Part, ...]:
    return _decided(record, "action_name", "approval_id")


def _deferred_tool(record: dict[str, Any]) -> tuple[Part, ...]:
    return _decided(record, "tool_name", "deferred_id")


def _decided(record: dict[str, Any], *names: str) -> tuple[Part, ...]:
    """Show a record's status and the members of these names; a damaged one may lack them."""
    shown_ones: list[Part] = [status(record.get("status"))]
    for name in names:
        shown_ones += ["  ", shown(record.get(name, "-"))]
    return tuple(shown_ones)


def _show_tail(output: Output, view: RunView) -> None:
    from projections import summarize_record  # noqa: PLC0415 - it is loaded with the view

    tail, left_out = view.tail, view.tail_left_out
    if not tail:
        return
    heading(output, "stream records after the checkpoint", (f"  {left_out + len(tail)}", "dim"))
    shown_ones = tail if output.full or left_out else tail[-TAIL:]
    left_out += len(tail) - len(shown_ones)
    if left_out:
        output.line(("  ... ", "dim"), (f"{left_out} before these", "dim"))
    for record in shown_ones:
        sequence, kind = f"{record['sequence']:>8}  ", f"{record['event']['kind']:<14}  "
        output.line((sequence, "dim"), kind, (summarize_record(record), "dim"))


def _show_redacted(output: Output, redacted: tuple[Redaction, ...]) -> None:
    if not redacted:
        return
    heading(output, "redacted before recording", (f"  {len(redacted)}", "dim"))
    shown_ones = redacted if output.full else redacted[-TAIL:]
    if len(shown_ones) < len(redacted):
        output.line(("  ... ", "dim"), (f"{len(redacted) - len(shown_ones)} before these", "dim"))
    for one in shown_ones:
        name = one.name.rsplit(".", 1)[0]
        output.line((f"{one.version:>8}  ", "dim"), f"{name:<20}  ", shown(one.path), whole=True)
