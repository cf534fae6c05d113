"""What the writer remembers of streams, so that a write need not read them first.

It is a cache: everything in it can be read again, and is whenever a write was refused.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from journal.archived import archived
from journal.codec import RecordedEvent, decode
from journal.documents import Documents, Tip
from journal.errors import BrokenBase, CorruptEvent
from journal.events import ENVIRONMENT_DOCUMENTS, STATE_DOCUMENTS, SessionRunAdded
from journal.ids import SESSION_PREFIX, StreamId, Version, run_stream, session_stream
from journal.inherited import inherited_document
from journal.offers import ENVIRONMENT_CHAIN, STATE_CHAIN
from journal.stores.interface import Store

CHAINS = {STATE_CHAIN: STATE_DOCUMENTS, ENVIRONMENT_CHAIN: ENVIRONMENT_DOCUMENTS}

MAX_STREAMS = 256
"""Streams that are remembered; the longest unused goes first."""

MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
"""Last documents kept in memory, together, in bytes of their compact encoding."""

SESSION_RUNS = 8
"""Latest runs of a session looked through for a document to start from."""


@dataclass(slots=True)
class StreamState:
    """What the writer remembers of a stream; it can be read again at any time."""

    head: Version
    archived: RecordedEvent | None = None
    """Where the stream is a run's that takes no more events: the event that says so."""
    tips: dict[str, Tip | None] = field(default_factory=dict)
    lasts: dict[str, tuple[Version, bytes]] = field(default_factory=dict)
    """By name, the version and digest of the last event that is compared with the next."""

    @property
    def size(self) -> int:
        """Bytes of the documents that are remembered, compactly encoded."""
        return sum(tip.size for tip in self.tips.values() if tip is not None)


@dataclass(slots=True)
class Batch:
    """What a write changes, kept apart until it is durable."""

    heads: dict[StreamId, Version] = field(default_factory=dict)
    tips: dict[tuple[StreamId, str], Tip] = field(default_factory=dict)
    sessions: dict[StreamId, str] = field(default_factory=dict)

    def mark(self, streams: Collection[StreamId]) -> Mark:
        """Note what stands here of some streams, for `restore`."""
        return [
            (stream, self.heads.get(stream), {c: self.tips.get((stream, c)) for c in CHAINS})
            for stream in streams
        ]

    def restore(self, mark: Mark) -> None:
        """Undo what was done to the marked streams since."""
        for stream, head, tips in mark:
            _put(self.heads, stream, head)
            for chain, tip in tips.items():
                _put(self.tips, (stream, chain), tip)


Mark: TypeAlias = list[tuple[StreamId, Version | None, dict[str, Tip | None]]]

K = TypeVar("K")
V = TypeVar("V")


def _put(into: dict[K, V], key: K, value: V | None) -> None:
    if value is None:
        into.pop(key, None)
    else:
        into[key] = value


class StreamMemory:
    """Remembers streams, the longest unused going first; not safe for threads by itself."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._documents = Documents(store)
        self._streams: OrderedDict[StreamId, StreamState] = OrderedDict()

    def forget(self, stream: StreamId) -> None:
        """Drop what is remembered of a stream."""
        self._streams.pop(stream, None)

    def size(self) -> int:
        """Tell how many bytes of documents are remembered, compactly encoded."""
        return sum(state.size for state in self._streams.values())

    def state(self, stream: StreamId) -> StreamState:
        """Give what is remembered of a stream, reading its head where nothing is."""
        state = self._streams.get(stream)
        if state is None:
            # In this order: what is appended between the two is noticed by the head.
            head = self._store.head(stream)
            told = archived(self._store, stream) if head else None
            state = self._streams[stream] = StreamState(head, told)
        else:
            self._streams.move_to_end(stream)
        return state

    def make_room(self, *, grown: bool) -> None:
        """Forget the longest unused streams, but never the one written to last.

        Args:
            grown: documents were added since the last time.
        """
        if not grown and len(self._streams) <= MAX_STREAMS:
            return
        held = self.size()
        while len(self._streams) > 1 and (
            held > MAX_DOCUMENT_BYTES or len(self._streams) > MAX_STREAMS
        ):
            held -= self._streams.popitem(last=False)[1].size

    def tip(self, stream: StreamId, chain: str, batch: Batch) -> Tip | None:
        """Give the document that the next one of a chain is compared with, if any."""
        if stream.startswith(SESSION_PREFIX):
            # What a session holds repeats the last run's state, more than its own last.
            session_id = stream.removeprefix(SESSION_PREFIX)
            return self._session_tip(session_id, chain) or self._last_document(stream, chain)
        tips = self.state(stream).tips
        if chain not in tips:
            tips[chain] = self._run_tip(stream, chain) or self._session_tip(
                self._session_of(stream, batch), chain
            )
        return tips[chain]

    def lasting(self, stream: StreamId) -> int | None:
        """Tell whether a document of another stream may build on a stream's, or a fork on it.

        Returns:
            The generation of its lease: who drops the run raises it, so that what builds on
            the run is stored under this generation or not at all. None where its events are
            about to go, which is forgotten here.
        """
        lease = self._store.lease(stream)
        if archived(self._store, stream) is None:
            return 0 if lease is None else lease.generation
        self.forget(stream)
        return None

    def _run_tip(self, stream: StreamId, chain: str) -> Tip | None:
        """Find the last document of a run, or else the last one that it inherits."""
        if archived(self._store, stream) is not None:
            return None
        tip = self._last_document(stream, chain)
        if tip is not None:
            return tip
        try:
            event = inherited_document(self._store, stream, CHAINS[chain])
            if event is None or archived(self._store, event.stream) is not None:
                return None
            return self._tip_at(event, chain)
        except (BrokenBase, CorruptEvent):
            return None

    def _last_document(self, stream: StreamId, chain: str) -> Tip | None:
        names = CHAINS[chain]
        try:
            page = self._store.read_stream(stream, names=names, newest_first=True, limit=1)
            return self._tip_at(decode(page[0]), chain) if page else None
        except (BrokenBase, CorruptEvent):
            return None  # what comes next is held whole, and does not share the damage

    def _tip_at(self, event: RecordedEvent, chain: str) -> Tip:
        known = self._streams.get(event.stream)
        tip = known.tips.get(chain) if known else None
        if tip is not None and (tip.stream, tip.version) == (event.stream, event.version):
            return tip
        return self._documents.tip(event)

    def _session_of(self, stream: StreamId, batch: Batch) -> str:
        opened = batch.sessions.get(stream)
        if opened is not None:
            return opened
        first = decode(self._store.read_stream(stream, limit=1)[0])
        return str(first.data["session_id"])

    def _session_tip(self, session_id: str, chain: str) -> Tip | None:
        """Find the last document of a session's runs, to start from."""
        try:
            rows = self._store.read_stream(
                session_stream(session_id),
                names=(SessionRunAdded.NAME,),
                newest_first=True,
                limit=SESSION_RUNS,
            )
            others = [run_stream(decode(row).data["run_id"]) for row in rows]
        except (CorruptEvent, KeyError, TypeError):
            return None  # a new run must not suffer from what its session's stream suffered
        for other in others:
            known = self._streams.get(other)
            tip = (known.tips.get(chain) if known else None) or self._run_tip(other, chain)
            if tip is not None:
                return tip
        return None
