"""What changed between two cursors, or two runs, as a page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from journal.cli.changed_text import ADDED, REMOVED, ChangedText, Row
from journal.cli.messages import Said, call_text, said, shown
from journal.cli.output import Output, Part
from journal.cli.page import heading
from projections.alignment import align

if TYPE_CHECKING:
    from projections import (
        Branch,
        Divergence,
        MessageChange,
        PatchOperation,
        RunDiff,
        ToolCallMade,
        ValueChange,
    )

MEMBERS = 3
"""Changed members that are shown of a message whose text is the same; `full` shows all."""


def show_diff(output: Output, diff: RunDiff) -> None:
    """Print a diff: `-` is of the first run or cursor only, `+` of the second only."""
    output.line(("- ", REMOVED), diff.run_a, "  ", (diff.cursor_a, "bold"))
    output.line(("+ ", ADDED), diff.run_b, "  ", (diff.cursor_b, "bold"))
    if diff.same:
        output.line("nothing of what is compared differs")
    text = ChangedText(output)
    if diff.run_a != diff.run_b:
        _show_divergence(output, diff.divergence)
    if diff.status is not None:
        heading(output, "status")
        output.line("  ", *_values(diff.status.a, diff.status.b))
    _show_value(text, "output", diff.output)
    _show_value(text, "error", diff.error)
    if diff.messages:
        heading(output, "messages")
        patches = _of_messages(diff.patch)
        for change in diff.messages:
            place = change.index_b
            _show_message(text, change, () if place is None else patches.get(place, ()))
    if diff.run_a != diff.run_b:
        _show_calls(text, diff)
    _show_open_calls(output, diff)
    if diff.usage:
        heading(output, "usage")
        for name, counts in diff.usage.items():
            output.line((f"  {name:<20}  ", "dim"), *_values(counts.a, counts.b))
    _show_state(output, diff)


def _show_divergence(output: Output, divergence: Divergence | None) -> None:
    if divergence is None:
        return
    number = divergence.messages
    heading(output, "divergence", (f"  after {number} equal message{'s'[: number != 1]}", "dim"))
    for sign, style, branch in (("-", REMOVED, divergence.a), ("+", ADDED, divergence.b)):
        at = "differs from its beginning on" if branch.cursor is None else branch.cursor
        output.line((f"{sign} ", style), (at, "bold"), "  ", *_next(branch))
    whole = {"a": divergence.a, "b": divergence.b}
    if divergence.beginning is not None:
        shorter = whole.pop(divergence.beginning)
        [longer] = whole.values()
        output.line(f"  {shorter.run_id} is just the beginning of {longer.run_id}")


def _next(branch: Branch) -> Iterator[Part]:
    from projections import summarize_record  # noqa: PLC0415 - it is loaded with the diff

    step = branch.next
    if step is None:
        yield ("ends here", "dim")
    elif step.kind == "record":
        yield (f"record {step.at}  ", "dim")
        yield f"{step.value['event']['kind']}  {summarize_record(step.value)}"
    else:
        # Instructions stand in every request: what else is in it says more.
        parts = list(said(step.value))
        telling = [part for part in parts if part.role != "instruction"] or parts
        yield (f"message {step.at + 1}  ", "dim")
        yield "; ".join(f"{part.role} {part.text}" for part in telling)


def _show_value(text: ChangedText, title: str, change: ValueChange | None) -> None:
    if change is not None:
        heading(text.output, title)
        old, new = (
            None if value is None else Row("", "", shown(value)) for value in (change.a, change.b)
        )
        text.show(old, new)


def _show_message(
    text: ChangedText, change: MessageChange, operations: Sequence[PatchOperation]
) -> None:
    before = [] if change.a is None else list(said(change.a))
    after = [] if change.b is None else list(said(change.b))
    if before == after:
        _show_members(text.output, change, operations)
        return
    indexes = (change.index_a, change.index_b)
    numbers = ["" if index is None else str(index + 1) for index in indexes]
    for pair in _pairs(before, after):
        rows: list[Row | None] = []
        for side, part in enumerate(pair):
            rows.append(None if part is None else Row(numbers[side], *part))
            numbers[side] = numbers[side] if part is None else ""
        text.show(*rows)


def _pairs(before: list[Said], after: list[Said]) -> Iterator[tuple[Said | None, Said | None]]:
    """Yield the parts of two messages that differ; of what is between equal ones, one role."""
    i = j = 0
    for at, other in [*align(before, after), (len(before), len(after))]:
        olds, news = before[i:at], after[j:other]
        while olds and news and olds[0].role == news[0].role:
            yield olds.pop(0), news.pop(0)
        yield from ((old, None) for old in olds)
        yield from ((None, new) for new in news)
        i, j = at + 1, other + 1


def _show_members(
    output: Output, change: MessageChange, operations: Sequence[PatchOperation]
) -> None:
    """Print which members differ of a message that says the same."""
    number = 0 if change.index_b is None else change.index_b + 1
    most = len(operations) if output.full else MEMBERS
    for at, operation in enumerate(operations[:most]):
        path = operation.path.split("/", 3)[-1]
        output.line(
            (f"~ {'' if at else number:>4} ", ""),
            (f"{operation.op:<11} ", "dim"),
            f"/{path}  ",
            "" if operation.op == "remove" else shown(operation.value),
        )
    if len(operations) > most:
        output.line(("  ... ", "dim"), (f"{len(operations) - most} more members", "dim"))


def _of_messages(patch: Iterable[PatchOperation]) -> dict[int, list[PatchOperation]]:
    """Give the operations within messages, by the place of the message in the second view."""
    found: dict[int, list[PatchOperation]] = defaultdict(list)
    for operation in patch:
        tokens = operation.path.split("/", 3)
        if tokens[1] == "messages" and len(tokens) > 3:
            found[int(tokens[2])].append(operation)
    return found


def _show_calls(text: ChangedText, diff: RunDiff) -> None:
    calls = diff.calls
    if not calls.changes:
        return
    made = f"  {calls.made_a} and {calls.made_b}"
    heading(text.output, "tool calls", (made, "dim"))
    for change in calls.changes:
        if change.a is None or change.b is None:
            old, new = (
                None if call is None else Row(str(call.message + 1), "call", _called(call))
                for call in (change.a, change.b)
            )
            text.show(old, new)
            continue
        text.output.line(
            f"~ {change.b.message + 1:>4} ", ("call        ", "dim"), _called(change.b)
        )
        old, new = (
            None if call.answer is None else Row("", *_answer(call.answer))
            for call in (change.a, change.b)
        )
        text.show(old, new)


def _called(call: ToolCallMade) -> str:
    return call_text(call.name, call.arguments)


def _answer(answer: dict[str, Any]) -> Said:
    """Give what a tool returned; where that is the same, the user's or the host's share too."""
    [part] = said({"kind": "request", "parts": [answer]})
    others = {key: answer[key] for key in ("app_value", "user_content") if key in answer}
    return part._replace(text=f"{part.text}  {shown(others)}") if others else part


def _show_open_calls(output: Output, diff: RunDiff) -> None:
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
