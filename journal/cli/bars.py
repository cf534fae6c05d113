"""Figures as horizontal bars, of blocks on a terminal and of `#` elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from journal.cli.escape import escape, shorten_middle
from journal.cli.output import Output, Part

LONGEST_LABEL = 28
LONGEST_BAR = 40
SHORTEST_BAR = 6
"""Where there is room for less, there are only figures."""
_EIGHTHS = "▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure with its name."""

    label: str
    value: float
    figures: tuple[str, ...]
    """What stands behind the bar, in columns."""
    style: str = ""


def show_bars(output: Output, bars: Sequence[Bar]) -> None:
    """Print bars one below the other, the largest at full length."""
    labels = [_label(output, bar.label) for bar in bars]
    width = max(map(cell_len, labels), default=0)
    columns = [max(map(len, column)) for column in zip(*(b.figures for b in bars), strict=True)]
    room = output.width - width - sum(column + 2 for column in columns) - 4
    length = min(room, LONGEST_BAR)
    largest = max((bar.value for bar in bars), default=0)
    for label, bar in zip(labels, bars, strict=True):
        figures = "".join(f"  {text:>{c}}" for text, c in zip(bar.figures, columns, strict=True))
        drawn: list[Part] = []
        if length >= SHORTEST_BAR:
            drawn = ["  ", (f"{draw(bar.value, largest, length):<{length}}", bar.style)]
        output.line(f"  {label}{' ' * (width - cell_len(label))}", *drawn, figures)


def draw(value: float, largest: float, length: int) -> str:
    """Draw a bar: what is more than nothing is seen."""
    if value <= 0 or largest <= 0:
        return ""
    if not _has_blocks():
        return "#" * max(1, round(length * value / largest))
    eighths = max(1, round(8 * length * value / largest))
    rest = eighths % 8
    return _EIGHTHS[-1] * (eighths // 8) + (_EIGHTHS[rest - 1] if rest else "")


def _has_blocks() -> bool:
    """Tell whether the output is a terminal that can write them."""
    return sys.stdout.isatty() and (sys.stdout.encoding or "").lower().startswith("utf")


def _label(output: Output, text: str) -> str:
    return escape(text if output.full else shorten_middle(text, LONGEST_LABEL))
