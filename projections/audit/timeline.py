"""What happened in a run, and on a trace, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from typing import Any

from journal.errors import RunNotFound
from journal.stores.audit import AuditRow
from journal.times import format_time
from projections.audit.calls import told
from projections.audit.filters import AuditFilter, check_text
from projections.audit.known_runs import KnownRuns, limited, place


@dataclass(frozen=True, slots=True)
class Happened:
    """One thing that happened in a run."""

    row: AuditRow
    offset: int
    """Microseconds from the start: of the run, or on a trace of the first thing shown. May be
    negative where another journal recorded it."""

    @property
    def place(self) -> str:
        """Cursor to replay the run to: `stream:N` or `version:V`."""
        return place(self.row.anchor, self.row.version)

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.audit.row` object."""
        row = self.row
        return {
            "schema": "runjournal.audit.row",
            "schema_version": 1,
            "run_id": row.run_id,
            "session_id": row.session_id,
            "conversation_id": row.conversation_id,
            "parent_run_id": row.parent_run_id,
            "agent": row.agent,
            "child_run_id": row.child_run_id,
            "place": self.place,
            "version": row.version,
            "position": row.position,
            "recorded_at": format_time(row.recorded_at),
            "host_at": told(row.host_at),
            "offset_micros": self.offset,
            "kind": row.kind,
            "node": row.node,
            "step": row.step,
            "tool": row.tool,
            "call_id": row.call_id,
            "item_id": row.item_id,
            "status": row.status,
            "error_kind": row.error_kind,
            "actor": row.actor,
            "trace_id": row.trace_id,
            "span_id": row.span_id,
            "model": row.model,
            "requests": row.requests,
            "input_tokens": row.input_tokens,
            "output_tokens": row.output_tokens,
            "cache_read_tokens": row.cache_read_tokens,
            "cache_write_tokens": row.cache_write_tokens,
            "total_tokens": row.total_tokens,
            "cost_micros": row.cost_micros,
            "duration_ms": row.duration_ms,
            "from_state": row.from_state,
            "text": row.text,
        }


def run_timeline(known: KnownRuns, run_id: str, asked: AuditFilter) -> Iterator[Happened]:
    """Yield what happened in a run, in logical order; see `Audit.timeline`."""
    check_text("run", run_id)
    facts = known.facts(run_id)
    if facts is None:
        raise RunNotFound(run_id)
    known.must_be_here(facts)
    rows = _narrowed(_own(known, run_id), known, asked)
    return limited((Happened(row, row.recorded_at - facts.opened_at) for row in rows), asked)


def _own(known: KnownRuns, run_id: str) -> Iterator[AuditRow]:
    """Yield the rows of a run, without what its checkpoints repeat of its stream records."""
    for row in known.reader.timeline(run_id):
        if not row.from_state or known.is_own(run_id, None, from_state=True):
            yield row


def _narrowed(rows: Iterator[AuditRow], known: KnownRuns, asked: AuditFilter) -> Iterator[AuditRow]:
    for row in rows:
        if (
            asked.takes(row.recorded_at)
            and (asked.session is None or row.session_id == asked.session)
            and (asked.run is None or row.run_id == asked.run)
            and known.is_asked(row.run_id, asked)
        ):
            yield row


def on_trace(known: KnownRuns, trace_id: str, asked: AuditFilter) -> Iterator[Happened]:
    """Yield what happened on a trace, in time order; see `Audit.trace`."""
    check_text("trace", trace_id)
    run_ids = [
        run_id
        for run_id in known.reader.on_trace(trace_id)
        if asked.run is None or run_id == asked.run
    ]
    opened = []
    for run_id in run_ids:
        facts = known.facts(run_id)
        if facts is not None and asked.session in (None, facts.session_id):
            opened.append((facts.opened_at, run_id))
    shown = {run_id for _, run_id in opened}
    merged = merge(
        *(
            _in_time(known, run_id, trace_id, shown, order)
            for order, (_, run_id) in enumerate(sorted(opened))
        ),
        key=lambda each: each[:2],
    )
    rows = _narrowed((row for _, _, row in merged), known, asked)
    return limited(_from_the_first(rows), asked)


def _in_time(
    known: KnownRuns, run_id: str, trace_id: str, shown: set[str], order: int
) -> Iterator[tuple[int, int, AuditRow]]:
    """Yield a run's rows on a trace, each with the time by which all up to it was recorded."""
    latest = 0
    for row in _own(known, run_id):
        latest = max(latest, row.recorded_at)
        if row.trace_id in (None, trace_id) and row.child_run_id not in shown:
            yield latest, order, row


def _from_the_first(rows: Iterator[AuditRow]) -> Iterator[Happened]:
    first: int | None = None
    for row in rows:
        if first is None:
            first = row.recorded_at
        yield Happened(row, row.recorded_at - first)
