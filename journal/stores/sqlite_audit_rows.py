"""Audit rows as the views file keeps them."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, Final

from journal.ids import Position
from journal.stores.audit import AuditRow
from journal.stores.audit_sql import ROW_COLUMNS
from journal.stores.sqlite_audit_values import NAMED, Keys, NamesByKey, checksum, insert
from journal.stores.views import AUDIT, ViewsUnusable

_PART_BITS: Final = 20
PARTS: Final = 1 << _PART_BITS
"""Rows of one event are fewer."""

_POSITIONS: Final = 1 << 63 - _PART_BITS

ROW_STORED: Final = ("key", *ROW_COLUMNS[2:], "checksum")
"""Columns of `audit_rows`."""

_REQUIRED: Final = ("key", "version", "run_id", "anchor", "rank", "recorded_at", "kind")
PUT_ROW: Final = insert(
    "INSERT", "audit_rows", ROW_STORED, required=(*_REQUIRED, "from_state", "checksum")
)

names_in_row = itemgetter(*(at for at, name in enumerate(ROW_COLUMNS) if name in NAMED))
"""Gives the names in a row."""

keys_in_row = itemgetter(*(at for at, name in enumerate(ROW_STORED) if name in NAMED))
"""Gives the keys of names in a stored row."""


def row_key(position: int, part: int) -> int:
    """Give the key of a row: keys rise as positions do, and parts within one.

    Raises:
        ViewsUnusable: there is none for it.
    """
    if not (0 <= position < _POSITIONS and 0 <= part < PARTS):
        reason = f"row {part} of the event at position {position} has no key"
        raise ViewsUnusable(AUDIT, reason)
    return position << _PART_BITS | part


def last_key(position: int) -> int:
    """Give the largest key of the rows of events up to a position."""
    return (min(position, _POSITIONS - 1) + 1 << _PART_BITS) - 1


def after_key(after: Position) -> int:
    """Give the key that those of later events are above."""
    return last_key(after) if after > 0 else -1


def packed_row(row: AuditRow, keys: Keys) -> tuple[Any, ...]:
    """Make what is stored of a row."""
    # Taken apart and put together at once: to look up each attribute would take longer.
    (
        position,
        part,
        version,
        run_id,
        session_id,
        conversation_id,
        parent_run_id,
        agent,
        child_run_id,
        anchor,
        rank,
        recorded_at,
        host_at,
        kind,
        node,
        step,
        tool,
        call_id,
        item_id,
        status,
        error_kind,
        actor,
        trace_id,
        span_id,
        model,
        requests,
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cache_write_tokens,
        total_tokens,
        cost_micros,
        duration_ms,
        from_state,
        text,
    ) = row
    values = (
        row_key(position, part),
        version,
        keys[run_id],
        keys[session_id],
        keys[conversation_id],
        keys[parent_run_id],
        keys[agent],
        keys[child_run_id],
        anchor,
        rank,
        recorded_at,
        host_at,
        keys[kind],
        keys[node],
        step,
        keys[tool],
        call_id,
        item_id,
        keys[status],
        keys[error_kind],
        keys[actor],
        keys[trace_id],
        span_id,
        keys[model],
        requests,
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cache_write_tokens,
        total_tokens,
        cost_micros,
        duration_ms,
        int(from_state),
        text,
    )
    return (*values, checksum(values))


def unpacked_row(stored: tuple[Any, ...], names: NamesByKey) -> AuditRow:
    """Undo `packed_row`."""
    key = stored[0]
    values: tuple[Any, ...] = (
        key >> _PART_BITS,
        key & PARTS - 1,
        stored[1],
        names[stored[2]],
        names[stored[3]],
        names[stored[4]],
        names[stored[5]],
        names[stored[6]],
        names[stored[7]],
        stored[8],
        stored[9],
        stored[10],
        stored[11],
        names[stored[12]],
        names[stored[13]],
        stored[14],
        names[stored[15]],
        stored[16],
        stored[17],
        names[stored[18]],
        names[stored[19]],
        names[stored[20]],
        names[stored[21]],
        stored[22],
        names[stored[23]],
        *stored[24:32],
        stored[32] == 1,
        stored[33],
    )
    return AuditRow._make(values)
