"""Claims to resume a run: one host at a time may go on with what waits.

A claim is made in state `preflight`. Its holder starts it, and then it stays until the
evidence of the run that went on uses it up; before that, the holder may give it back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from journal.codec import RecordedEvent
from journal.errors import InvalidRecord, StateConflict
from journal.events import ResumeClaimed, ResumeReleased, ResumeStarted, RunStatusChanged
from journal.facts import fact
from journal.ids import run_stream
from journal.json_door import equal
from journal.offers import Offer
from journal.reader import Reader
from journal.receipt import Receipt
from journal.run_status import current_status, receipt_of_event

_NAMES = (ResumeClaimed.NAME, ResumeReleased.NAME, ResumeStarted.NAME, RunStatusChanged.NAME)


UNDER_LEASE = "runjournal-"
"""What the id of a claim begins with that the owner of the run made for itself: whoever has the
run's lease may go on with such a claim, as the process that made it is gone then."""


@dataclass(slots=True)
class Claim:
    """A claim that is held."""

    claim_id: str
    value: dict[str, Any]
    """As it was made."""
    state: str
    """How far its holder has come."""
    event: RecordedEvent
    """What brought it there."""

    @property
    def under_lease(self) -> bool:
        """Tell whether it goes with the run's lease."""
        return self.claim_id.startswith(UNDER_LEASE)


def current_claim(reader: Reader, run_id: str) -> Claim | None:
    """Give the claim on a run that is held now; None for a run that is free."""
    held: Claim | None = None
    for event in reader.run_events(run_id, names=_NAMES):
        data = event.data
        if event.name == ResumeClaimed.NAME:
            value = data["claim"]
            if held is None or held.claim_id == value["claim_id"]:
                held = Claim(value["claim_id"], value, value["state"], event)
        elif held is None or data.get("claim_id") != held.claim_id:
            continue
        elif event.name == ResumeStarted.NAME:
            held.state, held.event = "started", event
        else:
            held = None
    return held


def claim(reader: Reader, offer: Offer) -> list[Offer] | Receipt:
    """Offer a claim; the same again, while it was not started, is the one that is held.

    Args:
        offer: a `resume.claimed` event, of a run that exists.

    Raises:
        StateConflict: the run does not wait, or is claimed.
        InvalidRecord: the claim is in another state than a new one.
    """
    value = offer.value["claim"]
    run_id = value["run_id"]
    if value["state"] != "preflight":
        reason = f"{value['state']!r}, but a claim begins as 'preflight'"
        raise InvalidRecord("resume claim", "$.state", reason)
    status = current_status(reader, run_id)
    if status != "waiting":
        remedy = "only a run that waits can be claimed"
        raise StateConflict(f"run {run_id!r}", f"is {status}, not waiting", remedy)
    held = current_claim(reader, run_id)
    if held is None:
        return [offer]
    if held.state == "preflight" and equal(_timeless(held.value), _timeless(value)):
        return receipt_of_event(held.event)
    raise _taken(run_id, held)


def start(reader: Reader, run_id: str, claim_id: str) -> list[Offer] | Receipt:
    """Offer that the holder of a claim starts; started once more it is the same.

    Raises:
        StateConflict: the run is not claimed, or by somebody else.
    """
    held = current_claim(reader, run_id)
    if held is None:
        reason = f"is not claimed, and {claim_id!r} cannot start it"
        raise StateConflict(f"run {run_id!r}", reason, "claim it first")
    if held.claim_id != claim_id:
        raise _taken(run_id, held)
    if held.state == "started":
        return receipt_of_event(held.event)
    return [fact(run_stream(run_id), ResumeStarted.NAME, {"claim_id": claim_id})]


def release(reader: Reader, run_id: str, claim_id: str) -> list[Offer]:
    """Offer that a claim is given back; nothing for a run that is not claimed.

    Raises:
        StateConflict: the claim is somebody else's, or was started.
    """
    held = current_claim(reader, run_id)
    if held is None:
        return []
    if held.claim_id != claim_id:
        raise _taken(run_id, held)
    if held.state == "started":
        reason = f"is claimed by {claim_id!r}, which started"
        remedy = "commit the evidence of the run that goes on; a started claim is not given back"
        raise StateConflict(f"run {run_id!r}", reason, remedy)
    return [fact(run_stream(run_id), ResumeReleased.NAME, {"claim_id": claim_id})]


def must_be_started(reader: Reader, run_id: str, claim_id: str) -> None:
    """Refuse to go on with a run without a started claim on it.

    Raises:
        StateConflict: the run is not claimed, by somebody else, or not started.
    """
    held = current_claim(reader, run_id)
    if held is not None and held.claim_id != claim_id:
        raise _taken(run_id, held)
    if held is None or held.state != "started":
        stands = "is not claimed" if held is None else f"has the claim {claim_id!r}, not started"
        remedy = "claim it and start the claim before evidence that goes on with it is committed"
        raise StateConflict(f"run {run_id!r}", stands, remedy)


def _timeless(value: dict[str, Any]) -> dict[str, Any]:
    """Give a claim without its time: a host that asks again may tell another one."""
    return {key: item for key, item in value.items() if key != "created_at"}


def _taken(run_id: str, held: Claim) -> StateConflict:
    reason = f"has an active resume claim: {held.claim_id!r}, {held.state}"
    remedy = "wait until its holder is done, or gives it back"
    return StateConflict(f"run {run_id!r}", reason, remedy)
