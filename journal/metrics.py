"""How a journal's writing goes, in numbers: a plain snapshot of counters and histograms."""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

BATCH_BOUNDS = tuple(2**power for power in range(15))
"""Upper bounds of the histogram of batch sizes, in events: 1, 2, 4, ... 16384."""

SYNC_BOUNDS = (
    *(0.0001, 0.00025, 0.0005),
    *(0.001, 0.0025, 0.005),
    *(0.01, 0.025, 0.05),
    *(0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0),
)
"""Upper bounds of the histogram of sync latency, in seconds."""

SCHEMA = "runjournal.metrics"
SCHEMA_VERSION = 1

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often which values were measured."""

    bounds: tuple[float, ...]
    """Upper bounds of the buckets, each inclusive, rising."""
    counts: tuple[int, ...]
    """Measurements in each bucket; the last one, without a bound, holds the rest."""
    sum: float
    max: float
    """The largest value measured; 0 before the first."""

    @property
    def count(self) -> int:
        """Number of measurements."""
        return sum(self.counts)

    def to_json(self) -> dict[str, Any]:
        """Give the histogram as a JSON object."""
        return {
            "bounds": list(self.bounds),
            "counts": list(self.counts),
            "count": self.count,
            "sum": self.sum,
            "max": self.max,
        }


@dataclass(frozen=True, slots=True)
class Metrics:
    """What one open journal has written so far, and what waits to be written.

    Counts start with 0 when the journal is opened. A snapshot does not stop the writing: of
    the commit that is just being counted it may hold one number and not yet the next.
    """

    queue_events: int
    """Events handed in that no transaction has taken yet."""
    queue_bytes: int
    """Bytes of their JSON."""
    waiting: int
    """Callers that wait for room in the queue."""
    commits: int
    """Transactions that stored events."""
    writes: int
    """Calls that these transactions served; above `commits` where calls shared one."""
    events: int
    """Events stored."""
    bytes: int
    """Bytes of their JSON before it was packed."""
    repeated: int
    """Records offered again, which the first receipt answered."""
    failed: int
    """Calls that ended with an error."""
    batch_events: Histogram
    """Events of each transaction."""
    sync_seconds: Histogram
    """Time each transaction took in the store, sync included."""
    longest_wait_seconds: float
    """Longest time a call waited from being handed in to its commit."""
    renewals: int
    """Leases renewed."""
    renewal_failures: int
    """Attempts to renew leases that failed."""

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.metrics` object; histograms are objects of their own."""
        return {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "queue_events": self.queue_events,
            "queue_bytes": self.queue_bytes,
            "waiting": self.waiting,
            "commits": self.commits,
            "writes": self.writes,
            "events": self.events,
            "bytes": self.bytes,
            "repeated": self.repeated,
            "failed": self.failed,
            "batch_events": self.batch_events.to_json(),
            "sync_seconds": self.sync_seconds.to_json(),
            "longest_wait_seconds": self.longest_wait_seconds,
            "renewals": self.renewals,
            "renewal_failures": self.renewal_failures,
        }


class Listener(Protocol):
    """What hears of each commit while it happens, in the thread that committed."""

    def committed(self, events: int, seconds: float) -> None:
        """Hear of a transaction: how many events it stored, and how long it took."""
        ...

    def closed(self) -> None:
        """Hear that the journal was closed; nothing is counted afterwards."""
        ...


class Meter:
    """Counts what happens, for `Metrics`.

    It has no lock of its own, so that counting costs next to nothing. The caller sees to it
    that no two threads are at the same time in one of these groups: `queued`, `taken` and
    `waiting`; `committed`, `repeated` and `failed`; `renewed` and `renewal_failed`; `listen`
    and `close`. Different groups, and `snapshot`, may be called at any time.
    """

    def __init__(self) -> None:
        self._queue_events = 0
        self._queue_bytes = 0
        self._waiting = 0
        self._writes = 0
        self._bytes = 0
        self._repeated = 0
        self._failed = 0
        self._batch = _Distribution(BATCH_BOUNDS)
        self._sync = _Distribution(SYNC_BOUNDS)
        self._longest_wait = 0.0
        self._renewals = 0
        self._renewal_failures = 0
        self._listeners: tuple[Listener, ...] = ()
        self._closed = False

    @property
    def closed(self) -> bool:
        """Tell whether the journal was closed."""
        return self._closed

    def queued(self, events: int, bytes_: int) -> None:
        """Count events that join the queue."""
        self._queue_events += events
        self._queue_bytes += bytes_

    def taken(self, events: int, bytes_: int) -> None:
        """Count events that leave the queue, to be committed or because they were given up."""
        self._queue_events -= events
        self._queue_bytes -= bytes_

    def waiting(self, callers: int) -> None:
        """Say how many callers now wait for room."""
        self._waiting = callers

    def committed(
        self, writes: int, events: int, bytes_: int, seconds: float, *, waited: float = 0.0
    ) -> None:
        """Count one transaction.

        Args:
            writes: calls it served.
            events: events it stored.
            bytes_: bytes of their JSON before it was packed.
            seconds: time it took in the store.
            waited: seconds since its oldest call was handed in, where that is longer.
        """
        self._writes += writes
        self._bytes += bytes_
        self._batch.add(events)
        self._sync.add(seconds)
        self._longest_wait = max(self._longest_wait, seconds, waited)
        for listener in self._listeners:
            if not _tell(listener.committed, events, seconds):
                self._listeners = tuple(one for one in self._listeners if one is not listener)

    def repeated(self, events: int) -> None:
        """Count records that were recorded before."""
        self._repeated += events

    def failed(self, writes: int) -> None:
        """Count calls that ended with an error."""
        self._failed += writes

    def renewed(self, leases: int) -> None:
        """Count leases that were renewed."""
        self._renewals += leases

    def renewal_failed(self) -> None:
        """Count an attempt to renew leases that failed."""
        self._renewal_failures += 1

    def listen(self, listener: Listener) -> None:
        """Tell a listener of every commit from now on."""
        self._listeners += (listener,)

    def close(self) -> None:
        """Tell the listeners that the journal is closed, and forget them."""
        listeners, self._listeners, self._closed = self._listeners, (), True
        for listener in listeners:
            _tell(listener.closed)

    def snapshot(self) -> Metrics:
        """Give the numbers as they are now."""
        batch = self._batch.histogram()
        return Metrics(
            queue_events=self._queue_events,
            queue_bytes=self._queue_bytes,
            waiting=self._waiting,
            commits=batch.count,
            writes=self._writes,
            events=int(batch.sum),
            bytes=self._bytes,
            repeated=self._repeated,
            failed=self._failed,
            batch_events=batch,
            sync_seconds=self._sync.histogram(),
            longest_wait_seconds=self._longest_wait,
            renewals=self._renewals,
            renewal_failures=self._renewal_failures,
        )


def _tell(verb: Callable[..., None], *facts: float) -> bool:
    """Tell a listener; what it fails with is logged, for the events are durable all the same."""
    try:
        verb(*facts)
    except Exception:
        _logger.exception("a listener to the journal's metrics failed and hears no more")
        return False
    return True


class _Distribution:
    """A histogram that still grows."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum: float = 0
        self._max: float = 0

    def add(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value
        self._max = max(self._max, value)

    def histogram(self) -> Histogram:
        return Histogram(self._bounds, tuple(self._counts), self._sum, self._max)
