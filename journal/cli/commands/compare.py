"""The command that compares."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

import typer

from journal.cli.options import Cursor, Full, Run


def diff(ctx: typer.Context, run: Run, a: Cursor, b: Cursor, *, full: Full = False) -> None:
    """Show what changed in a run between two cursors."""
    from journal.cli.changes import show_diff
    from projections import parse_cursor, run_diff
    from projections import replay as replay_run

    first, second = parse_cursor(a), parse_cursor(b)
    output = ctx.obj.output(full=full)
    with ctx.obj.journal() as journal:
        before, after = replay_run(journal, run, at=first), replay_run(journal, run, at=second)
        output.one(run_diff(before, after), show_diff)
