"""What other streams hold that builds on a run: documents, and forks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from journal.codec import RecordedEvent, decode
from journal.documents import DOCUMENTS, Place
from journal.events import RunForked
from journal.ids import Position, StreamId, Version, run_stream
from journal.progress import Progress, unseen
from journal.stores.interface import Store

PAGE = 256
"""Documents read at a time; each may be large."""

_NAMES = (*DOCUMENTS, RunForked.NAME)


class Dependents:
    """What builds on some runs, as far as the journal was looked through.

    Args:
        streams: of the runs.
    """

    def __init__(self, store: Store, streams: Collection[StreamId]) -> None:
        self._store = store
        self._streams = frozenset(streams)
        self._upto: Position | None = None
        self._documents: defaultdict[StreamId, list[Place]] = defaultdict(list)
        self._forks: defaultdict[StreamId, set[StreamId]] = defaultdict(set)

    def documents(self, stream: StreamId) -> list[Place]:
        """List the documents of other streams that are differences from one of a run's."""
        return self._documents[stream]

    def forks(self, stream: StreamId) -> Collection[StreamId]:
        """List the forks of a run; also those of its forks at what they inherit of it."""
        return self._forks[stream]

    def catch_up(self, progress: Progress = unseen) -> None:
        """Look through what is new: the first time all documents, then all new events.

        Raises:
            CorruptEvent: an event cannot be read, so that nobody knows what it builds on.
        """
        end = self._store.last_position()
        if self._upto is None:
            for number, stream in enumerate(self._all_streams(), 1):
                self._look_through(stream)
                progress("documents", number, None)
        else:
            after = self._upto
            while after < end:
                page = self._store.read_all(after=after, limit=PAGE)
                if not page:
                    break
                for stored in page:
                    if stored.name in _NAMES:
                        self._take(decode(stored))
                after = page[-1].position
        self._upto = end

    def _all_streams(self) -> Iterator[StreamId]:
        before: Position | None = None
        while page := self._store.streams(prefix="", before=before):
            for stream, position in page:
                yield stream
                before = position

    def _look_through(self, stream: StreamId) -> None:
        after = Version(0)
        while page := self._store.read_stream(stream, after=after, names=_NAMES, limit=PAGE):
            for stored in page:
                self._take(decode(stored))
            after = page[-1].version

    def _take(self, event: RecordedEvent) -> None:
        if event.name == RunForked.NAME:
            for key in ("source", "forked"):
                source = event.data.get(key)
                if source is not None:
                    self._forks[run_stream(source)].add(event.stream)
            return
        base = event.data.get("base_stream", event.stream)
        place = event.stream, event.version
        if base != event.stream and base in self._streams and place not in self._documents[base]:
            self._documents[base].append(place)
