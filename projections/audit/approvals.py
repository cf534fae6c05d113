"""Who approved what: what was asked for, what was decided, and how long it waited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from typing import Any, Final

from journal.records import TERMINAL
from journal.stores.audit import AuditRow
from projections.audit.calls import (
    APPROVAL_REQUIRED,
    CALL,
    RETURN,
    Joined,
    by_step,
    is_call,
    told,
)
from projections.audit.filters import AuditFilter
from projections.audit.known_runs import KnownRuns, limited, place
from projections.audit.merged import logical_place, when

REQUESTED: Final = "approval.requested"
DECIDED: Final = "approval.decided"

PENDING: Final = "pending"
ANSWERED: Final = "answered"
"""Nobody recorded a decision, but the tool returned after all."""
UNANSWERED: Final = "unanswered"
"""Nobody recorded a decision, and the run ended without."""


@dataclass(frozen=True, slots=True)
class Approval:
    """An approval that was asked for, and what became of it."""

    run_id: str
    session_id: str | None
    conversation_id: str | None
    agent: str | None
    approval_id: str | None
    """None where only the tool's return asked for it, and no record was made."""
    tool: str | None
    """The tool, or the action."""
    call_id: str | None
    place: str
    """Cursor to replay to: where it was asked for."""
    arguments: str | None
    """Of the tool call, where it was recorded."""
    request: str | None
    """What was asked."""
    status: str
    """As recorded last; without a record `pending`, `answered` (the tool returned after all) or
    `unanswered` (the run ended)."""
    decided_by: str | None
    reason: str | None
    requested_at: int | None
    """When the request was recorded; None where only the decision was. In microseconds since
    the epoch, as is `decided_at`."""
    decided_at: int | None
    waited: int | None
    """Microseconds from the request to the decision: by the host's times where it gave both,
    else by those recorded. None while it waits."""

    @property
    def is_pending(self) -> bool:
        """Tell whether it still waits for a decision."""
        return self.status == PENDING

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.audit.approval` object."""
        return {
            "schema": "runjournal.audit.approval",
            "schema_version": 1,
            "run_id": self.run_id,
            "session_id": self.session_id,
            "conversation_id": self.conversation_id,
            "agent": self.agent,
            "approval_id": self.approval_id,
            "tool": self.tool,
            "call_id": self.call_id,
            "place": self.place,
            "arguments": self.arguments,
            "request": self.request,
            "status": self.status,
            "decided_by": self.decided_by,
            "reason": self.reason,
            "requested_at": told(self.requested_at),
            "decided_at": told(self.decided_at),
            "waited_micros": self.waited,
        }


def list_approvals(
    known: KnownRuns, asked: AuditFilter, *, pending: bool | None
) -> Iterator[Approval]:
    """Yield approvals, newest first; see `Audit.approvals`."""
    reader = known.reader
    rows = merge(
        reader.rows(asked.wanted([REQUESTED, DECIDED])),
        reader.rows(asked.wanted([RETURN], statuses=[APPROVAL_REQUIRED])),
        key=when,
        reverse=True,
    )
    found = (
        approval
        for some in known.counted(rows, asked)
        for approval in _of(known, some)
        if pending is None or approval.is_pending is pending
    )
    return limited(found, asked)


def _of(known: KnownRuns, rows: list[AuditRow]) -> Iterator[Approval]:
    """Make the approvals that some rows stand for: each has one row that does."""
    calls = _calls(known, rows)
    found: dict[tuple[int, int], Approval] = {}
    for row, approval in _recorded(known, rows, calls):
        found[row.position, row.part] = approval
    for row, approval in _told_by_returns(known, rows, calls):
        found[row.position, row.part] = approval
    for row in rows:
        if (row.position, row.part) in found:
            yield found[row.position, row.part]


Calls = dict[tuple[str, str | None], list[AuditRow]]
"""All rows of a call id, by run and call id."""


def _calls(known: KnownRuns, rows: list[AuditRow]) -> Calls:
    pairs = {(row.run_id, row.call_id) for row in rows if row.call_id is not None}
    found: Calls = {}
    for row in known.reader.calls(pairs, held=rows) if pairs else ():
        found.setdefault((row.run_id, row.call_id), []).append(row)
    return found


def _recorded(
    known: KnownRuns, rows: list[AuditRow], calls: Calls
) -> Iterator[tuple[AuditRow, Approval]]:
    pairs = {
        (row.run_id, row.item_id) for row in rows if row.kind != RETURN and row.item_id is not None
    }
    items: dict[tuple[str, str | None], list[AuditRow]] = {}
    for row in known.reader.items(pairs) if pairs else ():
        if row.kind in (REQUESTED, DECIDED):
            items.setdefault((row.run_id, row.item_id), []).append(row)
    for item in items.values():
        item.sort(key=logical_place)
        requested = next((row for row in item if row.kind == REQUESTED), None)
        decided = next((row for row in reversed(item) if row.kind == DECIDED), None)
        row = requested or item[-1]
        called = _arguments(known, calls.get((row.run_id, row.call_id), []))
        yield row, _approval(known, row, requested, decided, called)


def _told_by_returns(
    known: KnownRuns, rows: list[AuditRow], calls: Calls
) -> Iterator[tuple[AuditRow, Approval]]:
    for call_id in {(row.run_id, row.call_id) for row in rows if row.kind == RETURN}:
        group = calls.get(call_id, [])
        of_call = [row for row in group if is_call(known, row)]
        asked = [
            joined
            for children in _by_child(of_call)
            for joined in by_step(children)
            if _asking(joined)
        ]
        if any(_is_own(row) for row in of_call):
            may_be_told = [joined for joined in asked if _is_own(_asking(joined)[0])]
        else:  # a child asked, and the record is with its parent
            may_be_told = asked
        recorded = list(_recorded_for(may_be_told, group))
        for joined in asked:
            if joined not in recorded:
                first = _asking(joined)[0]
                called = joined.calls[-1].text if joined.calls else None
                yield first, _derived(known, first, joined.returns[-1], called)


def _asking(joined: Joined) -> list[AuditRow]:
    return [row for row in joined.returns if row.status == APPROVAL_REQUIRED]


def _is_own(row: AuditRow) -> bool:
    return row.child_run_id in (None, row.run_id)


def _recorded_for(asked: list[Joined], group: list[AuditRow]) -> Iterator[Joined]:
    """Find what the records of approvals are about, which tell more: they name no step.

    A record is about what asked last before it was made, else about what asked first.
    """
    returns = [(logical_place(row), joined) for joined in asked for row in _asking(joined)]
    returns.sort(key=lambda each: each[0])
    made: dict[str | None, AuditRow] = {}
    for row in sorted(group, key=logical_place):
        if row.kind in (REQUESTED, DECIDED):
            made.setdefault(row.item_id, row)
    for row in made.values() if returns else ():
        before = [joined for at, joined in returns if at < logical_place(row)]
        yield before[-1] if before else returns[0][1]


def _by_child(rows: list[AuditRow]) -> Iterator[list[AuditRow]]:
    found: dict[str | None, list[AuditRow]] = {}
    for row in rows:
        found.setdefault(row.child_run_id, []).append(row)
    yield from found.values()


def _arguments(known: KnownRuns, group: list[AuditRow]) -> str | None:
    calls = [row for row in group if row.kind == CALL and is_call(known, row)]
    return max(calls, key=logical_place).text if calls else None


def _approval(
    known: KnownRuns,
    row: AuditRow,
    requested: AuditRow | None,
    decided: AuditRow | None,
    arguments: str | None,
) -> Approval:
    facts = known.facts(row.run_id)
    return Approval(
        row.run_id,
        row.session_id,
        row.conversation_id if facts is None else facts.conversation_id,
        row.agent if facts is None else facts.agent,
        row.item_id,
        row.tool,
        row.call_id,
        place(row.anchor, row.version),
        arguments,
        None if requested is None else requested.text,
        (decided or row).status or PENDING,
        None if decided is None else decided.actor,
        None if decided is None else decided.text,
        None if requested is None else requested.recorded_at,
        None if decided is None else decided.recorded_at,
        _waited(requested, decided),
    )


def _waited(requested: AuditRow | None, decided: AuditRow | None) -> int | None:
    if requested is None or decided is None:
        return None
    if requested.host_at is not None and decided.host_at is not None:
        return max(0, decided.host_at - requested.host_at)
    return max(0, decided.recorded_at - requested.recorded_at)


def _derived(known: KnownRuns, asked: AuditRow, last: AuditRow, arguments: str | None) -> Approval:
    facts = known.facts(asked.run_id)
    if last.status != APPROVAL_REQUIRED:
        status = ANSWERED
    else:
        ended = facts is not None and facts.status in TERMINAL
        status = UNANSWERED if ended else PENDING
    agent = asked.agent if facts is None or asked.child_run_id is not None else facts.agent
    return Approval(
        asked.run_id,
        asked.session_id,
        asked.conversation_id if facts is None else facts.conversation_id,
        agent,
        None,
        asked.tool,
        asked.call_id,
        place(asked.anchor, asked.version),
        arguments,
        asked.text,
        status,
        None,
        None,
        asked.recorded_at,
        None,
        None,
    )
