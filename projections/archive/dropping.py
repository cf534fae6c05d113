"""Dropping archived runs from the journal: which of them, in which order, and what is left.

A run is dropped when the archive has every event of it, equal to the journal's, and intact; when
it has ended, nobody holds its lease or waits for anything in it, and no run that stays was
forked from it. Everything else stays, and the reason is told.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from journal import times
from journal.archived import refusal
from journal.claims import current_claim
from journal.documents import Place
from journal.dropping import Dropped, Dropping, InArchive
from journal.errors import (
    ArchiveOfAnotherJournal,
    BrokenBase,
    CorruptEvent,
    DamagedArchive,
    LeaseMoved,
    RunIsArchived,
    RunIsLeased,
    StateConflict,
    UnknownEvent,
    VersionConflict,
)
from journal.events import ArchivedSegment, RunArchived
from journal.ids import StreamId, Version, run_stream
from journal.journal import Journal
from journal.leases import why_free
from journal.progress import Progress, unseen
from journal.records import TERMINAL
from journal.stores.audit import AuditReader, RunFacts
from journal.stores.views import ViewsUnusable
from projections.archive.dropped import ArchiveDropped, RunLeft
from projections.archive.evidence import Evidence
from projections.archive.filesystem import find_place
from projections.archive.manifest import ArchiveSegment
from projections.archive.opened import Archive, open_archive
from projections.fold_json import REVISION
from projections.publications import awaits_publication
from projections.run_at import RunAt
from projections.run_index import RunIndex
from projections.session_at import SessionAt
from projections.session_parts import part_for_session, shown_documents

TOGETHER = 1000
"""Runs whose facts are looked up at once."""


def drop_archived(
    journal: Journal, archive: str | os.PathLike[str], progress: Progress = unseen
) -> ArchiveDropped:
    """Drop from a journal what its archive has: see this module.

    Whenever this is stopped, each run is here as before, or in the archive and said to be; the
    next call goes on. Writers go on meanwhile.

    Args:
        archive: its location.
        progress: told the events that were compared, looked through and dropped.

    Raises:
        ArchiveNotFound, DamagedArchive, NewerArchive, InvalidArchiveLocation, StorageFailed:
            see `projections.archive.open_archive`.
        ArchiveOfAnotherJournal: it is of another journal.
        CorruptEvent: a document cannot be read, so that nobody knows what it builds on.
        JournalBusy, DiskFull, ReadOnly, ...: the journal cannot be written.
    """
    with open_archive(archive) as opened:
        if opened.journal_id != journal.reader.journal_id:
            raise ArchiveOfAnotherJournal(
                opened.location, opened.journal_id, journal.reader.journal_id
            )
        return _Drop(journal, opened, archive, progress).run()


class _Drop:
    def __init__(
        self,
        journal: Journal,
        archive: Archive,
        location: str | os.PathLike[str],
        progress: Progress,
    ) -> None:
        self._journal = journal
        self._reader = journal.reader
        self._archive = archive
        self._place = find_place(location)
        self._progress = progress
        self._segments = {each.segment: each for each in archive.segments}
        self._left: list[RunLeft] = []
        self._damaged: dict[str, str] = {}
        """Runs whose catalogue in the archive cannot be read, and why."""
        self._ended: dict[str, tuple[str, str | None]] = {}
        """How runs ended that may go, and their parents."""
        self._session: SessionAt | None = None
        """The one looked at last; what it tells does not change when its runs are dropped."""

    def run(self) -> ArchiveDropped:
        fresh, begun, gone = self._sorted()
        evidence = self._looked_at(fresh)
        fresh = [run_id for run_id in fresh if self._is_sound(run_id, evidence)]
        wanted = {*fresh, *begun}
        dropping = self._journal.dropping(wanted)
        runs, events, copies = [], 0, 0
        for run_id in self._reader.run_ids():
            if run_id not in wanted:
                continue
            dropped = self._either(dropping, run_id, evidence)
            if dropped is not None:
                runs.append(run_id)
                events += dropped.events
                copies += dropped.copies
        return ArchiveDropped(
            self._archive.location, tuple(runs), events, copies, gone, tuple(self._left)
        )

    def _either(self, dropping: Dropping, run_id: str, evidence: Evidence) -> Dropped | None:
        """Drop a run, whether that was begun or not; None where it stays, which is noted."""
        others: set[str] = set()
        while True:
            try:
                return self._fresh(dropping, run_id, evidence)
            except RunIsArchived as error:  # perhaps somebody else began this moment
                if self._reader.archived(run_id) is not None:
                    return self._begun(dropping, run_id, evidence)
                if error.run_id in others:
                    raise
                others.add(error.run_id)  # of the same session, which is looked at anew
                self._session = None

    def _sorted(self) -> tuple[list[str], list[str], int]:
        """List the runs that may go, those whose dropping was begun, and count those gone."""
        fresh: list[str] = []
        begun: list[str] = []
        gone = 0
        for run_id, facts in self._with_facts():
            try:
                told = self._reader.archived(run_id)
                if told is None and self._may_go(run_id, facts):
                    fresh.append(run_id)
            except RunIsArchived:
                told = self._reader.archived(run_id)
            if told is not None and self._has_events(run_id):
                begun.append(run_id)
            elif told is not None:
                gone += 1
        return fresh, begun, gone

    def _with_facts(self) -> Iterator[tuple[str, RunFacts | None]]:
        """Yield the journal's runs, and how each stands in the archive."""
        rows = self._archive.reading()
        run_ids = self._reader.run_ids()
        while some := list(islice(run_ids, TOGETHER)):
            facts: Mapping[str, RunFacts]
            try:
                facts = rows.facts(some)
            except DamagedArchive:
                facts = dict(self._readable(rows, some))
            yield from ((run_id, facts.get(run_id)) for run_id in some)

    def _readable(
        self, rows: AuditReader, run_ids: Sequence[str]
    ) -> Iterator[tuple[str, RunFacts]]:
        """Give the facts of runs one by one, but for those of damaged segments."""
        for run_id in run_ids:
            try:
                yield from rows.facts([run_id]).items()
            except DamagedArchive as error:
                self._damaged[run_id] = error.message

    def _leave(self, run_id: str, reason: str, why: str) -> None:
        self._left.append(RunLeft(run_id, reason, why))

    def _may_go(self, run_id: str, facts: RunFacts | None) -> bool:
        """Look at what costs little; what is left is noted."""
        reader = self._reader
        try:
            if run_id in self._damaged:
                self._leave(run_id, "damaged", self._damaged[run_id])
                return False
            if facts is None or facts.version != reader.head(run_id):
                self._leave(run_id, "not_archived", "its last events are not in the archive")
                return False
            if facts.status not in TERMINAL:
                self._leave(run_id, "not_ended", f"it is {facts.status or 'under way'}")
                return False
            self._ended[run_id] = facts.status, facts.parent_run_id
            if why_free(reader.lease(run_id), times.now()) is None:
                self._leave(run_id, "leased", "somebody may be writing it")
                return False
            waits = self._waits(run_id)
        except (BrokenBase, CorruptEvent, UnknownEvent) as error:
            self._leave(run_id, "damaged", error.message)
            return False
        if waits is not None:
            self._leave(run_id, "waiting", waits)
        return waits is None

    def _waits(self, run_id: str) -> str | None:
        if current_claim(self._reader, run_id) is not None:
            return "somebody claimed to resume it"
        if awaits_publication(self._reader, run_id):
            return "its evidence is not published everywhere"
        return None

    def _has_events(self, run_id: str) -> bool:
        """Tell whether events of an archived run are still here: the first one goes last."""
        page = self._reader.store.read_stream(run_stream(run_id), limit=1)
        return bool(page) and page[0].name != RunArchived.NAME

    def _looked_at(self, run_ids: list[str]) -> Evidence:
        """Compare what the archive has of some runs with what is here."""
        streams = [run_stream(run_id) for run_id in run_ids]
        evidence = Evidence(self._place, self._reader, streams)
        for part in self._archive.catalogue.parts_of(run_ids):
            if part.manifest is not None:
                evidence.look_at(part.manifest, self._progress)
        return evidence

    def _is_sound(self, run_id: str, evidence: Evidence) -> bool:
        for segment in self._segments_of(run_stream(run_id)):
            fault = evidence.fault(segment)
            if fault is not None:
                self._leave(run_id, "damaged", f"segment {segment.segment}: {fault}")
                return False
        return True

    def _fresh(self, dropping: Dropping, run_id: str, evidence: Evidence) -> Dropped | None:
        """Drop a run that is whole here; None where it stays, which is noted."""
        told = self._reader.archived(run_id)
        if told is not None:
            raise refusal(told)
        stream = run_stream(run_id)
        through = self._reader.head(run_id)
        missing = evidence.missing(stream, through)
        if missing is not None:
            self._leave(run_id, "not_archived", missing)
            return None
        items = evidence.open_items(stream)
        if items:
            self._leave(run_id, "waiting", f"{min(items)} is still open")
            return None
        named = [
            ArchivedSegment(segment=each.segment, sha256=each.sha256)
            for each in self._segments_of(stream)
        ]
        try:
            part, shown = self._for_session(run_id)
        except (BrokenBase, CorruptEvent, UnknownEvent) as error:
            self._leave(run_id, "damaged", error.message)
            return None
        status, parent = self._ended[run_id]
        held = InArchive(through, self._archive.journal_id, named, status, parent, part, shown)
        return self._dropped(dropping, run_id, held)

    def _begun(self, dropping: Dropping, run_id: str, evidence: Evidence) -> Dropped | None:
        """Drop to the end what the archive still has as it had then; None where it stays."""
        told = self._reader.archived(run_id)
        assert told is not None  # noqa: S101 - it was found before
        for each in told.data["segments"]:
            segment = self._segments.get(each["segment"])
            if segment is None or segment.sha256 != each["sha256"]:
                fault: str | None = "is missing, or another"
            else:
                fault = evidence.fault(segment)
            if fault is not None:
                self._leave(run_id, "damaged", f"segment {each['segment']}: {fault}")
                return None
        held = InArchive(
            Version(told.version - 1), self._archive.journal_id, (), str(told.data["status"])
        )
        return self._dropped(dropping, run_id, held)

    def _for_session(self, run_id: str) -> tuple[dict[str, Any], list[Place]]:
        """Give what the session's record takes from a run, and the documents it shows."""
        session = self._session_of(run_id)
        run = RunAt.upto(RunIndex(self._journal, run_id), None)
        number, commit = session.numbers.get(run_id, 1), session.commit
        is_last = commit is not None and commit.run_id == run_id
        part = part_for_session(run, number, is_last=is_last)
        ends = [
            [touch.position, before]
            for touch in session.touches
            if touch.run_id == run_id and touch.status in TERMINAL
            if (before := session.active_before(touch)) is not None
        ]
        if ends:
            part["ends"] = ends
        return part, shown_documents(commit) if commit is not None and is_last else []

    def _segments_of(self, stream: StreamId) -> list[ArchiveSegment]:
        spans = self._archive.catalogue.spans(stream)
        return [span.part.manifest for span in spans if span.part.manifest is not None]

    def _session_of(self, run_id: str) -> SessionAt:
        [opened] = self._reader.events(run_stream(run_id), [1])
        session_id = str(opened.data["session_id"])
        if self._session is None or self._session.session_id != session_id:
            self._session = SessionAt(self._journal, session_id)
        return self._session

    def _dropped(self, dropping: Dropping, run_id: str, held: InArchive) -> Dropped | None:
        forks = dropping.forks(run_id)
        if forks:
            self._leave(run_id, "forked", f"{forks[0]!r} was forked from it, and stays")
            return None
        try:
            dropped = dropping.drop(run_id, held, self._progress)
        except RunIsLeased as error:
            self._leave(run_id, "leased", error.message)
        except (LeaseMoved, StateConflict, VersionConflict) as error:
            self._leave(run_id, "changed", error.message)
        except BrokenBase as error:
            self._leave(run_id, "damaged", error.message)
        else:
            self._forget(run_stream(run_id))
            return dropped
        return None

    def _forget(self, stream: StreamId) -> None:
        """Remove what was derived from the run."""
        try:
            with self._journal.views.store(REVISION, stream).writing() as rows:
                rows.forget(stream)
        except ViewsUnusable as problem:
            self._journal.views.distrust(problem)  # it is made anew without it
