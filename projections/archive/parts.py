"""The segments of an archive: what each may hold, and why it cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from journal.errors import DamagedArchive, NewerArchive, StorageFailed
from journal.stores.audit import LARGEST
from projections.archive.chain import Chain
from projections.archive.filesystem import Place
from projections.archive.layout import KINDS, ROWS, data_file
from projections.archive.manifest import ArchiveSegment, SegmentFile

Fault = DamagedArchive | NewerArchive


class Part(NamedTuple):
    """A segment, whether its manifest can be read or not."""

    number: int
    first_position: int
    last_position: int
    first_recorded_at: int
    last_recorded_at: int
    """The bounds of all of them; wide where nothing tells."""
    paths: Mapping[str, str]
    """Its files by their kind, as far as they are there."""
    manifest: ArchiveSegment | None
    fault: Fault | None
    """Why nothing that it holds can be told, though others can."""

    def file(self, kind: str) -> SegmentFile | None:
        """Give what the manifest says of a file."""
        return None if self.manifest is None else self.manifest.file(kind)


def parts_of(place: Place, chain: Chain) -> list[Part]:
    """List the segments of an archive by their numbers, those that cannot be read too."""
    faults = {fault.segment: fault for fault in chain.faults}
    found = {each.segment: _read(each, faults.get(each.segment)) for each in chain.segments}
    missing = sorted(set(faults) - set(found))
    named = _named(place) if missing else {}
    for number in missing:
        found[number] = _unread(place, number, named.get(number, {}), faults[number], found)
    return [found[number] for number in sorted(found)]


def _read(segment: ArchiveSegment, fault: Fault | None) -> Part:
    return Part(
        segment.segment,
        segment.first_position,
        segment.last_position,
        segment.first_recorded_at,
        segment.last_recorded_at,
        {kind: segment.file(kind).path for kind in KINDS},
        segment,
        fault,
    )


def _unread(
    place: Place, number: int, paths: Mapping[str, str], fault: Fault, found: Mapping[int, Part]
) -> Part:
    """Find the bounds of a segment whose manifest tells nothing: between its neighbours."""
    before = max((each for each in found if each < number), default=None)
    after = min((each for each in found if each > number), default=None)
    first = 1 if before is None else found[before].last_position + 1
    last = LARGEST if after is None else found[after].first_position - 1
    recorded = _recorded(place, paths[ROWS]) if ROWS in paths else None
    earliest, latest = recorded or (-LARGEST, LARGEST)
    return Part(number, first, last, earliest, latest, paths, None, fault)


def _named(place: Place) -> dict[int, dict[str, str]]:
    """List the data files by segment and kind."""
    found: dict[int, dict[str, str]] = {}
    for kind in KINDS:
        for path in place.names(kind):
            file = data_file(path)
            if file is not None:
                found.setdefault(file.segment, {})[kind] = path
    return found


def _recorded(place: Place, path: str) -> tuple[int, int] | None:
    """Read from a file of rows when the first and the last were recorded; None if unknown."""
    try:
        opened = place.open(path)
        if opened is None:
            return None
        with place.reading(path), opened, pq.ParquetFile(opened) as file:
            metadata = file.metadata
            column = metadata.schema.names.index("recorded_at")
            groups = [
                metadata.row_group(at).column(column) for at in range(metadata.num_row_groups)
            ]
            known = [each.statistics for each in groups if each.is_stats_set]
            if len(known) < len(groups):
                return None
            lowest = min((each.min for each in known), default=LARGEST)
            return lowest, max((each.max for each in known), default=-LARGEST)
    except (StorageFailed, pa.ArrowException, ValueError):
        return None  # then any answer may need it
