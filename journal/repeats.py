"""Recognizing what is offered again: the same is answered, something else is refused."""

from __future__ import annotations

from hashlib import blake2b

from journal.codec import RecordedEvent, decode
from journal.compare import first_difference, opening_difference, same_cursor, same_record
from journal.documents import Documents
from journal.errors import BatchConflict, BrokenBase, CorruptEvent, RecordConflict, RunConflict
from journal.events import (
    OPENINGS,
    RUN_NOTES,
    CursorSaved,
    DocumentCopied,
    RunCommitted,
    RunForked,
    StreamRecorded,
)
from journal.ids import StreamId
from journal.json_door import JSON, canonical, equal
from journal.offers import Offer
from journal.pending import Write
from journal.receipt import Receipt
from journal.stores.interface import Identity, Store, StoredEvent
from journal.stream_memory import StreamMemory


class Repeats:
    """Compares offers with the events a store holds."""

    def __init__(self, store: Store, memory: StreamMemory) -> None:
        self._store = store
        self._memory = memory
        self._documents = Documents(store)

    def held(self, offer: Offer) -> Receipt | None:
        """Tell the first receipt of an offer that is already recorded, None for a new one.

        Raises:
            RecordConflict: its identity is held with different JSON.
        """
        if offer.identity is None:
            return None
        if offer.name in OPENINGS:
            page = self._store.read_stream(offer.stream, limit=1)
            stored = page[0] if page else None
        else:
            stored = self._store.find(offer.stream, offer.identity)
        if stored is None:
            return None
        self._must_be_same(offer, decode(stored))
        return receipt_of(stored, repeated=True)

    def is_same(self, offer: Offer, event: RecordedEvent) -> bool:
        """Tell whether a recorded event is what is offered."""
        return _is_same(offer, event, self._value(event))

    def settle_last(self, write: Write) -> None:
        """Recognize exported states and saved records equal to the stream's last one."""
        for at, offer in enumerate(write.offers):
            if not offer.last_of or at in write.receipts:
                continue
            last = self._last(offer)
            if last is not None:
                write.receipts[at] = receipt_of(last, repeated=True)

    def settle_held(self, write: Write) -> None:
        """Find which offers are repeats, of recorded events or within the write.

        Raises:
            RecordConflict, RunConflict, BatchConflict: one is offered with different JSON.
        """
        first: dict[tuple[StreamId, Identity], int] = {}
        for at, offer in enumerate(write.offers):
            if at in write.receipts or at in write.repeats:
                continue
            held = self.held(offer)
            if held is not None:
                write.receipts[at] = held
            elif offer.identity is not None:
                earlier = first.setdefault((offer.stream, offer.identity), at)
                if earlier != at:
                    write.repeats[at] = earlier
                    held_value = write.offers[earlier].value
                    if not _same(offer.name, held_value, offer.value):
                        path, was, now = first_difference(held_value, offer.value)
                        raise BatchConflict(offer.what, path, was, now)

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
                digest = digest_of(self._value(decode(page[0])))
        except (BrokenBase, CorruptEvent):
            return None
        return page[0] if digest == digest_of(offer.value) else None

    def _must_be_same(self, offer: Offer, event: RecordedEvent) -> None:
        held = self._value(event)
        if _is_same(offer, event, held):
            return
        run_id = event.run_id or str(event.session_id)
        if offer.name in OPENINGS and event.name in OPENINGS:
            difference = opening_difference(held, offer.value)
            if difference is not None:
                raise RunConflict(run_id, *difference)
        path, was, now = first_difference(held, offer.value)
        raise RecordConflict(run_id, offer.what, event.version, path, was, now)

    def _value(self, event: RecordedEvent) -> JSON:
        """Give back what the host handed in for an event."""
        if "delta" in event.data and event.name != DocumentCopied.NAME:
            return self._documents.rebuild(event)
        for key in ("record", "run", "cursor"):
            if key in event.data and event.name not in (RunCommitted.NAME, RunForked.NAME):
                return event.data[key]
        return {key: value for key, value in event.data.items() if key not in _MARKS}


_MARKS = ("imported", "redacted")
"""Members of an event that say how it came in; they are no part of what was handed in."""


def settle_notes(write: Write) -> None:
    """Settle the notes of sessions as the events of runs before them, which they repeat."""
    if not (write.receipts or write.repeats):
        return
    for at, offer in enumerate(write.offers):
        if offer.name not in RUN_NOTES:
            continue
        if at - 1 in write.receipts:
            write.receipts[at] = write.receipts[at - 1]
        elif at - 1 in write.repeats:
            write.repeats[at] = write.repeats[at - 1] + 1


def fill_in(write: Write) -> None:
    """Give the repeats within a write the receipts of what they repeat."""
    for at, earlier in write.repeats.items():
        write.receipts[at] = write.receipts[earlier]._replace(repeated=True)


def digest_of(value: JSON) -> bytes:
    """Name a value by a short digest, equal exactly for equal JSON."""
    return blake2b(canonical(value), digest_size=16).digest()


def receipt_of(event: StoredEvent, *, repeated: bool = False) -> Receipt:
    """Make the receipt of a stored event."""
    return Receipt(event.version, event.position, event.recorded_at, repeated)


def _is_same(offer: Offer, event: RecordedEvent, held: JSON) -> bool:
    return event.name == offer.name and _same(offer.name, held, offer.value)


def _same(name: str, held: JSON, offered: JSON) -> bool:
    if name == StreamRecorded.NAME:
        return same_record(held, offered)
    if name in OPENINGS:
        return opening_difference(held, offered) is None
    if name == CursorSaved.NAME:
        return same_cursor(held, offered)
    return equal(held, offered)
