"""Bars are in proportion, fit the width, and hide nothing that is there."""

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from journal.cli.bars import Bar, draw, show_bars
from journal.cli.output import Output


class Terminal(io.TextIOWrapper):
    def isatty(self):
        return True


def shown(monkeypatch, bars, **options):
    printed = io.StringIO()
    monkeypatch.setattr(sys, "stdout", printed)
    show_bars(Output(**options), bars)
    return printed.getvalue().splitlines()


def test_a_pipe_gets_plain_bars_in_columns(monkeypatch):
    bars = [Bar("completed", 4, ("4", "80.0 %")), Bar("failed", 1, ("1", "20.0 %"))]
    assert shown(monkeypatch, bars) == [
        f"  completed  {'#' * 40}  4  80.0 %",
        f"  failed     {'#' * 10}{' ' * 30}  1  20.0 %",
    ]


@given(st.floats(0, 1e18), st.integers(1, 200))
def test_a_bar_has_its_length_and_what_is_there_is_seen(value, length):
    drawn = draw(value, 1e18, length)
    assert len(drawn) <= length
    assert bool(drawn) == (value > 0)


def test_a_terminal_gets_eighths_of_a_block(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal(io.BytesIO(), encoding="utf-8"))
    assert draw(8, 8, 2) == "██"
    assert draw(5, 8, 2) == "█▎"
    assert draw(0.001, 8, 2) == "▏"
    assert draw(0, 8, 2) == ""


def test_nothing_at_all_is_no_failure(monkeypatch):
    assert shown(monkeypatch, []) == []
    assert shown(monkeypatch, [Bar("none", 0, ("0",))]) == [f"  none{' ' * 42}  0"]


@pytest.mark.parametrize("width", [12, 30, 50, 80, 120])
def test_lines_fit_the_width(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    bars = [Bar("a" * 100, 1, ("1",)), Bar("晴" * 10, 2, ("2",)), Bar("\x1b[31m", 3, ("3",))]
    lines = shown(monkeypatch, bars)
    assert max(map(len, lines)) <= width
    assert all(line.isprintable() for line in lines)
    if width >= 50:
        assert len({cell_len(line) for line in lines}) == 1
