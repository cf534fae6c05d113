"""What the journal asks of a storage engine.

An engine keeps named streams of events. It knows nothing of runs or records: only names,
versions, positions, times, identities and bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol, TypeAlias

from journal.ids import Position, StreamId, Version

Identity: TypeAlias = int | str
"""What makes an event the same when it is offered again, unique within its stream.

An `int` is a stream record's sequence, 0 to 2^64-1. A `str` names anything else, for
example `checkpoint:<checkpoint id>`; engines may store a 128-bit hash of it.
"""


class NewEvent(NamedTuple):
    """An event before it is stored."""

    stream: StreamId
    version: Version
    """The place it must take: exactly one above the stream's last event."""
    name: str
    """Its stored name, such as `stream.recorded.v1`."""
    data: bytes
    """Its JSON, UTF-8, not compressed (the engine packs it)."""
    identity: Identity | None = None
    values: tuple[int, ...] = ()
    """Fingerprints of the large strings in `data`, for an engine that stores a value that
    is repeated within a stream once. They mean something in this process only."""


class StoredEvent(NamedTuple):
    """An event as it stands in the store.

    A tuple because making one is on the way of every read, and costs a third of a frozen
    dataclass.
    """

    position: Position
    stream: StreamId
    version: Version
    name: str
    recorded_at: int
    """Microseconds since 1970-01-01T00:00:00Z; never decreasing with position."""
    data: bytes


class NameSize(NamedTuple):
    """How many events of a stored name there are."""

    name: str
    events: int
    bytes: int
    """Of their data as the engine keeps it, packed or not."""


class Lease(NamedTuple):
    """Who may write a stream: the one mutable row an engine keeps a stream.

    An engine stores leases and compares generations; what they mean is `journal.leases`'s.
    """

    stream: StreamId
    generation: int
    """1 for the first lease of a stream; it only rises."""
    owner: str
    """Id of the journal object that holds it; unique among all processes."""
    host: str
    """The machine the owner's process runs on, as far as process ids reach."""
    process: int
    """The owner's process id there."""
    started: str
    """When that process started, so that a reused id is told apart; empty when unknown."""
    expires_at: int
    """Microseconds since the epoch by the owner's clock; 0 when it was released. A released
    one names no owner: its row is as small as can be."""

    def renewed(self, expires_at: int) -> Lease:
        """Give it with another time to expire at; 0 releases it."""
        if expires_at:
            return self._replace(expires_at=expires_at)
        return Lease(self.stream, self.generation, "", "", 0, "", 0)


LETS_GO = "run.archived.v1"
"""The name of the event below which the events of its stream may be dropped."""

NO_FENCES: Mapping[StreamId, int] = MappingProxyType({})


