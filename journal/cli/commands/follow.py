"""The command that follows: the last events, and those that come."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from typing import Annotated

import typer

from journal.cli.options import Full

LINES = 10
"""Events that are printed where nobody says."""

OneRun = Annotated[str | None, typer.Argument(metavar="RUN", help="Id of the run; else all.")]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes.")]
Lines = Annotated[
    int | None,
    typer.Option("--lines", "-n", metavar="N", min=0, help=f"The last N; {LINES} by default."),
]
After = Annotated[
    int | None, typer.Option("--after", metavar="POSITION", min=0, help="All after this position.")
]


def tail(  # noqa: PLR0913 - its options
    ctx: typer.Context,
    run: OneRun = None,
    *,
    follow: Follow = False,
    lines: Lines = None,
    after: After = None,
    full: Full = False,
) -> None:
    """Print the last events by arrival, of a run or of all, and follow.

    The position that stands with the last one printed, given to --after, goes on right behind
    it. Ctrl-C ends it.
    """
    if lines is not None and after is not None:
        raise typer.BadParameter("give either --lines or --after")
    from journal.cli.tailing import show_tail
    from projections.tail_event import tail_end, tail_start

    output = ctx.obj.output(full=full)
    with ctx.obj.journal() as journal:
        if after is None:
            after = tail_start(journal.reader, run, LINES if lines is None else lines)
        with journal.subscribe(after=after, run_id=run) as subscription:
            upto = None if follow else tail_end(journal.reader, run)
            show_tail(output, subscription, upto, across=run is None)
