"""Decisions of people: recorded as events, once each, and nothing is run with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from journal import offers, times
from journal.errors import AmbiguousId, Conflict, RunIsLeased, StateConflict, WaitingNotFound
from journal.ids import run_stream
from journal.json_door import equal
from journal.json_text import MAX_INT
from journal.leases import why_free
from journal.offers import Offer
from journal.owner import named
from journal.times import format_time
from journal.transitions import check_transitions
from projections.reading import HasReader
from projections.waiting import waiting_items
from projections.waiting_item import (
    APPROVAL,
    DEFERRED_TOOL,
    HOST,
    NAME,
    REASON,
    USER,
    WaitingItem,
    WaitingKind,
)

if TYPE_CHECKING:
    from journal import Journal
    from journal.events import Operator

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Decided:
    """An approval or a deferred tool call after somebody decided."""

    item: WaitingItem
    repeated: bool
    """Whether the same person had decided the same before; then nothing was recorded."""

    def to_json(self) -> dict[str, Any]:
        """Give the object of the item, and whether the decision was there already."""
        return {**self.item.to_json(), "repeated": self.repeated}


def decide_approval(  # noqa: PLR0913 - what is decided, and what a decision tells
    journal: Journal,
    approval_id: str,
    status: str,
    operator: Operator,
    *,
    reason: str | None = None,
    run: str | None = None,
) -> Decided:
    """Record what a person decided about an approval that waits.

    Where only the tool's return tells of it, its request is recorded in the same
    transaction. The same decision by the same person again is the same, and records nothing.

    Args:
        status: `approved` or `denied`; also `expired` and `cancelled`.
        operator: who decided, see `journal.account.current_operator`.
        reason: why, for people and for the agent.
        run: the run it is of; needed only where several have one of this id.

    Raises:
        WaitingNotFound, AmbiguousId, RunNotFound: which one is meant is not known.
        StateConflict: it was decided, or the run that asks for it is still being written and
            has made no record of it yet.
        InvalidRecord: `status` is none of these.
    """
    moment = format_time(times.now())
    decision: Fields = {
        "status": status,
        "decided_by": operator.name or operator.user,
        "decided_at": moment,
        "metadata": {USER: operator.user, HOST: operator.host},
    }
    if reason is not None:
        decision["reason"] = reason
    changes = {"status": status, "decision": decision, "updated_at": moment}
    return _decide(journal, APPROVAL, approval_id, run, lambda _: changes)


def resolve_deferred_tool(  # noqa: PLR0913 - how it ended, and what a decision tells
    journal: Journal,
    deferred_id: str,
    status: str,
    operator: Operator,
    *,
    response: Any = None,
    reason: str | None = None,
    run: str | None = None,
) -> Decided:
    """Record how a deferred tool call ended; see `decide_approval`.

    Args:
        status: `completed`, `failed` or `cancelled`.
        response: what the call returns, any JSON. Without one, a failed call returns
            `{"error": reason}` and a cancelled one `{"reason": reason}`, as the Starweaver
            runtime has it.
    """
    if response is None and reason is not None and status != "completed":
        response = {"error" if status == "failed" else "reason": reason}
    told = {USER: operator.user, HOST: operator.host, NAME: operator.name, REASON: reason}

    def changes(record: Fields) -> Fields:
        kept = {k: v for k, v in (record.get("metadata") or {}).items() if k not in told}
        said = {key: value for key, value in told.items() if value is not None}
        made = {"status": status, "updated_at": format_time(times.now()), "metadata": kept | said}
        return made if response is None else {**made, "response": response}

    return _decide(journal, DEFERRED_TOOL, deferred_id, run, changes)


def find_item(journal: HasReader, kind: WaitingKind, id_: str, run: str | None) -> WaitingItem:
    """Find an item by its id.

    Raises:
        WaitingNotFound, AmbiguousId, RunNotFound: which one is meant is not known.
    """
    items = waiting_items(journal, kind, run=run, everything=True)
    found = [item for item in items if item.error is None and item.id == id_]
    if not found:
        raise WaitingNotFound(kind.noun, id_, run)
    if len(found) > 1:
        raise AmbiguousId(kind.noun, id_, tuple(item.run_id for item in found))
    return found[0]


def _decide(
    journal: Journal,
    kind: WaitingKind,
    id_: str,
    run: str | None,
    changes: Callable[[Fields], Fields],
) -> Decided:
    item = find_item(journal, kind, id_, run)
    made = changes(item.record)
    if not item.is_open:
        return _again(item, made)
    try:
        _record(journal, item, made)
    except Conflict:
        item = find_item(journal, kind, id_, item.run_id)
        if item.is_open:
            raise
        return _again(item, made)  # somebody else was first
    except RunIsLeased as error:
        raise _too_early(item, error.owner) from error
    return Decided(find_item(journal, kind, id_, item.run_id), repeated=False)


def _record(journal: Journal, item: WaitingItem, changes: Fields) -> None:
    offer = offers.approval if item.kind is APPROVAL else offers.deferred_tool
    request = item.record
    decided = {**request, **changes, "revision": min(request["revision"] + 1, MAX_INT)}
    if item.derived or item.inherited:
        # Whoever is at the run still brings the request with its evidence.
        lease = journal.reader.lease(item.run_id)
        if lease is not None and why_free(lease, times.now()) is None:
            raise _too_early(item, named(lease))
        own = {"run_id": item.run_id, "session_id": item.session_id}
        pair = [{**request, **own}, {**decided, **own}]
        made = [offer(record, journal.redactor) for record in pair]
        journal.decide([run_stream(item.run_id)], lambda: _checked(journal, made))
    elif item.kind is APPROVAL:
        journal.approval(decided)
    else:
        journal.deferred_tool(decided)


def _checked(journal: Journal, made: list[Offer]) -> list[Offer]:
    check_transitions(journal.reader, made)
    return made


def _too_early(item: WaitingItem, owner: str) -> StateConflict:
    reason = (
        f"is asked for by a tool of a run that {owner} is still writing, and which has made no "
        "record of it yet"
    )
    return StateConflict(_named(item), reason, "wait until the run waits, then decide")


def _again(item: WaitingItem, made: Fields) -> Decided:
    """Take a decision about what was decided: the same one by the same person is the same."""
    if (
        not item.imported
        and _told(item.kind, made) == _told(item.kind, item.record)
        and equal(made.get("response"), item.record.get("response"))
    ):
        return Decided(item, repeated=True)
    decision = item.decision
    assert decision is not None  # noqa: S101 - it is not open
    by = "" if decision.by is None else f" by {decision.by}"
    account = "" if decision.user is None else f" ({decision.user}@{decision.host})"
    at = "" if decision.at is None else f" at {decision.at}"
    why = "" if decision.reason is None else f": {decision.reason}"
    remedy = "what was decided is never changed"
    if item.imported:
        remedy += (
            ", and this came from another journal: `runjournal resume "
            f"{item.run_id} --trust-imported` lets the run go on with it"
        )
    reason = f"was {decision.status} already{by}{account}{at}{why}"
    raise StateConflict(_named(item), reason, remedy)


def _told(kind: WaitingKind, record: Mapping[str, Any]) -> list[Any]:
    """Give what makes two decisions the same, besides a response."""
    if kind is DEFERRED_TOOL:
        about = record.get("metadata") or {}
        return [record["status"], *[about.get(key) for key in (USER, HOST, NAME, REASON)]]
    decision = record.get("decision") or {}
    about = decision.get("metadata") or {}
    said = [decision.get("decided_by"), decision.get("reason")]
    return [record["status"], *said, about.get(USER), about.get(HOST)]


def _named(item: WaitingItem) -> str:
    return f"{item.kind.noun} {item.id!r} of run {item.run_id!r}"
