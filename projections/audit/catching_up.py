"""Bringing the audit rows up to date with their journal, before a question is answered."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final
from weakref import WeakSet

from journal.codec import RecordedEvent
from journal.documents import Walk
from journal.errors import BrokenBase, CorruptEvent, StorageFailed
from journal.events import RunArchived
from journal.ids import RUN_PREFIX, Position
from journal.json_door import JSON
from journal.progress import Progress, unseen
from journal.readable import Damaged, Stretch
from journal.reader import Reader
from journal.stores.audit import AuditStore, AuditWriter, RunFacts
from journal.stores.interface import StoredEvent
from journal.stores.views import ViewsUnusable
from projections.audit.maker import RowMaker
from projections.reading import HasReader

REVISION: Final = 1
"""Of what makes the rows: those of another revision are made again."""

BATCH: Final = 4000
"""Events taken in at a time, in one transaction."""

BATCH_BYTES: Final = 16 * 1024 * 1024
"""Bytes of their JSON after which fewer are taken in."""

ATTEMPTS: Final = 5
"""Stores tried before it is an error."""

LOOKED_AT: Final = 100
"""Events read at a time, to see whether the rows are of now."""

DOCUMENTS: Final = 64
"""Rebuilt documents that are remembered."""

_of_now: WeakSet[AuditStore] = WeakSet()
"""Stores whose rows were seen to belong to the events that the journal has now."""


def catch_up(journal: HasReader, progress: Progress = unseen) -> AuditStore:
    """Take every event of a journal into its audit rows.

    What cannot be read is passed over, and remembered as damage. Rows that cannot be used
    are made again in memory.

    Args:
        progress: told how many positions were taken in.

    Returns:
        The store of the rows.

    Raises:
        StorageFailed: the rows can be kept nowhere.
    """
    views = journal.views
    for _ in range(ATTEMPTS):
        try:
            store = views.audit(REVISION)
            _CatchUp(journal.reader, store, progress).run()
        except ViewsUnusable as problem:
            views.distrust(problem)
            lasting = problem
        else:
            return store
    raise StorageFailed("what is derived from the journal", "use", lasting.reason) from lasting


class _CatchUp:
    """One catching up of one store."""

    def __init__(self, reader: Reader, store: AuditStore, progress: Progress) -> None:
        self._reader = reader
        self._store = store
        self._progress = progress
        self._walk = Walk(DOCUMENTS)
        self._writer: AuditWriter | None = None

    def run(self) -> None:
        """Go on until all events that were there at the beginning are taken in."""
        last = self._reader.last_position()
        reached = self._begin(last)
        while reached < last:
            reached = self._go_on(reached, last)

    def _begin(self, last: Position) -> Position:
        """Tell from where to go on; rows of events that the journal no longer has are removed."""
        with self._store.writing() as writer:
            tracked = writer.tracked()
            if self._store not in _of_now:
                if tracked and not (tracked <= last and self._is_of_now(writer, tracked)):
                    writer.clear()
                    tracked = Position(0)
            elif tracked > last:
                writer.clear()
                tracked = Position(0)
        _of_now.add(self._store)
        return tracked

    def _is_of_now(self, writer: AuditWriter, tracked: Position) -> bool:
        """Tell whether the last event of a run that the rows take in is the journal's last one.

        It is not where the journal was put back to an earlier state, and went on from there.
        """
        last = writer.last_run()
        is_there = last is None
        before = Position(0 if last is None else last.position - 1)
        for stretch in self._reader.stretches(before, LOOKED_AT):
            for event in stretch.events():
                if event.position > tracked:
                    return is_there
                if event.run_id is not None:
                    if is_there or last is None or not _stands_at(last, event):
                        return False
                    is_there = True
        return is_there

    def _go_on(self, reached: Position, last: Position) -> Position:
        """Take in batch after batch, until another process was faster."""
        maker = RowMaker(self._facts, self._document)
        for batch in self._batches(reached):
            with self._store.writing() as writer:
                tracked = writer.tracked()
                if tracked != reached:
                    return tracked
                self._writer = writer
                try:
                    self._put(writer, maker, batch)
                finally:
                    self._writer = None
            reached = batch.upto
            self._progress("take in for audits", reached, last)
            if reached >= last:
                break
        else:
            return last  # the events after `reached` were removed meanwhile
        return reached

    def _put(self, writer: AuditWriter, maker: RowMaker, batch: Stretch) -> None:
        stored = batch.stored
        rows, facts = maker.take(batch.events(), [event.stream for event in stored])
        writer.put(rows, facts, batch.upto)
        for position, reason in batch.damaged:
            writer.note_damage(position, reason)
        for event in stored:
            if event.name == RunArchived.NAME:
                writer.remove(event.stream.removeprefix(RUN_PREFIX), event.version - 1)

    def _batches(self, after: Position) -> Iterator[Stretch]:
        """Join pages to batches."""
        stored: list[StoredEvent] = []
        damaged: list[Damaged] = []
        size = 0
        for page in self._reader.stretches(after, BATCH):
            stored += page.stored
            damaged += page.damaged
            size += page.size
            if len(stored) >= BATCH or size >= BATCH_BYTES:
                yield Stretch(stored, damaged, page.upto, size)
                stored, damaged, size = [], [], 0
            after = page.upto
        if stored or damaged:
            yield Stretch(stored, damaged, after, size)

    def _facts(self, run_ids: Collection[str]) -> Mapping[str, RunFacts]:
        assert self._writer is not None  # noqa: S101 - rows are made within a transaction
        return self._writer.facts(run_ids)

    def _document(self, event: RecordedEvent) -> JSON:
        try:
            return self._reader.document(event, self._walk)
        except (BrokenBase, CorruptEvent):
            return None


def _stands_at(facts: RunFacts, event: RecordedEvent) -> bool:
    said = facts.run_id, facts.position, facts.version
    if said != (event.run_id, event.position, event.version):
        return False
    return facts.archived or facts.updated_at == event.recorded_at
