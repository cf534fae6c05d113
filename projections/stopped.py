"""Whether it was a run's host that said that the run waits."""

from __future__ import annotations

from collections.abc import Iterator

from journal.codec import RecordedEvent
from journal.events import (
    CheckpointTaken,
    RunCommitted,
    RunResumed,
    RunStatusChanged,
    RunSuspended,
    StreamRecorded,
)
from journal.facts import told_status
from journal.offers import STATUS_FACTS
from journal.written_here import was_written_here
from projections.reach import Reach
from projections.reading import HasReader
from projections.run_index import RunIndex
from projections.view import RunView

_HOSTS = (CheckpointTaken.NAME, RunSuspended.NAME, RunCommitted.NAME)
"""Events that only the host of a run brings; anybody may set a status, or save a record."""


def _is_hosts(event: RecordedEvent) -> bool:
    said = event.name == RunStatusChanged.NAME and "generation" in event.data
    return said or event.name in _HOSTS


def stopped_in_order(journal: HasReader, view: RunView) -> bool:
    """Tell whether a run waits because its host stopped, and not because somebody set that.

    Its host says so with a checkpoint that waits, a suspension, its evidence, or a status that
    it sets under its lease. What it said before the run was last resumed tells nothing of that
    attempt. Neither does what came from another journal of a run that was under way in this
    one.

    Args:
        view: of the run as it is now.
    """
    if view.live.status != "waiting":
        return False
    index = RunIndex(journal, view.run_id)
    for level, reach in reversed(index.levels(index.whole)):
        word: RecordedEvent | None = None
        resumed = wrote = False
        for event in _facts(level, reach):
            resumed = resumed or event.name == RunResumed.NAME
            wrote = wrote or event.name == CheckpointTaken.NAME
            if _status(event) != "waiting":
                word = None
            elif _is_hosts(event) and not _is_foreign(level, event):
                word = event
        if word is not None:
            return True
        if resumed or wrote or level.reader.last_run_event(level.run_id, (StreamRecorded.NAME,)):
            return False
    return False


def _status(event: RecordedEvent) -> str:
    if event.name == CheckpointTaken.NAME:
        return str(event.data["status"])
    return told_status(event)


def _is_foreign(level: RunIndex, event: RecordedEvent) -> bool:
    """Tell whether an event came from another journal after a host of this one wrote the run."""
    return event.imported and was_written_here(level.reader, level.run_id, event.version)


def _facts(level: RunIndex, reach: Reach) -> Iterator[RecordedEvent]:
    """Yield what a reach says of the run's status, by arrival."""
    within = None
    if reach.before is not None:
        within = {place[2] for places in level.places(reach, None) for place in places}
    names = (*STATUS_FACTS, CheckpointTaken.NAME)
    for event in level.reader.run_events(level.run_id, upto=reach.version, names=names):
        if within is not None and event.version not in within:
            continue
        if reach.takes(event.version, event.recorded_at):
            yield event
