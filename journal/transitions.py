"""What may be recorded of an approval, a deferred tool call or a cursor after what was.

An approval is decided once, from pending. A deferred tool call ends once. What was asked for
stays as it was. A cursor never goes back. Each check is for a decider: it reads what is
recorded, and leaves what is offered again to the writer, who knows the same from the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from journal.errors import InvalidRecord, StateConflict, brief
from journal.events import (
    ApprovalDecided,
    ApprovalRequested,
    CursorSaved,
    DeferredToolRequested,
    DeferredToolResolved,
)
from journal.ids import RUN_PREFIX, run_stream
from journal.json_door import JSON, equal
from journal.offers import Offer, approval_identity, deferred_tool_identity
from journal.reader import Reader
from journal.records.stream_cursor import position_of

APPROVAL_REQUEST = (
    "approval_id",
    "session_id",
    "run_id",
    "action_id",
    "action_name",
    "request",
    "reviewed_arguments",
    "created_at",
    "trace_context",
    "metadata",
)
"""Members of an approval that a decision must leave as they were.

Source, also of those below: the session stores of the Starweaver runtime, 0.15.
"""

DEFERRED_TOOL_REQUEST = (
    "deferred_id",
    "session_id",
    "run_id",
    "tool_call_id",
    "tool_name",
    "request",
    "created_at",
    "trace_context",
)
"""Members of a deferred tool call that stay as they were."""

WAITING = ("pending", "waiting", "running")
"""Statuses of a deferred tool call that did not end."""


class Recorded:
    """What a run holds, with what is about to be recorded before the next event of it."""

    def __init__(self, reader: Reader, run_id: str, ahead: Sequence[Offer]) -> None:
        self._reader = reader
        self._run_id = run_id
        self._ahead = [offer for offer in ahead if offer.stream == run_stream(run_id)]

    def find(self, identity: object) -> dict[str, Any] | None:
        """Give the record of an event by the event's identity."""
        for offer in self._ahead:
            if offer.identity == identity:
                ahead: dict[str, Any] = offer.value
                return ahead
        event = self._reader.find(self._run_id, str(identity))
        return None if event is None else event.data["record"]

    def cursor(self, family: str) -> int | None:
        """Tell the sequence of the run's cursor of a family; None where none was saved."""
        for offer in reversed(self._ahead):
            if offer.name == CursorSaved.NAME and position_of(offer.value)["family"] == family:
                return int(position_of(offer.value)["sequence"])
        return last_cursor(self._reader, self._run_id, family)


def check_transition(reader: Reader, offer: Offer, ahead: Sequence[Offer] = ()) -> None:
    """Check that an event may follow what its run holds; any but the above always may.

    Args:
        ahead: what is recorded before it in the same transaction.

    Raises:
        StateConflict: it may not, as things stand.
        InvalidRecord: a decision contradicts its approval.
    """
    check = _CHECKS.get(offer.name)
    if check is not None:
        run_id = offer.stream.removeprefix(RUN_PREFIX)
        check(Recorded(reader, run_id, ahead), offer)


def check_transitions(reader: Reader, made: Sequence[Offer]) -> None:
    """Check that events may follow what their run holds, one after the other.

    Raises:
        StateConflict, InvalidRecord: see `check_transition`.
    """
    checked = [offer for offer in made if offer.name in _CHECKS]
    for at, offer in enumerate(checked):
        check_transition(reader, offer, checked[:at])


def _check_request(held: Recorded, offer: Offer) -> None:
    approval_id = offer.value["approval_id"]
    decided = held.find(approval_identity("decided", approval_id))
    if decided is not None and held.find(offer.identity) is None:
        by = (decided.get("decision") or {}).get("decided_by")
        reason = f"was decided before: {decided['status']}{f' by {brief(by)}' if by else ''}"
        raise StateConflict(f"approval {approval_id!r}", reason, "it is decided once")


def _check_decision(held: Recorded, offer: Offer) -> None:
    value = offer.value
    decision, approval_id = value.get("decision"), value["approval_id"]
    if decision is not None and decision["status"] != value["status"]:
        reason = f"{decision['status']!r}, but the approval is {value['status']!r}"
        raise InvalidRecord("approval", "$.decision.status", reason)
    requested = held.find(approval_identity("requested", approval_id))
    if requested is None or held.find(offer.identity) is not None:
        return  # decided elsewhere, before this journal knew of it; or here already
    what = f"approval {approval_id!r}"
    _must_be_unchanged(what, requested, value, APPROVAL_REQUEST)
    if decision is None:
        remedy = "say in its decision who decided, and when"
        raise StateConflict(what, f"is pending and cannot become {value['status']} alone", remedy)


def _check_deferred_tool(held: Recorded, offer: Offer) -> None:
    value = offer.value
    deferred_id = value["deferred_id"]
    if held.find(offer.identity) is not None:
        return
    what = f"deferred tool call {deferred_id!r}"
    resolved = held.find(deferred_tool_identity("resolved", deferred_id))
    if resolved is not None:
        reason = f"has ended: {resolved['status']}"
        raise StateConflict(what, reason, "it ends once, and its response stays")
    for status in WAITING:
        earlier = held.find(deferred_tool_identity(f"requested.{status}", deferred_id))
        if earlier is not None:
            _must_be_unchanged(what, earlier, value, DEFERRED_TOOL_REQUEST)


def _check_cursor(held: Recorded, offer: Offer) -> None:
    place = position_of(offer.value)
    last = held.cursor(place["family"])
    if last is not None and place["sequence"] < last:
        reason = f"stands at {last} and does not go back to {place['sequence']}"
        remedy = "save a cursor only when it has moved on"
        raise StateConflict(f"the {place['family']} cursor of {place['scope']}", reason, remedy)


def last_cursor(reader: Reader, run_id: str, family: str) -> int | None:
    """Tell the sequence of a run's cursor of a family; None where none was saved."""
    for event in reader.newest_run_events(run_id, names=(CursorSaved.NAME,)):
        place = position_of(event.data["cursor"])
        if place["family"] == family:
            return int(place["sequence"])
    return None


_CHECKS: dict[str, Callable[[Recorded, Offer], None]] = {
    ApprovalRequested.NAME: _check_request,
    ApprovalDecided.NAME: _check_decision,
    DeferredToolRequested.NAME: _check_deferred_tool,
    DeferredToolResolved.NAME: _check_deferred_tool,
    CursorSaved.NAME: _check_cursor,
}


def _must_be_unchanged(what: str, held: JSON, offered: JSON, members: Collection[str]) -> None:
    for member in members:
        was, now = held.get(member), offered.get(member)
        if not equal(was, now):
            reason = f"was requested with {member} {brief(was)}, not {brief(now)}"
            raise StateConflict(what, reason, "leave what was requested as it is")
