"""A store of events that takes none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from journal.errors import ReadOnly
from journal.ids import StreamId, Version
from journal.stores.interface import NO_FENCES, Lease, NewEvent, StoredEvent


class ReadOnlyStore(ABC):
    """What of `journal.stores.interface.Store` would write: it is refused."""

    WHY: ClassVar[str]
    """Why nothing can be written."""

    @property
    @abstractmethod
    def location(self) -> str:
        """Where the events are, for messages."""

    @property
    def file(self) -> Path | None:
        """The events are in no single file."""
        return None

    def append(
        self,
        events: Sequence[NewEvent],  # noqa: ARG002
        *,
        now: int,  # noqa: ARG002
        fences: Mapping[StreamId, int] = NO_FENCES,  # noqa: ARG002
        leases: Sequence[Lease] = (),  # noqa: ARG002
    ) -> Sequence[StoredEvent]:
        """Refuse to append.

        Raises:
            ReadOnly: always.
        """
        raise ReadOnly(self.location, "append to", self.WHY)

    def renew(self, leases: Sequence[Lease]) -> Sequence[Lease]:  # noqa: ARG002
        """Refuse to renew a lease.

        Raises:
            ReadOnly: always.
        """
        raise ReadOnly(self.location, "renew a lease in", self.WHY)

    def drop(self, stream: StreamId, upto: Version) -> int:  # noqa: ARG002
        """Refuse to drop events.

        Raises:
            ReadOnly: always.
        """
        raise ReadOnly(self.location, "drop events from", self.WHY)
