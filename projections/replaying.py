"""Replaying a run to a cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from projections.cursors import LATEST, Cursor, as_cursor
from projections.fold import fold_run
from projections.locate import locate
from projections.reading import HasReader
from projections.view import RunView, build_view

if TYPE_CHECKING:
    from journal.aio import AsyncJournal


def replay(journal: HasReader, run_id: str, at: Cursor | str = LATEST) -> RunView:
    """Show a run as it was at a cursor.

    Args:
        at: a cursor, or its text form.

    Raises:
        InvalidCursor: `at` is neither.
        RunNotFound: nothing of this run was ever recorded.
        CheckpointNotFound: the run has no such checkpoint.
        CursorOutOfRange: the run does not reach so far.
        UnknownEvent: an event before the cursor was written by a newer runjournal.
        CorruptEvent, BrokenBase: the run, or one it is based on, is damaged.
    """
    reader = journal.reader
    cursor = as_cursor(at)
    place = locate(reader, run_id, cursor)
    return build_view(reader, run_id, cursor, fold_run(place.read), place.cut)


async def areplay(journal: AsyncJournal, run_id: str, at: Cursor | str = LATEST) -> RunView:
    """Show a run as it was at a cursor, without blocking the event loop; see `replay`."""
    return await journal.call(replay, journal.sync, run_id, at)
