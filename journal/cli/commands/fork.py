"""The command that forks."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from typing import Annotated

import typer

from journal.cli.options import At, Run


def fork(
    ctx: typer.Context,
    run: Run,
    as_run: Annotated[str, typer.Option("--as", metavar="RUN2", help="Id of the new run.")],
    *,
    at: At = "latest",
    session: Annotated[
        str | None, typer.Option("--session", metavar="S", help="Its session; RUN's by default.")
    ] = None,
) -> None:
    """Open a new run that begins as a run was at a cursor, ready to be resumed.

    Nothing is copied, and the run may go on. The same fork again is the same.
    """
    from journal.cli.forks import Forked, show_fork
    from projections import parse_cursor
    from projections import replay as replay_run

    cursor = parse_cursor(at)
    output = ctx.obj.output()
    with ctx.obj.journal() as journal:
        view = replay_run(journal, run, at=cursor, tail=0)
        with journal.fork(view, as_run, session_id=session) as made:
            output.one(Forked(made, view), show_fork)
