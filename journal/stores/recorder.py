"""What both engines' recorders are: an `eventsourcing` recorder that keeps journal events.

The library's words stand here for ours: originator = stream, topic = name, state = data,
notification = event by position.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from eventsourcing.persistence import (
    ApplicationRecorder,
    IntegrityError,
    Notification,
    Subscription,
)
from eventsourcing.persistence import StoredEvent as LibraryEvent

from journal.errors import VersionConflict
from journal.ids import Position, StreamId, Version
from journal.stores.arrivals import Arrivals
from journal.stores.interface import NO_FENCES, Identity, Lease, NameSize, NewEvent, StoredEvent
from journal.stores.recorder_subscription import RecorderSubscription

EVERYTHING = 2**63 - 1
"""A bound no version, position or count reaches."""


@dataclass(frozen=True)
class RecorderEvent(LibraryEvent):
    """The library's stored event with what the journal adds to it."""

    identity: Identity | None = None
    """Given on insert. A selected event does not have it: engines may keep a hash only."""
    recorded_at: int | None = None
    """Microseconds since the epoch. Ignored on insert: the recorder assigns it."""


class EventRecorder(ApplicationRecorder):
    """An application recorder with the journal's own verbs beside the library's.

    The journal's verbs are those of `journal.stores.interface.Store`; the library's are
    derived from them here, so that both see the same events under the same rules. Stream
    names, identities and bounds are checked by the caller.
    """

    arrivals: Arrivals
    """Told of every append, and closed with the recorder."""

    @property
    @abstractmethod
    def file(self) -> Path | None:
        """The file the events are in; None without one."""

    @property
    @abstractmethod
    def journal_id(self) -> str:
        """The id that the journal got when it was made."""

    @abstractmethod
    def append_events(
        self,
        events: Sequence[NewEvent],
        now: int,
        fences: Mapping[StreamId, int] = NO_FENCES,
        leases: Sequence[Lease] = (),
    ) -> tuple[Position, int]:
        """Store all events or none; returns the first one's position and the recorded time.

        The others take the positions after it, in order.
        """

    @abstractmethod
    def lease(self, stream: StreamId) -> Lease | None:
        """Give the lease of a stream, also a released one; None where none was ever taken."""

    @abstractmethod
    def leases(self) -> list[Lease]:
        """Give every lease that was not released, oldest stream first."""

    @abstractmethod
    def renew(self, leases: Sequence[Lease]) -> list[Lease]:
        """Store the expiry times of leases, and give those of another generation."""

    @abstractmethod
    def drop(self, stream: StreamId, upto: Version) -> int:
        """Delete some of a stream's newest events up to a version; tells how many."""

    @abstractmethod
    def head(self, stream: StreamId) -> Version:
        """Tell the last version of a stream, 0 where it has none."""

    @abstractmethod
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
        """Read one page of a stream by version; only an empty one means that there is no more."""

    @abstractmethod
    def read_versions(self, stream: StreamId, versions: Sequence[Version]) -> list[StoredEvent]:
        """Read events of a stream by rising versions, as many as a page holds."""

    @abstractmethod
    def count(self, stream: StreamId, names: Collection[str]) -> int:
        """Count the events of a stream that have one of these names."""

    @abstractmethod
    def sizes(self, after: Position, upto: Position) -> list[NameSize]:
        """Sum up the events from a position, exclusive, to one, inclusive, by stored name."""

    @abstractmethod
    def read_positions(
        self,
        *,
        after: Position,
        upto: Position | None = None,
        names: Collection[str] | None = None,
        limit: int,
    ) -> list[StoredEvent]:
        """Read one page of the whole journal by position; only an empty one is the last."""

    @abstractmethod
    def find(self, stream: StreamId, identity: Identity) -> StoredEvent | None:
        """Find the event of this identity in a stream."""

    @abstractmethod
    def streams(
        self, *, prefix: str, before: Position | None, limit: int
    ) -> list[tuple[StreamId, Position]]:
        """List streams and the positions of their first events, positions descending."""

    @abstractmethod
    def close(self) -> None:
        """Release everything; closing twice does nothing."""

    def last_position(self) -> Position:
        """Tell the position of the last event, 0 in an empty recorder."""
        return Position(self.max_notification_id() or 0)

    def subscribe(
        self, gt: int | None = None, topics: Sequence[str] = ()
    ) -> Subscription[ApplicationRecorder]:
        """Give the library's notifications after a position, and wait for more."""
        return RecorderSubscription(self, self.arrivals, gt, topics)

    def insert_events(
        self, stored_events: Sequence[LibraryEvent], **_: Any
    ) -> Sequence[int] | None:
        """Store the library's events; their recorded time is now.

        Raises:
            IntegrityError: a version is not the stream's next, or an identity is taken.
        """
        if not stored_events:
            return []
        events = [
            NewEvent(
                StreamId(str(event.originator_id)),
                Version(event.originator_version),
                event.topic,
                event.state,
                event.identity if isinstance(event, RecorderEvent) else None,
            )
            for event in stored_events
        ]
        try:
            first, _at = self.append_events(events, time.time_ns() // 1000)
        except VersionConflict as error:
            raise IntegrityError(error) from error
        return [*range(first, first + len(events))]

    def select_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[LibraryEvent]:
        """Read the library's events of one originator, by version."""
        after, upto = Version(gt or 0), None if lte is None else Version(lte)
        most = EVERYTHING if limit is None else limit
        found: list[StoredEvent] = []
        while page := self.read_stream(
            StreamId(str(originator_id)),
            after=after,
            upto=upto,
            names=None,
            newest_first=desc,
            limit=most - len(found),
        ):
            found += page
            if desc:
                upto = Version(page[-1].version - 1)
            else:
                after = page[-1].version
        return [
            RecorderEvent(
                originator_id=event.stream,
                originator_version=event.version,
                topic=event.name,
                state=event.data,
                recorded_at=event.recorded_at,
            )
            for event in found
        ]

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        """Read the library's notifications, by position."""
        after = Position(0 if start is None else start - inclusive_of_start)
        found: list[StoredEvent] = []
        while page := self.read_positions(
            after=after,
            upto=None if stop is None else Position(stop),
            names=topics or None,
            limit=limit - len(found),
        ):
            found += page
            after = page[-1].position
        return [
            Notification(
                id=event.position,
                originator_id=event.stream,
                originator_version=event.version,
                topic=event.name,
                state=event.data,
            )
            for event in found
        ]
