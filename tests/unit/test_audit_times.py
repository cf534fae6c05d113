"""Times are read as people give them, and nothing else is taken for one."""

import pytest

from journal.errors import InvalidFilter
from journal.times import EARLIEST, LATEST, parse_time
from projections.audit import AuditFilter, parse_when

NOW = parse_time("2026-11-29T21:00:00Z")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-29T21:00:00Z", "2026-11-29T21:00:00Z"),
        ("2026-11-29t21:00:00z", "2026-11-29T21:00:00Z"),
        ("2026-11-29 21:00:00.123456789+02:00", "2026-11-29T19:00:00.123456Z"),
        ("2026-11-29", "2026-11-29T00:00:00Z"),
        ("0001-01-01", "0001-01-01T00:00:00Z"),
        ("9999-12-31", "9999-12-31T00:00:00Z"),
        ("45s", "2026-11-29T20:59:15Z"),
        ("90m", "2026-11-29T19:30:00Z"),
        ("3h", "2026-11-29T18:00:00Z"),
        ("7d", "2026-11-22T21:00:00Z"),
        ("2w", "2026-11-15T21:00:00Z"),
        ("0s", "2026-11-29T21:00:00Z"),
    ],
)
def test_moments_days_and_ages_are_read(text, moment):
    assert parse_when(text, NOW) == parse_time(moment)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "7",
        "7y",
        "-7d",
        "7 d",
        "1d12h",
        "\u0667d",
        "2026-13-01",
        "2026-02-30",
        "2026-11-29T21:00:00",
        "2026-11-29T25:00:00Z",
        "0001-01-01T00:00:00+02:00",
        "999999999999w",
        "9" * 400 + "d",
        "7d\n",
        "7d; DROP TABLE audit_rows",
        "\ud800",
    ],
)
def test_anything_else_is_refused_with_what_is_expected(text):
    with pytest.raises(InvalidFilter) as refused:
        parse_when(text, NOW)
    assert refused.value.name == "time"
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("since", [EARLIEST - 1, LATEST + 1, 10**30, 1.5, True, "2026-11-29"]),
        ("until", [EARLIEST - 1, LATEST + 1, -(10**30), None.__class__]),
        ("session", [7, b"s", "\ud800", "a\udfff"]),
        ("run", [7, "\ud800"]),
        ("status", [7, "\ud800"]),
        ("limit", [0, -1, 1.0, True, "1"]),
    ],
)
def test_filters_that_nothing_can_match_are_refused(name, values):
    for value in values:
        with pytest.raises(InvalidFilter) as refused:
            AuditFilter(**{name: value})
        assert refused.value.name == name


def test_since_after_until_is_refused_and_a_moment_is_not():
    with pytest.raises(InvalidFilter, match="after until"):
        AuditFilter(since=2, until=1)
    assert AuditFilter(since=2, until=2).takes(2) is False


def test_bounds_take_in_the_first_moment_and_not_the_last():
    asked = AuditFilter(since=1, until=3)
    assert [asked.takes(at) for at in (0, 1, 2, 3)] == [False, True, True, False]


def test_a_filter_is_made_of_texts():
    asked = AuditFilter.of(since="2026-11-01", until="2026-11-02", session="s", limit=3)
    assert asked == AuditFilter(
        parse_when("2026-11-01", 0), parse_when("2026-11-02", 0), "s", limit=3
    )
    assert asked.is_narrow
    assert not AuditFilter(limit=3).is_narrow
    with pytest.raises(InvalidFilter, match="tomorrow"):
        AuditFilter.of(since="tomorrow")
