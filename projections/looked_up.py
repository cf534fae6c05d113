"""The events that a fold refers to, each read once and many at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from journal.codec import RecordedEvent
from journal.ids import StreamId, Version
from journal.reader import Reader
from projections.order import Entry, Ref


class LookedUp:
    """Gives events by where they stand; remembers those it has seen."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._seen: dict[Ref, RecordedEvent] = {}

    def see(self, entry: Entry) -> None:
        """Remember an event that was read."""
        event = entry.event
        self._seen[Ref.to(event)] = event

    def one(self, at: Ref | None) -> RecordedEvent | None:
        """Give an event; None for none."""
        return None if at is None else self.all([at])[0]

    def all(self, refs: Sequence[Ref]) -> list[RecordedEvent]:
        """Give events in the order asked for.

        Raises:
            CorruptEvent: one is missing, or no longer decodes.
        """
        missing: dict[StreamId, list[Version]] = {}
        for at in refs:
            if at not in self._seen:
                missing.setdefault(at.stream, []).append(at.version)
        for stream, versions in missing.items():
            for event in self._reader.events(stream, versions):
                self._seen[Ref(stream, event.version)] = event
        return [self._seen[at] for at in refs]

    def fetch(self, refs: Iterable[Ref | None]) -> None:
        """Read events that will be asked for one by one."""
        self.all([at for at in refs if at is not None])
