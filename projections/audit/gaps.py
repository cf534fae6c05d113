"""What is missing: sequences, returns of calls, ends of runs, and events that are damaged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from journal.ids import Position
from journal.records import TERMINAL
from journal.stores.audit import RunFacts
from projections.audit.calls import join, told
from projections.audit.chunked import chunked
from projections.audit.failures import runs_asked
from projections.audit.filters import AuditFilter
from projections.audit.known_runs import KnownRuns, limited, place
from projections.standing import CRASHED

SEQUENCES: Final = "sequences"
CALL: Final = "call"
UNENDED: Final = "unended"
DAMAGED: Final = "damaged"

LISTED = 100
"""Stretches of missing sequences that are listed; of more, that there are more."""

_WAITING: Final = "waiting"


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that is missing."""

    kind: str
    """`sequences`: stream records between those that a run has; `call`: the return of a tool call
    in a run that ended, or that nobody is at; `unended`: the end of a run that does not wait and
    that nobody is at; `damaged`: an event that cannot be read, and was passed over."""
    run_id: str | None
    """None for a damaged event."""
    session_id: str | None
    run_status: str | None
    """As it stands now; see `projections.standing`."""
    recorded_at: int | None
    """When the call, or the last event of the run, was recorded: microseconds since the epoch."""
    place: str | None
    """Cursor to replay the run to."""
    tool: str | None = None
    call_id: str | None = None
    missing: str | None = None
    """The sequences, as ranges: `4 7-9`; when there are very many, the first, and `...`."""
    position: int | None = None
    """Of the damaged event, in the journal."""
    reason: str | None = None
    """Why it cannot be read."""

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.audit.gap` object."""
        return {
            "schema": "runjournal.audit.gap",
            "schema_version": 1,
            "kind": self.kind,
            "run_id": self.run_id,
            "session_id": self.session_id,
            "run_status": self.run_status,
            "recorded_at": told(self.recorded_at),
            "place": self.place,
            "tool": self.tool,
            "call_id": self.call_id,
            "missing": self.missing,
            "position": self.position,
            "reason": self.reason,
        }


def list_gaps(
    known: KnownRuns, asked: AuditFilter, damage: Sequence[tuple[Position, str]]
) -> Iterator[Gap]:
    """Yield what is missing; see `Audit.gaps`."""
    return limited(_gaps(known, asked, damage), asked)


def _gaps(
    known: KnownRuns, asked: AuditFilter, damage: Sequence[tuple[Position, str]]
) -> Iterator[Gap]:
    if not asked.is_narrow:
        # It is not known which run a damaged event is of, or when it was recorded.
        for position, reason in damage:
            yield Gap(DAMAGED, None, None, None, None, None, position=position, reason=reason)
    for some in chunked(runs_asked(known, asked)):
        known.remember(some)
        for facts in some:
            if known.is_asked(facts.run_id, asked):
                yield from _of_run(known, facts)
    yield from _calls(known, asked)


def _of_run(known: KnownRuns, facts: RunFacts) -> Iterator[Gap]:
    missing = missing_sequences(facts.sequences)
    if missing:
        yield _run_gap(SEQUENCES, known, facts, missing)
    if is_left(known, facts):
        yield _run_gap(UNENDED, known, facts, None)


def _run_gap(kind: str, known: KnownRuns, facts: RunFacts, missing: str | None) -> Gap:
    return Gap(
        kind,
        facts.run_id,
        facts.session_id,
        known.status(facts.run_id),
        facts.updated_at,
        place(facts.anchor, facts.version),
        missing=missing,
    )


def is_left(known: KnownRuns, facts: RunFacts) -> bool:
    """Tell whether a run neither ended nor waits, and nobody is at it any more.

    Who is at a run is not known of an archive without its journal: there, nobody is.
    """
    if facts.status in TERMINAL or facts.status == _WAITING:
        return False
    return not known.has_journal or known.status(facts.run_id) == CRASHED


def _calls(known: KnownRuns, asked: AuditFilter) -> Iterator[Gap]:
    for rows in known.counted(known.reader.open_calls(asked.wanted()), asked):
        open_ones = {each.row for each in join(known, rows) if not each.returns}
        for row in rows:
            facts = known.facts(row.run_id)
            if row not in open_ones or facts is None:
                continue
            if facts.status in TERMINAL or is_left(known, facts):
                yield Gap(
                    CALL,
                    row.run_id,
                    row.session_id,
                    known.status(row.run_id),
                    row.recorded_at,
                    place(row.anchor, row.version),
                    row.tool,
                    row.call_id,
                )


def missing_sequences(sequences: str) -> str | None:
    """Tell what is missing between ranges such as `0-52 54 60-61`: here `53 55-59`.

    Returns:
        None where nothing is; of very many ranges the first, and `...`.
    """
    found: list[str] = []
    after: int | None = None
    for stretch in sequences.split():
        if len(found) == LISTED:
            found.append("...")
            break
        first, _, last = stretch.partition("-")
        if after is not None and int(first) > after + 1:
            low, high = after + 1, int(first) - 1
            found.append(str(low) if low == high else f"{low}-{high}")
        after = int(last or first)
    return " ".join(found) or None
