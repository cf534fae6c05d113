"""A journal's metrics as OpenTelemetry's.

    observe(journal)

Needs the extra `otel`, and an SDK that the program sets up. The instruments are named and
measured as OpenTelemetry's conventions want it: seconds, bytes, and counts of things in braces.
Each measurement carries the journal's location; several journals at one location are added up.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

from journal.errors import JournalClosed
from journal.journal import Journal
from journal.metrics import BATCH_BOUNDS, SYNC_BOUNDS, Meter

try:
    from opentelemetry import metrics as api
except ImportError as missing:
    raise ImportError("journal.telemetry needs pip install 'runjournal[otel]'") from missing

SCOPE = "runjournal"
"""Name of the instrumentation scope."""

LOCATION = "runjournal.location"
"""Attribute of every measurement: where the journal is."""


class _Measure(NamedTuple):
    name: str
    unit: str
    description: str
    field: str
    """Of `Metrics`."""


_COUNTED = (
    _Measure("runjournal.commits", "{commit}", "Transactions that stored events", "commits"),
    _Measure("runjournal.writes", "{call}", "Calls that transactions served", "writes"),
    _Measure("runjournal.events", "{event}", "Events stored", "events"),
    _Measure("runjournal.bytes", "By", "JSON stored, before it was packed", "bytes"),
    _Measure("runjournal.repeated", "{event}", "Records offered again", "repeated"),
    _Measure("runjournal.failed", "{call}", "Calls that ended with an error", "failed"),
    _Measure("runjournal.lease.renewals", "{lease}", "Leases renewed", "renewals"),
    _Measure(
        "runjournal.lease.failures",
        "{attempt}",
        "Attempts to renew leases that failed",
        "renewal_failures",
    ),
)
_QUEUED = (
    _Measure("runjournal.queue.events", "{event}", "Events waiting", "queue_events"),
    _Measure("runjournal.queue.bytes", "By", "JSON of events waiting", "queue_bytes"),
    _Measure("runjournal.queue.callers", "{caller}", "Callers waiting for room", "waiting"),
)
_LONGEST = _Measure(
    "runjournal.wait.longest",
    "s",
    "Longest time a call waited for its commit",
    "longest_wait_seconds",
)


def observe(journal: Journal, meter_provider: api.MeterProvider | None = None) -> None:
    """Report a journal's metrics until it is closed; doing so twice is doing it once.

    What it counted stays in the sums of its location afterwards, so that they never fall.

    Args:
        journal: of an `AsyncJournal` its `sync`.
        meter_provider: the process's own where it is missing, also one that is set later.

    Raises:
        JournalClosed: there is nothing left to observe.
    """
    if journal.meter.closed:
        raise JournalClosed(journal.location)
    _observer(meter_provider).add(journal.meter, journal.location)


class _Observer:
    """The instruments of one provider, and the journals that they measure.

    It holds their meters, never the journals themselves.
    """

    def __init__(self, provider: api.MeterProvider | None) -> None:
        self._lock = threading.Lock()
        self._open: dict[Meter, str] = {}
        self._ended: dict[str, Counter[str]] = {}
        instruments = api.get_meter(SCOPE, meter_provider=provider)
        self.sync = instruments.create_histogram(
            "runjournal.sync.duration",
            "s",
            "Time of a transaction in the store, sync included",
            explicit_bucket_boundaries_advisory=SYNC_BOUNDS,
        )
        self.batch = instruments.create_histogram(
            "runjournal.batch.events",
            "{event}",
            "Events of a transaction",
            explicit_bucket_boundaries_advisory=BATCH_BOUNDS,
        )
        for one in _COUNTED:
            instruments.create_observable_counter(
                one.name, [self._callback(one, sum)], one.unit, one.description
            )
        for one in _QUEUED:
            instruments.create_observable_up_down_counter(
                one.name, [self._callback(one, sum)], one.unit, one.description
            )
        instruments.create_observable_gauge(
            _LONGEST.name, [self._callback(_LONGEST, max)], _LONGEST.unit, _LONGEST.description
        )

    def add(self, meter: Meter, location: str) -> None:
        """Measure one more journal."""
        with self._lock:
            if meter in self._open:
                return
            self._open[meter] = location
        meter.listen(_Listener(self, meter, location))

    def end(self, meter: Meter) -> None:
        """Keep what a closed journal counted, and let go of the rest."""
        final = meter.snapshot()
        with self._lock:
            location = self._open.pop(meter)
            counts = {one.field: getattr(final, one.field) for one in _COUNTED}
            self._ended.setdefault(location, Counter()).update(counts)

    def _callback(
        self, one: _Measure, combine: Callable[[Sequence[float]], float]
    ) -> Callable[[api.CallbackOptions], Iterable[api.Observation]]:
        def measure(_: api.CallbackOptions) -> Iterable[api.Observation]:
            values = self._values(one.field)
            return [
                api.Observation(combine(found), {LOCATION: location})
                for location, found in values.items()
            ]

        return measure

    def _values(self, field: str) -> dict[str, list[float]]:
        values: dict[str, list[float]] = {}
        with self._lock:
            for location, counts in self._ended.items():
                if field in counts:
                    values[location] = [counts[field]]
            for meter, location in self._open.items():
                values.setdefault(location, []).append(getattr(meter.snapshot(), field))
        return values


class _Listener:
    """Feeds the histograms with each commit of one journal."""

    def __init__(self, observer: _Observer, meter: Meter, location: str) -> None:
        self._observer = observer
        self._meter = meter
        self._attributes = {LOCATION: location}

    def committed(self, events: int, seconds: float) -> None:
        """Measure a transaction."""
        self._observer.sync.record(seconds, self._attributes)
        self._observer.batch.record(events, self._attributes)

    def closed(self) -> None:
        """Stop measuring."""
        self._observer.end(self._meter)


_lock = threading.Lock()
_observers: WeakKeyDictionary[api.MeterProvider, _Observer] = WeakKeyDictionary()


def _observer(provider: api.MeterProvider | None) -> _Observer:
    """Give the observer of a provider: one each, as instruments exist once a provider."""
    with _lock:
        of_process = api.get_meter_provider()
        wanted = of_process if provider is None else provider
        if wanted in _observers:
            return _observers[wanted]
        if wanted is of_process:
            return _process_observer()
        observer = _observers[wanted] = _Observer(wanted)
        return observer


@cache
def _process_observer() -> _Observer:
    """Give that of the process's provider, which may be set later: its instruments then work."""
    return _Observer(None)
