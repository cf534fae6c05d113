"""A journal and its archive read as one: runs are whole, wherever their events are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from journal.errors import ArchiveOfAnotherJournal
from journal.ids import Position, StreamId, Version
from journal.reader import Reader
from journal.stores import open_audit, open_views
from journal.stores.interface import (
    Identity,
    Lease,
    NameSize,
    Store,
    StoredEvent,
)
from journal.views import Views
from projections.archive.parts import Fault
from projections.archive.read_only import ReadOnlyStore
from projections.reading import HasReader


class HasEnd(HasReader, Protocol):
    """The archive of a journal."""

    @property
    def last_position(self) -> Position:
        """The position it reaches to."""
        ...

    @property
    def faults(self) -> Sequence[Fault]:
        """What is wrong with manifests."""
        ...


class Union:
    """The read side of a journal and its archive: a `projections.reading.HasReader`.

    Positions and versions are those of the journal. What the archive has comes from it, also
    where the journal has it still. Use it only while both are open.
    """

    def __init__(self, journal: HasReader, archive: HasEnd) -> None:
        store = UnionStore(journal.reader.store, archive)
        self.reader = Reader(store)
        """The read side: events and documents."""
        self.views = Views(
            lambda revision, _: open_views(store, revision, in_memory=True),
            lambda revision, _: open_audit(store, revision, in_memory=True),
        )
        """Where projections keep what they derived: in memory."""

    def close(self) -> None:
        """Release what was derived; the journal and the archive stay open."""
        self.views.close()


class UnionStore(ReadOnlyStore):
    """The read side of `journal.stores.interface.Store` over two; safe for threads."""

    WHY = "it is read only together with its archive"

    def __init__(self, live: Store, archive: HasEnd) -> None:
        self._live = live
        self._archived = archive.reader.store
        self._end = archive.last_position
        last = archive.faults[-1] if archive.faults else None
        self._tail = last
        """Why the archive may end before it should."""

    @property
    def location(self) -> str:
        """Where the journal is, and its archive."""
        return f"{self._live.location} with the archive {self._archived.location}"

    @property
    def journal_id(self) -> str:
        """The id of the journal, which is the archive's too."""
        return self._live.journal_id

    def lease(self, stream: StreamId) -> Lease | None:
        """Give the lease of a stream in the journal."""
        return self._live.lease(stream)

    def leases(self) -> Sequence[Lease]:
        """Give every lease that was not released."""
        return self._live.leases()

    def head(self, stream: StreamId) -> Version:
        """Tell the last version of a stream; 0 where it has no event."""
        return max(self._live.head(stream), self._archived.head(stream))

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
        border = self._archived.head(stream)

        def live() -> Sequence[StoredEvent]:
            if upto is not None and upto <= border:
                return []
            above = max(after, border)
            page = self._live.read_stream(
                stream, after=above, upto=upto, names=names, newest_first=newest_first, limit=limit
            )
            self._check_border(page, border, names, newest_first=newest_first, after=above)
            return page

        def archived() -> Sequence[StoredEvent]:
            if after >= border:
                return []
            most = border if upto is None else min(upto, border)
            return self._archived.read_stream(
                stream, after=after, upto=most, names=names, newest_first=newest_first, limit=limit
            )

        return live() or archived() if newest_first else archived() or live()

    def read_versions(
        self, stream: StreamId, versions: Collection[Version]
    ) -> Sequence[StoredEvent]:
        """Read some events of a stream, by version; see `Store.read_versions`."""
        border = self._archived.head(stream)
        below = [version for version in versions if version <= border]
        if below:
            page = self._archived.read_versions(stream, below)
            if page:
                return page
        above = [version for version in versions if version > border]
        return self._live.read_versions(stream, above) if above else []

    def count(self, stream: StreamId, names: Collection[str]) -> int:
        """Count events of a stream by name; see `Store.count`."""
        border = self._archived.head(stream)
        found = self._archived.count(stream, names)
        after = border
        while page := self._live.read_stream(stream, after=after, names=names):
            found += len(page)
            after = page[-1].version
        return found

    def sizes(self, *, after: Position = Position(0)) -> Sequence[NameSize]:
        """Sum up the events after a position by stored name; see `Store.sizes`."""
        found: dict[str, NameSize] = {}
        for each in (
            *self._archived.sizes(after=after),
            *self._live.sizes(after=max(after, self._end)),
        ):
            before = found.get(each.name, NameSize(each.name, 0, 0))
            found[each.name] = NameSize(
                each.name, before.events + each.events, before.bytes + each.bytes
            )
        return list(found.values())

    def wait_for(self, after: Position, timeout: float) -> bool:
        """Wait until there is an event after a position; see `Store.wait_for`."""
        return after < self._end or self._live.wait_for(after, timeout)

    def read_all(
        self, *, after: Position = Position(0), limit: int = 1000
    ) -> Sequence[StoredEvent]:
        """Read one page of both by position; see `Store.read_all`."""
        if after < self._end:
            page = self._archived.read_all(after=after, limit=limit)
            if page:
                return page
        return self._live.read_all(after=max(after, self._end), limit=limit)

    def find(self, stream: StreamId, identity: Identity) -> StoredEvent | None:
        """Find the event of this identity in a stream."""
        found = self._archived.find(stream, identity)
        return self._live.find(stream, identity) if found is None else found

    def streams(
        self, *, prefix: str, before: Position | None = None, limit: int = 1000
    ) -> Sequence[tuple[StreamId, Position]]:
        """List streams by prefix, newest first; see `Store.streams`."""
        while before is None or before > self._end + 1:
            page = self._live.streams(prefix=prefix, before=before, limit=limit)
            # What begins in the archive is listed from there, and never stands later.
            found = [
                (stream, first)
                for stream, first in page
                if first > self._end and not self._archived.head(stream)
            ]
            if found:
                return found
            if not page or page[-1][1] <= self._end:
                break
            before = page[-1][1]
        most = Position(self._end + 1) if before is None else min(before, Position(self._end + 1))
        return self._archived.streams(prefix=prefix, before=most, limit=limit)

    def last_position(self) -> Position:
        """Tell the position of the last event."""
        return max(self._live.last_position(), self._end)

    def close(self) -> None:
        """Do nothing: both are closed by whoever opened them."""

    def _check_border(
        self,
        page: Sequence[StoredEvent],
        border: Version,
        names: Collection[str] | None,
        *,
        newest_first: bool,
        after: Version,
    ) -> None:
        """Tell of a fault at the archive's end where events are missing between the two."""
        if self._tail is None or names is not None or newest_first or after != border:
            return
        if page and page[0].version != border + 1:
            raise self._tail


def with_archive(journal: HasReader, archive: HasEnd) -> Union:
    """Read a journal and its archive as one.

    Raises:
        ArchiveOfAnotherJournal: the archive is of another journal.
    """
    ours, theirs = journal.reader.journal_id, archive.reader.journal_id
    if ours != theirs:
        raise ArchiveOfAnotherJournal(archive.reader.store.location, theirs, ours)
    return Union(journal, archive)
