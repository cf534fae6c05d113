"""Reach: the events of a run that a cursor, or a fork, takes in."""

from __future__ import annotations

from dataclasses import dataclass

from journal.ids import Version
from journal.lineage import Bound, Lineage


@dataclass(frozen=True, slots=True)
class Reach:
    """Events of one run by their place, version and time; what the run inherits comes first.

    The version that opened the run is always among them.
    """

    run_id: str
    version: Version
    """The highest version."""
    before: Bound | None = None
    """Exclusive bound in logical order; None takes in all."""
    until: int | None = None
    """Recorded at or before, in microseconds since the epoch; None takes in all."""

    def takes(self, version: int, recorded_at: int) -> bool:
        """Tell whether an event before the bound is among them."""
        if version > self.version:
            return False
        return self.until is None or recorded_at <= self.until or version == OPENING

    def upto(self, until: int | None) -> Reach:
        """Take in only what was recorded at or before a time, too."""
        if until is None or (self.until is not None and self.until <= until):
            return self
        return Reach(self.run_id, self.version, self.before, until)

    @classmethod
    def inherited(cls, lineage: Lineage) -> Reach:
        """Give the events of its source that a fork inherits."""
        return cls(lineage.source, lineage.version, lineage.before, lineage.until)


OPENING = 1
"""Version of the event that opened a run; part of it at every cursor."""
