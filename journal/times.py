"""Recorded times: microseconds since the epoch inside, RFC 3339 in UTC outside."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

EARLIEST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
"""The first microsecond of the year 1."""
LATEST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
"""The last microsecond of the year 9999."""


def now() -> int:
    """Tell the time by the system's clock, in microseconds since the epoch."""
    return time.time_ns() // 1000


def format_time(microseconds: int) -> str:
    """Write a time as RFC 3339 in UTC, always with six decimals and `Z`.

    Args:
        microseconds: from `EARLIEST` to `LATEST`; every decoded event keeps to that.
    """
    moment = _EPOCH + timedelta(microseconds=microseconds)
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_time(text: str) -> int:
    """Read an RFC 3339 time with its zone; digits past the microsecond are cut off.

    Raises:
        ValueError: not a time, or no zone.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} names no zone; end it with Z or an offset such as +02:00")
    try:
        moment = moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{text!r} is outside the years 1 to 9999 of UTC") from error
    return (moment - _EPOCH) // _MICROSECOND
