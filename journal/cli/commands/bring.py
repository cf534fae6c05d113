"""Commands that bring in what other programs stored."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from typing import Annotated

import typer

from journal.cli.failures import FAILED


def import_(
    ctx: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Of Starweaver's SqliteSessionStore.")
    ],
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing, only count and check.")
    ] = False,
) -> None:
    """Record what a Starweaver session database holds; it is only read.

    What the journal holds already is not repeated: what was broken off goes on when it is
    called again. Exits with 1 where a row was refused; the others are recorded.
    """
    from journal.cli.imports import import_file

    if not import_file(ctx.obj, file, dry_run=dry_run):
        raise typer.Exit(FAILED)
