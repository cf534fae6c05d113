"""Sums of what audit rows used."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from journal.stores.audit import APART, LARGEST, UsagePart, Wanted
from journal.stores.audit_sql import TOKENS
from journal.stores.sqlite_audit_newest import keyed_rows
from journal.stores.sqlite_audit_pages import Pages

PAGE = 20_000
"""Rows that are summed at a time; all of a run are."""

_GROUP = ("run_id", "session_id", "agent", "child_run_id", "from_state", "model", "day")
_PLAIN = "r.child_run_id IS NULL AND r.from_state = 0"
"""What can be summed over runs."""

_SUMS = len(_GROUP)
"""Where the sums begin."""

_SUMMED = ("responses", *TOKENS)
_SUM = ", ".join(f"coalesce(sum(r.{name}), 0)" for name in _SUMMED)
_HALVES = ", ".join(
    f"coalesce(sum(r.{name} >> 32), 0), coalesce(sum(r.{name} & 4294967295), 0)" for name in _SUMMED
)
_PAGE = """
    SELECT {}, {} FROM audit_rows AS r INDEXED BY audit_rows_by_use
    WHERE r.day IS NOT NULL AND r.run_id > ? AND r.run_id <= ?
        AND r.key > ? AND r.key <= ? AND {} GROUP BY {}
"""
_END = f"""
    SELECT run_id FROM audit_rows INDEXED BY audit_rows_by_use
    WHERE day IS NOT NULL AND run_id > ? ORDER BY run_id LIMIT 1 OFFSET {PAGE}
"""
_OVERFLOW = "integer overflow"


class _Sums(NamedTuple):
    """Sums over some rows."""

    fitting: str
    """Says of which."""
    apart: Collection[str]

    def statement(self, sums: str) -> str:
        """Make the SELECT of these sums on a page."""
        columns = ", ".join(name if name in self.apart else "NULL" for name in _GROUP)
        # Without any there would be sums of no rows, too; this one is the same in all of them.
        apart = [name for name in _GROUP if name in self.apart] or ["from_state"]
        return _PAGE.format(columns, sums, self.fitting, ", ".join(apart))


def _all_sums(fitting: str, apart: Collection[str]) -> list[_Sums]:
    if set(apart) >= APART:
        return [_Sums(fitting, _GROUP)]
    return [_Sums(f"{fitting} AND {_PLAIN}", apart), _Sums(f"{fitting} AND NOT ({_PLAIN})", _GROUP)]


def usage(pages: Pages, wanted: Wanted, apart: Collection[str]) -> Iterator[UsagePart]:
    """Yield sums of model responses and costs; see `AuditReader.usage`."""
    fitting = None if pages.is_empty else keyed_rows(pages, wanted)
    if fitting is None:
        return
    run = None if wanted.run_id is None else pages.keys([wanted.run_id])[wanted.run_id]
    last = -1 if run is None else run - 1
    while last < LARGEST:
        if run is None:
            end = pages.all(_END, last)
            upto = end[0][0] if end else LARGEST
        else:
            upto = run
        values = (last, upto, pages.after, pages.upto, *fitting.values)
        with pages.page() as connection:
            sums = [
                row
                for each in _all_sums(fitting.sql, apart)
                for row in _sums(connection, each, values)
            ]
            names = pages.names.look_up(connection, {key for row in sums for key in _keys(row)})
        for row in sums:
            run_id, session, agent, child, from_state, model, day, *counts = row
            group = names[run_id], names[child], day, names[session], names[agent]
            yield UsagePart._make((*group, from_state == 1, names[model], *counts))
        last = LARGEST if run is not None else upto


def _keys(row: tuple[Any, ...]) -> tuple[int | None, ...]:
    return (*row[:4], row[5])


def _sums(
    connection: sqlite3.Connection, wanted: _Sums, values: tuple[Any, ...]
) -> list[tuple[Any, ...]]:
    try:
        return connection.execute(wanted.statement(_SUM), values).fetchall()
    except sqlite3.Error as error:
        if _OVERFLOW not in str(error):
            raise
    # SQLite refuses sums above 64 bits; halves of the numbers stay below.
    return [
        (*row[:_SUMS], *(min((high << 32) + low, LARGEST) for high, low in _pairs(row[_SUMS:])))
        for row in connection.execute(wanted.statement(_HALVES), values).fetchall()
    ]


def _pairs(halves: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    return zip(halves[::2], halves[1::2], strict=True)
