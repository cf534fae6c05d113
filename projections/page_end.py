"""The end of a run's rows: where new events go."""

from __future__ import annotations

from collections.abc import Sequence

from journal.errors import CorruptEvent, UnknownEvent
from journal.ids import StreamId, Version
from journal.lineage import Bound
from journal.stores.views import Page, ViewWriter
from projections.fold import RunFold, evolve
from projections.order import Entry
from projections.pages import Entries, is_full, pack_entries, unpack_entries
from projections.tracking import Tracking


class End:
    """The end of a run's rows: its last page, and the fold of all."""

    def __init__(
        self,
        fold: RunFold | None,
        page: Page | None = None,
        places: Sequence[Bound] = (),
        newest: int = 0,
        latest: int = 0,
    ) -> None:
        self.fold = fold
        """None where an event before cannot be folded, or came late."""
        self.page = page
        self.places = list(places)
        self.newest = newest
        self.latest = latest
        self.version = Version(0)
        """Of the run, at this end."""
        self._last: Entry | None = None
        self._changed = False

    def evolve(self, entry: Entry) -> None:
        """Fold an entry that follows."""
        event = entry.event
        self.newest = max(self.newest, entry.version)
        self.latest = max(self.latest, event.recorded_at)
        self._last = entry
        if self.fold is not None:
            try:
                evolve(self.fold, entry)
            except (CorruptEvent, UnknownEvent):
                self.fold = None  # whoever replays it is told

    def follows(self, entry: Entry, tracking: Tracking) -> bool:
        """Tell whether an entry comes after all there is."""
        if tracking.stale:
            return False
        return not self.places or entry.place > self.places[-1]

    def closed(self, size: int) -> bool:
        """Tell whether the last page takes no more, given the size of its events in bytes."""
        return self._last is None or is_full(len(self.places), size, self._last)

    def begin(self, page: Page) -> None:
        """Begin a page."""
        self.page = page
        self.places = []

    def add(self, entry: Entry) -> None:
        """Add an entry to the last page."""
        self.places.append(entry.place)
        self._changed = True
        self.evolve(entry)

    def flush(self, rows: ViewWriter, stream: StreamId) -> None:
        """Store the last page, where it changed."""
        if not self._changed or self.page is None:
            return
        oldest = unpack_entries(self.page.entries).oldest
        packed = pack_entries(Entries(oldest, self.places))
        self.page = self.page._replace(entries=packed)
        rows.put_page(stream, self.page)
        self._changed = False
