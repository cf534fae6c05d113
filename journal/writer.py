"""The one place where events are given versions and written.

A write is tried at once, on the assumption that nobody else wrote to the stream and that
nothing is a repeat. Only when the store refuses is the stream read again, repeats are
recognized, and what is new is tried again. Each write of a group succeeds or fails alone.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from journal.archived import refusal
from journal.codec import RecordedEvent
from journal.errors import (
    DamagedFile,
    FileMoved,
    JournalBusy,
    JournalClosed,
    JournalForked,
    LeaseMoved,
    NotAJournal,
    ReadOnly,
    VersionConflict,
)
from journal.events import RunArchived
from journal.group import Group
from journal.ids import StreamId
from journal.metrics import Meter
from journal.offers import Offer
from journal.pending import Write
from journal.receipt import Receipt
from journal.repeats import Repeats, digest_of, fill_in, receipt_of, settle_notes
from journal.stores.interface import Store, StoredEvent
from journal.stream_memory import StreamMemory
from journal.write_queue import WriteQueue

MAX_ATTEMPTS = 50
"""Times a write is decided again because another writer was there first."""


_NOBODYS = (JournalBusy, JournalClosed, FileMoved, ReadOnly, DamagedFile, NotAJournal)
"""Errors that no single write of a group can cause: they are everybody's."""


