"""What SQLite and DuckDB are asked alike about audit rows: columns, orders and conditions.

Only what both understand the same way; values are always bound, never spliced.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from journal.stores.audit import LARGEST, AuditRow, RunFacts, Wanted

ROW_COLUMNS = AuditRow._fields
"""Of a row, in this order."""

RUN_COLUMNS = RunFacts._fields
"""Of the facts of a run, in this order."""

NEWEST_FIRST = "recorded_at DESC, position DESC, part DESC"
LOGICAL_ORDER = "anchor, rank, version, part"
"""Of the rows of one run."""

LAST_CHANGED_FIRST = "updated_at DESC, position DESC, run_id"
"""Of runs."""

MICROSECONDS_A_DAY = 86_400_000_000

TOKENS = (
    "requests",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "total_tokens",
    "cost_micros",
)
"""Counters of a row that are summed; none is negative, and sums saturate at `LARGEST`."""


class Conditions(NamedTuple):
    """Parts of a WHERE, all of which must hold, and the values of their parameters in order."""

    parts: tuple[str, ...]
    values: tuple[int | str, ...]

    @property
    def sql(self) -> str:
        """All of them, as an expression; TRUE where there is none."""
        return " AND ".join(self.parts) if self.parts else "TRUE"

    def plus(self, part: str, *values: int | str) -> Conditions:
        """Add one."""
        return Conditions((*self.parts, part), (*self.values, *values))


NONE = Conditions((), ())


def wanted_rows(wanted: Wanted, *, prefix: str = "") -> Conditions:
    """Say which rows are wanted.

    Args:
        prefix: of the columns, such as `r.`.
    """
    found = _within(f"{prefix}recorded_at", wanted.since, wanted.until)
    found = belonging(found, wanted, prefix=prefix)
    found = _among(found, f"{prefix}kind", wanted.kinds)
    found = _among(found, f"{prefix}status", wanted.statuses)
    if wanted.tool is not None:
        found = found.plus(f"{prefix}tool = ?", wanted.tool)
    return found


def wanted_used(wanted: Wanted, *, prefix: str = "") -> Conditions:
    """Say which sums of usage may have rows that are wanted."""
    found = NONE
    if wanted.since is not None:
        found = found.plus(f"{prefix}to_at >= ?", bounded(wanted.since))
    if wanted.until is not None:
        found = found.plus(f"{prefix}from_at < ?", bounded(wanted.until))
    return belonging(found, wanted, prefix=prefix)


def belonging(found: Conditions, wanted: Wanted, *, prefix: str = "") -> Conditions:
    """Add of which session and run they are to be."""
    if wanted.session_id is not None:
        found = found.plus(f"{prefix}session_id = ?", wanted.session_id)
    if wanted.run_id is not None:
        found = found.plus(f"{prefix}run_id = ?", wanted.run_id)
    return found


def wanted_runs(
    *,
    statuses: Collection[str] | None = None,
    session_id: str | None = None,
    since: int | None = None,
    until: int | None = None,
) -> Conditions:
    """Say which runs are wanted; see `AuditReader.runs`."""
    found = _within("coalesce(ended_at, updated_at)", since, until)
    if session_id is not None:
        found = found.plus("session_id = ?", session_id)
    return _among(found, "status", statuses)


def bounded(number: int) -> int:
    """Give a number that fits into 64 bits: it compares with those stored as itself does."""
    return max(-LARGEST, min(number, LARGEST))


def _within(column: str, since: int | None, until: int | None) -> Conditions:
    found = NONE
    if since is not None:
        found = found.plus(f"{column} >= ?", bounded(since))
    if until is not None:
        found = found.plus(f"{column} < ?", bounded(until))
    return found


def _among(found: Conditions, column: str, values: Collection[str] | None) -> Conditions:
    if values is None:
        return found
    if not values:
        return found.plus("FALSE")
    # Sorted, so that the same question is the same statement with the same values.
    return found.plus(f"{column} IN ({', '.join('?' * len(values))})", *sorted(values))
