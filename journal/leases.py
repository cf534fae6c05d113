"""Leases: one writer per run at a time, also across processes.

A lease has an owner, a time to live and a generation that only rises. The store checks the
generation in the transaction of every append, so that a writer that was taken over can
write nothing more, however late it wakes up. Times decide only when a lease may be taken
without being forced; clocks may disagree by `SKEW`.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from journal import facts
from journal.errors import (
    CorruptEvent,
    JournalError,
    JournalForked,
    LeaseMoved,
    RunIsLeased,
    VersionConflict,
)
from journal.events import RunLeaseTaken
from journal.ids import StreamId, run_stream
from journal.interrupts import InterruptsWait
from journal.metrics import Meter
from journal.offers import Offer
from journal.owner import Owner, is_gone, named
from journal.pending import Write
from journal.reader import Reader
from journal.stores.interface import Lease, Store
from journal.writer import MAX_ATTEMPTS, Writer

LEASE_SECONDS = 30.0
"""Time to live of a lease; it is renewed three times as often."""

SKEW = 5.0
"""Seconds by which the clocks of two owners may disagree."""

TOGETHER = 1000
"""Leases renewed in one transaction, so that no append waits for many."""


def why_free(lease: Lease | None, now: int) -> str | None:
    """Tell why nobody stands in the way who takes a lease; None while its owner may be alive.

    Args:
        lease: as the store has it; None where none was ever taken.
        now: microseconds since the epoch.

    Returns:
        `unowned`, `released`, `expired` or `gone` (see `journal.owner.is_gone`).
    """
    if lease is None:
        return "unowned"
    if not lease.expires_at:
        return "released"
    if lease.expires_at + SKEW * 1e6 <= now:
        return "expired"
    return "gone" if is_gone(lease) else None


def leased(run_id: str, lease: Lease, now: int) -> RunIsLeased:
    """Make the error that says whose a live lease is, and how long it lasts."""
    left = max(0.0, (lease.expires_at - now) / 1e6)
    return RunIsLeased(run_id, named(lease), lease.generation, left)


class Held:
    """A lease that this journal holds, shared by every handle on the run."""

    def __init__(self, lease: Lease, renew_at: int) -> None:
        self.lease = lease
        self.renew_at = renew_at
        self.handles = 1


class Leases:
    """Takes, renews and releases the leases of one open journal.

    Args:
        clock: microseconds since the epoch.
        seconds: time to live.
    """

    def __init__(
        self,
        store: Store,
        writer: Writer,
        meter: Meter,
        clock: Callable[[], int],
        seconds: float,
    ) -> None:
        self._store = store
        self._reader = Reader(store)
        self._writer = writer
        self._meter = meter
        self._clock = clock
        self._live = int(seconds * 1e6)
        self._owner = Owner()
        self._held: dict[StreamId, Held] = {}
        self._taking: set[StreamId] = set()
        self._changed = threading.Condition()
        self._ended = threading.Event()
        self._heart: threading.Thread | None = None
        # The heart of a journal that nobody closes ends with it.
        weakref.finalize(self, self._ended.set)

    def take(self, run_id: str, opening: Callable[[], list[Offer]], *, takeover: bool) -> Held:
        """Take the lease of a run, opening the run where it is new.

        Args:
            opening: offers that open the run; empty where it exists.
            takeover: take it also from an owner that is alive.

        Raises:
            RunIsLeased: another owner's lease is live.
        """
        self._must_be_ours()
        stream = run_stream(run_id)
        with InterruptsWait(), self._alone(stream):
            held = self._held.get(stream)
            if held is not None and not takeover and self._is_ours(held):
                opening()
                with self._changed:
                    held.handles += 1
                return held
            lease = self._take(run_id, opening, takeover=takeover)
            with self._changed:
                held = self._held[stream] = Held(lease, self._renewal_time())
                if self._heart is None:
                    self._heart = threading.Thread(
                        target=_beat,
                        args=(weakref.ref(self), self._ended, self._live / 3e6),
                        name="journal-leases",
                        daemon=True,
                    )
                    self._heart.start()
        return held

    def release(self, held: Held) -> None:
        """Give a handle back; the run is released with the last one."""
        stream = held.lease.stream
        if self._forked():
            return
        with InterruptsWait():
            with self._changed:
                held.handles -= 1
                if held.handles or self._held.get(stream) is not held:
                    return
                del self._held[stream]
            self._store.renew([held.lease._replace(expires_at=0)])

    def renewal(self, held: Held) -> tuple[Lease, ...]:
        """Give the row that renews a lease where that is due, for the next append."""
        if self._clock() < held.renew_at:
            return ()
        held.renew_at = self._renewal_time()
        return (held.lease._replace(expires_at=self._clock() + self._live),)

    def check_renewal(self, held: Held, write: Write) -> None:
        """Make the renewal due again that went with a write which stored nothing."""
        if write.leases and all(receipt.repeated for receipt in write.receipts.values()):
            held.renew_at = 0

    def holds(self, run_id: str) -> bool:
        """Tell whether this journal has taken a run's lease and not released it."""
        return run_stream(run_id) in self._held

    def fence(self, run_id: str) -> dict[StreamId, int]:
        """Say what generation a host must find that writes a run without opening it.

        Raises:
            RunIsLeased: another owner's lease is live.
        """
        self._must_be_ours()
        stream = run_stream(run_id)
        held = self._held.get(stream)
        if held is not None:
            return {stream: held.lease.generation}
        found = self._store.lease(stream)
        if found is None:
            return {stream: 0}
        self._why_free(run_id, found, takeover=False)
        return {stream: found.generation}

    def close(self) -> None:
        """Release everything and end the heartbeat; closing twice does nothing."""
        if self._forked():
            return
        self._ended.set()
        with self._changed:
            held, self._held = list(self._held.values()), {}
            heart, self._heart = self._heart, None
        if heart is not None:
            heart.join()
        try:
            if held:
                self._store.renew([one.lease._replace(expires_at=0) for one in held])
        except JournalError:
            self._meter.renewal_failed()  # it expires, and who is retired is gone at once
        finally:
            self._owner.retire()

    def renew_due(self) -> None:
        """Renew the leases that no append renewed in time."""
        now = self._clock()
        with self._changed:
            due = [held for held in self._held.values() if held.renew_at <= now]
        if not due:
            return
        try:
            for start in range(0, len(due), TOGETHER):
                some = due[start : start + TOGETHER]
                self._store.renew([one.lease._replace(expires_at=now + self._live) for one in some])
        except JournalError:
            self._meter.renewal_failed()  # the next beat tries again
            return
        for held in due:
            held.renew_at = self._renewal_time()
        self._meter.renewed(len(due))

    def _forked(self) -> bool:
        # Asked before any lock: another thread may have held it when the process was forked.
        return os.getpid() != self._owner.process

    def _must_be_ours(self) -> None:
        if self._forked():
            raise JournalForked(self._store.location, self._owner.process)

    def _take(self, run_id: str, opening: Callable[[], list[Offer]], *, takeover: bool) -> Lease:
        stream = run_stream(run_id)
        for _ in range(MAX_ATTEMPTS):
            made = opening()
            found = self._store.lease(stream)
            why = self._why_free(run_id, found, takeover=takeover)
            before = 0 if found is None else found.generation
            lease = Lease(
                stream,
                max(before, 0 if made else self._recorded(run_id)) + 1,
                self._owner.id,
                self._owner.host,
                self._owner.process,
                self._owner.started,
                self._clock() + self._live,
            )
            try:
                receipts = self._writer.write(
                    Write(made or [self._taken(lease, why)], {stream: before}, (lease,))
                )
            except (LeaseMoved, VersionConflict):
                continue
            if not receipts[0].repeated:
                return lease
        raise RunIsLeased(run_id, "several who open it at once", before, 0.0)

    def _why_free(self, run_id: str, found: Lease | None, *, takeover: bool) -> str:
        if found is None:
            return "unowned"
        if found.expires_at and found.owner == self._owner.id and found.stream not in self._held:
            return "released"  # giving it back, or learning that it was taken, went wrong
        now = self._clock()
        why = why_free(found, now)
        if why is None and not takeover:
            raise leased(run_id, found, now)
        return why or "takeover"

    @staticmethod
    def _taken(lease: Lease, why: str) -> Offer:
        fields = {
            "generation": lease.generation,
            "owner": lease.owner,
            "host": lease.host,
            "process": lease.process,
            "taken": why,
        }
        return facts.fact(lease.stream, RunLeaseTaken.NAME, fields)

    def _recorded(self, run_id: str) -> int:
        """Tell the last generation among the run's events; those of another journal count."""
        try:
            event = self._reader.last_run_event(run_id, (RunLeaseTaken.NAME,))
        except CorruptEvent:
            return 0  # the row of the lease has the generation, too
        return 0 if event is None else int(event.data["generation"])

    def _is_ours(self, held: Held) -> bool:
        found = self._store.lease(held.lease.stream)
        return found is not None and found.generation == held.lease.generation

    def _renewal_time(self) -> int:
        return self._clock() + self._live // 3

    @contextmanager
    def _alone(self, stream: StreamId) -> Iterator[None]:
        """Let one thread at a time take a run's lease for this journal."""
        with self._changed:
            while stream in self._taking:
                self._changed.wait()
            self._taking.add(stream)
        try:
            yield
        finally:
            with self._changed:
                self._taking.discard(stream)
                self._changed.notify_all()


def _beat(leases: weakref.ref[Leases], ended: threading.Event, seconds: float) -> None:
    while not ended.wait(seconds):
        alive = leases()
        if alive is None:
            return
        alive.renew_due()
        del alive