class Writer:
    """Writes offers to one store, the offers of one call all or none."""

    def __init__(self, store: Store, meter: Meter, clock: Callable[[], int]) -> None:
        self._store = store
        self._meter = meter
        self._clock = clock
        self._process = os.getpid()
        self._memory = StreamMemory(store)
        self._guard = threading.RLock()
        """Held by whoever uses the memory of streams."""
        self._repeats = Repeats(store, self._memory)
        self._queue = WriteQueue(store.location, self._commit, meter)

    def write(self, write: Write) -> list[Receipt]:
        """Write all offers of a call or none; returns when they are durable.

        Returns:
            A receipt an offer, in order; for a repeat the first one's.

        Raises:
            RecordConflict: an identity is held with different JSON; nothing was written.
            LeaseMoved: a fence does not hold; nothing was written.
            VersionConflict: other writers were first every time.
            JournalClosed: the writer was closed.
        """
        self._must_be_ours()
        return self._queue.write(write)

    async def write_soon(self, write: Write) -> list[Receipt]:
        """Write from a task of an event loop; see `write`.

        When the task is cancelled, what it wrote is either there as a whole or not at all.
        """
        self._must_be_ours()
        future = self._queue.submit(write, asyncio.get_running_loop())
        try:
            return await future
        except asyncio.CancelledError:
            self._queue.withdraw(write)
            raise

    def held(self, offer: Offer) -> Receipt | None:
        """Tell the first receipt of an offer that is already recorded, None for a new one.

        Raises:
            RecordConflict: its identity is held with different JSON.
        """
        return self._repeats.held(offer)

    def is_same(self, offer: Offer, event: RecordedEvent) -> bool:
        """Tell whether a recorded event is what is offered."""
        return self._repeats.is_same(offer, event)

    def forget(self, stream: StreamId) -> None:
        """Drop what is remembered of a stream; in a forked process there is nothing."""
        if os.getpid() != self._process:
            return
        with self._guard:
            self._memory.forget(stream)

    def close(self) -> None:
        """Write what waits, then take nothing any more.

        Raises:
            NotWritten: some of what waited was refused.
        """
        if os.getpid() == self._process:
            self._queue.close()

    def _must_be_ours(self) -> None:
        # Before any lock: another thread may have held it when the process was forked.
        if os.getpid() != self._process:
            raise JournalForked(self._store.location, self._process)

    def _commit(self, writes: list[Write]) -> None:
        """Settle the writes of a group, in order.

        The caller of one that is refused is told at once, so before anything that follows
        it is committed.
        """
        todo = writes
        with self._guard:
            while todo:
                todo = self._round(todo)

    def _round(self, writes: list[Write]) -> list[Write]:
        """Store as many writes as one transaction can hold; gives what is left to do."""
        group = Group(self._memory)
        later: list[Write] = []
        kept: set[StreamId] = set()
        for write in writes:
            if not kept.isdisjoint(write.streams) or not group.takes(write):
                later.append(write)
                kept |= write.streams
            else:
                self._plan(write, group)
        if not group.events or self._store_group(group):
            return later
        return [write for write in group.writes if not write.settled] + later

    def _plan(self, write: Write, group: Group) -> None:
        try:
            self._must_take(write)
            if write.decide is not None:
                write.redecide()
            if write.attempts or write.decide is not None:
                self._repeats.settle_held(write)
            self._repeats.settle_last(write)
            settle_notes(write)
            if len(write.receipts) + len(write.repeats) < len(write.offers):
                group.add(write)
            else:
                self._done(write)
        except Exception as error:  # noqa: BLE001 - it is the caller's
            self._fail(write, error)

    def _must_take(self, write: Write) -> None:
        """Refuse what is for an archived run; every stream's head is known after this."""
        for stream in write.streams:
            told = self._memory.state(stream).archived
            if told is not None:
                raise refusal(told)

    def _store_group(self, group: Group) -> bool:
        """Store a group and settle its writes; False when the store refused it."""
        began = time.monotonic()
        try:
            fences = {**group.bases, **group.fences}
            stored = self._store.append(
                group.events, now=self._clock(), fences=fences, leases=group.leases
            )
        except Exception as error:  # noqa: BLE001 - it is the callers'
            self._forget(group)
            self._refused(group.writes, error)
            return False
        self._learn(group, stored)
        ended = time.monotonic()
        self._meter.committed(
            len(group.writes),
            len(stored),
            group.size,
            ended - began,
            waited=ended - group.writes[0].queued_at,
        )
        return True

    def _refused(self, writes: list[Write], error: Exception) -> None:
        """Fail the writes whose fault it is that the store refused a group."""
        if isinstance(error, LeaseMoved):
            stream = StreamId(error.stream)
            guilty = [one for one in writes if one.fences.get(stream) == error.expected]
            for write in guilty or writes:
                # Nobody's fence: a stream that they build on has another owner, or goes.
                write.attempts += 1
                if guilty or write.attempts > MAX_ATTEMPTS:
                    self._fail(write, replace(error))
        elif isinstance(error, VersionConflict):
            for write in writes:
                write.attempts += error.stream in write.streams
                if write.attempts > MAX_ATTEMPTS:
                    self._fail(write, replace(error))
        elif isinstance(error, _NOBODYS):
            for write in writes:
                self._fail(write, replace(error))
        else:
            self._one_by_one(writes, error)

    def _one_by_one(self, writes: list[Write], error: Exception) -> None:
        """Find the one that fails: each gets a transaction of its own, in order."""
        if len(writes) == 1:
            self._fail(writes[0], error)
            return
        for write in writes:
            todo = [write]
            while todo:
                todo = self._round(todo)

    def _learn(self, group: Group, stored: Sequence[StoredEvent]) -> None:
        """Settle what was stored, and remember the new ends of the streams."""
        for stream, version in group.batch.heads.items():
            self._memory.state(stream).head = version
        for (stream, chain), tip in group.batch.tips.items():
            self._memory.state(stream).tips[chain] = tip
        events = iter(stored)
        for write in group.writes:
            for at, _ in write.planned:
                self._note(write, at, next(events))
            self._done(write)
        self._memory.make_room(grown=bool(group.batch.tips))

    def _note(self, write: Write, at: int, event: StoredEvent) -> None:
        write.receipts[at] = receipt_of(event)
        if event.name == RunArchived.NAME:
            self._memory.forget(event.stream)
            return
        offer = write.offers[at]
        if offer.last_of:
            digest = digest_of(offer.value)
            self._memory.state(event.stream).lasts[event.name] = event.version, digest

    def _forget(self, group: Group) -> None:
        """Read the group's streams again before the next write, whatever went wrong."""
        for stream in group.batch.heads:
            self._memory.forget(stream)
        for write in group.writes:
            write.planned = []

    def _done(self, write: Write) -> None:
        if write.same is not None:
            self._meter.repeated(1)
        elif len(write.planned) < len(write.offers):
            fill_in(write)
            self._meter.repeated(len(write.offers) - len(write.planned))
        write.settle()

    def _fail(self, write: Write, error: Exception) -> None:
        write.error = error
        self._meter.failed(1)
        write.settle()
        self._queue.tell([write])