class Store(Protocol):
    """An append-only store of event streams.

    Only events that stand below one named `LETS_GO` in their stream may go again.

    Safe to call from several threads. Reads never wait for writers and never hold
    anything open after they return.

    Errors, from every method: `JournalBusy` (locked longer than the wait), `DiskFull`,
    `FileMoved`, `ReadOnly`, `DamagedFile`, `StorageFailed` (anything else the system
    refuses), `JournalClosed`. Library errors never come through. After each of them the
    store works again when the cause is gone; after `JournalClosed` it does not.
    """

    @property
    def location(self) -> str:
        """Where the events are, for messages: a path or `memory://`."""
        ...

    @property
    def file(self) -> Path | None:
        """The file the events are in, as an absolute path without links; None without one."""
        ...

    @property
    def journal_id(self) -> str:
        """The id a journal gets when it is made, which its backups have, too."""
        ...

    def append(
        self,
        events: Sequence[NewEvent],
        *,
        now: int,
        fences: Mapping[StreamId, int] = NO_FENCES,
        leases: Sequence[Lease] = (),
    ) -> Sequence[StoredEvent]:
        """Store all events or none, durably, in the order given.

        Events of several streams may be mixed; within one stream versions must rise by one.

        Args:
            events: at least one.
            now: the clock, in microseconds since the epoch. The recorded time of all of
                them is this, or the last recorded time where that is later.
            fences: for a stream the generation its lease must have, 0 for none ever taken.
                Checked in the same transaction, before the versions.
            leases: stored in the same transaction, each in place of its stream's; one that
                was released stays so until a higher generation takes its place. The stream
                must exist or begin with `events`.

        Raises:
            LeaseMoved: a fenced stream's lease has another generation, or the stored one of
                a lease given is higher. Nothing was stored.
            VersionConflict: a stream is not at the version before the first event given
                for it, or an identity is taken. Nothing was stored.
        """
        ...

    def lease(self, stream: StreamId) -> Lease | None:
        """Give the lease of a stream, also a released one; None where none was ever taken."""
        ...

    def leases(self) -> Sequence[Lease]:
        """Give every lease that was not released, oldest stream first."""
        ...

    def renew(self, leases: Sequence[Lease]) -> Sequence[Lease]:
        """Store the `expires_at` of leases whose generation is still the stored one.

        0 releases one: what was stored of its owner is cleared. One that was released stays
        so.

        Returns:
            The stored lease of each stream whose generation is another by now.
        """
        ...

    def drop(self, stream: StreamId, upto: Version) -> int:
        """Delete some of a stream's events up to a version, the newest of them first.

        It is one short transaction, so that nobody waits long: call it until nothing is left.
        What is left of the stream can be read all the while, as an event builds only on
        events before it. Neither a position nor a version nor a time is used twice.

        Returns:
            How many were deleted; 0 when there are none left.

        Raises:
            ValueError: the stream does not end with an event named `LETS_GO` above it.
        """
        ...

    def head(self, stream: StreamId) -> Version:
        """Tell the last version of a stream; 0 where it has no event."""
        ...

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
        """Read one page of a stream by version.

        Args:
            after: exclusive lower bound.
            upto: inclusive upper bound.
            names: only events of these stored names.
            newest_first: descending versions.
            limit: at most this many events. A page of large ones holds fewer: only an empty
                one means that there is no more.

        Raises:
            CorruptEvent: a row no longer decodes, or its name is unknown to the file.
        """
        ...

    def read_versions(
        self, stream: StreamId, versions: Collection[Version]
    ) -> Sequence[StoredEvent]:
        """Read some events of a stream, by version.

        Args:
            versions: at most 1000, in any order.

        Returns:
            Those that exist, in rising order of version, as many as a page holds: when some
            are missing, ask for those above the last one given.

        Raises:
            CorruptEvent: a row no longer decodes, or its name is unknown to the file.
        """
        ...

    def count(self, stream: StreamId, names: Collection[str]) -> int:
        """Count the events of a stream that have one of these stored names."""
        ...

    def sizes(self, *, after: Position = Position(0)) -> Sequence[NameSize]:
        """Sum up the events after a position by stored name, in any order.

        It reads all of them, in short transactions: what is appended meanwhile may be in it.
        """
        ...

    def wait_for(self, after: Position, timeout: float) -> bool:
        """Wait until there is an event after a position, whoever appends it.

        It is told within about 50 ms of its commit, also by another process, and costs
        almost nothing while nothing happens.

        Args:
            timeout: seconds to wait at most.

        Returns:
            Whether there is one.
        """
        ...

    def read_all(
        self, *, after: Position = Position(0), limit: int = 1000
    ) -> Sequence[StoredEvent]:
        """Read one page of the whole journal by position, `after` exclusive.

        Only an empty page means that there is no more.

        Raises:
            CorruptEvent: a row no longer decodes.
        """
        ...

    def find(self, stream: StreamId, identity: Identity) -> StoredEvent | None:
        """Find the event of this identity in a stream."""
        ...

    def streams(
        self, *, prefix: str, before: Position | None = None, limit: int = 1000
    ) -> Sequence[tuple[StreamId, Position]]:
        """List streams whose name starts with `prefix`, newest first.

        Returns:
            Pairs of stream and the position of its first event, positions descending.
            `before` is an exclusive upper bound of that position, to read page by page.
        """
        ...

    def last_position(self) -> Position:
        """Tell the position of the last event; 0 in an empty store."""
        ...

    def close(self) -> None:
        """Release everything. Closing twice does nothing."""
        ...
