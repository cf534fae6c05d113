"""When a run's record was written to last before the evidence came with which it ended."""

from __future__ import annotations

from journal.codec import RecordedEvent
from journal.events import RunCommitted
from journal.ids import Position
from journal.revisions import SAVES
from projections.run_at import RunAt

FIRST = 2
"""What a commit says that a run has saved where it may be the first that was written of it."""


def touched_before(before: RunAt, ended: RecordedEvent) -> Position | None:
    """Find the last write to a run's record before the one with which the run ended.

    What came in the same transaction came with its end. How much that is follows from the
    number of saves that the commit of evidence tells, and not from any clock.

    Args:
        before: the run as it was right before `ended`.
        ended: the event that ended it.

    Returns:
        Its position; None where there was none.
    """
    with_it, saves = 0, None
    if ended.name == RunCommitted.NAME:
        saves = ended.data.get("saves")
        if saves is not None:
            with_it = max(0, before.record.saves - (saves - 1))
    events = before.index.reader.newest_run_events(before.index.run_id, SAVES)
    earlier = (event for event in events if event.position < ended.position)
    for event in earlier:
        if with_it:
            with_it -= 1
        elif ended.name != RunCommitted.NAME or saves not in (None, FIRST):
            return event.position
        elif event.recorded_at < ended.recorded_at:
            # Of an old commit, and of the first save, only the time tells what came with it.
            return event.position
    return None
