"""Archiving: a journal's oldest events become sealed segments.

The time an event was stored at never falls with its position. So what was stored before a time
is a prefix of the journal that nothing can be added to, and an archive is such a prefix.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from journal.codec import RecordedEvent, decode
from journal.documents import Walk
from journal.errors import ArchiveDiffers, ArchiveOfAnotherJournal, BrokenBase, CorruptEvent
from journal.ids import Position
from journal.json_door import JSON
from journal.progress import Progress, unseen
from journal.times import EARLIEST, LATEST, format_time
from projections.archive.chain import Chain, read_chain
from projections.archive.compared import compare_last
from projections.archive.draft import Draft
from projections.archive.filesystem import Place, find_place
from projections.archive.groups import by_stream
from projections.archive.layout import KINDS, data_file
from projections.archive.manifest import ArchiveSegment
from projections.archive.past_facts import PastFacts
from projections.archive.pieces import Cutter, Piece
from projections.archive.sealing import seal
from projections.audit.maker import RowMaker
from projections.reading import HasReader

COLLECTIONS = (50_000, 20, 50)
"""Thresholds of Python's garbage collector while events are decoded."""

DOCUMENTS = 32
"""Rebuilt documents that are remembered."""


@dataclass(frozen=True, slots=True)
class ArchiveWritten:
    """What was archived just now, and what the archive has since."""

    location: str
    journal: str
    """Id of the journal."""
    before: int
    """Everything that was stored before this time is in the archive; microseconds."""
    segments: tuple[ArchiveSegment, ...]
    """The new ones; none where there was nothing to archive."""
    last_position: int
    """The last position in the archive; 0 while it has no segment."""

    @property
    def events(self) -> int:
        """How many events are new in it."""
        return sum(each.events for each in self.segments)

    @property
    def rows(self) -> int:
        """How many audit rows are new in it."""
        return sum(each.rows for each in self.segments)

    @property
    def bytes(self) -> int:
        """The size of the new data files."""
        return sum(file.bytes for each in self.segments for file in each.files)

    def to_json(self) -> dict[str, Any]:
        """Give it as a JSON object."""
        return {
            "schema": "runjournal.archive.written",
            "schema_version": 1,
            "location": self.location,
            "journal": self.journal,
            "before": format_time(min(max(self.before, EARLIEST), LATEST)),
            "segments": [each.segment for each in self.segments],
            "events": self.events,
            "rows": self.rows,
            "bytes": self.bytes,
            "last_position": self.last_position,
        }


