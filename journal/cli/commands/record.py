"""Commands that write: the demo, and interchange lines coming in."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from typing import Annotated

import typer

from journal.cli.failures import FAILED


def demo(ctx: typer.Context) -> None:
    """Journal a real agent, live, and replay it."""
    from journal.cli.demo import run_demo

    with ctx.obj.journal(create=True) as journal:
        run_demo(journal, ctx.obj.db, ctx.obj.output())


def ingest(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Interchange lines; - for stdin.")],
    *,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Pass over bad lines and report them.")
    ] = False,
) -> None:
    """Append interchange lines of a file.

    In order; lines held already are not repeated. A bad line stops it; what came before stays.
    """
    from journal.cli.transfer import ingest_lines, opened

    with opened(file) as lines, ctx.obj.journal(create=True) as journal:
        if not ingest_lines(journal, lines, ctx.obj.output(), keep_going=keep_going):
            raise typer.Exit(FAILED)
