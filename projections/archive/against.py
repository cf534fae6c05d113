"""An archive against the journal it is of: the same events, and every segment it needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from journal.errors import ArchiveOfAnotherJournal, CorruptEvent, DamagedArchive
from journal.events import RunArchived
from journal.findings import Severity
from journal.ids import Position
from journal.progress import Progress
from journal.reader import Reader
from journal.stores.interface import StoredEvent
from projections.archive.chain import Chain
from projections.archive.compared import archived_events, differing
from projections.archive.filesystem import Place
from projections.archive.layout import EVENTS, manifest_path
from projections.archive.manifest import ArchiveSegment
from projections.archive.verification import ArchiveFinding
from projections.reading import HasReader


@dataclass(slots=True)
class Comparison:
    """What a comparison found."""

    events: int = 0
    """How many were compared."""
    findings: list[ArchiveFinding] = field(default_factory=list)


def against_journal(
    place: Place, chain: Chain, journal: HasReader, progress: Progress
) -> Comparison:
    """Compare every event of an archive with the journal's, but for those dropped from it.

    Raises:
        ArchiveOfAnotherJournal: the archive is of another journal.
    """
    reader = journal.reader
    if chain.journal is not None and chain.journal != reader.journal_id:
        raise ArchiveOfAnotherJournal(place.location, chain.journal, reader.journal_id)
    dropped = _Dropped(reader)
    found = Comparison(findings=list(dropped.segments_missing(chain)))
    for segment in chain.segments:
        _compare(place, segment, reader, dropped, found)
        progress("compare", found.events, chain.last_position)
    return found


class _Dropped:
    """The runs that were dropped from a journal, and the segments they are in."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._through: dict[str, int] = {}
        self._segments: dict[int, set[str]] = {}
        for run_id in reader.run_ids():
            event = reader.last_run_event(run_id, [RunArchived.NAME])
            if event is not None:
                self._through[event.stream] = event.data["through_version"]
                for each in event.data["segments"]:
                    self._segments.setdefault(each["segment"], set()).add(each["sha256"])

    def has(self, event: StoredEvent) -> bool:
        """Tell whether an event may be gone from the journal."""
        return event.version <= self._through.get(event.stream, 0)

    def segments_missing(self, chain: Chain) -> Iterator[ArchiveFinding]:
        """Find segments that dropped runs are in, and that are missing or others."""
        hashes = {each.segment: each.sha256 for each in chain.segments}
        faulty = {each.segment for each in chain.faults}
        for number, named in sorted(self._segments.items()):
            if number in faulty or named == {hashes.get(number)}:
                continue
            if number in hashes:
                what = "is not the segment that runs were dropped into"
            else:
                what = "is missing, and runs were dropped into it"
            yield ArchiveFinding(
                Severity.WRONG, "segment.lost", number, manifest_path(number), what
            )


def _compare(
    place: Place, segment: ArchiveSegment, reader: Reader, dropped: _Dropped, found: Comparison
) -> None:
    path = segment.file(EVENTS).path

    def wrong(what: str) -> None:
        finding = ArchiveFinding(Severity.WRONG, "event.differs", segment.segment, path, what)
        found.findings.append(finding)

    try:
        archived = {each.position: each for each in archived_events(place, segment)}
    except DamagedArchive:
        return  # it was found when the file was examined
    try:
        for stored in _between(reader, segment.first_position, segment.last_position):
            event = archived.pop(stored.position, None)
            difference = "not in the archive" if event is None else differing(event, stored)
            found.events += 1
            if difference is not None:
                wrong(f"event {stored.position} of the journal is another: {difference}")
    except CorruptEvent as error:
        wrong(f"the journal cannot be compared: {error.message}")
        return
    lost = [each.position for each in archived.values() if not dropped.has(each)]
    if lost:
        wrong(f"the journal lacks event {min(lost)} and {len(lost) - 1} more of the segment")


def _between(reader: Reader, first: int, last: int) -> Iterator[StoredEvent]:
    after = Position(first - 1)
    while after < last and (page := reader.stored_events(after=after)):
        for stored in page:
            if stored.position > last:
                return
            yield stored
        after = page[-1].position
