"""Audit rows newest first, without sorting more than asked for.

Each index ends with the time and the key, so what shares the values before them comes in
order; several such streams are merged.
"""

from __future__ import annotations

import heapq
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from journal.stores.audit import LARGEST, AuditRow, Wanted
from journal.stores.audit_sql import NONE, Conditions, bounded, wanted_rows
from journal.stores.sqlite_audit_pages import ROWS, Pages
from journal.stores.sqlite_audit_rows import row_key

FIRST = 64
PAGE = 1000
"""Rows that are read at a time: of the first page, and at most."""

_AT_ONCE = 1024
"""Rows that are read first of all streams together, where there are many."""

_ORDER = "ORDER BY r.recorded_at DESC, r.key DESC LIMIT ?"
_SAME_TIME = "r.recorded_at = ? AND r.key > ? AND r.key <= ?"
_BEFORE = "r.recorded_at <= ? AND r.key > ? AND r.key <= ?"
_KEYS_OF_RUN = f"SELECT r.key FROM audit_rows AS r INDEXED BY audit_rows_by_run WHERE {{}} {_ORDER}"
_NEXT_KIND = "SELECT min(kind) FROM audit_rows WHERE kind > ?"
_NEXT_KIND_OF_TOOL = "SELECT min(kind) FROM audit_rows WHERE tool = ? AND kind > ?"
_NEXT_STATUS = "SELECT min(status) FROM audit_rows WHERE kind = ? AND status > ?"


class Stream(NamedTuple):
    """Rows that come newest first by an index, and of these the ones that fit."""

    by: str
    fitting: Conditions


def newest_first(
    pages: Pages, wanted: Wanted, limit: int | None, also: Conditions = NONE
) -> Iterator[AuditRow]:
    """Yield rows, newest first.

    Args:
        also: what must hold besides, of columns of `r`.
    """
    if pages.is_empty:
        return
    # The end of the time goes into the first page of a stream, not into its conditions.
    of_run = wanted.run_id is not None
    keyed = keyed_rows(pages, wanted if of_run else wanted._replace(until=None))
    if keyed is None:
        return
    fitting = Conditions(keyed.parts + also.parts, keyed.values + also.values)
    if of_run:
        yield from _of_run(pages, fitting, limit)
        return
    top = LARGEST if wanted.until is None else bounded(wanted.until - 1)
    streams = _streams(pages, wanted, fitting)
    size = max(1, min(FIRST, PAGE if limit is None else limit, _AT_ONCE // max(1, len(streams))))
    walks = [_walk(pages, stream, top, size) for stream in streams]
    found = walks[0] if len(walks) == 1 else heapq.merge(*walks, key=_place, reverse=True)
    yield from islice(found, limit)


def keyed_rows(pages: Pages, wanted: Wanted) -> Conditions | None:
    """Say which rows are wanted, with keys for names; None where there can be none."""
    asked = wanted_rows(wanted, prefix="r.")
    keys = pages.keys([value for value in asked.values if isinstance(value, str)])
    for each in (wanted.session_id, wanted.run_id, wanted.tool):
        if each is not None and keys[each] < 0:
            return None
    for among in (wanted.kinds, wanted.statuses):
        if among is not None and all(keys[each] < 0 for each in among):
            return None
    return keyed(asked, keys)


def keyed(asked: Conditions, keys: Mapping[str, int]) -> Conditions:
    """Put keys in the place of names."""
    values = (keys[value] if isinstance(value, str) else value for value in asked.values)
    return Conditions(asked.parts, tuple(values))


def in_pages(pages: Pages, keys: Iterable[int]) -> Iterator[AuditRow]:
    """Yield rows by their keys, which may be many."""
    wanted = array("q", keys)
    size, start = FIRST, 0
    while start < len(wanted):
        yield from pages.rows_of(wanted[start : start + size])
        start += size
        size = min(size * 2, PAGE)


def _of_run(pages: Pages, fitting: Conditions, limit: int | None) -> Iterator[AuditRow]:
    found = fitting.plus("r.key > ? AND r.key <= ?", pages.after, pages.upto)
    count = -1 if limit is None else limit
    keys = pages.all(_KEYS_OF_RUN.format(found.sql), *found.values, count)
    yield from in_pages(pages, (key for (key,) in keys))


def _streams(pages: Pages, wanted: Wanted, fitting: Conditions) -> list[Stream]:
    if wanted.session_id is not None:
        return [Stream("audit_rows_by_session", fitting)]
    named = [each for each in (wanted.tool,) if each is not None]
    keys = pages.keys([*named, *(wanted.kinds or ()), *(wanted.statuses or ())])
    kinds = None if wanted.kinds is None else {keys[each] for each in wanted.kinds}
    statuses = None if wanted.statuses is None else {keys[each] for each in wanted.statuses}
    with pages.page() as connection:
        if wanted.tool is not None:
            if kinds is None:
                kinds = set(_each(connection, _NEXT_KIND_OF_TOOL, keys[wanted.tool]))
            tooled = [fitting.plus("r.kind = ?", kind) for kind in sorted(kinds)]
            return [Stream("audit_rows_by_tool", each) for each in tooled]
        if kinds is None:
            kinds = set(_each(connection, _NEXT_KIND))
        found = []
        for kind in sorted(kinds):
            of_kind = fitting.plus("r.kind = ?", kind)
            if statuses is None:
                found.append(Stream("audit_rows_by_kind", of_kind.plus("r.status IS NULL")))
            for status in statuses or _each(connection, _NEXT_STATUS, kind):
                fits = of_kind.plus("r.status = ?", status)
                found.append(Stream("audit_rows_by_kind", fits))
    return found


def _each(connection: sqlite3.Connection, statement: str, *values: int) -> Iterator[int]:
    """Yield the different values of an index's column, each found at one look."""
    last = -1
    while True:
        (found,) = connection.execute(statement, (*values, last)).fetchone()
        if found is None:
            return
        yield found
        last = found


def _walk(pages: Pages, stream: Stream, top: int, size: int) -> Iterator[AuditRow]:
    index, fitting = stream
    before, same = (
        f"{ROWS} INDEXED BY {index} WHERE {fitting.sql} AND {part} {_ORDER}"
        for part in (_BEFORE, _SAME_TIME)
    )
    last: AuditRow | None = None
    while True:
        rows: list[AuditRow] = []
        if last is not None:
            # First what is left of the same time: no index orders by both at once.
            at, key = last.recorded_at, row_key(last.position, last.part)
            rows = pages.rows(same, *fitting.values, at, pages.after, key - 1, size)
            top = at - 1
        if len(rows) < size:
            left = size - len(rows)
            rows += pages.rows(before, *fitting.values, top, pages.after, pages.upto, left)
        yield from rows
        if len(rows) < size:
            return
        last = rows[-1]
        size = min(size * 2, PAGE)


def _place(row: AuditRow) -> tuple[int, int, int]:
    return row.recorded_at, row.position, row.part
