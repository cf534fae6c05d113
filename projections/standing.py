"""How a run stands now: what was recorded of it, and whether anybody is still at it."""

from __future__ import annotations

from typing import Final

from journal import times
from journal.leases import why_free
from projections.reading import HasReader

CRASHED: Final = "crashed"
"""The derived status of a run that nobody is writing any more, though it did not end."""

UNDER_WAY = frozenset({"queued", "starting", "running"})
"""Statuses of a run that somebody must be at."""

NOT_BEGUN = (None, "queued")
"""Statuses of a run that somebody may still be going to begin."""

UNFINISHED = frozenset({"waiting", CRASHED})
"""Derived statuses of runs that go on only when somebody resumes them."""

DIED = ("expired", "gone")
"""What became of a lease that was not given back."""


def derived_status(
    journal: HasReader, run_id: str, status: str | None, *, version: int | None = None
) -> str | None:
    """Tell the status of a run as it stands now: `crashed`, or the one that was recorded.

    A run is crashed when it was said to be under way and no owner of its lease is alive: it
    was given back, it expired, its process is gone, or there never was one. One that is queued,
    or of which nothing was said yet, is crashed only when its owner died without giving the
    lease back. This takes no lock, and asks for no lease.

    Args:
        status: as recorded (`Live.status`); None when nothing tells it.
        version: of the run's last event that `status` takes in. A run that has more by now
            was being written, and stands as recorded.
    """
    if status is not None and status not in UNDER_WAY:
        return status
    free = why_free(journal.reader.lease(run_id), times.now())
    if free is None or (status in NOT_BEGUN and free not in DIED):
        return status
    if version is not None and journal.reader.head(run_id) != version:
        return status
    return CRASHED
