"""Commands that read: lists, the log, views, and interchange lines going out."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from typing import Annotated

import typer

from journal.cli.failures import FAILED
from journal.cli.options import (
    ArchivePlace,
    At,
    From,
    Full,
    Kinds,
    Limit,
    Run,
    Session,
    Status,
    To,
    Unfinished,
)


def export(
    ctx: typer.Context,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Id of the run.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every run and session.")] = False,
    archive: ArchivePlace = None,
) -> None:
    """Print a run as interchange lines.

    These are JSON, one a line, that ingest reads; --json changes nothing.
    """
    if (run is None) is not everything:
        raise typer.BadParameter("name either a run or --all")
    from journal.cli.transfer import export_lines

    with ctx.obj.reading(archive) as journal:
        export_lines(journal, run, ctx.obj.output())


def sessions(ctx: typer.Context, *, full: Full = False) -> None:
    """List sessions, newest first."""
    from journal.cli.listing import show_sessions
    from projections import list_sessions

    output = ctx.obj.output(full=full)
    with ctx.obj.journal() as journal:
        output.each(list_sessions(journal), show_sessions)


def runs(  # noqa: PLR0913 - its options
    ctx: typer.Context,
    *,
    session: Session = None,
    status: Status = None,
    limit: Limit = None,
    unfinished: Unfinished = False,
    tree: Annotated[bool, typer.Option("--tree", help="Forks below the run they are of.")] = False,
    full: Full = False,
) -> None:
    """List runs, newest first.

    One that is under way but that nobody is writing any more is shown as crashed.
    """
    from journal.cli.listing import show_families, show_runs, show_unfinished
    from projections import families, list_runs

    output = ctx.obj.output(full=full)
    with ctx.obj.journal() as journal:
        found = list_runs(journal, session, status, limit, unfinished=unfinished)
        if tree:
            output.each(families(found), show_families)
        else:
            output.each(found, show_unfinished if unfinished else show_runs)


def log(  # noqa: PLR0913 - its options
    ctx: typer.Context,
    run: Run,
    *,
    frm: From = None,
    to: To = None,
    kind: Kinds = None,
    archive: ArchivePlace = None,
    full: Full = False,
) -> None:
    """List a run's events in logical order.

    One a line; * after the version marks an event that came in by ingest. Of a fork, what it
    inherits comes first; --from leaves that out.
    """
    from journal.cli.listing import show_log
    from journal.cli.progress import phases
    from projections import log as read_log

    output = ctx.obj.output(full=full)
    with ctx.obj.reading(archive) as journal:
        with phases() as progress:
            entries = read_log(journal, run, frm, to, kind or None, progress=progress)
        output.each(entries, show_log)


def replay(  # noqa: PLR0913 - its options
    ctx: typer.Context,
    run: Run,
    *,
    at: At = "latest",
    tail: Annotated[
        int | None,
        typer.Option("--tail", metavar="N", min=0, help="The last N records after the checkpoint."),
    ] = None,
    no_tail: Annotated[
        bool, typer.Option("--no-tail", help="Without the records after the checkpoint.")
    ] = False,
    archive: ArchivePlace = None,
    full: Full = False,
) -> None:
    """Show a run as it was at a cursor."""
    if no_tail and tail is not None:
        raise typer.BadParameter("--no-tail and --tail exclude each other")
    from journal.cli.page import show_view
    from journal.cli.progress import phases
    from projections import parse_cursor
    from projections import replay as replay_run

    cursor = parse_cursor(at)
    output = ctx.obj.output(full=full)
    with ctx.obj.reading(archive) as journal:
        with phases() as progress:
            view = replay_run(
                journal, run, at=cursor, tail=0 if no_tail else tail, progress=progress
            )
        if output.json:
            output.pieces(view.json_pieces())
        else:
            show_view(output, view)


def evidence(ctx: typer.Context, run: Run, *, at: At = "latest", full: Full = False) -> None:
    """Show the resume evidence at a cursor."""
    from journal.cli.page import show_evidence
    from journal.cli.progress import phases
    from projections import parse_cursor
    from projections import replay as replay_run

    cursor = parse_cursor(at)
    output = ctx.obj.output(full=full)
    with ctx.obj.journal() as journal:
        with phases() as progress:
            view = replay_run(journal, run, at=cursor, tail=0, progress=progress)
        if not show_evidence(output, view):
            raise typer.Exit(FAILED)
