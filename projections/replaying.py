"""Replaying a run to a cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from journal.progress import Progress, unseen
from projections.blame import blamed_on
from projections.cursors import LATEST, Cursor, as_cursor
from projections.locate import locate
from projections.reading import HasReader
from projections.run_index import RunIndex
from projections.view import RunView, build_view

if TYPE_CHECKING:
    from journal.aio import AsyncJournal


def replay(
    journal: HasReader,
    run_id: str,
    at: Cursor | str = LATEST,
    *,
    tail: int | None = None,
    progress: Progress = unseen,
) -> RunView:
    """Show a run as it was at a cursor.

    What is new in the run since somebody last looked is taken into the views first; the rest
    is looked up, however long the run is.

    Args:
        at: a cursor, or its text form.
        tail: how many stream records after the checkpoint to show at most, the last ones;
            None for all.
        progress: told how many of the run's events were taken in.

    Raises:
        InvalidCursor: `at` is neither.
        RunNotFound: nothing of this run was ever recorded.
        CheckpointNotFound: the run has no such checkpoint.
        CursorOutOfRange: the run does not reach so far.
        UnknownEvent: an event before the cursor was written by a newer runjournal.
        CorruptEvent, BrokenBase: the run, or one it is based on, is damaged.
    """
    cursor = as_cursor(at)
    index = RunIndex(journal, run_id, progress)
    with blamed_on(index.stream):
        return build_view(index, cursor, locate(index, cursor), tail)


async def areplay(
    journal: AsyncJournal, run_id: str, at: Cursor | str = LATEST, *, tail: int | None = None
) -> RunView:
    """Show a run as it was at a cursor, without blocking the event loop; see `replay`."""
    return await journal.call(replay, journal.sync, run_id, at, tail=tail)
