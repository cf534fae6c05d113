"""Sums of what the audit rows of an archive used."""

from __future__ import annotations

from collections.abc import Collection

from journal.stores.audit import APART, LARGEST
from journal.stores.audit_sql import MICROSECONDS_A_DAY, TOKENS, Conditions

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
_SUMS = ", ".join(
    f"least({each}, {LARGEST})::BIGINT"
    for each in (_RESPONSES, *(f"coalesce(sum({name}), 0)" for name in TOKENS))
)
_USED = f"(kind = 'model_response' OR coalesce({', '.join(TOKENS)}) IS NOT NULL)"


def usage_select(fitting: Conditions, apart: Collection[str]) -> str:
    """Make the SELECT of the sums over rows that fit; see `AuditReader.usage`."""
    group = ", ".join(
        column
        if name in apart or name not in APART
        else f"CASE WHEN NOT {_PLAIN} THEN {column} END"
        for name, column in _GROUP.items()
    )
    return f"SELECT {group}, {_SUMS} FROM source WHERE {_USED} AND {fitting.sql} GROUP BY ALL"
