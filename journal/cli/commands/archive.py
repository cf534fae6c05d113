"""Commands on archives: sealed segments of Parquet that outlive the journal."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from typing import Annotated

import typer

from journal.cli.failures import FAILED

Before = Annotated[
    str | None,
    typer.Option(
        "--before",
        metavar="DATE",
        help="Everything stored before: RFC 3339, a date, or an age such as 30d or 3h.",
    ),
]
To = Annotated[
    str | None, typer.Option("--to", metavar="DIR|URL", help="The archive, made if need be.")
]
Place = Annotated[str, typer.Argument(metavar="DIR|URL", help="The archive.")]
Against = Annotated[
    bool, typer.Option("--against-journal", help="Compare every event with the journal's.")
]


Drop = Annotated[
    bool, typer.Option("--drop", help="Then delete the runs that are in the archive as a whole.")
]


def archive(
    ctx: typer.Context, *, before: Before = None, to: To = None, drop: Drop = False
) -> None:
    """Write the journal's oldest events to an archive, as sealed segments.

    Running it again goes on where it ended, also after a crash. The journal keeps its events
    unless --drop is given: runs that have ended, and that nothing here needs, are then read
    with --archive only.
    """
    given = before is not None or to is not None or drop
    if ctx.invoked_subcommand is not None:
        if given:
            raise typer.BadParameter("--before, --to and --drop do not go with a command")
        return
    if before is None or to is None:
        raise typer.BadParameter("--before DATE and --to DIR|URL are needed")
    from journal.cli.archiving import make_archive

    make_archive(ctx.obj, before, to, drop=drop)


def verify(ctx: typer.Context, archive: Place, *, against_journal: Against = False) -> None:
    """Read a whole archive and say what is missing or was changed; it changes nothing.

    Exits with 1 where something is wrong. That the last segments of all are missing can be
    told with --against-journal only, by a journal whose runs were dropped into them.
    """
    from journal.cli.archiving import make_verification

    if not make_verification(ctx.obj, archive, against_journal=against_journal):
        raise typer.Exit(FAILED)
