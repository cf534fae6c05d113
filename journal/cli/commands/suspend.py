"""Commands that stop a run and let it go on. They record, and never run anything."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from typing import Annotated

import typer

from journal.cli.failures import FAILED
from journal.cli.options import By, Full, Reason, Run, Why

Calls = Annotated[
    list[str] | None,
    typer.Argument(metavar="CALL_ID", help="With --accept-rerun: only these tool calls."),
]
AcceptRerun = Annotated[
    bool,
    typer.Option("--accept-rerun", help="Allow tool calls that may have run to run again."),
]
TrustImported = Annotated[
    bool,
    typer.Option("--trust-imported", help="Allow acting on decisions that came by ingest."),
]


def suspend(ctx: typer.Context, run: Run, *, reason: Why, by: By = None) -> None:
    """Ask a run to stop at its next boundary, whoever is writing it.

    Its host must have it journalled while it runs: at a boundary it hears of the request, and
    the run then waits.
    """
    from journal.account import current_operator
    from journal.cli.resuming import show_requested
    from projections import request_suspend

    output = ctx.obj.output()
    with ctx.obj.journal() as journal:
        made = request_suspend(journal, run, reason, current_operator(by))
        output.one(made, show_requested)


def resume(  # noqa: PLR0913 - its options
    ctx: typer.Context,
    run: Run,
    calls: Calls = None,
    *,
    accept_rerun: AcceptRerun = False,
    trust_imported: TrustImported = False,
    by: By = None,
    reason: Reason = None,
    full: Full = False,
) -> None:
    """Show how a host would resume a run, and what stands in the way. Nothing is run.

    Tool calls that are unknown_after_crash may have run already: they run again only with
    --accept-rerun. What is allowed here is recorded, and holds for the next resume.
    """
    if calls and not accept_rerun:
        raise typer.BadParameter("tool calls are named with --accept-rerun")
    from journal.account import current_operator
    from journal.cli.resuming import tell_outlook
    from projections import allow_resume, resume_outlook

    allows = accept_rerun or trust_imported
    output = ctx.obj.output(full=full)
    with ctx.obj.journal() as journal:
        if allows:
            allow_resume(
                journal,
                run,
                current_operator(by),
                accept_rerun=calls or accept_rerun,
                trust_imported=trust_imported,
                reason=reason,
            )
        if not tell_outlook(output, resume_outlook(journal, run)) and not allows:
            raise typer.Exit(FAILED)
