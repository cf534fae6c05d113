"""The command that takes SQL."""
# ruff: noqa: PLC0415 - what a command needs is imported when it runs: --help answers at once

from __future__ import annotations

from typing import Annotated

import typer

from journal.cli.audit_options import Csv, audited, refuse_both
from journal.cli.options import ArchivePlace, Full

MOST_ROWS = 2_000_000_000
"""What both engines can count to."""

MOST_MEMORY = 100_000
"""Megabytes; the length of a value, which is bounded by it, is a number of 32 bits."""

A_DAY = 86_400.0

Statement = Annotated[
    str, typer.Argument(metavar="SELECT", help="One statement; - reads it from stdin.")
]
Rows = Annotated[
    int, typer.Option("--rows", metavar="N", min=1, max=MOST_ROWS, help="At most N rows.")
]
Seconds = Annotated[
    float,
    typer.Option(
        "--seconds", metavar="S", min=0.001, max=A_DAY, help="Broken off after S seconds."
    ),
]
Memory = Annotated[
    int,
    typer.Option(
        "--memory", metavar="MB", min=1, max=MOST_MEMORY, help="Broken off above MB megabytes."
    ),
]
Views = Annotated[bool, typer.Option("--views", help="Print the views and their columns.")]


def sql(  # noqa: PLR0913 - its options
    ctx: typer.Context,
    statement: Statement = "",
    *,
    rows: Rows = 10_000,
    seconds: Seconds = 10.0,
    memory: Memory = 256,
    views: Views = False,
    csv: Csv = False,
    archive: ArchivePlace = None,
    full: Full = False,
) -> None:
    """Answer a SELECT over the views of the audit. It can change nothing and open nothing.

    SQLite answers, or with --archive DuckDB. --views prints the views rows, runs and calls,
    and in what the two differ.
    """
    refuse_both(ctx.obj, csv=csv)
    from journal.cli.sql_page import read_statement, show_selected
    from journal.cli.sql_views import show_views, sql_views

    output = ctx.obj.output(full=full)
    if views and csv:
        raise typer.BadParameter("the views are described as text or with --json")
    if views:
        output.each(sql_views(), show_views)
        return
    with audited(ctx.obj, archive) as audit:
        selected = audit.sql(
            read_statement(statement), rows=rows, seconds=seconds, megabytes=memory
        )
        show_selected(output, selected, csv=csv)
