"""The facts of an archive's runs, each as after its last event; those used last are remembered."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from operator import attrgetter

from journal.stores.audit import RunFacts
from journal.stores.audit_sql import RUN_COLUMNS
from projections.archive.catalogue import Catalogue
from projections.archive.files import SegmentFiles
from projections.archive.held import ROOM, SMALL, Held
from projections.archive.layout import RUNS
from projections.archive.parts import Part

_RUN = ", ".join(RUN_COLUMNS)
# An event is of one run, so its position tells the run, too.
_AT = f"SELECT {_RUN} FROM source WHERE position IN (SELECT unnest(?))"

_number = attrgetter("number")


class ArchivedFacts:
    """Looks up facts of runs; safe for threads.

    Its methods raise `DamagedArchive` or `NewerArchive` where a file that is needed cannot be
    read.
    """

    def __init__(self, files: SegmentFiles, catalogue: Catalogue) -> None:
        self._files = files
        self._catalogue = catalogue
        self._held = Held[str, RunFacts | None](ROOM)

    def of(self, run_ids: Collection[str]) -> dict[str, RunFacts]:
        """Give the facts of those of these runs that are known."""
        found = self._held.known(run_ids)
        missing = set(run_ids).difference(found)
        if missing:
            last = self._catalogue.last(missing)
            parts = {part.number: part for _, part, _ in last}
            read: dict[str, RunFacts | None] = dict.fromkeys(missing)
            read.update(self._read([position for _, _, position in last], parts.values()))
            self._remember(read)
            found |= read
        return {run_id: facts for run_id, facts in found.items() if facts is not None}

    def at(self, last: Mapping[str, int]) -> Iterator[RunFacts]:
        """Yield the facts of runs in the order given, with the positions of their last events."""
        found = self._held.known(last)
        missing = [position for run_id, position in last.items() if found.get(run_id) is None]
        if missing:
            read = self._read(missing, self._catalogue.parts_at(missing))
            self._remember(read)
            found.update(read)
        return (facts for facts in map(found.get, last) if facts is not None)

    def _read(self, positions: list[int], parts: Iterable[Part]) -> dict[str, RunFacts]:
        """Read the facts as after the events at some positions."""
        rows = self._files.ask(RUNS, sorted(parts, key=_number), _AT, positions)
        return {facts.run_id: facts for facts in map(RunFacts._make, rows)}

    def _remember(self, read: Mapping[str, RunFacts | None]) -> None:
        weight = sum(
            SMALL + (0 if each is None else len(each.state) + len(each.sequences))
            for each in read.values()
        )
        self._held.put(read, weight)
