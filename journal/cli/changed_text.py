"""A text and what became of it, on lines that show where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from journal.cli.inline import Piece, Sign, TextAlignment, hunks
from journal.cli.output import Output, Part

ADDED = "green"
REMOVED = "red"
STYLES: dict[Sign, str] = {"-": REMOVED, "+": ADDED, "=": ""}

HUNKS = 6
"""Stretches with a change that are shown of a text; `full` shows all of it."""


class Row(NamedTuple):
    """A text and what stands before it."""

    number: str
    role: str
    text: str


class ChangedText:
    """Prints texts of which both, or only one, may be there: `-` the old, `+` the new one."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self._alignment = TextAlignment()

    def show(self, old: Row | None, new: Row | None) -> None:
        """Print what became of a text; None where it was or is not there."""
        if old is None or new is None:
            if old is not None:
                self._line("-", old, [old.text])
            if new is not None:
                self._line("+", new, [new.text])
            return
        found = self._alignment.pieces(old.text, new.text)
        if self.output.full:
            self._whole("-", old, found)
            self._whole("+", new, found)
        else:
            self._changes({"-": old, "+": new}, found)

    def _whole(self, sign: Sign, row: Row, found: Sequence[Piece]) -> None:
        for at, line in enumerate(_lines(_styled(sign, found))):
            self._line(sign, row if not at else _blank(row), line)

    def _changes(self, rows: dict[Sign, Row], found: Sequence[Piece]) -> None:
        room = self.output.width - sum(map(len, _before("-", rows["-"])))
        groups = hunks(found, room=room)
        for group in groups[:HUNKS]:
            for sign, row in rows.items():
                if len(groups) == 1 or any(each.sign == sign for each in group):
                    self._line(sign, row, _styled(sign, group))
                    rows[sign] = _blank(row)
        if len(groups) > HUNKS:
            self.output.line(("  ... ", "dim"), (f"{len(groups) - HUNKS} more changes", "dim"))

    def _line(self, sign: Sign, row: Row, text: Sequence[Part]) -> None:
        before, role = _before(sign, row)
        self.output.line((before, STYLES[sign]), (role, "dim"), *text)


def _before(sign: Sign, row: Row) -> tuple[str, str]:
    if not (row.number or row.role):
        return f"{sign} ", ""
    return f"{sign} {row.number:>4} ", f"{row.role:<11} "


def _blank(row: Row) -> Row:
    return Row(" " * len(row.number), " " * len(row.role), "")


def _styled(sign: Sign, found: Sequence[Piece]) -> list[tuple[str, str]]:
    """Give the pieces of one of the texts; where both share nothing, no part of it is marked."""
    shared = any(each.sign == "=" for each in found)
    return [
        (each.text, f"bold {STYLES[sign]}" if shared and each.sign == sign else "")
        for each in found
        if each.sign in ("=", sign)
    ]


def _lines(parts: Sequence[tuple[str, str]]) -> Iterator[list[Part]]:
    line: list[Part] = []
    for text, style in parts:
        first, *rest = text.split("\n")
        line.append((first, style))
        for each in rest:
            yield line
            line = [(each, style)]
    yield line
