"""The events of an archive as a store that takes none: runs are read and replayed from it."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from journal.ids import Position, StreamId, Version, is_text
from journal.stores.interface import Identity, Lease, NameSize, StoredEvent
from projections.archive.catalogue import Catalogue
from projections.archive.events import MOST, EventFiles
from projections.archive.files import SegmentFiles
from projections.archive.read_only import ReadOnlyStore


class ArchiveStore(ReadOnlyStore):
    """The read side of `journal.stores.interface.Store`; safe for threads.

    Only the files of segments that have events of a stream are opened. Besides the errors of a
    store, every method raises `DamagedArchive` or `NewerArchive` where a file that it needs
    cannot be read.
    """

    WHY = "an archive is never changed"

    def __init__(
        self, files: SegmentFiles, catalogue: Catalogue, *, journal_id: str, last_position: int
    ) -> None:
        self._files = files
        self._catalogue = catalogue
        self._journal_id = journal_id
        self._last_position = Position(last_position)
        self._events = EventFiles(files)

    @property
    def location(self) -> str:
        """Where the archive is."""
        return self._files.place.location

    @property
    def journal_id(self) -> str:
        """The id of the journal that the archive is of."""
        return self._journal_id

    def lease(self, stream: StreamId) -> Lease | None:  # noqa: ARG002
        """Tell that nobody holds one."""
        return None

    def leases(self) -> Sequence[Lease]:
        """Tell that there is none."""
        return []

    def head(self, stream: StreamId) -> Version:
        """Tell the last version of a stream; 0 where it has no event."""
        spans = self._catalogue.spans(stream)
        return Version(spans[-1].last_version if spans else 0)

    def read_stream(  # noqa: PLR0913 - a range, a filter and a direction
        self,
        stream: StreamId,
        *,
        after: Version = Version(0),
        upto: Version | None = None,
        names: Collection[str] | None = None,
        newest_first: bool = False,
        limit: int = 1000,
    ) -> Sequence[StoredEvent]:
        """Read one page of a stream by version; see `Store.read_stream`."""
        spans = self._catalogue.spans(stream)
        if limit <= 0 or not spans:
            return []
        low = max(after + 1, spans[0].first_version)
        high = spans[-1].last_version if upto is None else min(upto, spans[-1].last_version)
        return self._events.page(
            stream,
            spans,
            low=low,
            high=high,
            names=names,
            newest_first=newest_first,
            limit=limit,
        )

    def read_versions(
        self, stream: StreamId, versions: Collection[Version]
    ) -> Sequence[StoredEvent]:
        """Read some events of a stream, by version; see `Store.read_versions`."""
        spans = self._catalogue.spans(stream)
        last = spans[-1].last_version if spans else 0
        return self._events.picked(stream, spans, sorted({v for v in versions if 1 <= v <= last}))

    def count(self, stream: StreamId, names: Collection[str]) -> int:
        """Count events of a stream by name; see `Store.count`."""
        spans = self._catalogue.spans(stream)
        if not spans or not names:
            return 0
        return self._events.count(stream, spans, names)

    def sizes(self, *, after: Position = Position(0)) -> Sequence[NameSize]:
        """Sum up the events after a position by stored name; see `Store.sizes`."""
        return self._events.sizes(self._catalogue.parts, after)

    def wait_for(self, after: Position, timeout: float) -> bool:
        """Wait in vain: nothing comes; see `Store.wait_for`."""
        if after < self._last_position:
            return True
        time.sleep(max(0.0, timeout))
        return False

    def read_all(
        self, *, after: Position = Position(0), limit: int = 1000
    ) -> Sequence[StoredEvent]:
        """Read one page of the whole archive by position; see `Store.read_all`."""
        if limit <= 0 or after >= self._last_position:
            return []
        return self._events.after(self._catalogue.parts, Position(max(after, 0)), limit)

    def find(self, stream: StreamId, identity: Identity) -> StoredEvent | None:
        """Find the event of this identity in a stream."""
        spans = self._catalogue.spans(stream)
        if not spans or (isinstance(identity, str) and not is_text(identity)):
            return None
        return self._events.find(stream, spans, identity)

    def streams(
        self, *, prefix: str, before: Position | None = None, limit: int = 1000
    ) -> Sequence[tuple[StreamId, Position]]:
        """List streams by prefix, newest first; see `Store.streams`."""
        return self._catalogue.streams(prefix, before, min(limit, MOST)) if limit > 0 else []

    def last_position(self) -> Position:
        """Tell the position of the last event; 0 in an empty archive."""
        return self._last_position

    def close(self) -> None:
        """Release everything; twice does nothing."""
        self._files.duck.close()
