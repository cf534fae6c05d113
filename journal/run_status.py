"""What status a run is in, by what was said of the run as a whole."""

from __future__ import annotations

from typing import Any

from journal.codec import RecordedEvent
from journal.errors import StateConflict
from journal.events import CheckpointTaken, RunCommitted, RunSaved, RunStatusChanged, StreamRecorded
from journal.facts import noted, told_status
from journal.json_door import equal
from journal.offers import STATUS_FACTS, Offer
from journal.reader import Reader
from journal.receipt import Receipt
from journal.records import TERMINAL

TOLD = ("status", "output_preview", "terminal_error")
"""What a change of status says, besides a reason for people."""


def current_status(reader: Reader, run_id: str) -> str:
    """Tell the status of a run that exists, as its session's store has it.

    What checkpoints and stream records say of the moment they were taken does not count, but
    that a run of which nothing else was said begins as its first checkpoint says.
    """
    event = reader.last_run_event(run_id, STATUS_FACTS)
    if event is not None:
        return told_status(event)
    first = reader.first_run_event(run_id, (CheckpointTaken.NAME,))
    status = "running" if first is None else str(first.data["status"])
    return "running" if status == "starting" else status


def change_status(
    reader: Reader, run_id: str, session_id: str, change: Offer
) -> list[Offer] | Receipt:
    """Offer a change of status, with its note; one that says nothing new is what said it.

    Args:
        change: a `run.status_changed` event.
    """
    seen = (*STATUS_FACTS, CheckpointTaken.NAME, StreamRecorded.NAME)
    last = reader.last_run_event(run_id, seen)
    if last is None or last.name not in (RunSaved.NAME, RunCommitted.NAME, RunStatusChanged.NAME):
        return noted(change, session_id)
    held: dict[str, Any] = _record(last) or last.data
    offered = change.value
    reason = offered.get("reason")
    same = all(equal(held.get(key), offered.get(key)) for key in TOLD)
    if last.name == RunStatusChanged.NAME and "generation" in offered:
        same = same and "generation" in last.data  # the host's word is more than anybody's
    if not same or reason not in (None, last.data.get("reason")):
        return noted(change, session_id)
    return receipt_of_event(last)


def must_not_have_ended(reader: Reader, run_id: str, what: str) -> None:
    """Refuse what only makes sense while a run goes on.

    Args:
        what: says what cannot be done, such as `be suspended`.

    Raises:
        StateConflict: the run ended.
    """
    status = current_status(reader, run_id)
    if status in TERMINAL:
        raise StateConflict(f"run {run_id!r}", f"is {status} and cannot {what}", "let it be")


def receipt_of_event(event: RecordedEvent) -> Receipt:
    """Make the receipt of an event that is recorded already."""
    return Receipt(event.version, event.position, event.stored_at, repeated=True)


def _record(event: RecordedEvent) -> dict[str, Any] | None:
    record: dict[str, Any] | None = event.data.get("run")
    return record
