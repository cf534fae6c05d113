"""Recorded times are written so that they read back exactly."""

import pytest

from journal.times import EARLIEST, LATEST, format_time, parse_time


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1970-01-01T00:00:00.000000Z", 0),
        ("1970-01-01T00:00:00.000001Z", 1),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("2026-11-29T20:44:38.567828Z", 1_795_985_078_567_828),
        ("0999-01-01T00:00:00.000000Z", -30_641_760_000_000_000),
        ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
    ],
)
def test_a_time_reads_back(text, microseconds):
    assert format_time(microseconds) == text
    assert parse_time(text) == microseconds


def test_zones_are_read_and_finer_digits_cut_off():
    assert parse_time("1970-01-01T02:00:00+02:00") == 0
    assert parse_time("1970-01-01T00:00:00.0000019Z") == 1
    with pytest.raises(ValueError, match="zone"):
        parse_time("1970-01-01T00:00:00")
    for text in ("0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00"):
        with pytest.raises(ValueError, match="years 1 to 9999"):
            parse_time(text)


def test_the_years_1_to_9999_are_written_with_four_digits():
    assert format_time(EARLIEST) == "0001-01-01T00:00:00.000000Z"
    assert format_time(LATEST) == "9999-12-31T23:59:59.999999Z"
    for outside in (EARLIEST - 1, LATEST + 1):
        with pytest.raises(OverflowError):
            format_time(outside)
