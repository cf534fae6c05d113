"""The columns of an archive's files, and how they are written.

Numbers are 64-bit, times are microseconds since the epoch. The columns of `rows` and `runs` are
the fields of `AuditRow` and `RunFacts`; a test holds them equal.
"""

from __future__ import annotations

from typing import Any, get_type_hints

import pyarrow as pa

from journal.stores.audit import AuditRow, RunFacts
from projections.archive.layout import EVENTS, ROWS, RUNS

ROW_GROUP = 16_384
"""Rows of a row group, which is what a reader fetches at least."""

_TYPES = {int: pa.int64(), str: pa.string(), bool: pa.bool_()}


def _fields(row: type, narrow: dict[str, Any]) -> list[Any]:
    return [_field(name, hint, narrow.get(name)) for name, hint in get_type_hints(row).items()]


def _field(name: str, hint: Any, narrow: Any) -> Any:
    kinds = getattr(hint, "__args__", (hint,))
    optional = type(None) in kinds
    return pa.field(name, narrow or _TYPES[kinds[0]], nullable=optional)


EVENT_SCHEMA = pa.schema(
    [
        pa.field("position", pa.int64(), nullable=False),
        pa.field("run_id", pa.string()),
        pa.field("session_id", pa.string()),
        pa.field("version", pa.int64(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("stored_at", pa.int64(), nullable=False),
        pa.field("recorded_at", pa.int64(), nullable=False),
        pa.field("anchor", pa.int64(), nullable=False),
        pa.field("rank", pa.int8(), nullable=False),
        pa.field("data", pa.string(), nullable=False),
    ]
)
"""Events: `run_id` is null in a session's own stream, whose session is `session_id`; that of a
run's event is the session the run belongs to, as far as it was told by then. `anchor` saturates
at 2^63-1. `data` is the event's JSON as it was stored, byte for byte."""

ROW_SCHEMA = pa.schema(_fields(AuditRow, {"rank": pa.int8()}))
"""Audit rows, under the names of `journal.stores.audit.AuditRow`."""

SPAN_FIELDS = ("first_version", "last_version", "first_recorded", "last_recorded")

RUN_SCHEMA = pa.schema(
    [
        *_fields(RunFacts, {}),
        *(pa.field(name, pa.int64(), nullable=False) for name in SPAN_FIELDS),
    ]
)
"""The catalogue: the facts of each run that the segment touches, as after its last event, and
the versions and the times of its events in the segment."""

SCHEMAS = {EVENTS: EVENT_SCHEMA, ROWS: ROW_SCHEMA, RUNS: RUN_SCHEMA}

SORTED_BY = {
    EVENTS: ("run_id", "anchor", "rank", "version"),
    ROWS: ("run_id", "anchor", "rank", "version", "part"),
    RUNS: ("run_id",),
}
"""Order of the rows of a file, rising: a run's stand together, in logical order. The events of
sessions' own streams come after those of runs, by session and version."""

BLOOMS = {EVENTS: ("run_id",), ROWS: ("run_id", "trace_id"), RUNS: ("run_id",)}
"""Columns with bloom filters."""
