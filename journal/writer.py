"""The one place where events are given versions and written.

A write is tried at once, on the assumption that nobody else wrote to the stream and that
nothing is a repeat. Only when the store refuses is the stream read again, repeats are
recognized, and what is new is tried again.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b

from journal.codec import RecordedEvent, decode
from journal.compare import first_difference, same_cursor, same_opening, same_record
from journal.documents import Documents, Tip, next_fields
from journal.errors import (
    BatchConflict,
    BrokenBase,
    CorruptEvent,
    JournalForked,
    RecordConflict,
    RunConflict,
    VersionConflict,
)
from journal.events import (
    CursorSaved,
    EventData,
    RunCommitted,
    RunOpened,
    StreamRecorded,
)
from journal.ids import StreamId, Version
from journal.json_door import JSON, canonical, dumps, equal
from journal.offers import Offer
from journal.receipt import Receipt
from journal.stores.interface import Identity, NewEvent, Store, StoredEvent
from journal.stream_memory import Batch, StreamMemory

MAX_ATTEMPTS = 50
"""Times a write is decided again because another writer was there first."""


class Writer:
    """Writes offers to one store, one batch at a time."""

    def __init__(self, store: Store, clock: Callable[[], int] | None = None) -> None:
        self._store = store
        self._documents = Documents(store)
        self._clock = clock or (lambda: time.time_ns() // 1000)
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._memory = StreamMemory(store)

    def write(self, offers: Sequence[Offer]) -> list[Receipt]:
        """Write all offers or none, in order, in one transaction.

        Returns:
            A receipt an offer; for a repeat the first one's.

        Raises:
            RecordConflict: an identity is held with different JSON; nothing was written.
            VersionConflict: other writers were first every time.
        """
        self._must_be_ours()
        with self._lock:
            receipts: dict[int, Receipt] = {}
            same: dict[int, int] = {}
            for _ in range(MAX_ATTEMPTS):
                self._settle_last(offers, receipts)
                new = [at for at in range(len(offers)) if at not in receipts and at not in same]
                if not new:
                    break
                try:
                    self._append(offers, new, receipts)
                    break
                except VersionConflict as error:
                    refused = error
                    self._settle_held(offers, new, receipts, same)
            else:
                raise refused
            for at, earlier in same.items():
                receipts[at] = replace(receipts[earlier], repeated=True)
            return [receipts[at] for at in range(len(offers))]

    def held(self, offer: Offer) -> Receipt | None:
        """Tell the first receipt of an offer that is already recorded, None for a new one.

        Raises:
            RecordConflict: its identity is held with different JSON.
        """
        if offer.identity is None:
            return None
        stored = self._store.find(offer.stream, offer.identity)
        if stored is None:
            return None
        self._must_be_same(offer, decode(stored))
        return _receipt(stored, repeated=True)

    def is_same(self, offer: Offer, event: RecordedEvent) -> bool:
        """Tell whether a recorded event is what is offered."""
        return self._is_same(offer, event, self._value(event))

    def _must_be_ours(self) -> None:
        # Before the lock: another thread may have held it when the process was forked.
        if os.getpid() != self._process:
            raise JournalForked(self._store.location, self._process)

    def forget(self, stream: StreamId) -> None:
        """Drop what is remembered of a stream; in a forked process there is nothing."""
        if os.getpid() != self._process:
            return
        with self._lock:
            self._memory.forget(stream)

    def _append(self, offers: Sequence[Offer], new: list[int], into: dict[int, Receipt]) -> None:
        batch = Batch()
        events = [self._event(offers[at], batch) for at in new]
        try:
            stored = self._store.append(events, now=self._clock())
        except BaseException:
            # Whatever went wrong, the streams are read again before the next write.
            for stream in batch.heads:
                self._memory.forget(stream)
            raise
        for stream, version in batch.heads.items():
            self._memory.state(stream).head = version
        for (stream, chain), tip in batch.tips.items():
            self._memory.state(stream).tips[chain] = tip
        for at, event in zip(new, stored, strict=True):
            into[at] = _receipt(event)
            if offers[at].last_of:
                digest = _digest(offers[at].value)
                self._memory.state(event.stream).lasts[event.name] = event.version, digest
        self._memory.make_room()

    def _event(self, offer: Offer, batch: Batch) -> NewEvent:
        stream = offer.stream
        head = batch.heads.get(stream)
        version = Version((self._memory.state(stream).head if head is None else head) + 1)
        batch.heads[stream] = version
        if offer.name == RunOpened.NAME:
            batch.sessions[stream] = offer.value["session_id"]
        data = offer.data or self._difference(offer, version, batch)
        return NewEvent(stream, version, offer.name, data, offer.identity)

    def _difference(self, offer: Offer, version: Version, batch: Batch) -> bytes:
        chain = str(offer.chain)
        key = (offer.stream, chain)
        base = batch.tips.get(key) or self._memory.tip(offer.stream, chain, batch)
        held = next_fields(base, offer.stream, offer.value, offer.size)
        batch.tips[key] = Tip(
            offer.stream,
            version,
            offer.value,
            offer.size,
            held["chain_bytes"],
            held["chain_runs"],
        )
        fields: EventData = {k: v for k, v in offer.fields.items() if v is not None}
        return dumps(fields | held)

    def _settle_last(self, offers: Sequence[Offer], receipts: dict[int, Receipt]) -> None:
        """Recognize exported states and saved records equal to the stream's last one."""
        for at, offer in enumerate(offers):
            if not offer.last_of or at in receipts:
                continue
            last = self._last(offer)
            if last is not None:
                receipts[at] = _receipt(last, repeated=True)

    def _last(self, offer: Offer) -> StoredEvent | None:
        """Give the stream's last event of the offer's names when it is the same."""
        try:
            page = self._store.read_stream(
                offer.stream, names=offer.last_of, newest_first=True, limit=1
            )
            if not page or page[0].name != offer.name:
                return None
            version, digest = self._memory.state(offer.stream).lasts.get(offer.name, (0, b""))
            if version != page[0].version:
                digest = _digest(self._value(decode(page[0])))
        except (BrokenBase, CorruptEvent):
            return None
        return page[0] if digest == _digest(offer.value) else None

    def _settle_held(
        self,
        offers: Sequence[Offer],
        new: list[int],
        receipts: dict[int, Receipt],
        same: dict[int, int],
    ) -> None:
        """Find which offers are repeats, of recorded events or within the batch."""
        first: dict[tuple[StreamId, Identity], int] = {}
        for at in new:
            offer = offers[at]
            held = self.held(offer)
            if held is not None:
                receipts[at] = held
            elif offer.identity is not None:
                earlier = first.setdefault((offer.stream, offer.identity), at)
                if earlier != at:
                    same[at] = earlier
                    held_value = offers[earlier].value
                    if not _same(offer.name, held_value, offer.value):
                        path, was, now = first_difference(held_value, offer.value)
                        raise BatchConflict(offer.what, path, was, now)

    def _must_be_same(self, offer: Offer, event: RecordedEvent) -> None:
        held = self._value(event)
        if self._is_same(offer, event, held):
            return
        path, was, now = first_difference(held, offer.value)
        run_id = event.run_id or str(event.session_id)
        if offer.name == event.name == RunOpened.NAME:
            raise RunConflict(run_id, path.removeprefix("$.").removesuffix("_id"), was, now)
        raise RecordConflict(run_id, offer.what, event.version, path, was, now)

    @staticmethod
    def _is_same(offer: Offer, event: RecordedEvent, held: JSON) -> bool:
        return event.name == offer.name and _same(offer.name, held, offer.value)

    def _value(self, event: RecordedEvent) -> JSON:
        """Give back what the host handed in for an event."""
        if "delta" in event.data:
            return self._documents.rebuild(event)
        for key in ("record", "run", "cursor"):
            if key in event.data and event.name != RunCommitted.NAME:
                return event.data[key]
        return {key: value for key, value in event.data.items() if key != "imported"}


def _same(name: str, held: JSON, offered: JSON) -> bool:
    if name == StreamRecorded.NAME:
        return same_record(held, offered)
    if name == RunOpened.NAME:
        return same_opening(held, offered)
    if name == CursorSaved.NAME:
        return same_cursor(held, offered)
    return equal(held, offered)


def _digest(value: JSON) -> bytes:
    return blake2b(canonical(value), digest_size=16).digest()


def _receipt(event: StoredEvent, *, repeated: bool = False) -> Receipt:
    return Receipt(event.version, event.position, event.recorded_at, repeated)
