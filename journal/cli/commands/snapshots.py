"""Commands on what was derived from events, which is made again when it is needed."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

import typer


def snapshots(ctx: typer.Context) -> None:
    """Show what the snapshots take, which make replays quick.

    They stand in a file beside the journal. Without them every answer is the same, only
    slower.
    """
    if ctx.invoked_subcommand is not None:
        return
    from journal.cli.care import show_snapshots
    from journal.snapshots import look_at_views

    ctx.obj.output().one(look_at_views(ctx.obj.db), show_snapshots)


def drop(ctx: typer.Context) -> None:
    """Remove the snapshots, also damaged ones; no answer changes.

    The journal may be in use: its users go on without, and make new ones in time.
    """
    from journal.cli.care import show_dropped
    from journal.snapshots import drop_views

    ctx.obj.output().one(drop_views(ctx.obj.db), show_dropped)
