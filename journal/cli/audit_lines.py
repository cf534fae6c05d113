"""Answers of the audit that are lines: what happened, where a phrase occurs, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from journal.cli.audit_pages import OUTCOME_STYLES
from journal.cli.clock import SECONDS, SHORT, local, local_milliseconds
from journal.cli.escape import CUT, escape
from journal.cli.listing import EVENT_STYLES, ROOM_FOR_COUNTS, ROOM_FOR_DATE, ROOM_FOR_TIMES
from journal.cli.output import Column, Output, Part
from journal.cli.page import STATUS_STYLES, status
from journal.cli.quantities import count, dollars, duration

if TYPE_CHECKING:
    from journal.stores.audit import AuditRow
    from projections.audit import Excerpt, Gap, Happened, Hit, TermPlace

KIND_WIDTH = 20
PLACE_WIDTH = 12
EMPHASIS = "bold reverse"


def show_timeline(output: Output, rows: Iterable[Happened]) -> None:
    """Print what happened in a run, one thing a line."""
    date = output.room(ROOM_FOR_DATE)
    empty = True
    for each in rows:
        if empty:
            empty = False
            _show_titles(output, date=date)
        _show_row(output, each, date=date)
    if empty:
        output.line("nothing happened")


def show_trace(output: Output, rows: Iterable[Happened]) -> None:
    """Print what happened on a trace, below the run in which it did."""
    date = output.room(ROOM_FOR_DATE)
    run_id = None
    for each in rows:
        if run_id is None:
            _show_titles(output, date=date)
        if each.row.run_id != run_id:
            run_id = each.row.run_id
            agent = f"  {each.row.agent}" if each.row.agent else ""
            output.line((run_id, "bold"), (agent, "dim"), whole=True)
        _show_row(output, each, date=date)
    if run_id is None:
        output.line("nothing on this trace")


def _show_titles(output: Output, *, date: bool) -> None:
    time = f"{'TIME':<{23 if date else 12}}"
    output.line((f"{'REPLAY TO':>{PLACE_WIDTH}}  {time}  {'AFTER':>12}  WHAT", "dim"))


def _show_row(output: Output, happened: Happened, *, date: bool) -> None:
    row = happened.row
    style = EVENT_STYLES.get(row.kind) or STATUS_STYLES.get(row.status or "", "")
    output.line(
        (f"{happened.place:>{PLACE_WIDTH}}  ", "dim"),
        (local_milliseconds(row.recorded_at, date=date), "dim"),
        (f"  {duration(happened.offset // 1000):>12}", "dim"),
        (f"  {row.kind:<{KIND_WIDTH}}", style),
        *_about(row),
    )


def _about(row: AuditRow) -> Iterator[Part]:
    """Say what a row tells besides its kind, what matters most first."""
    child = row.child_run_id is not None
    told: list[tuple[str | None, str | None]] = [
        (f"of {row.agent or row.child_run_id}" if child else None, "dim"),
        (row.tool, "bold"),
        (row.status, OUTCOME_STYLES.get(row.status or "") or STATUS_STYLES.get(row.status or "")),
        (row.error_kind, "red"),
        (f"by {row.actor}" if row.actor else None, ""),
        (duration(row.duration_ms) if row.duration_ms is not None else None, "dim"),
        (row.model, "dim"),
        (f"{count(row.total_tokens)} tokens" if row.total_tokens else None, "dim"),
        (dollars(row.cost_micros) if row.cost_micros else None, "dim"),
        (f" {row.text}" if row.text else None, ""),
    ]
    return ((f" {text}", style or "") for text, style in told if text)


def show_hits(output: Output, hits: Iterable[Hit]) -> None:
    """Print where a phrase occurs: what replays to it, and the words around it."""
    form = SECONDS if output.room(ROOM_FOR_COUNTS) else SHORT
    empty = True
    for hit in hits:
        empty = False
        what = f"{hit.kind} {hit.tool}" if hit.tool else hit.kind
        times = f", {hit.count:,} times" if hit.count > 1 else ""
        about = f"  {what}, {local(hit.recorded_at, form)}{times}"
        output.line((hit.run_id, "bold"), (f" {hit.place}", "bold"), (about, "dim"), whole=True)
        output.line("  ", *excerpt_parts(output, hit.excerpt, 2))
    if empty:
        output.line("nothing found")


ROLES = {
    "delta": "streamed by the model",
    "response": "answered by the model",
    "arguments": "arguments of a tool call",
    "result": "result of a tool",
    "output": "output of the run",
    "record": "record",
    "message": "message in a checkpoint",
    "state": "state in a checkpoint",
    "context": "exported context",
    "environment": "exported environment",
    "event": "fact",
}
"""What carries a term, in words."""


def show_term(output: Output, places: Iterable[TermPlace]) -> None:
    """Print where a term entered a run, and everywhere it went from there."""
    form = SECONDS if output.room(ROOM_FOR_COUNTS) else SHORT
    first: TermPlace | None = None
    carried: Counter[str] = Counter()
    for place in places:
        first = first or place
        carried[place.role] += 1
        _show_term_place(output, place, form)
    if first is None:
        output.line("nothing in this run holds it")
        return
    output.line()
    output.line(("entered at ", "bold"), f"{first.run_id} ", (first.place, "bold"), whole=True)
    went = (f"{ROLES.get(role, role)} {number:,}" for role, number in carried.items())
    output.line("held by     ", ", ".join(went), whole=True)


def _show_term_place(output: Output, place: TermPlace, form: str) -> None:
    entered: list[Part] = [("  entered", "bold green")] if place.entered else []
    began = f", begun at {place.began}" if place.began is not None else ""
    child = f" of {place.agent}" if place.agent is not None else ""
    times = f", {place.count:,} times" if place.count > 1 else ""
    about = f"  {ROLES.get(place.role, place.role)}{child}{began}, {local(place.recorded_at, form)}"
    replays: list[Part] = [(place.run_id, "bold"), (f" {place.place}", "bold")]
    output.line(*replays, *entered, (about + times, "dim"), whole=True)
    path = f"  {place.path}: " if place.path else "  "
    output.line((path, "dim"), *excerpt_parts(output, place.excerpt, len(path)))


def excerpt_parts(output: Output, excerpt: Excerpt, taken: int) -> list[Part]:
    """Show an excerpt within a line; what was found is emphasised on a terminal.

    What was found is shown before what is around it.

    Args:
        taken: characters of the line that something else needs.
    """
    before, found, after = (
        escape(text)
        for text in (
            excerpt.text[: excerpt.start],
            excerpt.text[excerpt.start : excerpt.end],
            excerpt.text[excerpt.end :],
        )
    )
    room = max(output.width - taken - len(found) - 2, 0)
    if output.full or len(before) + len(after) <= room:
        head, tail = before, after
    else:
        around = max(room // 2, room - len(after))
        head = before[-around:] if around else ""
        tail = after[: room - len(head)]
    starts = CUT if excerpt.before or len(head) < len(before) else ""
    ends = CUT if excerpt.after or len(tail) < len(after) else ""
    return [starts + head, (found, EMPHASIS), tail + ends]


GAP_TITLES = {
    "damaged": "events that cannot be read",
    "sequences": "runs with missing sequences",
    "unended": "runs that never ended",
    "call": "calls without returns",
}
"""Titles of the kinds of gaps, in the order of the page."""


def show_gaps(output: Output, gaps: Iterable[Gap]) -> None:
    """Print what is missing, kind by kind."""
    kinds: dict[str, list[Gap]] = {kind: [] for kind in GAP_TITLES}
    for gap in gaps:
        kinds[gap.kind].append(gap)
    first = True
    for kind, title in GAP_TITLES.items():
        found = kinds[kind]
        if not found:
            continue
        if not first:
            output.line()
        first = False
        output.line((title, "bold"), (f"  {len(found):,}", "dim"))
        if kind == "damaged":
            _show_damaged(output, found)
        else:
            output.table(_gap_columns(output, kind), (_gap_row(output, each) for each in found), "")
    if first:
        output.line("nothing is missing")


def _show_damaged(output: Output, found: list[Gap]) -> None:
    for gap in found:
        output.line((f"position {gap.position}  ", "red"), gap.reason or "", whole=True)


def _gap_columns(output: Output, kind: str) -> list[Column]:
    columns = [Column("REPLAY TO", folds=True)]
    if kind == "sequences":
        columns.append(Column("MISSING", gives_way=True))
    elif kind == "call":
        columns += [Column("TOOL", gives_way=True), Column("CALL", folds=False, gives_way=True)]
    columns.append(Column("STATUS"))
    if output.room(ROOM_FOR_TIMES):
        columns.append(Column("CALLED" if kind == "call" else "LAST EVENT"))
    return columns


def _gap_row(output: Output, gap: Gap) -> list[Part]:
    row: list[Part] = [f"{gap.run_id} {gap.place}"]
    if gap.kind == "sequences":
        row.append((gap.missing or "", "red"))
    elif gap.kind == "call":
        row += [gap.tool or "-", (gap.call_id or "-", "dim")]
    row.append(status(gap.run_status))
    if output.room(ROOM_FOR_TIMES):
        row.append(local(gap.recorded_at, SECONDS if output.room(ROOM_FOR_COUNTS) else SHORT))
    return row
