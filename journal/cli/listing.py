"""Lists: sessions, runs, and the log of a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from journal.cli.clock import SECONDS, SHORT, local, local_milliseconds
from journal.cli.messages import shown
from journal.cli.output import Column, Output, Part
from journal.cli.page import status

if TYPE_CHECKING:
    from projections import FamilyMember, LogEntry, RunSummary, SessionSummary, Shrunk

EVENT_STYLES = {
    "checkpoint.taken": "cyan",
    "model_response": "green",
    "run_cancelled": "yellow",
    "run_complete": "green",
    "run_failed": "red",
    "suspended": "yellow",
    "tool_call": "yellow",
    "tool_return": "magenta",
}


UNREADABLE = ("unreadable", "red")

ROOM_FOR_COUNTS = 110
ROOM_FOR_ALL = 140
ROOM_FOR_DATE = 100
ROOM_FOR_TIMES = 75
"""Columns of a terminal; with fewer, a list shows little more than ids, and those whole."""


def show_sessions(output: Output, sessions: Iterable[SessionSummary]) -> None:
    """Print sessions, one a row."""
    form = SECONDS if output.room(ROOM_FOR_COUNTS) else SHORT
    columns = [Column("SESSION", folds=True), Column("STATUS"), Column("RUNS", right=True)]
    if output.room(ROOM_FOR_TIMES):
        columns += [Column("CREATED"), Column("UPDATED"), Column("TITLE", gives_way=True)]
    rows = (_session_row(one, form)[: len(columns)] for one in sessions)
    output.table(columns, rows, "no sessions")


def _session_row(session: SessionSummary, form: str) -> list[Part]:
    if session.error is not None:
        return [session.session_id, UNREADABLE, "", "", "", (session.error, "red")]
    return [
        session.session_id,
        status(session.status),
        str(len(session.runs)),
        local(session.created_at, form),
        local(session.updated_at, form),
        shown(session.title or ""),
    ]


def show_runs(output: Output, runs: Iterable[RunSummary]) -> None:
    """Print runs, one a row; a terminal shows as many columns as it has room for."""
    columns = _run_columns(output)
    output.table(columns, (_run_row(run, len(columns)) for run in runs), "no runs")


def show_unfinished(output: Output, runs: Iterable[RunSummary]) -> None:
    """Print runs that go on only when somebody resumes them, one a row, and why they wait."""
    columns = _run_columns(output)
    rows = ([*_run_row(run, len(columns)), shown(run.suspended or "")] for run in runs)
    output.table([*columns, Column("WAITS FOR", gives_way=True)], rows, "no unfinished runs")


def show_families(output: Output, members: Iterable[FamilyMember]) -> None:
    """Print runs with their forks below, one a row, and the cursor of each fork."""
    columns = _run_columns(output)
    rows = (_member_row(member, len(columns)) for member in members)
    output.table([columns[0], Column("FORKED AT"), *columns[1:]], rows, "no runs")


def _member_row(member: FamilyMember, columns: int) -> list[Part]:
    run, at = member.run, ""
    if run.forked_from is not None:
        source, cursor = run.forked_from
        at = shown(cursor if member.lasts else f"{cursor} of {source}")
    row = _run_row(run, columns)
    return [_branch(member.lasts) + run.run_id, (at, "bold"), *row[1:]]


def _branch(lasts: tuple[bool, ...]) -> str:
    above = "".join("   " if last else "\u2502  " for last in lasts[:-1])
    return above + ("\u2514\u2500 " if lasts[-1] else "\u251c\u2500 ") if lasts else ""


def _run_columns(output: Output) -> list[Column]:
    counts, everything = output.room(ROOM_FOR_COUNTS), output.room(ROOM_FOR_ALL)
    columns = [Column("RUN", folds=True), Column("SESSION", gives_way=True), Column("STATUS")]
    if counts:
        columns += [Column(title, right=True) for title in ("STEP", "MESSAGES", "EVENTS")]
    if output.room(ROOM_FOR_TIMES):
        columns += [Column("OPENED"), *([Column("UPDATED")] if everything else [])]
    else:
        del columns[1]
    return columns


def _run_row(run: RunSummary, columns: int) -> list[Part]:
    state = status(run.status) if run.error is None else UNREADABLE
    if run.archived and run.messages is None:
        state = (f"{state[0]}, archived", state[1])
    row: list[Part] = [run.run_id, shown(run.session_id or "-"), state]
    if columns < len(row):
        return [run.run_id, state]
    if columns == len(row) + 1:
        return [*row, local(run.opened_at, SHORT)]
    row += ["-" if each is None else str(each) for each in (run.step, run.messages, run.events)]
    return [*row, local(run.opened_at), local(run.updated_at)][:columns]


def show_log(output: Output, entries: Iterable[LogEntry]) -> None:
    """Print the events of a run, one a line; `*` marks an imported one."""
    date = output.room(ROOM_FOR_DATE)
    empty = True
    for entry in entries:
        if empty:
            empty = False
            time = f"{'TIME':<{23 if date else 12}}"
            output.line((f"{'STREAM':>6} {'VERSION':>7}  {time}  EVENT", "dim"))
        output.line(*_log_line(entry, date=date))
        if entry.shrank is not None:
            output.line(*_shrunk_line(entry.shrank, date=date))
    if empty:
        output.line("no events")


def _shrunk_line(shrank: Shrunk, *, date: bool) -> list[Part]:
    fell = f"history shrank from {shrank.before} to {shrank.messages} messages"
    return [" " * (40 if date else 29), (f"{fell}: epoch {shrank.epoch} begins", "yellow")]


def _log_line(entry: LogEntry, *, date: bool) -> list[Part]:
    kind = entry.kind
    stream = "-" if entry.anchor < 0 else str(entry.anchor)
    mark = "*" if entry.imported else " "
    style = EVENT_STYLES.get(kind, "" if entry.known else "red")
    return [
        (f"{stream:>6} {entry.version:>7}{mark} ", "dim"),
        (local_milliseconds(entry.recorded_at, date=date), "dim"),
        (f"  {kind:<20} " if entry.known else f"  {kind} (unknown) ", style),
        entry.summary,
    ]
