"""The base of all errors and the four groups, by what the caller does next."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class JournalError(Exception):
    """Base of every error the journal raises on purpose."""

    def __post_init__(self) -> None:
        super().__init__(self.message)

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        raise NotImplementedError  # pragma: no cover - every leaf has its own

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), tuple(getattr(self, f.name) for f in fields(self)))  # type: ignore[arg-type]


class RetryUnchanged(JournalError):
    """The same call may succeed later, unchanged."""


class ReadAgain(JournalError):
    """The journal moved on or disagrees: read it again and decide again."""


class FixInput(JournalError):
    """The call carries something wrong; it will fail until that is fixed."""


class Stop(JournalError):
    """Neither a retry nor other input helps by itself."""


RESTORE = (
    "end its writers, move it away together with its -wal, -shm and -lock, and put a copy of a "
    "backup in its place"
)
"""What helps a damaged file. A log left beside it would be laid over the restored one."""


def brief(value: Any, limit: int = 60) -> str:
    """Shorten a value to one printable line of at most `limit` characters."""
    text = ascii(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
