"""The runs that a view takes in: the one asked for, and those it inherits from."""

from __future__ import annotations

from collections.abc import Sequence

from journal.codec import RecordedEvent
from journal.lineage import Bound
from projections.fold import RunFold
from projections.named_places import tool_return_name
from projections.places import place_of
from projections.reach import Reach
from projections.run_index import RunIndex

Levels = Sequence[tuple[RunIndex, Reach]]
"""The oldest first, each with what is taken in of it."""


def after_checkpoint(levels: Levels, fold: RunFold) -> Levels:
    """Give the levels from that of a fold's checkpoint on; all where there is none."""
    for number, (index, _) in enumerate(levels):
        if fold.checkpoint is not None and index.stream == fold.checkpoint.stream:
            return levels[number:]
    return levels


def returned_before(levels: Levels, fold: RunFold, call_id: str) -> bool:
    """Tell whether an own tool call returned before a fold's checkpoint."""
    for index, reach in levels:
        of_checkpoint = fold.checkpoint is not None and index.stream == fold.checkpoint.stream
        if _returned(index, reach, call_id, fold.since if of_checkpoint else reach.before):
            return True
        if of_checkpoint:
            break
    return False


def last_return(levels: Levels, fold: RunFold, call_id: str) -> RecordedEvent | None:
    """Give the last return of an own tool call after a fold's checkpoint."""
    for index, reach in reversed(after_checkpoint(levels, fold)):
        of_checkpoint = fold.checkpoint is not None and index.stream == fold.checkpoint.stream
        after = fold.since if of_checkpoint else None
        found = [
            place
            for place in _returns(index, reach, call_id)
            if (after is None or place > after) and (reach.before is None or place < reach.before)
        ]
        versions = [version for _, _, version in sorted(found)]
        taken = [
            event
            for event in index.reader.events(index.stream, versions)
            if reach.takes(event.version, event.recorded_at)
        ]
        if taken:
            return taken[-1]
    return None


def _returned(index: RunIndex, reach: Reach, call_id: str, before: Bound | None) -> bool:
    places = _returns(index, reach, call_id)
    versions = [place[2] for place in places if before is None or place < before]
    if reach.until is None or not versions:
        return bool(versions)
    events = index.reader.events(index.stream, versions)
    return any(reach.takes(event.version, event.recorded_at) for event in events)


def _returns(index: RunIndex, reach: Reach, call_id: str) -> list[Bound]:
    """Give the places of a tool call's returns, as far as versions are in the reach."""
    name = tool_return_name(call_id)
    found = index.ask(
        lambda rows: [(version, place_of(key)) for version, key in rows.returns(index.stream, name)]
    )
    return [place for version, place in found if version <= reach.version]
