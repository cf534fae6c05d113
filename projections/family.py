"""Runs and their forks, as trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from projections.listing import RunSummary


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """A run at its place in the tree of its family."""

    run: RunSummary
    lasts: tuple[bool, ...] = ()
    """For each run on the way down to this one, the root left out, and at the end for this
    one itself: whether it is the last of its siblings. Empty for a root."""

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.run` object of the run."""
        return self.run.to_json()


def families(runs: Iterable[RunSummary]) -> Iterator[FamilyMember]:
    """Arrange runs as families: each run is followed by its forks and theirs.

    A family stands where its first run stood in the list, so that of runs listed newest first
    the family with the newest run comes first; siblings keep their order. A fork of a run that
    is not in the list is a root.

    Args:
        runs: as `list_runs` gives them; all of them are held in memory.
    """
    listed = {run.run_id: run for run in runs}
    forks: dict[str, list[str]] = {}
    for run in listed.values():
        parent = _parent(run, listed)
        if parent is not None:
            forks.setdefault(parent, []).append(run.run_id)
    left = dict.fromkeys(listed)
    while left:
        root = _root(listed[next(iter(left))], listed)
        below: list[tuple[str, tuple[bool, ...]]] = [(root, ())]
        while below:
            run_id, lasts = below.pop()
            if run_id not in left:
                continue  # it names itself as an ancestor, as no journal of ours does
            del left[run_id]
            yield FamilyMember(listed[run_id], lasts)
            children = forks.get(run_id, [])
            below += [
                (child, (*lasts, at == len(children)))
                for at, child in reversed([*enumerate(children, 1)])
            ]


def _parent(run: RunSummary, listed: dict[str, RunSummary]) -> str | None:
    parent = None if run.forked_from is None else run.forked_from[0]
    return parent if parent in listed else None


def _root(run: RunSummary, listed: dict[str, RunSummary]) -> str:
    seen = {run.run_id}
    while (parent := _parent(run, listed)) is not None and parent not in seen:
        seen.add(parent)
        run = listed[parent]
    return run.run_id
