"""Lists as CSV, for programs and for spreadsheets.

It is RFC 4180 in UTF-8: a header line, commas, CRLF, quotes where they are needed. Numbers are
plain, times RFC 3339, truth is `true` or `false`, what is missing is an empty cell. A
spreadsheet takes a text for a formula that begins with one of `FORMULAS`: such a text gets an
apostrophe before it, and so does one that begins with an apostrophe, so that whoever reads the
file takes one leading apostrophe away and has every text as recorded.

Text is kept as it is, line breaks and control characters too; only a terminal gets it escaped.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Any

from journal.cli.escape import escape
from journal.cli.failures import writing
from journal.cli.output import HasJSON
from journal.cli.values import as_text

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 - meant
_MARKED = (*FORMULAS, "'")


def print_answers(columns: Sequence[str], answers: Iterable[HasJSON]) -> None:
    """Print the members of answers, one a row.

    Args:
        columns: their names in the answer's JSON; those of inner objects as `outer.inner`.
    """
    titles = [name.removeprefix("key.") for name in columns]
    print_rows(titles, (_members(answer.to_json(), columns) for answer in answers))


def print_rows(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a header line, then the rows; nothing where the first row cannot be had."""
    lines = csv.writer(_Standard())
    rest = iter(rows)
    first = list(islice(rest, 1))
    lines.writerow([cell(title) for title in titles])
    lines.writerows([cell(value) for value in row] for row in chain(first, rest))


def cell(value: Any) -> str:
    """Write a value so that it stays data wherever the file is opened."""
    if value is None:
        return ""
    text = as_text(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(_MARKED) else text


def _members(document: dict[str, Any], columns: Sequence[str]) -> list[Any]:
    return [_member(document, name) for name in columns]


def _member(document: dict[str, Any], name: str) -> Any:
    if name in document:
        return document[name]
    outer, _, inner = name.partition(".")
    within = document[outer]
    return None if within is None else _member(within, inner)


class _Standard:
    """The standard output, in UTF-8 whatever the locale; a terminal gets nothing bare."""

    def __init__(self) -> None:
        self._terminal = sys.stdout.isatty()

    def write(self, line: str) -> None:
        if self._terminal:
            line = escape(line.removesuffix("\r\n")) + "\n"
        with writing():
            sys.stdout.buffer.write(line.encode(errors="backslashreplace"))
