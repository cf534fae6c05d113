"""Reading a journal: events in pages, and the documents they hold as differences."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

from journal.archived import archived, dropped, must_be_here
from journal.codec import RecordedEvent, decode
from journal.documents import Documents, Known
from journal.errors import CorruptEvent, RunNotFound, SessionNotFound
from journal.events import DocumentCopied, RunArchived
from journal.ids import (
    RUN_PREFIX,
    SESSION_PREFIX,
    Position,
    RunId,
    SessionId,
    StreamId,
    Version,
    run_stream,
    session_stream,
)
from journal.json_door import JSON
from journal.readable import Stretch, stretches
from journal.stores.interface import Identity, Lease, Store, StoredEvent

PAGE = 1000
"""Events read at a time; nothing is held open between two pages."""


FEW = 50
"""Events read at a time where the first few mostly answer."""


class Reader:
    """The read side of one store: no lock, no cursor left open, safe from any thread.

    Whatever looks for events of a run raises `RunIsArchived` where they were dropped, because
    an archive has them; also in the middle, when they are dropped meanwhile.
    """

    def __init__(self, store: Store) -> None:
        self.store = self._store = store  # for what reads several as one
        self._documents = Documents(store)

    def run_events(
        self,
        run_id: str,
        *,
        after: Version = Version(0),
        upto: Version | None = None,
        names: Collection[str] | None = None,
    ) -> Iterator[RecordedEvent]:
        """Yield one run's events in version order.

        Args:
            after: exclusive lower bound; 0 reads from the start.
            upto: inclusive upper bound.
            names: only events of these stored names.

        Raises:
            RunNotFound: no event of this run was ever recorded.
            RunIsArchived: its events are in an archive only.
            CorruptEvent: a row no longer decodes.
        """
        stream = run_stream(run_id)
        head = self._store.head(stream)
        if not head:
            raise RunNotFound(run_id)
        must_be_here(self._store, stream)
        upto = head if upto is None else min(upto, head)
        for event, _ in self._stream(stream, after=after, upto=upto, names=names):
            yield event

    def sized_run_events(
        self, run_id: str, *, after: Version = Version(0), upto: Version
    ) -> Iterator[tuple[RecordedEvent, int]]:
        """Yield one run's events, each with the size of its JSON in bytes; see `run_events`."""
        yield from self._stream(run_stream(run_id), after=after, upto=upto, names=None)

    def events(self, stream: StreamId, versions: Sequence[int]) -> list[RecordedEvent]:
        """Give some events of a stream, in the order asked for.

        Raises:
            RunIsArchived: they are in an archive only.
            CorruptEvent: one is missing, or no longer decodes.
        """
        if not versions:
            return []
        lowest, highest = min(versions), max(versions)
        found: dict[int, RecordedEvent] = {}
        if highest - lowest == len(versions) - 1:
            for event, _ in self._stream(
                stream, after=Version(lowest - 1), upto=Version(highest), names=None
            ):
                found[event.version] = event
        else:
            wanted = sorted(versions)
            while wanted:
                page = self._store.read_versions(stream, [Version(v) for v in wanted[:PAGE]])
                if not page:
                    break
                found |= {stored.version: decode(stored) for stored in page}
                wanted = wanted[bisect_right(wanted, page[-1].version) :]
        try:
            return [found[version] for version in versions]
        except KeyError as missing:
            must_be_here(self._store, stream)
            raise CorruptEvent(stream, Version(missing.args[0]), "missing") from None

    def checkpoint_event(self, run_id: str, checkpoint_id: str) -> RecordedEvent | None:
        """Find the event of a run's checkpoint by its id."""
        return self.find(run_id, f"checkpoint:{checkpoint_id}")

    def find(self, run_id: str, identity: Identity) -> RecordedEvent | None:
        """Find a run's event by its identity (see `journal.offers`)."""
        stream = run_stream(run_id)
        stored = self._store.find(stream, identity)
        if stored is None:
            must_be_here(self._store, stream)
        return None if stored is None else decode(stored)

    def find_in(self, stream: StreamId, identity: Identity) -> RecordedEvent | None:
        """Find an event of any stream by its identity, among those that are here."""
        stored = self._store.find(stream, identity)
        return None if stored is None else decode(stored)

    def session_events(
        self,
        session_id: str,
        *,
        after: Version = Version(0),
        names: Collection[str] | None = None,
    ) -> Iterator[RecordedEvent]:
        """Yield the events of a session's own stream in version order.

        Args:
            after: exclusive lower bound; 0 reads from the start.
            names: only events of these stored names.

        Raises:
            SessionNotFound: no event of this session was ever recorded.
        """
        stream = session_stream(session_id)
        head = self._store.head(stream)
        if not head:
            raise SessionNotFound(session_id)
        for event, _ in self._stream(stream, after=after, upto=head, names=names):
            yield event

    def _stream(
        self,
        stream: StreamId,
        *,
        after: Version,
        upto: Version,
        names: Collection[str] | None,
    ) -> Iterator[tuple[RecordedEvent, int]]:
        while after < upto:
            page = self._store.read_stream(stream, after=after, upto=upto, names=names, limit=PAGE)
            if not page:
                must_be_here(self._store, stream)
                return
            for stored in page:
                if names is None and stored.version != after + 1:
                    must_be_here(self._store, stream)
                    reason = f"missing: version {stored.version} follows {after}"
                    raise CorruptEvent(stream, after + 1, reason)
                after = stored.version
                yield decode(stored), len(stored.data)

    def first_run_event(self, run_id: str, names: Collection[str]) -> RecordedEvent | None:
        """Find the run's first event, by version, of one of these stored names."""
        return self._one(run_stream(run_id), names, newest_first=False)

    def last_run_event(self, run_id: str, names: Collection[str]) -> RecordedEvent | None:
        """Find the run's last event, by version, of one of these stored names."""
        return self._one(run_stream(run_id), names, newest_first=True)

    def _one(
        self, stream: StreamId, names: Collection[str], *, newest_first: bool
    ) -> RecordedEvent | None:
        page = self._store.read_stream(stream, names=names, newest_first=newest_first, limit=1)
        if RunArchived.NAME not in names:
            must_be_here(self._store, stream)
        return decode(page[0]) if page else None

    def last_event(self, run_id: str) -> RecordedEvent | None:
        """Give the last event that tells of the run: no copy, nor that it is archived.

        Of a run that is in an archive only, its `run.archived` event; None for an unknown run.
        """
        told = self.dropped(run_id)
        if told is not None:
            return told
        stream = run_stream(run_id)
        upto: Version | None = None
        while page := self._store.read_stream(stream, upto=upto, newest_first=True, limit=1):
            if page[0].name not in (DocumentCopied.NAME, RunArchived.NAME):
                return decode(page[0])
            upto = Version(page[0].version - 1)
        return None

    def newest_run_events(self, run_id: str, names: Collection[str]) -> Iterator[RecordedEvent]:
        """Yield a run's events of these stored names, the newest first; for a look at a few."""
        stream = run_stream(run_id)
        upto: Version | None = None
        while upto != 0:
            page = self._store.read_stream(
                stream, upto=upto, names=names, newest_first=True, limit=FEW
            )
            must_be_here(self._store, stream)
            for stored in page:
                yield decode(stored)
            upto = Version(page[-1].version - 1) if page else Version(0)

    def last_session_event(self, session_id: str, names: Collection[str]) -> RecordedEvent | None:
        """Find the last event, by version, of these names in a session's own stream.

        Raises:
            SessionNotFound: no event of this session was ever recorded.
        """
        stream = session_stream(session_id)
        found = self._one(stream, names, newest_first=True)
        if found is None and not self._store.head(stream):
            raise SessionNotFound(session_id)
        return found

    def event(self, stream: StreamId, version: Version) -> RecordedEvent | None:
        """Give the event at a version of a stream; None past its end.

        Raises:
            RunIsArchived: it is in an archive only.
        """
        page = self._store.read_stream(stream, after=Version(version - 1), upto=version, limit=1)
        if not page:
            must_be_here(self._store, stream)
        return decode(page[0]) if page else None

    def all_events(self, *, after: Position = Position(0)) -> Iterator[RecordedEvent]:
        """Yield every event of the journal in position order, `after` exclusive."""
        while page := self._store.read_all(after=after, limit=PAGE):
            for stored in page:
                yield decode(stored)
            after = page[-1].position

    def stored_events(
        self, *, after: Position = Position(0), limit: int = PAGE
    ) -> Sequence[StoredEvent]:
        """Give one page of the journal's events as they are stored; see `Store.read_all`."""
        return self._store.read_all(after=after, limit=limit)

    @property
    def journal_id(self) -> str:
        """The id the journal got when it was made, which its backups have, too."""
        return self._store.journal_id

    def stretches(self, after: Position, limit: int) -> Iterator[Stretch]:
        """Yield every event that can be read, page by page, and what cannot be.

        Args:
            after: exclusive.
            limit: at most so many events a page.
        """
        return stretches(self._store, after, limit)

    def last_position(self) -> Position:
        """Tell the position of the last event; 0 in an empty journal."""
        return self._store.last_position()

    def wait_for(self, after: Position, timeout: float) -> bool:
        """Wait until there is an event after a position, at most for so many seconds.

        Returns:
            Whether there is one.
        """
        return self._store.wait_for(after, timeout)

    def has_run(self, run_id: str) -> bool:
        """Tell whether any event of this run was recorded."""
        return self._store.head(run_stream(run_id)) > 0

    def has_session(self, session_id: str) -> bool:
        """Tell whether any event of this session was recorded."""
        return self._store.head(session_stream(session_id)) > 0

    def archived(self, run_id: str) -> RecordedEvent | None:
        """Give the `run.archived` event of a run, whether it can be read here or not."""
        return archived(self._store, run_stream(run_id))

    def dropped(self, run_id: str) -> RecordedEvent | None:
        """Give the `run.archived` event of a run that is in an archive only.

        None for every other run. It tells what is known of the run without the archive.
        """
        return dropped(self._store, run_stream(run_id))

    def count(self, stream: StreamId, names: Collection[str]) -> int:
        """Count the events of a stream that have one of these stored names."""
        return self._store.count(stream, names)

    def head(self, run_id: str) -> Version:
        """Tell the version of the run's last event; 0 for an unknown run."""
        return self._store.head(run_stream(run_id))

    def lease(self, run_id: str) -> Lease | None:
        """Give the run's lease, also a released one; None where none was ever taken.

        `journal.leases.why_free` tells whether its owner may still be writing.
        """
        return self._store.lease(run_stream(run_id))

    def run_ids(self) -> Iterator[RunId]:
        """Yield the ids of all runs, newest first (by their first event)."""
        for name in self._names(RUN_PREFIX):
            yield RunId(name[len(RUN_PREFIX) :])

    def session_ids(self) -> Iterator[SessionId]:
        """Yield the ids of all sessions, newest first (by their first event)."""
        for name in self._names(SESSION_PREFIX):
            yield SessionId(name[len(SESSION_PREFIX) :])

    def _names(self, prefix: str) -> Iterator[StreamId]:
        before: Position | None = None
        while page := self._store.streams(prefix=prefix, before=before, limit=PAGE):
            for name, key in page:
                if before is not None and key >= before:
                    raise CorruptEvent(name, 1, "the list of streams is not in order")
                yield name
                before = key

    def document(self, event: RecordedEvent, walk: Known | None = None) -> JSON:
        """Rebuild the checkpoint or exported state that an event holds, as it was handed in.

        Args:
            event: one whose data has a `delta`.
            walk: shortens the way when many events are asked for in order; what it hands
                out shares parts and must be treated as frozen.

        Raises:
            CorruptEvent: a difference of its own run no longer fits.
            BrokenBase: a run it is based on cannot be read.
        """
        return self._documents.rebuild(event, walk)
