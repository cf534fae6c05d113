"""Commands for people whom runs wait for. They record decisions, and never run anything."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journal.cli.options import By, Everything, Full, OfRun, Reason, Session, Why

if TYPE_CHECKING:
    from journal import Journal
    from journal.events import Operator
    from projections import Decided

Approval = Annotated[str, typer.Argument(metavar="ID", help="Id of the approval.")]
Call = Annotated[str, typer.Argument(metavar="ID", help="Id of the deferred tool call.")]


@dataclass(frozen=True, slots=True)
class Given:
    """JSON that was given: null, too, which the option alone would take for missing."""

    value: Any


def response_of(text: str) -> Given:
    """Read the response to a tool call.

    Raises:
        typer.BadParameter: it is not JSON, or a value that the journal does not allow.
    """
    from journal.errors import InvalidJSON
    from journal.json_door import accept

    try:
        return Given(accept(text.encode(errors="surrogateescape"), unique_keys=True)[0])
    except InvalidJSON as error:
        raise typer.BadParameter(error.message) from None


Response = Annotated[
    Given,
    typer.Option("--response", metavar="JSON", parser=response_of, help="What the call returns."),
]


def approvals(
    ctx: typer.Context,
    *,
    run: OfRun = None,
    session: Session = None,
    everything: Everything = False,
    full: Full = False,
) -> None:
    """List the approvals that runs wait for, newest first.

    Those a tool asked for are listed before their run makes a record of them.
    """
    from journal.cli.waiting import show_approvals
    from projections import pending_approvals

    output = ctx.obj.output(full=full)
    with ctx.obj.journal() as journal:
        found = pending_approvals(journal, session=session, run=run, everything=everything)
        output.each(found, show_approvals)


def approve(
    ctx: typer.Context, id_: Approval, *, by: By = None, reason: Reason = None, run: OfRun = None
) -> None:
    """Record that a tool call may run. Nothing is run: its host resumes the run.

    A decision is made once: another one is refused, the same one again is the same.
    """
    from projections import decide_approval

    record(
        ctx,
        by,
        lambda journal, who: decide_approval(journal, id_, "approved", who, reason=reason, run=run),
    )


def deny(
    ctx: typer.Context, id_: Approval, *, by: By = None, reason: Reason = None, run: OfRun = None
) -> None:
    """Record that a tool call may not run; see approve."""
    from projections import decide_approval

    record(
        ctx,
        by,
        lambda journal, who: decide_approval(journal, id_, "denied", who, reason=reason, run=run),
    )


def record(
    ctx: typer.Context, by: str | None, decide: Callable[[Journal, Operator], Decided]
) -> None:
    """Record a decision in the name of who is at the command line, and print it."""
    from journal.account import current_operator
    from journal.cli.waiting import show_decided

    output = ctx.obj.output()
    with ctx.obj.journal() as journal:
        output.one(decide(journal, current_operator(by)), show_decided)


def deferred(
    ctx: typer.Context,
    *,
    run: OfRun = None,
    session: Session = None,
    everything: Everything = False,
    full: Full = False,
) -> None:
    """List the deferred tool calls that runs wait for, newest first."""
    if ctx.invoked_subcommand is not None:
        return
    from journal.cli.waiting import show_deferred_tools
    from projections import pending_deferred_tools

    output = ctx.obj.output(full=full)
    with ctx.obj.journal() as journal:
        found = pending_deferred_tools(journal, session=session, run=run, everything=everything)
        output.each(found, show_deferred_tools)


def complete(  # noqa: PLR0913 - its options
    ctx: typer.Context,
    id_: Call,
    *,
    response: Response,
    by: By = None,
    reason: Reason = None,
    run: OfRun = None,
) -> None:
    """Record what a deferred tool call returns. Nothing is run: its host resumes the run.

    A call ends once: another end is refused, the same one again is the same.
    """
    from projections import resolve_deferred_tool

    record(
        ctx,
        by,
        lambda journal, who: resolve_deferred_tool(
            journal, id_, "completed", who, response=response.value, reason=reason, run=run
        ),
    )


def fail(ctx: typer.Context, id_: Call, *, reason: Why, by: By = None, run: OfRun = None) -> None:
    """Record that a deferred tool call failed, and why: the agent is told."""
    from projections import resolve_deferred_tool

    record(
        ctx,
        by,
        lambda journal, who: resolve_deferred_tool(
            journal, id_, "failed", who, reason=reason, run=run
        ),
    )


def cancel(
    ctx: typer.Context, id_: Call, *, reason: Reason = None, by: By = None, run: OfRun = None
) -> None:
    """Record that nobody will make a deferred tool call."""
    from projections import resolve_deferred_tool

    record(
        ctx,
        by,
        lambda journal, who: resolve_deferred_tool(
            journal, id_, "cancelled", who, reason=reason, run=run
        ),
    )
