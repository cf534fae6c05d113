"""Where commands print: JSON documents, or lines and tables for people.

Whatever is printed for people is escaped here, so that no page can forget it. On a terminal
it is coloured and fits the width; elsewhere a line has at most `PIPE_WIDTH` characters.
`full` lifts every limit.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from journal.cli.escape import CUT, escape, escape_json, shorten, shorten_middle
from journal.cli.failures import writing

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Part = str | tuple[str, str]
"""Text, or text and its rich style."""

PIPE_WIDTH = 120
CELL_WIDTH = 60
"""Characters of a table's cell."""
WHOLE_PART = 400
"""Characters of a part of a line that is not cut to the width."""
GIVES_WAY_TO = 8
"""Width that is left to a column that gives way."""
BETWEEN = 2
"""Blanks between two columns."""
ROWS_A_TABLE = 500
"""Longer lists are printed as several tables, so that they are never held in memory."""
NATURAL = 100_000
"""A width that no table reaches."""


class HasJSON(Protocol):
    """An answer of the library that can be given as JSON."""

    def to_json(self) -> dict[str, Any]:
        """Give it as an object with its schema."""
        ...


T = TypeVar("T", bound=HasJSON)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    title: str
    right: bool = False
    gives_way: bool = False
    """Is cut first where the terminal is too narrow."""
    folds: bool = False
    """Is never cut: where the terminal is too narrow even so, it goes on in the next line."""


class Output:
    """The standard output of one command."""

    def __init__(self, *, json: bool = False, full: bool = False) -> None:
        """Print JSON, or pages for people, with `full` unshortened."""
        self.json = json
        self.full = full
        self._console = _terminal()
        self.width = self._console.width if self._console else _pipe_width()

    def room(self, columns: int) -> bool:
        """Tell whether there are so many columns; only a terminal can lack them."""
        return self._console is None or self.full or self.width >= columns

    def document(self, value: Any) -> None:
        """Print one JSON document on a line of its own."""
        import orjson  # noqa: PLC0415 - help needs none of it

        document = escape_json(orjson.dumps(value)) + b"\n"
        with writing():
            sys.stdout.buffer.write(document)

    def pieces(self, pieces: Iterable[bytes]) -> None:
        """Print one JSON document that comes in pieces, on a line of its own."""
        with writing():
            for piece in pieces:
                sys.stdout.buffer.write(escape_json(piece))
            sys.stdout.buffer.write(b"\n")

    def one(self, answer: T, page: Callable[[Output, T], None]) -> None:
        """Print an answer: its JSON document, or its page."""
        if self.json:
            self.document(answer.to_json())
        else:
            page(self, answer)

    def each(self, answers: Iterable[T], page: Callable[[Output, Iterable[T]], None]) -> None:
        """Print a list: a JSON document for each, or one page."""
        if not self.json:
            page(self, answers)
            return
        for answer in answers:
            self.document(answer.to_json())

    def line(self, *parts: Part, whole: bool = False) -> None:
        """Print one line, cut to the width; when `whole`, only parts of a great length are cut.

        In `full`, line breaks of the last part go on below its start.
        """
        pieces = [(part, "") if isinstance(part, str) else part for part in parts]
        if not self.full:
            limit = WHOLE_PART if whole else self.width + 1
            cut = [(escape(shorten(text, limit)), style) for text, style in pieces]
            self._print(cut, cut=not whole)
            return
        *before, (last, style) = pieces or [("", "")]
        shown = [(escape(text), each) for text, each in before]
        indent = " " * sum(len(text) for text, _ in shown)
        for at, text in enumerate(last.split("\n")):
            self._print([*(shown if not at else [(indent, "")]), (escape(text), style)])

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[Part]], none: str) -> None:
        """Print rows below their titles, or `none`; in `full` no cell is cut."""
        rest = iter(rows)
        titles = True
        while page := list(islice(rest, ROWS_A_TABLE)):
            self._table(columns, page, titles=titles)
            titles = False
        if titles:
            self.line(none)

    def _table(
        self, columns: Sequence[Column], rows: list[Sequence[Part]], *, titles: bool
    ) -> None:
        from rich.console import Console  # noqa: PLC0415 - only when a table is printed
        from rich.table import Table  # noqa: PLC0415

        table = Table(box=None, pad_edge=False, padding=(0, BETWEEN, 0, 0), show_header=titles)
        heads = [self._cell(column.title) for column in columns]
        cells = [[self._cell(part) for part in row] for row in rows]
        widths = [max(row[at].cell_len for row in [heads, *cells]) for at in range(len(columns))]
        for column, head, width in zip(columns, heads, widths, strict=True):
            table.add_column(
                head,
                header_style="dim",
                justify="right" if column.right else "left",
                overflow="fold" if self.full or column.folds else "ellipsis",
                min_width=GIVES_WAY_TO if column.gives_way else None,
                width=min(width, self._left(columns, widths)) if column.folds else None,
                no_wrap=not (column.gives_way or column.folds or self.full),
            )
        for row in cells:
            table.add_row(*row)
        if self._console is not None:
            with writing():
                self._console.print(table)
            return
        printed = StringIO()
        Console(width=NATURAL, file=printed).print(table)
        with writing():
            sys.stdout.writelines(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())

    def _left(self, columns: Sequence[Column], widths: Sequence[int]) -> int:
        """Tell how wide a column may be that folds, next to the least the others need."""
        if self._console is None:
            return NATURAL
        others = sum(
            GIVES_WAY_TO if column.gives_way else width
            for column, width in zip(columns, widths, strict=True)
            if not column.folds
        )
        return max(self.width - others - BETWEEN * (len(columns) - 1), 1)

    def _cell(self, part: Part) -> Text:
        from rich.text import Text  # noqa: PLC0415 - only when a table is printed

        text, style = (part, "") if isinstance(part, str) else part
        return Text(escape(text if self.full else shorten_middle(text, CELL_WIDTH)), style)

    def _print(self, pieces: list[tuple[str, str]], *, cut: bool = False) -> None:
        if self._console is not None:
            from rich.text import Text  # noqa: PLC0415 - only on a terminal

            line = Text.assemble(*pieces)
            if cut:
                line.truncate(self.width, overflow="ellipsis")
            with writing():
                self._console.print(line, soft_wrap=True)
            return
        text = "".join(text for text, _ in pieces).rstrip()
        if cut and len(text) > self.width:
            text = text[: self.width - 1] + CUT
        with writing():
            sys.stdout.write(text + "\n")


def _terminal() -> Console | None:
    if not (sys.stdout.isatty() or os.environ.get("FORCE_COLOR")):
        return None
    from rich.console import Console  # noqa: PLC0415 - only on a terminal

    return Console(highlight=False)


def _pipe_width() -> int:
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) > 0 else PIPE_WIDTH


def joined(parts: Iterable[Part], between: str) -> Iterator[Part]:
    """Put `between` between parts."""
    for at, part in enumerate(parts):
        if at:
            yield between
        yield part
