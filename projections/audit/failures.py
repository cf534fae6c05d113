"""Runs that failed, each with the last thing it did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from journal.stores.audit import AuditRow, RunFacts
from journal.times import format_time
from projections.audit.calls import MISSING, Joined, by_step, is_call, told
from projections.audit.chunked import chunked
from projections.audit.filters import AuditFilter
from projections.audit.known_runs import KnownRuns, limited, place
from projections.audit.merged import logical_place

AT_ONCE = 2048
"""Runs whose last calls are looked up together where all runs are asked for."""

FAILED = "failed"
CANCELLED = "cancelled"


class LastCall(NamedTuple):
    """The tool that a run called last."""

    tool: str | None
    call_id: str
    place: str
    """Cursor to replay to: right after the call."""
    called_at: int | None
    outcome: str
    """As that of a `ToolCall`."""
    arguments: str | None
    result: str | None

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.audit.failure`."""
        return {
            "tool": self.tool,
            "call_id": self.call_id,
            "place": self.place,
            "called_at": told(self.called_at),
            "outcome": self.outcome,
            "arguments": self.arguments,
            "result": self.result,
        }


class Failure(NamedTuple):
    """A run that stands failed, or cancelled."""

    run_id: str
    session_id: str | None
    conversation_id: str | None
    parent_run_id: str | None
    agent: str | None
    status: str
    error_kind: str | None
    error: str | None
    """Why, as far as it was told."""
    opened_at: int
    failed_at: int
    """When it was recorded that it ended; both in microseconds since the epoch."""
    last_call: LastCall | None
    last_text: str | None
    """The start of what the model said last, at most 500 characters."""
    place: str
    """Cursor to replay to: the end of the run."""

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.audit.failure` object."""
        return {
            "schema": "runjournal.audit.failure",
            "schema_version": 1,
            "run_id": self.run_id,
            "session_id": self.session_id,
            "conversation_id": self.conversation_id,
            "parent_run_id": self.parent_run_id,
            "agent": self.agent,
            "status": self.status,
            "error_kind": self.error_kind,
            "error": self.error,
            "opened_at": format_time(self.opened_at),
            "failed_at": format_time(self.failed_at),
            "last_call": None if self.last_call is None else self.last_call.to_json(),
            "last_text": self.last_text,
            "place": self.place,
        }


def list_failures(known: KnownRuns, asked: AuditFilter, *, cancelled: bool) -> Iterator[Failure]:
    """Yield runs that failed, the last changed first; see `Audit.failures`."""
    return limited(_failures(known, asked, cancelled=cancelled), asked)


def _failures(known: KnownRuns, asked: AuditFilter, *, cancelled: bool) -> Iterator[Failure]:
    statuses = {FAILED, CANCELLED} if cancelled else {FAILED}
    if asked.status is not None:
        statuses &= {asked.status}
    found = runs_asked(known, asked, statuses)
    for some in chunked(found) if asked.limit else chunked(found, AT_ONCE, first=AT_ONCE):
        called = _last_calls(known, some)
        for facts in some:
            yield Failure(
                facts.run_id,
                facts.session_id,
                facts.conversation_id,
                facts.parent_run_id,
                facts.agent,
                facts.status or FAILED,
                facts.error_kind,
                facts.error,
                facts.opened_at,
                facts.updated_at if facts.ended_at is None else facts.ended_at,
                called.get(facts.run_id),
                facts.last_text,
                place(facts.anchor, facts.version),
            )


def runs_asked(
    known: KnownRuns, asked: AuditFilter, statuses: set[str] | None = None
) -> Iterator[RunFacts]:
    """Yield the runs that a filter takes in, but for the status they stand in now."""
    found: Iterator[RunFacts]
    if asked.run is None:
        found = known.reader.runs(
            statuses=statuses, session_id=asked.session, since=asked.since, until=asked.until
        )
    else:
        found = iter(known.reader.facts([asked.run]).values())
    for facts in found:
        if (
            (statuses is None or facts.status in statuses)
            and (asked.session is None or facts.session_id == asked.session)
            and asked.takes(facts.updated_at if facts.ended_at is None else facts.ended_at)
        ):
            yield facts


def _last_calls(known: KnownRuns, runs: list[RunFacts]) -> dict[str, LastCall]:
    """Give the last call of each run that has one, by the run's id."""
    known.remember(runs)
    pairs = {(facts.run_id, facts.last_call_id) for facts in runs if facts.last_call_id is not None}
    groups: dict[str, list[AuditRow]] = {}
    for row in known.reader.calls(pairs) if pairs else ():
        if is_call(known, row) and row.child_run_id is None:
            groups.setdefault(row.run_id, []).append(row)
    found = {}
    for facts in runs:
        joined = [each for each in by_step(groups.get(facts.run_id, ())) if each.calls]
        last = max(joined, key=lambda each: logical_place(each.row), default=None)
        if last is not None:
            found[facts.run_id] = _last_call(last)
        elif facts.last_call_id is not None:
            found[facts.run_id] = _unseen(facts, facts.last_call_id)
    return found


def _last_call(joined: Joined) -> LastCall:
    row = joined.row
    return LastCall(
        row.tool,
        row.call_id or "",
        place(row.anchor, row.version),
        row.recorded_at,
        joined.outcome,
        row.text,
        joined.returns[-1].text if joined.returns else None,
    )


def _unseen(facts: RunFacts, call_id: str) -> LastCall:
    """Tell of a call that is known from the facts of its run only."""
    at = place(facts.last_call_anchor, facts.version)
    return LastCall(facts.last_tool, call_id, at, None, MISSING, None, None)
