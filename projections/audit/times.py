"""Times as people give them: a moment, a day, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from journal.errors import InvalidFilter
from journal.times import EARLIEST, LATEST, parse_time

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_AGE = re.compile(r"([0-9]{1,12})([smhdw])")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_FORMS = (
    "expected a time such as 2026-11-29T21:00:00Z, a date such as 2026-11-29 (its midnight in "
    "UTC), or an age: 45s, 90m, 3h, 7d or 2w"
)


def parse_when(text: str, now: int) -> int:
    """Read a moment, a day or an age.

    Args:
        text: RFC 3339 with its zone; a date, which stands for its midnight in UTC; or how long
            ago, in seconds, minutes, hours, days or weeks.
        now: what an age counts from.

    Returns:
        Microseconds since the epoch, as `now` is.

    Raises:
        InvalidFilter: it is none of them, or outside the years 1 to 9999.
    """
    age = _AGE.fullmatch(text)
    if age is not None:
        moment = now - int(age[1]) * _SECONDS[age[2]] * 1_000_000
        if not EARLIEST <= moment <= LATEST:
            raise InvalidFilter("time", text, "that is before the year 1")
        return moment
    try:
        if _DATE.fullmatch(text):
            day = date.fromisoformat(text)
            return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1_000_000
        if _MOMENT.fullmatch(text):
            return parse_time(text.upper())
    except ValueError as error:
        raise InvalidFilter("time", text, str(error)) from error
    raise InvalidFilter("time", text, _FORMS)
