"""Durations, money, numbers and sizes are written for people, and exactly where that matters."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal.cli.quantities import count, counted, dollars, duration, percent, size


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (None, "-"),
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1.0 s"),
        (59_999, "59.9 s"),
        (60_000, "1 min"),
        (192_345, "3 min 12 s"),
        (3_599_999, "59 min 59 s"),
        (7_500_000, "2 h 5 min"),
        (86_400_000, "1 d"),
        (86_400_000 * 4 + 3_600_000 * 3, "4 d 3 h"),
        (-1_500, "-1.5 s"),
    ],
)
def test_a_duration_is_told_in_the_units_that_fit(milliseconds, text):
    assert duration(milliseconds) == text


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (None, "-"),
        (0, "$0.00"),
        (1, "$0.000001"),
        (1_234, "$0.001234"),
        (120_000, "$0.12"),
        (1_500_000, "$1.50"),
        (1_234_567_890_000, "$1,234,567.89"),
        (-42, "-$0.000042"),
    ],
)
def test_micro_dollars_are_written_as_dollars(micros, text):
    assert dollars(micros) == text


@given(st.integers(-(2**80), 2**80))
def test_no_micro_dollar_is_lost(micros):
    sign, whole, rest = re.fullmatch(r"(-?)\$([\d,]+)\.(\d{2,6})", dollars(micros)).groups()
    value = int(whole.replace(",", "")) * 1_000_000 + int(rest.ljust(6, "0"))
    assert (-value if sign else value) == micros


def test_numbers_have_separators():
    assert (count(1_234_567), count(None)) == ("1,234,567", "-")
    assert (counted(1, "run"), counted(2_000, "run")) == ("1 run", "2,000 runs")


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (2_500_000, "2.5 MB"), (5e12, "5,000.0 GB")],
)
def test_bytes_are_told_in_the_unit_that_fits(number, text):
    assert size(number) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 0, "-"),
        (0, 5, "0.0 %"),
        (1, 8, "12.5 %"),
        (5, 5, "100.0 %"),
        (1, 10_000, "<0.1 %"),
        (9_999, 10_000, ">99.9 %"),
    ],
)
def test_one_in_many_is_not_rounded_away(part, whole, text):
    assert percent(part, whole) == text
