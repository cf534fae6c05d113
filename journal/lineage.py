"""Where a fork comes from: the part of another run that comes before its own events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

from journal.errors import CorruptEvent
from journal.ids import StreamId, Version

Bound = tuple[int, int, int]
"""A place in a run's logical order: anchor, rank, version (see `projections.order`)."""

MAX_RANK = 2
"""Of a bound that lies after everything of its anchor."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """The events of a source run that a fork inherits.

    They are those of version at most `version` whose place is before `before`, recorded at
    or before `until`; and what the source itself inherits. They never change, whatever is
    appended to the source afterwards.
    """

    source: str
    """Id of the run whose events they are."""
    version: Version
    """Highest version of an inherited event."""
    before: Bound | None
    """Exclusive bound in the source's logical order; None takes in all."""
    until: int | None
    """Microseconds since the epoch; None takes in all."""
    forked: str
    """Id of the run that was forked: `source`, or a fork of it when the cursor pointed
    into what that one inherits."""
    cursor: str
    """The cursor as it was asked for, in its text form."""

    def fields(self) -> dict[str, Any]:
        """Give the fields of `journal.events.RunForked`; those that are None are left out."""
        return {
            "source": self.source,
            "source_version": self.version,
            "before": None if self.before is None else list(self.before),
            "until": self.until,
            "forked": None if self.forked == self.source else self.forked,
            "cursor": self.cursor,
        }

    @classmethod
    def of(cls, stream: StreamId, data: dict[str, Any]) -> Self:
        """Read the lineage in a `run.forked.v1` event.

        Raises:
            CorruptEvent: the JSON has another shape.
        """
        try:
            before = data.get("before")
            source = _text(data["source"])
            forked = data.get("forked")
            return cls(
                source,
                Version(_whole(data["source_version"])),
                None if before is None else _bound(before),
                None if data.get("until") is None else _whole(data["until"]),
                source if forked is None else _text(forked),
                _text(data["cursor"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise CorruptEvent(stream, Version(1), f"not a run.forked.v1: {error!r}") from error


class Forkable(Protocol):
    """A point of a run that can be forked: a `projections.RunView`."""

    @property
    def session_id(self) -> str:
        """The session of the run."""
        ...

    @property
    def conversation_id(self) -> str | None:
        """The conversation of the run, when known."""
        ...

    @property
    def lineage(self) -> Lineage:
        """What a fork at this point inherits.

        Raises:
            CannotFork: the run never was in exactly this state.
        """
        ...


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError(f"{value!r} is no text")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is no whole number")
    return value


def _bound(value: Any) -> Bound:
    anchor, rank, version = value
    return _whole(anchor), _whole(rank), _whole(version)
