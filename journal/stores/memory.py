"""The in-memory engine: a journal that lives as long as its process."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import cast
from uuid import uuid4

from eventsourcing.popo import POPOApplicationRecorder, POPOFactory

from journal.errors import IdentityTaken, LeaseMoved, VersionConflict
from journal.ids import Position, StreamId, Version
from journal.stores.arrivals import Arrivals
from journal.stores.interface import (
    LETS_GO,
    NO_FENCES,
    Identity,
    Lease,
    NameSize,
    NewEvent,
    StoredEvent,
)
from journal.stores.recorder import EventRecorder, RecorderEvent
from journal.stores.recorder_store import RecorderStore

DROPPED = RecorderEvent("", 0, "", b"")
"""Stands in the place of an event that was dropped."""

PIECE = 1000
"""Events dropped at a time."""


class MemoryEventRecorder(EventRecorder, POPOApplicationRecorder):
    """Keeps events in the library's lists, under the rules of the journal file."""

    def __init__(self) -> None:
        super().__init__()
        self._versions: dict[tuple[str, Identity], Version] = {}
        self._keys: dict[str, Position] = {}
        """The position of each stream's first event, also where that was dropped."""
        self._last_time = 0
        self._leases: dict[StreamId, Lease] = {}
        self._journal_id = str(uuid4())
        self.arrivals = Arrivals("memory://", self.last_position, shared=False)

    @property
    def file(self) -> None:
        """The events are in no file."""
        return

    @property
    def journal_id(self) -> str:
        """The id that the journal got when it was made."""
        return self._journal_id

    def append_events(
        self,
        events: Sequence[NewEvent],
        now: int,
        fences: Mapping[StreamId, int] = NO_FENCES,
        leases: Sequence[Lease] = (),
    ) -> tuple[Position, int]:
        """Store all events or none, and the leases with them."""
        with self._database_lock:
            self._refuse_other_generations(fences)
            self._refuse_wrong_versions(events)
            versions = self._refuse_taken_identities(events)
            held = self._refuse_wrong_leases(leases, events)
            recorded_at = max(now, self._last_time)
            first = len(self._stored_events) + 1
            self._update_table(
                [
                    RecorderEvent(
                        originator_id=event.stream,
                        originator_version=event.version,
                        topic=event.name,
                        state=bytes(event.data),
                        identity=event.identity,
                        recorded_at=recorded_at,
                    )
                    for event in events
                ]
            )
            for position, event in enumerate(events, first):
                self._keys.setdefault(event.stream, Position(position))
            self._versions |= versions
            self._leases |= held
            self._last_time = recorded_at
        self.arrivals.tell(Position(first + len(events) - 1))
        return Position(first), recorded_at

    def lease(self, stream: StreamId) -> Lease | None:
        """Give the lease of a stream, also a released one."""
        return self._leases.get(stream)

    def leases(self) -> list[Lease]:
        """Give every lease that was not released, oldest stream first."""
        with self._database_lock:
            live = [lease for lease in self._leases.values() if lease.expires_at]
            return sorted(live, key=lambda lease: self._keys[lease.stream])

    def renew(self, leases: Sequence[Lease]) -> list[Lease]:
        """Store the expiry times of leases, and give those of another generation."""
        moved = []
        with self._database_lock:
            for lease in leases:
                held = self._leases.get(lease.stream)
                if held is None:
                    continue
                if held.generation == lease.generation:
                    if not held.expires_at:
                        continue
                    self._leases[lease.stream] = held.renewed(lease.expires_at)
                else:
                    moved.append(held)
        return moved

    def drop(self, stream: StreamId, upto: Version) -> int:
        """Delete some of a stream's newest events up to a version; tells how many."""
        with self._database_lock:
            index = self._stored_events_index.get(stream, {})
            last = self._head(stream)
            if last <= upto or self._stored_events[index[last]].topic != LETS_GO:
                raise ValueError(f"{stream!r} does not end with {LETS_GO} above version {upto}")
            versions = list(islice((v for v in reversed(index) if v <= upto), PIECE))
            for version in versions:
                place = index.pop(version)
                event = cast("RecorderEvent", self._stored_events[place])
                self._stored_events[place] = DROPPED
                if event.identity is not None:
                    del self._versions[stream, event.identity]
            return len(versions)

    def head(self, stream: StreamId) -> Version:
        """Tell the last version of a stream, 0 where it has none."""
        with self._database_lock:
            return self._head(stream)

    def read_stream(  # noqa: PLR0913 - a range, a filter and a direction
        self,
        stream: StreamId,
        *,
        after: Version,
        upto: Version | None,
        names: Collection[str] | None,
        newest_first: bool,
        limit: int,
    ) -> list[StoredEvent]:
        """Read one page of a stream by version."""
        with self._database_lock:
            head = self._head(stream)
            last = head if upto is None else min(upto, head)
            versions = range(max(after, 0) + 1, last + 1)
            index = self._stored_events_index.get(stream, {})
            ordered = reversed(versions) if newest_first else versions
            places = (index[version] for version in ordered if version in index)
            return self._page(places, names, limit)

    def read_versions(self, stream: StreamId, versions: Sequence[Version]) -> list[StoredEvent]:
        """Read events of a stream by rising versions."""
        with self._database_lock:
            index = self._stored_events_index.get(stream, {})
            return [self._at(index[version]) for version in versions if version in index]

    def count(self, stream: StreamId, names: Collection[str]) -> int:
        """Count the events of a stream that have one of these names."""
        with self._database_lock:
            places = self._stored_events_index.get(stream, {}).values()
            return sum(1 for place in places if self._stored_events[place].topic in names)

    def sizes(self, after: Position, upto: Position) -> list[NameSize]:
        """Sum up the events between two positions by stored name."""
        sums: dict[str, tuple[int, int]] = {}
        with self._database_lock:
            for event in self._stored_events[after:upto]:
                if event is not DROPPED:
                    events, size = sums.get(event.topic, (0, 0))
                    sums[event.topic] = events + 1, size + len(event.state)
        return [NameSize(name, *counts) for name, counts in sums.items()]

    def read_positions(
        self,
        *,
        after: Position,
        upto: Position | None = None,
        names: Collection[str] | None = None,
        limit: int,
    ) -> list[StoredEvent]:
        """Read one page of the whole journal by position."""
        with self._database_lock:
            last = len(self._stored_events)
            places = range(max(after, 0), last if upto is None else min(upto, last))
            return self._page(places, names, limit)

    def find(self, stream: StreamId, identity: Identity) -> StoredEvent | None:
        """Find the event of this identity in a stream."""
        with self._database_lock:
            version = self._versions.get((stream, identity))
            return None if version is None else self._at(self._stored_events_index[stream][version])

    def streams(
        self, *, prefix: str, before: Position | None, limit: int
    ) -> list[tuple[StreamId, Position]]:
        """List streams and the positions of their first events, positions descending."""
        with self._database_lock:
            found = (
                (StreamId(stream), key)
                for stream, key in reversed(self._keys.items())
                if stream.startswith(prefix) and (before is None or key < before)
            )
            return list(islice(found, limit))

    def close(self) -> None:
        """Wait no longer; the events stay with whoever still holds the recorder."""
        self.arrivals.close()

    def _head(self, stream: str) -> Version:
        # Versions only rise, so that the last one added is the highest.
        return Version(next(reversed(self._stored_events_index.get(stream, {})), 0))

    def _page(
        self, places: Iterable[int], names: Collection[str] | None, limit: int
    ) -> list[StoredEvent]:
        found = (
            self._at(place)
            for place in places
            if self._stored_events[place] is not DROPPED
            and (names is None or self._stored_events[place].topic in names)
        )
        return list(islice(found, limit))

    def _at(self, place: int) -> StoredEvent:
        event = cast("RecorderEvent", self._stored_events[place])
        return StoredEvent(
            Position(place + 1),
            StreamId(str(event.originator_id)),
            Version(event.originator_version),
            event.topic,
            event.recorded_at or 0,
            event.state,
        )

    def _generation(self, stream: StreamId) -> int:
        held = self._leases.get(stream)
        return 0 if held is None else held.generation

    def _refuse_other_generations(self, fences: Mapping[StreamId, int]) -> None:
        for stream, generation in fences.items():
            found = self._generation(stream)
            if found != generation:
                raise LeaseMoved(stream, generation, found)

    def _refuse_wrong_leases(
        self, leases: Sequence[Lease], events: Sequence[NewEvent]
    ) -> dict[StreamId, Lease]:
        held: dict[StreamId, Lease] = {}
        for lease in leases:
            known = held.get(lease.stream)
            found = self._generation(lease.stream) if known is None else known.generation
            if lease.generation < found:
                raise LeaseMoved(lease.stream, lease.generation, found)
            if not (self._head(lease.stream) or any(e.stream == lease.stream for e in events)):
                raise ValueError(f"a lease of {lease.stream!r}, which has no event")
            before = known or self._leases.get(lease.stream)
            if before is None or before.expires_at or before.generation < lease.generation:
                held[lease.stream] = lease
        return held

    def _refuse_wrong_versions(self, events: Sequence[NewEvent]) -> None:
        heads: dict[str, Version] = {}
        for event in events:
            head = heads.get(event.stream, self._head(event.stream))
            if event.version != head + 1:
                raise VersionConflict(event.stream, event.version - 1, head)
            heads[event.stream] = event.version

    def _refuse_taken_identities(
        self, events: Sequence[NewEvent]
    ) -> dict[tuple[str, Identity], Version]:
        versions: dict[tuple[str, Identity], Version] = {}
        for event in events:
            if event.identity is None:
                continue
            key = (event.stream, event.identity)
            holder = self._versions.get(key) or versions.get(key)
            if holder:
                raise IdentityTaken(event.stream, event.version - 1, holder, event.identity)
            versions[key] = event.version
        return versions


class MemoryFactory(POPOFactory):
    """Makes recorders that keep journal events in memory, each its own."""

    def application_recorder(self) -> MemoryEventRecorder:
        """Make an empty recorder."""
        return MemoryEventRecorder()


def open_memory() -> RecorderStore:
    """Open an empty journal in memory."""
    return RecorderStore(MemoryFactory(None).application_recorder(), "memory://")
