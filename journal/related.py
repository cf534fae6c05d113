"""What the evidence of a run changes in the run that it went on with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from journal.claims import must_be_started
from journal.errors import InvalidJSON, InvalidRecord, RunConflict, StateConflict
from journal.events import CheckpointTaken, RunCommitted, RunStatusChanged, SessionRunAdded
from journal.facts import STATUS_DIAGNOSTICS, noted
from journal.ids import StreamId, run_stream
from journal.offers import Offer, Source
from journal.openings import Openings
from journal.reader import Reader
from journal.redact import Redactor
from journal.run_offers import RunOffers
from journal.run_status import current_status
from journal.transitions import check_transitions


@dataclass(frozen=True, slots=True)
class RelatedUpdate:
    """A checked `RelatedRunUpdate` of a bundle, and what it becomes."""

    run_id: str
    session_id: str
    expected_status: str
    claim_id: str
    items: list[Offer]
    """Approvals that were decided, and deferred tool calls that ended."""
    change: Offer

    @property
    def stream(self) -> StreamId:
        """The stream of the run it is about."""
        return run_stream(self.run_id)

    def decided(
        self, reader: Reader, openings: Openings, is_held: Callable[[Offer], bool]
    ) -> list[Offer]:
        """Offer the update's events, as things stand.

        Args:
            is_held: tells whether an item is recorded already.

        Raises:
            RunNotFound, RunConflict: the run does not exist, or is in another session.
            StateConflict: it is in another status than expected, it is not claimed, or an
                item may not follow what is recorded.
        """
        session_id = openings.known(self.run_id)["session_id"]
        if session_id != self.session_id:
            raise RunConflict(self.run_id, "session", session_id, self.session_id)
        must_be_started(reader, self.run_id, self.claim_id)
        status = current_status(reader, self.run_id)
        if status != self.expected_status:
            reason = f"is {status}, but {self.expected_status} was expected"
            remedy = "read it again: somebody else went on with it"
            raise StateConflict(f"run {self.run_id!r}", reason, remedy)
        made = [offer for offer in self.items if not is_held(offer)]
        check_transitions(reader, made)
        return [*made, *noted(self.change, session_id)]


def goes_on_in(reader: Reader, run_id: str) -> str | None:
    """Tell the run that went on with a run; None where there is none, or it never began.

    One that has no checkpoint and no evidence did nothing, and its source can go on anew.
    """
    changes = reader.run_events(run_id, names=(RunStatusChanged.NAME,))
    named = [event.data["continued_by"] for event in changes if "continued_by" in event.data]
    if not named or not reader.has_run(named[-1]):
        return None
    begun = reader.first_run_event(named[-1], (CheckpointTaken.NAME, RunCommitted.NAME))
    return None if begun is None else named[-1]


def came_from(reader: Reader, run_id: str, session_id: str) -> str | None:
    """Tell the run that says that a run of its session goes on with it."""
    added = reader.session_events(session_id, names=(SessionRunAdded.NAME,))
    for other in {str(event.data["run_id"]) for event in added}:
        if other != run_id and reader.has_run(other) and goes_on_in(reader, other) == run_id:
            return other
    return None


def related_update(
    update: dict[str, Any], run: dict[str, Any], redactor: Redactor | None
) -> RelatedUpdate:
    """Prepare the update that a bundle holds.

    Args:
        update: valid, and redacted where the journal does that.
        run: the record of the run whose evidence it is.
        redactor: sees the change of status, as it does each fact in words.
    """
    session_id, status = run["session_id"], update["status"]
    ours = RunOffers(update["run_id"], session_id, None, redactor)
    plain = RunOffers(update["run_id"], session_id, None)
    items = [
        *_items(update, "approvals", plain.approval),
        *_items(update, "deferred_tools", plain.deferred_tool),
    ]
    fields = {
        "status": status,
        "output_preview": update.get("output_preview"),
        "terminal_error": update.get("terminal_error") or STATUS_DIAGNOSTICS.get(status),
        "continued_by": run["run_id"],
        "claim_id": update["resume_claim_id"],
    }
    return RelatedUpdate(
        update["run_id"],
        session_id,
        update["expected_status"],
        update["resume_claim_id"],
        items,
        ours.said(RunStatusChanged.NAME, fields),
    )


def _items(update: dict[str, Any], key: str, make: Callable[[Source], Offer]) -> list[Offer]:
    made = []
    for at, item in enumerate(update.get(key) or ()):
        try:
            made.append(make(item))
        except (InvalidJSON, InvalidRecord) as error:
            place = f"$.related_run_updates[0].{key}[{at}]"
            raise replace(error, path=place + error.path[1:]) from error
    return made
