"""The segments of an archive, one after the other, and what is wrong with their chain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from journal.errors import ArchiveNotFound, DamagedArchive, NewerArchive
from projections.archive.filesystem import Place
from projections.archive.layout import MANIFESTS, manifest_number, manifest_path
from projections.archive.manifest import ArchiveSegment


@dataclass(frozen=True, slots=True)
class Chain:
    """The manifests of an archive, as they are this moment."""

    location: str
    segments: tuple[ArchiveSegment, ...]
    """Those that can be read, by number."""
    faults: tuple[DamagedArchive | NewerArchive, ...]
    """Manifests that are missing, damaged or newer, and those that do not follow the one
    before; by number. Without any, no segment before the last is missing or was changed."""

    @property
    def journal(self) -> str | None:
        """Id of the journal that the archive is of; None while it has no segment."""
        return self.segments[0].journal if self.segments else None

    @property
    def last_position(self) -> int:
        """The last position in it; 0 while it has no segment."""
        return self.segments[-1].last_position if self.segments else 0

    @property
    def last_number(self) -> int:
        """The number of the last segment, also of one that cannot be read; 0 without one."""
        numbers = [each.segment for each in (*self.segments, *self.faults)]
        return max(numbers, default=0)


def read_manifest(place: Place, number: int) -> ArchiveSegment:
    """Read the manifest of a segment.

    Raises:
        DamagedArchive: it is missing, or no manifest of this segment.
        NewerArchive: it was written by a newer runjournal.
        StorageFailed: it cannot be read.
    """
    path = manifest_path(number)
    content = place.read(path)
    if content is None:
        raise DamagedArchive(place.location, number, path, "is missing")
    return ArchiveSegment.from_bytes(content, location=place.location, segment=number)


def segment_numbers(place: Place) -> list[int]:
    """List the numbers of the segments that have a manifest, rising.

    Raises:
        StorageFailed: the archive cannot be listed.
    """
    numbers = (manifest_number(name) for name in place.names(MANIFESTS))
    return sorted(number for number in numbers if number)


def read_chain(place: Place, *, may_be_empty: bool = False) -> Chain:
    """Read all manifests; faults do not stop it.

    Args:
        may_be_empty: give an empty chain where there is no archive.

    Raises:
        ArchiveNotFound: there is no manifest.
        StorageFailed: the archive, or a manifest, cannot be read.
    """
    numbers = segment_numbers(place)
    if not numbers and not may_be_empty:
        raise ArchiveNotFound(place.location)
    segments: list[ArchiveSegment] = []
    faults: list[DamagedArchive | NewerArchive] = []
    expected = 1
    for number in numbers:
        if number > expected:
            faults.append(_missing(place, expected, number - 1))
        expected = number + 1
        try:
            segment = read_manifest(place, number)
        except (DamagedArchive, NewerArchive) as error:
            faults.append(error)
            continue
        before = segments[-1] if segments else None
        faults += [
            DamagedArchive(place.location, number, manifest_path(number), misfit)
            for misfit in _misfits(before, segment)
        ]
        segments.append(segment)
    return Chain(place.location, tuple(segments), tuple(faults))


def _missing(place: Place, first: int, last: int) -> DamagedArchive:
    more = f", and so are all up to segment {last}" if last > first else ""
    return DamagedArchive(place.location, first, manifest_path(first), f"is missing{more}")


def _misfits(before: ArchiveSegment | None, segment: ArchiveSegment) -> Iterator[str]:
    """Tell why a segment does not follow the one that could be read before it."""
    is_first = segment.segment == 1
    if is_first is not (segment.previous is None):
        yield "names a segment before it" if is_first else "names no segment before it"
    if is_first and segment.first_position != 1:
        yield "does not begin with the first event"
    if before is None:
        return
    if segment.journal != before.journal:
        yield f"is of the journal {segment.journal}, those before are of {before.journal}"
    if segment.segment == before.segment + 1:
        if segment.previous != before.sha256:
            yield f"names another SHA-256 than that of segment {before.segment}"
        if segment.first_position != before.last_position + 1:
            yield f"does not begin with event {before.last_position + 1}"
    elif segment.first_position <= before.last_position + 1:
        yield f"does not begin after the end of segment {before.segment}"
    if segment.first_stored_at < before.last_stored_at:
        yield f"begins before the last time of segment {before.segment}"
