"""Tool calls, each joined with what it returned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from journal.stores.audit import AuditRow
from journal.times import format_time
from projections.audit.filters import AuditFilter, check_text
from projections.audit.known_runs import KnownRuns, limited, place
from projections.audit.merged import logical_place

CALL: Final = "tool_call"
RETURN: Final = "tool_return"

OK: Final = "ok"
ERROR: Final = "error"
APPROVAL_REQUIRED: Final = "approval_required"
DEFERRED: Final = "deferred"
MISSING: Final = "missing"
"""Outcome of a call of which no return was recorded."""

WAITING = frozenset({APPROVAL_REQUIRED, DEFERRED})
"""Statuses of returns that ask for somebody in place of an answer; no failures."""


class ToolCall(NamedTuple):
    """A tool call and what it returned, however often either was recorded."""

    run_id: str
    session_id: str | None
    conversation_id: str | None
    parent_run_id: str | None
    agent: str | None
    """Of the child, where `child_run_id` is set."""
    child_run_id: str | None
    """The child run whose call it is, where only the parent's stream tells of it."""
    tool: str | None
    call_id: str | None
    step: int | None
    place: str
    """Cursor to replay to: right after the call; without a recorded call, after its return."""
    called_at: int | None
    """When the call was recorded, the last time where that was done again; None where it never
    was. Microseconds since the epoch, as all times."""
    returned_at: int | None
    """When the return was recorded that `outcome` tells of; None without one."""
    duration_ms: int | None
    """As the return says, else between the two times recorded."""
    duration_given: bool
    """Whether the return said it."""
    outcome: str
    """Of the last return in logical order: `ok`, `error`, `approval_required`, `deferred`; or
    `missing`: none was recorded."""
    waited: bool
    """Whether a return asked for approval, or deferred it."""
    error_kind: str | None
    attempts: int
    """How often the call was recorded; 0 where it never was."""
    arguments: str | None
    result: str | None
    trace_id: str | None
    span_id: str | None
    version: int
    """Of the event that `place` is of."""

    @property
    def failed(self) -> bool:
        """Tell whether it returned an error."""
        return self.outcome == ERROR

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.audit.tool_call` object."""
        return {
            "schema": "runjournal.audit.tool_call",
            "schema_version": 1,
            "run_id": self.run_id,
            "session_id": self.session_id,
            "conversation_id": self.conversation_id,
            "parent_run_id": self.parent_run_id,
            "agent": self.agent,
            "child_run_id": self.child_run_id,
            "tool": self.tool,
            "call_id": self.call_id,
            "step": self.step,
            "place": self.place,
            "version": self.version,
            "called_at": told(self.called_at),
            "returned_at": told(self.returned_at),
            "duration_ms": self.duration_ms,
            "duration_given": self.duration_given,
            "outcome": self.outcome,
            "waited": self.waited,
            "error_kind": self.error_kind,
            "attempts": self.attempts,
            "arguments": self.arguments,
            "result": self.result,
            "trace_id": self.trace_id,
            "span_id": self.span_id,
        }


def told(microseconds: int | None) -> str | None:
    """Write a time, where there is one."""
    return None if microseconds is None else format_time(microseconds)


class Joined(NamedTuple):
    """The rows of one call, in logical order."""

    calls: list[AuditRow]
    returns: list[AuditRow]

    @property
    def row(self) -> AuditRow:
        """The one it stands for: the last call, else the last return."""
        return (self.calls or self.returns)[-1]

    @property
    def outcome(self) -> str:
        """Tell how it ended."""
        return self.returns[-1].status or OK if self.returns else MISSING


def list_calls(
    known: KnownRuns, asked: AuditFilter, tool: str | None = None, *, failed: bool = False
) -> Iterator[ToolCall]:
    """Yield tool calls, newest first; see `Audit.tools`."""
    check_text("tool", tool)
    wanted = asked.wanted([CALL, RETURN], tool=tool)
    if failed:
        wanted = asked.wanted([RETURN], statuses=[ERROR], tool=tool)
    calls = (
        call
        for rows in known.counted(known.reader.rows(wanted), asked)
        for call in _standing_for(known, rows, failed=failed)
    )
    return limited(calls, asked)


def _standing_for(known: KnownRuns, rows: list[AuditRow], *, failed: bool) -> Iterator[ToolCall]:
    """Make the calls that some rows stand for: each call has one row that does."""
    joined = {}
    for each in join(known, rows):
        row = each.returns[-1] if failed and each.returns else each.row
        joined[row.position, row.part] = each
    for row in rows:
        found = joined.get((row.position, row.part))
        if found is not None:
            yield tool_call(known, found)


def join(known: KnownRuns, rows: Iterable[AuditRow]) -> Iterator[Joined]:
    """Join all that was recorded of the calls that some rows are of."""
    rows = list(rows)
    pairs = {(row.run_id, row.call_id) for row in rows if row.call_id is not None}
    related = known.reader.calls(pairs, held=rows) if pairs else ()
    groups: dict[tuple[str, str | None, str | None], list[AuditRow]] = {}
    for row in related:
        if is_call(known, row):
            groups.setdefault((row.run_id, row.child_run_id, row.call_id), []).append(row)
    for group in groups.values():
        yield from by_step(group)
    for row in rows:
        if row.call_id is None:
            yield Joined([row], []) if row.kind == CALL else Joined([], [row])


def is_call(known: KnownRuns, row: AuditRow) -> bool:
    """Tell whether a row is a call or a return, and counts where it stands."""
    return row.kind in (CALL, RETURN) and known.is_own(
        row.run_id, row.child_run_id, from_state=row.from_state
    )


def by_step(group: Sequence[AuditRow]) -> Iterator[Joined]:
    """Part the rows of one call id: in another step it is another call.

    A return belongs to the call in its step, else to the last call before it.
    """
    if len(group) == 2 and group[0].step == group[1].step:
        first, second = group
        if first.kind != second.kind:  # as nearly all are
            yield Joined([first], [second]) if first.kind == CALL else Joined([second], [first])
            return
    calls: dict[int | None, Joined] = {}
    returns = []
    last: Joined | None = None
    for row in sorted(group, key=logical_place):
        if row.kind == CALL:
            last = calls.setdefault(row.step, Joined([], []))
            last.calls.append(row)
        else:
            returns.append((row, last))
    alone = Joined([], [])
    earliest = next(iter(calls.values()), alone)
    for row, before in returns:
        (calls.get(row.step) or before or earliest).returns.append(row)
    yield from calls.values()
    if alone.returns:
        yield alone


def tool_call(known: KnownRuns, joined: Joined) -> ToolCall:
    """Tell of a call from its rows."""
    row = joined.row
    called = joined.calls[-1] if joined.calls else None
    returned = joined.returns[-1] if joined.returns else None
    facts = known.facts(row.run_id)
    agent = row.agent
    if facts is not None and row.child_run_id is None:
        agent = facts.agent
    given = None if returned is None else returned.duration_ms
    return ToolCall(
        row.run_id,
        row.session_id if facts is None else facts.session_id,
        row.conversation_id if facts is None else facts.conversation_id,
        row.parent_run_id if facts is None else facts.parent_run_id,
        agent,
        row.child_run_id,
        row.tool,
        row.call_id,
        row.step,
        place(row.anchor, row.version),
        None if called is None else called.recorded_at,
        None if returned is None else returned.recorded_at,
        _between(called, returned) if given is None else given,
        given is not None,
        joined.outcome,
        any(each.status in WAITING for each in joined.returns),
        None if returned is None else returned.error_kind,
        len(joined.calls),
        None if called is None else called.text,
        None if returned is None else returned.text,
        row.trace_id,
        row.span_id,
        row.version,
    )


def _between(called: AuditRow | None, returned: AuditRow | None) -> int | None:
    if called is None or returned is None or returned.recorded_at < called.recorded_at:
        return None
    return (returned.recorded_at - called.recorded_at) // 1000
