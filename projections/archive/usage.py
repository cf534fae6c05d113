"""Sums of what the audit rows of an archive used."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from journal.stores.audit import APART, LARGEST, Wanted
from journal.stores.audit_sql import (
    MICROSECONDS_A_DAY,
    NONE,
    TOKENS,
    Conditions,
    belonging,
    bounded,
)

PARTS_AT_ONCE = 64
"""Segments summed at a time."""

_A_DAY = str(MICROSECONDS_A_DAY)
# Rounded down, also before 1970, where a division rounds up.
_DAY = f"(recorded_at - (recorded_at % {_A_DAY} + {_A_DAY}) % {_A_DAY}) // {_A_DAY}"
_GROUP = {
    "run_id": "run_id",
    "child_run_id": "child_run_id",
    "day": _DAY,
    "session_id": "session_id",
    "agent": "agent",
    "from_state": "from_state",
    "model": "model",
}
_PLAIN = "(child_run_id IS NULL AND NOT from_state)"
"""What can be summed over runs."""

_RESPONSES = "sum((kind = 'model_response' AND status IS DISTINCT FROM 'repeated')::INTEGER)"
_COUNTS = ("responses", *TOKENS)
_SUMS = ", ".join(
    f"least({each}, {LARGEST})::BIGINT AS {name}"
    for name, each in zip(
        _COUNTS, (_RESPONSES, *(f"coalesce(sum({name}), 0)" for name in TOKENS)), strict=True
    )
)
_SUMS_AGAIN = ", ".join(f"least(sum({name}), {LARGEST})::BIGINT" for name in _COUNTS)
_USED = f"(kind = 'model_response' OR coalesce({', '.join(TOKENS)}) IS NOT NULL)"


SUMS = f"""
    run_id VARCHAR, child_run_id VARCHAR, day BIGINT, session_id VARCHAR, agent VARCHAR,
    from_state BOOLEAN, model VARCHAR, {", ".join(f"{name} BIGINT" for name in _COUNTS)}
"""
"""Columns of a table of sums, in which everything is kept apart."""


def usage_select(fitting: Conditions, apart: Collection[str]) -> str:
    """Make the SELECT of the sums over rows that fit; see `AuditReader.usage`."""
    group = _grouped(_GROUP, apart)
    return f"SELECT {group}, {_SUMS} FROM source WHERE {_USED} AND {fitting.sql} GROUP BY ALL"


def sums_select(table: str, fitting: Conditions, apart: Collection[str]) -> str:
    """Make that of the sums over a table of sums."""
    group = _grouped({name: name for name in _GROUP}, apart)
    return f"SELECT {group}, {_SUMS_AGAIN} FROM {table} WHERE {fitting.sql} GROUP BY ALL"


def of_whole_days(wanted: Wanted) -> Conditions | None:
    """Say which sums of days are wanted; None where only some rows of a day are."""
    if not (wanted.kinds is wanted.statuses is wanted.tool is None):
        return None
    found = NONE
    for time, compared in ((wanted.since, ">="), (wanted.until, "<")):
        if time is not None:
            if time % MICROSECONDS_A_DAY:
                return None
            found = found.plus(f"day {compared} ?", bounded(time // MICROSECONDS_A_DAY))
    return belonging(found, wanted)


def _grouped(columns: Mapping[str, str], apart: Collection[str]) -> str:
    return ", ".join(
        column
        if name in apart or name not in APART
        else f"CASE WHEN NOT {_PLAIN} THEN {column} END"
        for name, column in columns.items()
    )
