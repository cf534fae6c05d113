"""What changed between two cursors, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from journal.cli.messages import Said, call_text, said, shown
from journal.cli.output import Output, Part
from journal.cli.page import heading

if TYPE_CHECKING:
    from projections import MessageChange, RunDiff

ADDED = "green"
REMOVED = "red"


def show_diff(output: Output, diff: RunDiff) -> None:
    """Print a diff: `-` is at the first cursor only, `+` at the second only."""
    output.line(("- ", REMOVED), diff.run_a, "  ", (diff.cursor_a, "bold"))
    output.line(("+ ", ADDED), diff.run_b, "  ", (diff.cursor_b, "bold"))
    if diff.same:
        output.line("nothing of what is compared differs")
    if diff.status is not None:
        heading(output, "status")
        output.line("  ", *_values(diff.status.a, diff.status.b))
    if diff.messages:
        heading(output, "messages")
        for change in diff.messages:
            _show_message(output, change)
    _show_calls(output, diff)
    if diff.usage:
        heading(output, "usage")
        for name, counts in diff.usage.items():
            output.line((f"  {name:<20}  ", "dim"), *_values(counts.a, counts.b))
    _show_state(output, diff)


def _show_message(output: Output, change: MessageChange) -> None:
    sides = (("-", REMOVED, change.index_a, change.a), ("+", ADDED, change.index_b, change.b))
    for sign, style, index, message in sides:
        if message is None or index is None:
            continue
        for at, part in enumerate(said(message)):
            number = "" if at else str(index + 1)
            _show_part(output, (f"{sign} {number:>4} ", style), part)


def _show_part(output: Output, before: Part, part: Said) -> None:
    output.line(before, (f"{part.role:<11} ", "dim"), part.text)


def _show_calls(output: Output, diff: RunDiff) -> None:
    if not (diff.opened or diff.closed):
        return
    heading(output, "open tool calls")
    for sign, style, calls in (("-", REMOVED, diff.closed), ("+", ADDED, diff.opened)):
        for call in calls:
            text = call_text(call.name, call.arguments)
            output.line((f"{sign} ", style), text, (f"  {shown(call.id)}", "dim"))


def _show_state(output: Output, diff: RunDiff) -> None:
    state = diff.state
    if not (state.added or state.removed or state.changed):
        return
    heading(output, "members of the run state")
    signs = (("-", REMOVED, state.removed), ("+", ADDED, state.added), ("~", "", state.changed))
    for sign, style, names in signs:
        for name in names:
            output.line((f"{sign} ", style), name)


def _values(before: object, after: object) -> list[Part]:
    return [(shown(before), REMOVED), " -> ", (shown(after), ADDED)]
