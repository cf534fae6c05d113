"""How runs stood before: facts from what is being written, and from sealed segments."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence

import pyarrow.parquet as pq

from journal.codec import RecordedEvent
from journal.errors import ArchiveDiffers
from journal.stores.audit import RunFacts
from projections.archive.filesystem import Place
from projections.archive.groups import Group
from projections.archive.layout import RUNS
from projections.archive.manifest import ArchiveSegment
from projections.archive.segment_file import segment_file

KEPT = 4096
"""Runs of sealed segments whose facts stay in memory."""


class PastFacts:
    """Facts of the runs of an archive that grows.

    A run whose first event is taken in just now was not known before. Any other is in a
    segment, mostly in one of the last: the newest catalogues are looked into first.
    """

    def __init__(self, place: Place, segments: Sequence[ArchiveSegment]) -> None:
        self._place = place
        self._segments = list(segments)
        self._kept: OrderedDict[str, RunFacts] = OrderedDict()
        self._open: Mapping[str, RunFacts] = {}
        self._firsts: dict[str, RecordedEvent] = {}

    def begin(self, facts: Mapping[str, RunFacts]) -> None:
        """Look from now on first into the facts of a new segment, which grow with it.

        Those of the segment before are kept at least until it is sealed.
        """
        for run_id, each in self._open.items():
            self._kept.pop(run_id, None)
            self._kept[run_id] = each
        self._open = facts

    def sealed(self, segment: ArchiveSegment) -> None:
        """Take in that the segment was sealed that ended last: it can be looked into."""
        self._segments.append(segment)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def expect(self, groups: Sequence[Group]) -> Collection[str]:
        """Take notice of the events that are taken in next.

        Returns:
            Those of their runs that were known before.
        """
        self._firsts = {
            group.run_id: group.events[0] for group in groups if group.run_id is not None
        }
        return [run_id for run_id, event in self._firsts.items() if event.version > 1]

    def find(self, run_ids: Collection[str]) -> Mapping[str, RunFacts]:
        """Give the facts of those of these runs that are known.

        Raises:
            ArchiveDiffers: a run that goes on is in no segment.
            DamagedArchive: a catalogue cannot be read.
        """
        found: dict[str, RunFacts] = {}
        missing: set[str] = set()
        for run_id in run_ids:
            facts = self._open.get(run_id) or self._kept.get(run_id)
            if facts is not None:
                found[run_id] = facts
            elif run_id not in self._firsts or self._firsts[run_id].version > 1:
                missing.add(run_id)
        for segment in reversed(self._segments):
            if not missing:
                break
            for facts in read_facts(self._place, segment, missing):
                found[facts.run_id] = self._kept[facts.run_id] = facts
                missing.remove(facts.run_id)
        for run_id in missing & self._firsts.keys():
            event = self._firsts[run_id]
            reason = f"version {event.version} of {event.stream!r} goes on with what is not in it"
            raise ArchiveDiffers(self._place.location, event.position, reason)
        return found


def read_facts(
    place: Place, segment: ArchiveSegment, run_ids: Collection[str]
) -> Iterator[RunFacts]:
    """Yield the facts of those of some runs that a segment touches.

    Raises:
        DamagedArchive: its catalogue cannot be read.
    """
    names = list(RunFacts._fields)
    with segment_file(place, segment, RUNS) as file:
        table = pq.read_table(file, columns=names, filters=[("run_id", "in", sorted(run_ids))])
        columns = (table[name].to_pylist() for name in names)
        yield from map(RunFacts._make, zip(*columns, strict=True))
