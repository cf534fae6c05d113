"""Commands that ask across all runs, of the journal and of what was archived of it."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from typing import Annotated

import typer

from journal.cli.audit_options import Asked, filtered
from journal.cli.failures import WRONG_USAGE
from journal.cli.options import Run

KEYS = "session, run, conversation, parent, agent, model, tool, day"

Tool = Annotated[str | None, typer.Option("--tool", metavar="NAME", help="Only of this tool.")]
Failed = Annotated[bool, typer.Option("--failed", help="Only those that returned an error.")]
Keys = Annotated[
    list[str],
    typer.Option("--by", metavar="KEY", help=f"May be repeated, or with commas: {KEYS}."),
]
Cancelled = Annotated[bool, typer.Option("--cancelled", help="Also those that were cancelled.")]
Pending = Annotated[bool, typer.Option("--pending", help="Only those that wait for a decision.")]
Trace = Annotated[str, typer.Argument(metavar="TRACE", help="Id of the trace.")]
Phrase = Annotated[
    str, typer.Argument(metavar="PHRASE", help="Its words; no character is query syntax.")
]
Term = Annotated[str, typer.Argument(metavar="TERM", help="A text, in any case of its letters.")]
Exact = Annotated[bool, typer.Option("--exact", help="The case of letters matters.")]


def audit(ctx: typer.Context) -> None:
    """Ask across all runs: which tools, what cost, why it failed, who approved, where it stands.

    Every question can be narrowed, see its own --help. What replays to a place is printed as
    RUN CURSOR, for `runjournal replay RUN --at CURSOR`.
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help(), err=True)
        raise typer.Exit(WRONG_USAGE)


@filtered
def tools(asked: Asked, *, tool: Tool = None, failed: Failed = False) -> None:
    """List tool calls with what they returned, newest first.

    A return that asks for approval, or defers the call, is no failure.
    """
    from journal.cli import audit_columns
    from journal.cli.audit_pages import show_tools

    with asked.audit() as questions:
        found = questions.tools(asked.filter, tool=tool, failed=failed)
        asked.each(found, show_tools, audit_columns.TOOLS)


@filtered
def usage(asked: Asked, *, by: Keys = ["session"]) -> None:  # noqa: B006 - typer copies it
    """Sum tokens and costs, or with `--by tool` calls; the costliest first, days in order.

    Costs are in dollars, as far as hosts gave estimates.
    """
    from journal.cli import audit_columns
    from journal.cli.audit_pages import show_usage

    keys = [key.strip() for each in by for key in each.split(",")]
    with asked.audit() as questions:
        found = questions.usage(asked.filter, by=keys)
        asked.each(found, show_usage, audit_columns.usage(keys))


@filtered
def trace(asked: Asked, trace_id: Trace) -> None:
    """Show what happened on a trace, over all runs that were on it, in time order."""
    from journal.cli import audit_columns
    from journal.cli.audit_lines import show_trace

    with asked.audit() as questions:
        found = questions.trace(trace_id, asked.filter)
        asked.each(found, show_trace, audit_columns.ROWS)


@filtered
def failures(asked: Asked, *, cancelled: Cancelled = False) -> None:
    """List runs that failed, each with its error and the last thing it did.

    --since and --until are of when they ended.
    """
    from journal.cli import audit_columns
    from journal.cli.audit_pages import show_failures

    with asked.audit() as questions:
        found = questions.failures(asked.filter, cancelled=cancelled)
        asked.each(found, show_failures, audit_columns.FAILURES)


@filtered
def approvals(asked: Asked, *, pending: Pending = False) -> None:
    """List what was asked to be approved, who decided, and how long it waited; newest first."""
    from journal.cli import audit_columns
    from journal.cli.audit_pages import show_approvals

    with asked.audit() as questions:
        found = questions.approvals(asked.filter, pending=pending or None)
        asked.each(found, show_approvals, audit_columns.APPROVALS)


@filtered
def search(asked: Asked, phrase: Phrase) -> None:
    """Find a phrase in prompts, answers, tool arguments and results, errors and reasons.

    Its words stand there one after the other, in any case, with anything but words between.
    Best first, each with the place to replay to.
    """
    from journal.cli import audit_columns
    from journal.cli.audit_lines import show_hits

    with asked.audit() as questions:
        asked.each(questions.search(phrase, asked.filter), show_hits, audit_columns.HITS)


@filtered
def timeline(asked: Asked, run: Run) -> None:
    """Show what happened in a run, in logical order."""
    from journal.cli import audit_columns
    from journal.cli.audit_lines import show_timeline

    with asked.audit() as questions:
        found = questions.timeline(run, asked.filter)
        asked.each(found, show_timeline, audit_columns.ROWS)


@filtered
def trace_text(asked: Asked, run: Run, term: Term, *, exact: Exact = False) -> None:
    """Show where a text entered a run, and everywhere it went: messages, results, deltas.

    Also where deltas of the model's stream carry it in pieces.
    """
    from journal.cli import audit_columns
    from journal.cli.audit_lines import show_term

    with asked.audit() as questions:
        found = questions.term(run, term, asked.filter, exact=exact)
        asked.each(found, show_term, audit_columns.TERM_PLACES)


@filtered
def gaps(asked: Asked) -> None:
    """List what is missing: sequences, returns of calls, ends of runs, events that are damaged."""
    from journal.cli import audit_columns
    from journal.cli.audit_lines import show_gaps

    with asked.audit() as questions:
        asked.each(questions.gaps(asked.filter), show_gaps, audit_columns.GAPS)


QUESTIONS = (tools, usage, trace, failures, approvals, search, timeline, trace_text, gaps)
"""In the order of the help."""
