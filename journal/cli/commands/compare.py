"""The command that compares."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from typing import Annotated

import typer

from journal.cli.failures import FAILED
from journal.cli.options import CURSORS, Full, Run

FirstCursor = Annotated[str | None, typer.Argument(metavar="CURSOR", help=f"In RUN: {CURSORS}")]
SecondCursor = Annotated[
    str | None, typer.Argument(metavar="CURSOR", help="Also in RUN, or in RUN2: the same.")
]
Against = Annotated[
    str | None,
    typer.Option(
        "--against", metavar="RUN2", help="Another run; both cursors are then latest by default."
    ),
]
ExitCode = Annotated[
    bool, typer.Option("--exit-code", help="Exit with 1 when they differ, with 0 when not.")
]


def diff(  # noqa: PLR0913 - its options
    ctx: typer.Context,
    run: Run,
    a: FirstCursor = None,
    b: SecondCursor = None,
    *,
    against: Against = None,
    exit_code: ExitCode = False,
    full: Full = False,
) -> None:
    """Show what changed in a run between two cursors, or from a run to another.

    Of two runs the first divergence is named. Ids, times and whatever else a host makes up
    anew for every run are no difference between them.
    """
    if against is None and (a is None or b is None):
        raise typer.BadParameter("name two cursors, or another run with --against")
    from journal.cli.changes import show_diff
    from projections import diff_runs, parse_cursor

    first, second = parse_cursor(a or "latest"), parse_cursor(b or "latest")
    output = ctx.obj.output(full=full)
    with ctx.obj.journal() as journal:
        found = diff_runs(journal, run, against or run, first, second)
        output.one(found, show_diff)
    if exit_code and not found.same:
        raise typer.Exit(FAILED)
