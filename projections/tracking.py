"""How far the rows of a run take it in, and what is needed to go on from there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from journal.ids import Position, StreamId, Version
from journal.json_door import dumps, loads
from journal.lineage import Lineage
from journal.stores.views import Tracked, ViewsUnusable
from projections.chunks import BrokenChunks
from projections.fold_json import BrokenFold
from projections.order import BEFORE_RECORDS
from projections.pages import BrokenPage


@dataclass(slots=True)
class Tracking:
    """The state of a run's rows."""

    stream: StreamId
    version: Version = Version(0)
    """Of the last event taken in."""
    position: Position = Position(0)
    """Of the same event."""
    stored_at: int = 0
    """When it was stored, in microseconds since the epoch: tells it from another in its place."""
    largest: int = BEFORE_RECORDS
    """The largest anchor so far."""
    size: int = 0
    """Bytes of the events in the last page, as JSON."""
    earliest: int | None = None
    """The earliest time an event was recorded at, in microseconds since the epoch."""
    latest: int = 0
    """The latest one; 0 before the first event."""
    rising: bool = True
    """Whether no event was recorded before the one of the version below."""
    lineage: Lineage | None = None
    """Of a fork."""
    stale: list[bytes] = field(default_factory=list)
    """Keys of the pages, in order, that late arrivals came into. The fold of each is right,
    and that of the page after it may not be."""
    chains: dict[str, int] = field(default_factory=dict)
    """Documents since the last one that was stored, by the name of their chain."""

    def row(self) -> Tracked:
        """Give the row that keeps it."""
        lineage = self.lineage
        state = {
            "stored_at": self.stored_at,
            "largest": self.largest,
            "size": self.size,
            "earliest": self.earliest,
            "latest": self.latest,
            "rising": self.rising,
            "lineage": None if lineage is None else lineage.fields(),
            "stale": [key.hex() for key in self.stale],
            "chains": self.chains,
        }
        return Tracked(self.stream, self.version, self.position, dumps(state))

    @classmethod
    def of(cls, row: Tracked) -> Self:
        """Read the row that keeps it.

        Raises:
            ViewsUnusable: it is none.
        """
        with usable(row.stream):
            state: dict[str, Any] = loads(row.state)
            lineage = state.pop("lineage")
            stale = state.pop("stale")
            return cls(
                row.stream,
                row.version,
                row.position,
                lineage=None if lineage is None else Lineage.of(row.stream, lineage),
                stale=[bytes.fromhex(key) for key in stale],
                **state,
            )


@contextmanager
def usable(stream: StreamId) -> Iterator[None]:
    """Look into what rows of a stream hold.

    Raises:
        ViewsUnusable: in place of what goes wrong where they hold something else.
    """
    try:
        yield
    except (BrokenChunks, BrokenFold, BrokenPage, KeyError, TypeError, ValueError) as error:
        raise ViewsUnusable(stream, f"its rows hold something else: {error!r}") from error
