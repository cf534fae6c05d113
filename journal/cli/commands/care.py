"""Commands that take care of the file."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

import typer

from journal.cli.failures import FAILED
from journal.cli.options import Full, Quick, Target


def backup(ctx: typer.Context, file: Target) -> None:
    """Copy the journal to a file while it is being written, and verify the copy.

    The copy is a journal that opens at once. FILE appears when it is whole and synced.
    """
    from journal.cli.care import make_backup

    make_backup(ctx.obj.db, file, ctx.obj.output())


def doctor(ctx: typer.Context, *, quick: Quick = False, full: Full = False) -> None:
    """Examine the journal file and say what to do; it changes nothing.

    Exits with 1 where something is wrong. It also examines what cannot be opened. The last
    events of all, deleted with everything that names them, leave no trace to be found.
    """
    from journal.cli.care import make_examination

    if not make_examination(ctx.obj.db, ctx.obj.output(full=full), quick=quick):
        raise typer.Exit(FAILED)
