"""Recorded times in the local zone, for people."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

SECONDS = "%Y-%m-%d %H:%M:%S"
SHORT = "%m-%d %H:%M"


def local(microseconds: int | None, form: str = SECONDS) -> str:
    """Write microseconds since the epoch in the local zone; `-` where there are none."""
    if microseconds is None:
        return "-"
    moment = _EPOCH + timedelta(microseconds=microseconds)
    with suppress(OverflowError):  # the zone moves a time out of the years 1 to 9999
        moment = moment.astimezone()
    return moment.strftime(form.replace("%Y", f"{moment.year:04}"))  # strftime leaves out zeros


def local_milliseconds(microseconds: int, *, date: bool) -> str:
    """Write a time of day with milliseconds, after its date where asked."""
    form = SECONDS if date else "%H:%M:%S"
    return f"{local(microseconds, form)}.{microseconds // 1000 % 1000:03d}"
