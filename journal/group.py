"""A group of writes in the making: versions and differences for one transaction."""

from __future__ import annotations

from journal.archived import refusal
from journal.documents import Tip, next_tip
from journal.events import OPENINGS, EventData, RunForked
from journal.ids import StreamId, Version, run_stream
from journal.json_door import dumps
from journal.offers import Offer, large_values
from journal.pending import Write
from journal.stores.interface import Identity, Lease, NewEvent
from journal.stream_memory import Batch, StreamMemory


class Group:
    """The writes that one transaction will hold, and their events in order."""

    def __init__(self, memory: StreamMemory) -> None:
        self._memory = memory
        self.writes: list[Write] = []
        self.events: list[NewEvent] = []
        self.size = 0
        """Bytes of the events' JSON."""
        self.batch = Batch()
        """What the transaction changes in the memory of streams, once it is durable."""
        self.fences: dict[StreamId, int] = {}
        self.bases: dict[StreamId, int] = {}
        """Streams that its events build on, and the generations of their leases: fences, too,
        but one that does not hold is nobody's fault."""
        self.leases: list[Lease] = []
        self._identities: set[tuple[StreamId, Identity]] = set()

    def takes(self, write: Write) -> bool:
        """Tell whether a write can be planned before what it holds already is stored.

        It cannot where it may be a repeat of something in the group, or where it must find
        another lease than an earlier one.
        """
        if not self.writes:
            return True
        if write.decide is not None and not write.streams.isdisjoint(self.batch.heads):
            return False  # it must see what they add
        for offer in write.offers:
            if (offer.stream, offer.identity) in self._identities:
                return False
            if offer.last_of and offer.stream in self.batch.heads:
                return False
        return not write.leases and all(
            self.fences.get(stream, generation) == generation
            for stream, generation in write.fences.items()
        )

    def add(self, write: Write) -> None:
        """Plan what is new in a write; nothing is changed when that fails.

        Raises:
            CorruptEvent, StorageFailed, ...: what it builds on cannot be read.
        """
        mark = self.batch.mark(write.streams)
        planned = []
        try:
            for at, offer in enumerate(write.offers):
                if at not in write.receipts and at not in write.repeats:
                    planned.append((at, self._event(offer)))
        except BaseException:
            self.batch.restore(mark)
            raise
        write.planned = planned
        self.writes.append(write)
        for at, event in planned:
            self.events.append(event)
            self.size += len(event.data)
            identity = write.offers[at].identity
            if identity is not None:
                self._identities.add((event.stream, identity))
        self.fences.update(write.fences)
        self.leases.extend(write.leases)

    def _event(self, offer: Offer) -> NewEvent:
        stream, batch = offer.stream, self.batch
        identity = offer.identity
        if offer.name in OPENINGS:
            # Its version is its identity: the store refuses it in a stream that exists.
            version, identity = Version(1), None
            if offer.name == RunForked.NAME:
                self._fork_from(run_stream(offer.value["source"]))
            batch.sessions[stream] = offer.value["session_id"]
        else:
            head = batch.heads.get(stream)
            version = Version((self._memory.state(stream).head if head is None else head) + 1)
        batch.heads[stream] = version
        data, values = offer.data, offer.values
        if not data:
            held = self._difference(offer, version)
            fields: EventData = {k: v for k, v in offer.fields.items() if v is not None}
            data = dumps(fields | held)
            values = large_values(held["delta"], data)
        return NewEvent(stream, version, offer.name, data, identity, values)

    def _difference(self, offer: Offer, version: Version) -> EventData:
        batch, chain = self.batch, str(offer.chain)
        key = (offer.stream, chain)
        base = self._base(offer.stream, chain)
        held, batch.tips[key] = next_tip(base, offer.stream, version, offer.value, offer.size)
        return held

    def _base(self, stream: StreamId, chain: str) -> Tip | None:
        """Find what the next document of a chain builds on, and see to it that it stays."""
        batch, memory = self.batch, self._memory
        while True:
            base = batch.tips.get((stream, chain)) or memory.tip(stream, chain, batch)
            if base is None or base.stream == stream or self._build_on(base.stream):
                return base
            memory.state(stream).tips.pop(chain, None)
            batch.tips.pop((stream, chain), None)

    def _fork_from(self, source: StreamId) -> None:
        told = None if self._build_on(source) else self._memory.state(source).archived
        if told is not None:
            raise refusal(told)

    def _build_on(self, stream: StreamId) -> bool:
        """Note that an event builds on another stream; False where that is about to go."""
        generation = self._memory.lasting(stream)
        if generation is not None:
            self.bases[stream] = generation
        return generation is not None
