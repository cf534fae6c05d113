"""Cursors: the points one replays a run up to, and their text forms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from journal.errors import InvalidCursor
from journal.json_text import MAX_INT
from journal.times import format_time, parse_time

_DIGITS = re.compile(r"[0-9]{1,20}")
_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LatestCursor:
    """Everything the journal holds of the run. `LATEST` is the one to use."""

    def __str__(self) -> str:
        return "latest"


@dataclass(frozen=True, slots=True)
class StreamCursor:
    """All events whose anchor is at most `sequence`: right after that stream record.

    The checkpoint taken right after the record is included.
    """

    sequence: int

    def __post_init__(self) -> None:
        _check(str(self), self.sequence)

    def __str__(self) -> str:
        return f"stream:{self.sequence}"


@dataclass(frozen=True, slots=True)
class MessageCursor:
    """The last point at which the run had `messages` messages before it first had more.

    Where the number jumps over `messages`, the point before the jump, with the first
    messages of the state after it; the view then says `derived`.

    An epoch ends where the number of messages falls, as when a host compacts its history;
    they count from 1. Without one, the latest epoch that reached `messages` is meant.
    """

    messages: int
    epoch: int | None = None

    def __post_init__(self) -> None:
        _check(str(self), self.messages)
        if self.epoch is not None:
            _check(str(self), self.epoch)
            if self.epoch < 1:
                raise InvalidCursor(str(self), "epochs count from 1")

    def __str__(self) -> str:
        return f"message:{self.messages}" + ("" if self.epoch is None else f"@{self.epoch}")


@dataclass(frozen=True, slots=True)
class CheckpointCursor:
    """Right after the checkpoint of this id."""

    checkpoint_id: str

    def __post_init__(self) -> None:
        if type(self.checkpoint_id) is not str or not self.checkpoint_id:
            raise InvalidCursor(str(self), "a checkpoint id is a non-empty string")

    def __str__(self) -> str:
        return f"checkpoint:{self.checkpoint_id}"


@dataclass(frozen=True, slots=True)
class StepCursor:
    """The last point before the run's first model response or checkpoint of a later step."""

    step: int

    def __post_init__(self) -> None:
        _check(str(self), self.step)

    def __str__(self) -> str:
        return f"step:{self.step}"


@dataclass(frozen=True, slots=True)
class VersionCursor:
    """The first `version` events by arrival."""

    version: int

    def __post_init__(self) -> None:
        _check(str(self), self.version)

    def __str__(self) -> str:
        return f"version:{self.version}"


@dataclass(frozen=True, slots=True, init=False)
class TimeCursor:
    """The events recorded at or before a time."""

    microseconds: int
    """The time, in microseconds since the epoch."""

    def __init__(self, at: datetime | str) -> None:
        """Take a datetime that knows its zone, or RFC 3339 text such as `2026-11-29T21:00:00Z`.

        Digits past the microsecond are cut off.

        Raises:
            InvalidCursor: it is neither.
        """
        object.__setattr__(self, "microseconds", _microseconds(at))

    def __str__(self) -> str:
        return f"time:{format_time(self.microseconds)}"


Cursor: TypeAlias = (
    LatestCursor
    | StreamCursor
    | MessageCursor
    | CheckpointCursor
    | StepCursor
    | VersionCursor
    | TimeCursor
)
"""A point to replay up to; `str` gives its text form, `parse_cursor` reads it."""

LATEST = LatestCursor()


def parse_cursor(text: str) -> Cursor:  # noqa: PLR0911 - one form, one return
    """Read a cursor's text form.

    `latest`, `stream:N`, `message:N`, `message:N@E`, `checkpoint:ID`, `step:N`, `version:N`
    or `time:RFC3339`. Numbers are plain digits; an id is taken as it is, with its colons and
    spaces.

    Raises:
        InvalidCursor: it is none of them.
    """
    if not isinstance(text, str):
        raise InvalidCursor(str(text), "expected a cursor, or the text of one")
    if text == "latest":
        return LATEST
    form, _, value = text.partition(":")
    match form:
        case "stream":
            return StreamCursor(_number(text, value))
        case "message":
            messages, at, epoch = value.partition("@")
            return MessageCursor(_number(text, messages), _number(text, epoch) if at else None)
        case "checkpoint":
            return CheckpointCursor(value)
        case "step":
            return StepCursor(_number(text, value))
        case "version":
            return VersionCursor(_number(text, value))
        case "time":
            return TimeCursor(value)
        case _:
            raise InvalidCursor(text, "no such form")


def as_cursor(at: Cursor | str) -> Cursor:
    """Take a cursor, or read its text form.

    Raises:
        InvalidCursor: it is neither.
    """
    return at if isinstance(at, Cursor) else parse_cursor(at)


def _number(text: str, digits: str) -> int:
    if not _DIGITS.fullmatch(digits):
        raise InvalidCursor(text, f"expected a number in plain digits, at most {MAX_INT}")
    return int(digits)


def _check(text: str, number: int) -> None:
    if type(number) is not int or not 0 <= number <= MAX_INT:
        raise InvalidCursor(text, f"expected a whole number from 0 to {MAX_INT}")


def _microseconds(at: datetime | str) -> int:
    text = f"time:{at}"
    if isinstance(at, datetime):
        if at.utcoffset() is None:
            raise InvalidCursor(text, "the time names no zone")
        since = at - _EPOCH
    else:
        if not (isinstance(at, str) and _RFC3339.fullmatch(at)):
            raise InvalidCursor(text, "expected a time such as 2026-11-29T21:00:00Z")
        try:
            since = timedelta(microseconds=parse_time(at.upper()))
        except ValueError as error:
            raise InvalidCursor(text, str(error)) from error
    try:
        _EPOCH + since
    except OverflowError as error:
        raise InvalidCursor(text, "outside the years 1 to 9999") from error
    return since // timedelta(microseconds=1)
