"""What a statement of SQL selected, as a table, as JSON and as CSV."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import typer

from journal.cli.delimited import print_rows
from journal.cli.output import Column, Output, Part
from journal.cli.values import as_json, as_text
from journal.errors import LimitReached

if TYPE_CHECKING:
    from journal.stores.audit import Selected

STDIN = "-"
ROOM_A_COLUMN = 10
"""Where a terminal has less room for each column, rows are printed one below the other."""


def read_statement(text: str) -> str:
    """Give the statement; `-` reads it from the standard input.

    Raises:
        typer.BadParameter: there is no text in it, or it is no UTF-8.
    """
    if text == STDIN:
        try:
            text = sys.stdin.buffer.read().decode()
        except UnicodeDecodeError as error:
            raise typer.BadParameter(f"standard input is not UTF-8 ({error.reason})") from None
    if not text.strip():
        raise typer.BadParameter("the statement is empty")
    return text


def show_selected(output: Output, selected: Selected, *, csv: bool) -> None:
    """Print what was selected; that there is more than may be given is told after it.

    Raises:
        LimitReached: there is more.
    """
    more: LimitReached | None = None

    def given() -> Iterator[Sequence[Any]]:
        nonlocal more
        try:
            yield from selected.rows
        except LimitReached as reached:
            more = reached

    if csv:
        print_rows(unique(selected.columns), given())
    else:
        show_rows(output, selected.columns, given())
    if more is not None:
        raise more


def show_rows(output: Output, titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows as JSON documents, as a table, or where that has no room, as blocks."""
    if output.json:
        names = unique(titles)
        for row in rows:
            members = dict(zip(names, map(as_json, row), strict=True))
            output.document({"schema": "runjournal.sql_row", "schema_version": 1, "row": members})
    elif output.room(len(titles) * ROOM_A_COLUMN):
        _show_table(output, titles, rows)
    else:
        _show_blocks(output, titles, rows)


def unique(titles: Sequence[str]) -> list[str]:
    """Make the names of columns differ: of several `a` the second is `a_2`."""
    taken = set(titles)
    found: list[str] = []
    for title in titles:
        name, number = title, 1
        while name in found or (number > 1 and name in taken):
            number += 1
            name = f"{title}_{number}"
        found.append(name)
    return found


def _show_table(output: Output, titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    rest = iter(rows)
    first = list(islice(rest, 1))
    numbers = (
        [type(value) in (int, float) for value in first[0]] if first else [False] * len(titles)
    )
    columns = [
        Column(title, right=right, gives_way=True)
        for title, right in zip(titles, numbers, strict=True)
    ]
    output.table(columns, ([_part(each) for each in row] for row in chain(first, rest)), "no rows")


def _show_blocks(output: Output, titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    width = max(map(len, titles))
    number = 0
    for number, row in enumerate(rows, 1):
        if number > 1:
            output.line()
        output.line((f"row {number}", "bold"))
        for title, value in zip(titles, row, strict=True):
            output.line((f"  {title:<{width}}  ", "dim"), _part(value))
    if not number:
        output.line("no rows")


def _part(value: Any) -> Part:
    return ("NULL", "dim") if value is None else as_text(value)
