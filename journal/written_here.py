"""Whether a run is at home in this journal, or came into it from another one."""

from __future__ import annotations

from journal.errors import StateConflict
from journal.events import OPENINGS, RunLeaseTaken
from journal.facts import status_of, told_status
from journal.ids import RUN_PREFIX, Version
from journal.offers import STATUS_FACTS, Offer
from journal.reader import Reader
from journal.records import TERMINAL
from journal.run_status import current_status

_NAMES = (*OPENINGS, RunLeaseTaken.NAME)


def was_written_here(reader: Reader, run_id: str, before: Version | None = None) -> bool:
    """Tell whether a host of this journal ever wrote a run that exists.

    Args:
        before: only look at the run's first events, up to this version.
    """
    return any(not event.imported for event in reader.run_events(run_id, upto=before, names=_NAMES))


def must_not_reopen(reader: Reader, offer: Offer) -> None:
    """Refuse what another journal says of a run that ended in this one.

    A run that ended elsewhere is another journal's: what that one tells of it is taken in.

    Args:
        offer: of a line that is new to the run.

    Raises:
        StateConflict: the run was ended here, and would go on.
    """
    if offer.name not in STATUS_FACTS or status_of(offer.name, offer.value) in TERMINAL:
        return
    run_id = offer.stream.removeprefix(RUN_PREFIX)
    status = current_status(reader, run_id) if reader.has_run(run_id) else None
    if status not in TERMINAL or not _ended_here(reader, run_id):
        return
    reason = f"is {status}, and {offer.name} of another journal would reopen it"
    remedy = "leave this line out; fork the run to go on from it"
    raise StateConflict(f"run {run_id!r}", reason, remedy)


def _ended_here(reader: Reader, run_id: str) -> bool:
    """Tell whether the last that a host of this journal said of a run is that it ended.

    What another journal said after that, such as that it ended once more, changes nothing.
    """
    ended = False
    for event in reader.run_events(run_id, names=STATUS_FACTS):
        if not event.imported:
            ended = told_status(event) in TERMINAL
    return ended
