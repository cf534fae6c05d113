"""Writing to runs that the caller did not open: refused while somebody else writes them."""

from __future__ import annotations

from collections.abc import Collection

from journal.errors import LeaseMoved, StaleWriter
from journal.ids import RUN_PREFIX, StreamId
from journal.leases import Leases
from journal.offers import Offer
from journal.pending import Decide, Write
from journal.receipt import Receipt
from journal.writer import MAX_ATTEMPTS, Writer


def write_fenced(  # noqa: PLR0913 - what is written, by whom, under which conditions
    writer: Writer,
    leases: Leases,
    made: list[Offer],
    *,
    decide: Decide | None = None,
    streams: Collection[StreamId] = (),
    free: Collection[StreamId] = (),
) -> list[Receipt]:
    """Write offers in one transaction, of runs that no other owner is writing.

    Args:
        made: empty with `decide`, which gives them (see `journal.pending.Write`).
        streams: what `decide` reads, and all that it offers to.
        free: those of them that are written whoever writes the run.

    Raises:
        RunIsLeased: another owner is writing one of the runs.
        StaleWriter: another owner took one over that this journal was writing.
    """
    touched = {*streams, *(offer.stream for offer in made)}
    runs = {stream for stream in touched.difference(free) if stream.startswith(RUN_PREFIX)}
    for _ in range(MAX_ATTEMPTS):
        fences: dict[StreamId, int] = {}
        for stream in runs:
            fences |= leases.fence(stream.removeprefix(RUN_PREFIX))
        try:
            return writer.write(Write(made, fences, decide=decide, streams=streams))
        except LeaseMoved as moved:
            run_id = moved.stream.removeprefix(RUN_PREFIX)
            if leases.holds(run_id):
                raise StaleWriter(run_id, moved.expected, moved.found) from None
            refused = moved
    raise refused
