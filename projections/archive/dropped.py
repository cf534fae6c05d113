"""What came of dropping archived runs: those that went, and those that stay."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

LISTED = 100
"""Runs left that a result lists one by one; the others are counted."""


@dataclass(frozen=True, slots=True)
class RunLeft:
    """A run that stays in the journal."""

    run_id: str
    reason: str
    """`not_ended`, `not_archived`, `leased`, `waiting`, `forked`, `changed` meanwhile, or
    `damaged`: here or in the archive."""
    why: str
    """The same for people."""


@dataclass(frozen=True, slots=True)
class ArchiveDropped:
    """What was dropped just now, and what was left."""

    location: str
    """Of the archive."""
    runs: tuple[str, ...]
    """The runs that were dropped, or whose dropping was ended, the newest first."""
    events: int
    """Deleted from the journal."""
    copies: int
    """Documents of others that were copied whole, as they were differences from what went."""
    gone: int
    """Runs that had been dropped before."""
    left: tuple[RunLeft, ...]

    def to_json(self) -> dict[str, Any]:
        """Give it as a JSON object."""
        return {
            "schema": "runjournal.archive.dropped",
            "schema_version": 1,
            "location": self.location,
            "runs": list(self.runs),
            "events": self.events,
            "copies": self.copies,
            "gone": self.gone,
            "left": dict(sorted(Counter(each.reason for each in self.left).items())),
            "left_runs": [
                {"run_id": each.run_id, "reason": each.reason, "why": each.why}
                for each in self.left[:LISTED]
            ],
        }
