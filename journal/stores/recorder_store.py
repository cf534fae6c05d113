"""The journal's store on top of a recorder, the same for every engine."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from journal.errors import InvalidRecord, JournalClosed, JournalForked
from journal.ids import Position, StreamId, Version, is_text
from journal.stores.interface import (
    NO_FENCES,
    Identity,
    Lease,
    NameSize,
    NewEvent,
    StoredEvent,
)
from journal.stores.recorder import EVERYTHING, EventRecorder

SUMMED = 100_000
"""Events summed up in one transaction."""


class RecorderStore:
    """A `journal.stores.interface.Store` that keeps its events in a recorder.

    It checks what comes in, and that the store is open and still in its own process; the
    recorder does the rest and raises the journal's errors itself.
    """

    def __init__(self, recorder: EventRecorder, location: str) -> None:
        self._recorder = recorder
        self._location = location
        self._process = os.getpid()
        self._closed = False

    @property
    def location(self) -> str:
        """Where the events are, for messages: a path or `memory://`."""
        return self._location

    @property
    def file(self) -> Path | None:
        """The file the events are in; see `Store.file`."""
        return self._recorder.file

    @property
    def journal_id(self) -> str:
        """The id a journal gets when it is made; see `Store.journal_id`."""
        self._must_be_open()
        return self._recorder.journal_id

    def append(
        self,
        events: Sequence[NewEvent],
        *,
        now: int,
        fences: Mapping[StreamId, int] = NO_FENCES,
        leases: Sequence[Lease] = (),
    ) -> Sequence[StoredEvent]:
        """Store all events or none; see `Store.append`.

        Raises:
            IdentityTaken: a `VersionConflict` whose cause is the identity.
            InvalidRecord: a text SQL cannot hold, or an identity outside 64 bits.
        """
        self._must_be_open()
        if not events:
            raise ValueError("append needs at least one event")
        checked = None
        for stream, _, _, _, identity, _ in events:
            if stream is not checked:
                _must_be_stream(stream)
                checked = stream
            if identity is not None and not _is_identity(identity):
                reason = "neither 0 to 2^64-1 nor a text UTF-8 can hold"
                raise InvalidRecord("identity", "$", reason)
        for stream in fences:
            _must_be_stream(stream)
        for lease in leases:
            _must_be_lease(lease)
        first, recorded_at = self._recorder.append_events(events, now, fences, leases)
        # The quickest way to make a named tuple: it is made for every event written.
        make = tuple.__new__
        return [
            make(StoredEvent, (position, stream, version, name, recorded_at, data))
            for position, (stream, version, name, data, _, _) in enumerate(events, first)
        ]

    def lease(self, stream: StreamId) -> Lease | None:
        """Give the lease of a stream, also a released one; see `Store.lease`."""
        self._must_be_open()
        return self._recorder.lease(stream) if is_text(stream) else None

    def leases(self) -> Sequence[Lease]:
        """Give every lease that was not released, oldest stream first."""
        self._must_be_open()
        return self._recorder.leases()

    def renew(self, leases: Sequence[Lease]) -> Sequence[Lease]:
        """Store the expiry times of leases that have not moved; see `Store.renew`."""
        self._must_be_open()
        for lease in leases:
            _must_be_lease(lease)
        return self._recorder.renew(leases) if leases else []

    def drop(self, stream: StreamId, upto: Version) -> int:
        """Delete some of a stream's newest events up to a version; see `Store.drop`."""
        self._must_be_open()
        return self._recorder.drop(stream, Version(_bound(upto))) if is_text(stream) else 0

    def head(self, stream: StreamId) -> Version:
        """Tell the last version of a stream; 0 where it has no event."""
        self._must_be_open()
        return self._recorder.head(stream) if is_text(stream) else Version(0)

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
        self._must_be_open()
        if limit <= 0 or not is_text(stream):
            return []
        return self._recorder.read_stream(
            stream,
            after=Version(_bound(after)),
            upto=None if upto is None else Version(_bound(upto)),
            names=names,
            newest_first=newest_first,
            limit=_bound(limit),
        )

    def read_versions(
        self, stream: StreamId, versions: Collection[Version]
    ) -> Sequence[StoredEvent]:
        """Read some events of a stream, by version; see `Store.read_versions`."""
        self._must_be_open()
        wanted = sorted({version for version in versions if 1 <= version <= EVERYTHING})
        if not wanted or not is_text(stream):
            return []
        return self._recorder.read_versions(stream, wanted)

    def count(self, stream: StreamId, names: Collection[str]) -> int:
        """Count events of a stream by name; see `Store.count`."""
        self._must_be_open()
        return self._recorder.count(stream, names) if is_text(stream) else 0

    def sizes(self, *, after: Position = Position(0)) -> Sequence[NameSize]:
        """Sum up the events after a position by stored name; see `Store.sizes`."""
        self._must_be_open()
        last = self._recorder.last_position()
        sums: dict[str, NameSize] = {}
        for low in range(max(after, 0), last, SUMMED):
            upto = Position(min(low + SUMMED, last))
            for name, events, size in self._recorder.sizes(Position(low), upto):
                _, before, bytes_before = sums.get(name, (name, 0, 0))
                sums[name] = NameSize(name, before + events, bytes_before + size)
        return list(sums.values())

    def read_all(
        self, *, after: Position = Position(0), limit: int = 1000
    ) -> Sequence[StoredEvent]:
        """Read one page of the whole journal by position; see `Store.read_all`."""
        self._must_be_open()
        if limit <= 0:
            return []
        return self._recorder.read_positions(after=Position(_bound(after)), limit=_bound(limit))

    def find(self, stream: StreamId, identity: Identity) -> StoredEvent | None:
        """Find the event of this identity in a stream."""
        self._must_be_open()
        if not (is_text(stream) and _is_identity(identity)):
            return None
        return self._recorder.find(stream, identity)

    def streams(
        self, *, prefix: str, before: Position | None = None, limit: int = 1000
    ) -> Sequence[tuple[StreamId, Position]]:
        """List streams by prefix, newest first; see `Store.streams`."""
        self._must_be_open()
        if limit <= 0 or not is_text(prefix):
            return []
        before = None if before is None else Position(_bound(before))
        return self._recorder.streams(prefix=prefix, before=before, limit=_bound(limit))

    def last_position(self) -> Position:
        """Tell the position of the last event; 0 in an empty store."""
        self._must_be_open()
        return self._recorder.last_position()

    def wait_for(self, after: Position, timeout: float) -> bool:
        """Wait until there is an event after a position; see `Store.wait_for`."""
        self._must_be_open()
        return self._recorder.arrivals.wait_for(after, timeout)

    def close(self) -> None:
        """Release everything; in a forked child it leaves the parent's alone."""
        self._closed = True
        self._recorder.close()

    def _must_be_open(self) -> None:
        if self._closed:
            raise JournalClosed(self._location)
        if os.getpid() != self._process:
            raise JournalForked(self._location, self._process)


def _must_be_stream(stream: StreamId) -> None:
    if not is_text(stream):
        raise InvalidRecord("stream id", "$", "a lone surrogate, which UTF-8 cannot hold")


def _must_be_lease(lease: Lease) -> None:
    if not all(map(is_text, (lease.stream, lease.owner, lease.host, lease.started))):
        raise InvalidRecord("lease", "$", "a lone surrogate, which UTF-8 cannot hold")
    if not 1 <= lease.generation <= EVERYTHING:
        raise InvalidRecord("lease", "$.generation", "neither 1 nor above, or outside 64 bits")
    if max(abs(lease.process), abs(lease.expires_at)) > EVERYTHING:
        raise InvalidRecord("lease", "$", "a number outside 64 bits")


def _bound(number: int) -> int:
    return max(0, min(number, EVERYTHING))


def _is_identity(identity: Identity) -> bool:
    return is_text(identity) if isinstance(identity, str) else 0 <= identity < 2**64
