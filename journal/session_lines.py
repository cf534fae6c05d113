"""Finding lines of sessions' own streams among what a journal holds already."""

from __future__ import annotations

from collections import Counter, defaultdict

from journal.errors import SessionNotFound
from journal.events import RUN_NOTES
from journal.ids import SESSION_PREFIX, StreamId, Version
from journal.journal import Journal
from journal.offers import Offer
from journal.repeats import digest_of

Key = tuple[StreamId, str, int | None]
"""Stream, name and time of an event; None stands for any time."""


class SessionLines:
    """What one reading of lines found of them in the streams of sessions.

    Others write to such a stream, too, so that its versions may differ between journals: an
    event is known by its time and its value. Some have both in common, so that they are
    counted: the journal holds the second of two equal lines where it holds two equal events.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._read: dict[StreamId, Version] = {}
        """By stream, the last version that was looked at."""
        self._held: defaultdict[Key, list[Version]] = defaultdict(list)
        self._found: Counter[tuple[Key, bytes]] = Counter()
        """Lines by their event and value."""

    def has(self, offer: Offer, at: int | None) -> bool:
        """Tell whether the journal holds the event of one more line, and count the line then.

        Args:
            offer: of the line.
            at: when it was recorded first, in microseconds since the epoch; None where the
                line does not tell.
        """
        self._read_on(offer.stream)
        key = (offer.stream, offer.name, at)
        versions = self._held.get(key)
        if versions is None:
            return False
        held = self._journal.reader.events(offer.stream, versions)
        same = sum(self._journal.is_same(offer, event) for event in held)
        if same <= self._found[key, digest_of(offer.value)]:
            return False
        self.take(offer, at)
        return True

    def take(self, offer: Offer, at: int | None) -> None:
        """Count a line whose event was written."""
        self._found[(offer.stream, offer.name, at), digest_of(offer.value)] += 1

    def _read_on(self, stream: StreamId) -> None:
        session_id = stream.removeprefix(SESSION_PREFIX)
        read = self._read.get(stream, Version(0))
        try:
            for event in self._journal.reader.session_events(session_id, after=read):
                self._read[stream] = event.version
                if event.name in RUN_NOTES:
                    continue
                self._held[stream, event.name, event.recorded_at].append(event.version)
                self._held[stream, event.name, None].append(event.version)
        except SessionNotFound:
            return
