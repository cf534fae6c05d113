"""What a view shows of which values were redacted before they were recorded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from journal.codec import RecordedEvent
from projections.order import shaped, text


@dataclass(frozen=True, slots=True)
class Redaction:
    """A value that the journal's hook replaced before its event was written."""

    version: int
    """Of the event."""
    name: str
    """The event's stored name."""
    path: str
    """Where in the record; of much that was replaced, the path of what contains it."""

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.view`."""
        return {"version": self.version, "name": self.name, "path": self.path}


def redactions(events: Iterable[RecordedEvent | None]) -> tuple[Redaction, ...]:
    """List what was redacted in events, by version, then by path.

    Raises:
        CorruptEvent: an event's mark is no list of paths.
    """
    found = {}
    for event in events:
        if event is not None and "redacted" in event.data:
            with shaped(event):
                paths = [text(path) for path in event.data["redacted"]]
            found[event.version] = [Redaction(event.version, event.name, path) for path in paths]
    return tuple(one for version in sorted(found) for one in found[version])