def write_archive(
    journal: HasReader,
    to: str | os.PathLike[str],
    *,
    before: int,
    progress: Progress = unseen,
) -> ArchiveWritten:
    """Archive everything that was stored before a time and is not yet in the archive.

    A segment counts when its manifest is there: whenever this is stopped, all segments made so
    far stay, and it goes on after them the next time. Writers of the journal go on meanwhile.

    Args:
        journal: whose events are archived.
        to: a directory, a file:// URL, or another that pyarrow knows; made where it is missing.
            One archiver at a time: in a directory a second one is refused, elsewhere the
            caller sees to it.
        before: in microseconds since the epoch; a time to come takes everything so far.
        progress: told how many events are done.

    Raises:
        InvalidArchiveLocation: `to` names no place.
        ArchiveBusy: another process is archiving there.
        ArchiveOfAnotherJournal: there is an archive of another journal.
        ArchiveDiffers: the archive and the journal have different events.
        ArchiveIncomplete: the journal no longer has events that the archive lacks.
        DamagedArchive, NewerArchive: a manifest, or a catalogue that is needed, is damaged or
            newer.
        CorruptEvent: an event of the journal cannot be read; what is before its segment was
            archived.
        DiskFull, ReadOnly, StorageFailed: it cannot be written; no half segment is left.
    """
    place = find_place(to)
    with place.locked(), _fewer_collections(), _memory_given_back():
        chain = _continued(place, journal)
        place.clean()
        _remove_left(place, chain)
        return _Archiver(journal, place, chain, before, progress).run()


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """Look for cyclic garbage less often meanwhile: decoded events have none, and are many."""
    before = gc.get_threshold()
    gc.set_threshold(*COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _memory_given_back() -> Iterator[None]:
    """Use the allocator that gives memory back soonest, where pyarrow has it.

    Archiving 527,000 events peaked at 243 MB with it, and at 290 with the one by default.
    """
    before = pa.default_memory_pool()
    with suppress(NotImplementedError):  # pyarrow is built without it on some machines
        pa.set_memory_pool(pa.jemalloc_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)


def _continued(place: Place, journal: HasReader) -> Chain:
    """Read the archive so far, and see that the journal goes on from there."""
    chain = read_chain(place, may_be_empty=True)
    if chain.faults:
        raise chain.faults[0]
    if chain.journal is None:
        return chain
    ours = journal.reader.journal_id
    if chain.journal != ours:
        raise ArchiveOfAnotherJournal(place.location, chain.journal, ours)
    last, head = chain.last_position, journal.reader.last_position()
    if head < last:
        reason = f"the journal ends with event {head}"
        raise ArchiveDiffers(place.location, last, reason)
    page = journal.reader.stored_events(after=Position(last - 1), limit=1)
    if page and page[0].position == last:  # else it was dropped from the journal
        compare_last(place, chain.segments[-1], page[0])
    return chain


def _remove_left(place: Place, chain: Chain) -> None:
    """Remove data files of segments that never got a manifest."""
    for kind in KINDS:
        for path in place.names(kind):
            file = data_file(path)
            if file is not None and file.segment > chain.last_number:
                place.remove(path)


class _Archiver:
    """Collects one segment while the one before is compressed and written."""

    def __init__(
        self, journal: HasReader, place: Place, chain: Chain, before: int, progress: Progress
    ) -> None:
        self._reader = journal.reader
        self._place = place
        self._before = before
        self._progress = progress
        self._done: list[ArchiveSegment] = []
        self._last = chain.segments[-1] if chain.segments else None
        self._start = chain.last_position
        self._total = self._reader.last_position() - self._start
        self._past = PastFacts(place, chain.segments)
        self._walk = Walk(DOCUMENTS)
        self._maker = RowMaker(self._past.find, self._document)
        self._sealing: Future[ArchiveSegment] | None = None

    def run(self) -> ArchiveWritten:
        draft = self._begin()
        cutter = Cutter(self._reader, self._place.location, self._start, self._before)
        with ThreadPoolExecutor(1, thread_name_prefix="runjournal-archive") as writer:
            for piece in cutter.pieces():
                self._take(draft, piece)
                if piece.ends:
                    self._finish()
                    self._sealing = writer.submit(
                        seal, self._place, self._reader.journal_id, draft, self._last
                    )
                    draft = self._begin()
            self._finish()
        return ArchiveWritten(
            self._place.location,
            self._reader.journal_id,
            self._before,
            tuple(self._done),
            self._start if self._last is None else self._last.last_position,
        )

    def _begin(self) -> Draft:
        draft = Draft()
        self._past.begin(draft.facts)
        return draft

    def _take(self, draft: Draft, piece: Piece) -> None:
        if not piece.events:
            return
        events = [decode(stored) for stored in piece.events]
        groups = by_stream(piece.events, events)
        known = self._past.find(self._past.expect(groups))
        largest = {run_id: facts.anchor for run_id, facts in known.items()}
        rows, facts = self._maker.take(events)
        draft.take(groups, rows, facts, largest)
        self._progress("archive", piece.events[-1].position - self._start, self._total)

    def _document(self, event: RecordedEvent) -> JSON:
        try:
            return self._reader.document(event, self._walk)
        except (BrokenBase, CorruptEvent):
            return None  # its rows say less; the event is archived as it is

    def _finish(self) -> None:
        """Wait until the segment before is sealed."""
        if self._sealing is not None:
            self._last = self._sealing.result()
            self._sealing = None
            self._past.sealed(self._last)
            self._done.append(self._last)
