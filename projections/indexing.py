"""Taking a run's new events into its rows: pages, folds, documents and named places.

Events that come in their logical order, as nearly all do, go to the end: the last page is
filled, and when a new one begins, the fold of all before it is stored with it. A late arrival
goes into the page where it belongs. When all is taken in, the folds after such pages are
made again, until one comes out as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from journal.codec import RecordedEvent
from journal.documents import DOCUMENTS, Walk
from journal.errors import BrokenBase, CorruptEvent
from journal.events import ENVIRONMENT_DOCUMENTS, CheckpointTaken, RunForked
from journal.ids import RUN_PREFIX, StreamId, Version
from journal.json_door import JSON
from journal.lineage import Lineage
from journal.reader import Reader
from journal.stores.views import Page, ViewReader, ViewStore, ViewWriter
from projections.fold import RunFold
from projections.named_places import checkpoint_name, returned_call, tool_return_name
from projections.order import Entry, anchored
from projections.page_end import End
from projections.pages import (
    Entries,
    insert,
    pack_entries,
    unpack_entries,
)
from projections.places import LAST, key_of
from projections.stored_documents import Answer, StoredDocuments
from projections.stored_values import store_fold, store_value, stored_fold
from projections.tracking import Tracking, usable

BATCH = 1000
"""Events taken in at a time, in one transaction."""

BATCH_BYTES = 8 * 1024 * 1024
"""Bytes of their JSON after which fewer are taken in."""

EVERY = 8
"""A document of a chain is stored after so many that were not."""

REFOLDED = 32
"""Pages folded again at a time, in one transaction."""

MOST_COUNTED = 2**63 - 1
"""Counts beyond are not told apart: a page may be taken that begins too early."""

_NEVER = 2**62
"""A time in microseconds after every other."""

Sized: TypeAlias = tuple[Entry, int]
"""An entry, and the size of its event as JSON, in bytes."""

Inherit = Callable[[Lineage], RunFold]
"""Gives the fold of what a fork inherits."""


class Indexing:
    """Takes one run's events into its rows in one store; not safe for threads."""

    def __init__(self, reader: Reader, store: ViewStore, stream: StreamId) -> None:
        self._reader = reader
        self._store = store
        self._stream = stream
        self._end: End | None = None
        self._walk = Walk()
        self._known = StoredDocuments(self._look, self._walk)

    def take(self, tracking: Tracking, upto: Version, inherit: Inherit) -> Tracking | None:
        """Take in the next events, or fold again what late arrivals left.

        Returns:
            How far it got; None when another has been faster, who must be asked then.
        """
        if tracking.version == upto:
            return self._refold(tracking)
        batch = self._read(tracking, upto)
        documents = self._documents(tracking, batch)
        if self._end is None or self._end.version != tracking.version:
            self._end = self._find_end(tracking, batch[0][0].event, inherit)
        end = self._end
        self._end = None  # unless all goes well
        with self._store.writing() as rows:
            held = rows.tracked(self._stream)
            if (tracking.version if held is None else held.version) != tracking.version:
                return None
            for entry, size in batch:
                self._name(rows, entry)
                if end.follows(entry, tracking):
                    self._append(rows, tracking, end, entry, size)
                else:
                    end.flush(rows, self._stream)
                    end.fold = None
                    self._insert(rows, tracking, entry)
                _count(tracking, entry)
            end.flush(rows, self._stream)
            for version, document in documents:
                root = store_value(rows, self._stream, document)
                rows.put_document(self._stream, version, root)
            rows.track(tracking.row())
        end.version = tracking.version
        self._end = end
        return tracking

    def _look(self, stream: StreamId, question: Callable[[ViewReader], Answer], /) -> Answer | None:
        """Look at stored documents of this run; those of others may be elsewhere."""
        if stream != self._stream:
            return None
        with self._store.reading() as rows, usable(stream):
            return question(rows)

    def _read(self, tracking: Tracking, upto: Version) -> list[Sized]:
        """Read the next events; those before a damaged one, where there is one among them."""
        run_id = self._stream.removeprefix(RUN_PREFIX)
        sized = self._reader.sized_run_events(run_id, after=tracking.version, upto=upto)
        sizes: list[int] = []

        def events() -> Iterator[RecordedEvent]:
            for event, size in islice(sized, BATCH):
                sizes.append(size)
                yield event

        batch: list[Sized] = []
        taken = 0
        try:
            for entry in anchored(events(), tracking.largest):
                batch.append((entry, sizes[-1]))
                taken += sizes[-1]
                if taken > BATCH_BYTES:
                    break
        except CorruptEvent as error:
            if batch:
                return batch
            before = Version(error.version - 1)
            if error.stream != self._stream or not tracking.version < before < upto:
                raise
            return self._read(tracking, before)
        return batch

    def _documents(self, tracking: Tracking, batch: Sequence[Sized]) -> list[tuple[Version, JSON]]:
        """Give the documents of a batch that are to be stored."""
        events = [entry.event for entry, _ in batch if entry.event.name in DOCUMENTS]
        kept = []
        for event in events:
            chain = "environment" if event.name in ENVIRONMENT_DOCUMENTS else "state"
            since = tracking.chains.get(chain, 0) + 1
            if event.data.get("base_version") is None:
                since = 0  # it is held whole
            # Of many, each is rebuilt from the one before; of a few, only what is stored.
            if since >= EVERY or len(events) >= EVERY:
                try:
                    document = self._reader.document(event, self._known)
                except (BrokenBase, CorruptEvent):
                    since = 0  # whoever asks for it is told
                else:
                    if since >= EVERY:
                        kept.append((event.version, document))
                        since = 0
            tracking.chains[chain] = since
        return kept

    def _find_end(self, tracking: Tracking, first: RecordedEvent, inherit: Inherit) -> End:
        """Find the last page, and fold it to its end."""
        if not tracking.version:
            fold = RunFold()
            if first.name == RunForked.NAME:
                tracking.lineage = Lineage.of(self._stream, first.data)
                fold = inherit(tracking.lineage)
                # Not known, but later than any time that is asked for.
                return End(fold, latest=_NEVER)
            return End(fold)
        with self._store.reading() as rows, usable(self._stream):
            page = rows.page_at(self._stream, LAST)
            if page is None:
                raise ValueError("no page")
            before = stored_fold(rows, self._stream, page) if page.fold else None
            entries = unpack_entries(page.entries)
        end = End(before, page, entries.places, page.newest, page.latest)
        events = self._reader.events(self._stream, [place[2] for place in entries.places])
        for place, event in zip(entries.places, events, strict=True):
            end.evolve(Entry(*place, event))
        return end

    def _name(self, rows: ViewWriter, entry: Entry) -> None:
        """Keep the places that are looked for by a name."""
        event = entry.event
        call = returned_call(event)
        if call is not None:
            name = tool_return_name(call)
        elif event.name == CheckpointTaken.NAME and event.data.get("stream_cursor") is None:
            name = checkpoint_name(event.data.get("checkpoint_id"))
        else:
            return
        rows.put_return(self._stream, name, event.version, key_of(entry.place))

    def _append(
        self, rows: ViewWriter, tracking: Tracking, end: End, entry: Entry, size: int
    ) -> None:
        if end.page is None or end.closed(tracking.size):
            end.flush(rows, self._stream)
            entries = pack_entries(Entries(entry.version, [entry.place]))
            end.begin(self._page(rows, end, key_of(entry.place), entries))
            tracking.size = 0
        tracking.size += size
        end.add(entry)

    def _page(self, rows: ViewWriter, end: End, first: bytes, entries: bytes) -> Page:
        """Make a page, with the fold of all before it."""
        fold = end.fold
        if fold is None:
            return Page(first, entries, b"", newest=end.newest, latest=end.latest)
        root = store_fold(rows, self._stream, fold)
        epoch, messages = fold.messages.reached
        return Page(
            first,
            entries,
            root,
            epoch,
            messages,
            min(fold.furthest, MOST_COUNTED),
            end.newest,
            end.latest,
        )

    def _insert(self, rows: ViewWriter, tracking: Tracking, entry: Entry) -> None:
        place = entry.place
        with usable(self._stream):
            page = rows.page_at(self._stream, key_of(place))
            if page is None:
                raise ValueError("no page")
            for changed in insert(page, place):
                rows.put_page(self._stream, changed)
        if page.first not in tracking.stale:
            tracking.stale = sorted([*tracking.stale, page.first])

    def _refold(self, tracking: Tracking) -> Tracking | None:
        """Fold again from the first page that a late arrival came into, a few pages on."""
        self._end = None
        first, *others = tracking.stale
        with self._store.writing() as rows, usable(self._stream):
            held = rows.tracked(self._stream)
            if held is None or held.state != tracking.row().state:
                return None
            page = rows.page_at(self._stream, first)
            if page is None or page.first != first:
                raise ValueError("a page is gone")
            fold = stored_fold(rows, self._stream, page) if page.fold else None
            end = End(fold, page, newest=page.newest, latest=page.latest)
            for _ in range(REFOLDED):
                places = unpack_entries(page.entries).places
                events = self._reader.events(self._stream, [place[2] for place in places])
                for place, event in zip(places, events, strict=True):
                    end.evolve(Entry(*place, event))
                following = rows.pages_after(self._stream, page.first, limit=1)
                if not following:
                    others = []
                    break
                made = self._page(rows, end, following[0].first, following[0].entries)
                newest, latest = end.newest, end.latest
                if made.fold and made == following[0]._replace(newest=newest, latest=latest):
                    rows.raise_limits(self._stream, page.first, newest=newest, latest=latest)
                    break
                rows.put_page(self._stream, made)
                page = made
                others = [key for key in others if key != page.first]
            else:
                others = [page.first, *others]
            tracking.stale = others
            rows.track(tracking.row())
        return tracking


def _count(tracking: Tracking, entry: Entry) -> None:
    event = entry.event
    at = event.recorded_at
    tracking.largest = max(tracking.largest, entry.anchor)
    if tracking.earliest is None:
        tracking.earliest = tracking.latest = at
    tracking.rising = tracking.rising and at >= tracking.latest
    tracking.earliest = min(tracking.earliest, at)
    tracking.latest = max(tracking.latest, at)
    tracking.version = event.version
    tracking.position = event.position
    tracking.stored_at = event.stored_at
