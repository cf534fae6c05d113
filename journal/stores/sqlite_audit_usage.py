"""Answers about usage: from the sums that are kept, and from rows where only some are wanted."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from operator import itemgetter
from typing import Any, Final

from journal.stores.audit import LARGEST, UsagePart, Wanted
from journal.stores.audit_sql import Conditions, wanted_used
from journal.stores.sqlite_audit_newest import keyed, keyed_rows
from journal.stores.sqlite_audit_pages import Pages
from journal.stores.sqlite_audit_used import (
    COUNTS_AT,
    GROUP,
    NAMES,
    RANGES_AT,
    USED,
    USING,
    Group,
    packed_sum,
    sums_of,
)
from journal.stores.sqlite_audit_values import check

PAGE = 20_000
"""Sums that are read at a time."""

_BEGIN: Final[Group] = (-1,) * len(GROUP)
_NEXT = f"""
    {USED} WHERE ({", ".join(f"u.{name}" for name in GROUP)}) > ({", ".join("?" * len(GROUP))})
        AND u.last > ? AND u.first <= ? AND {{}}
    ORDER BY {", ".join(GROUP)} LIMIT {PAGE}
"""
_OF_RUN = f"{USING} AND r.key > ? AND r.key <= ? AND {{}}"
_NAMED: Final = [at for at, name in enumerate(GROUP) if name not in {"day", "from_state"}]
_CHILD, _FROM_STATE = GROUP.index("child_run_id"), GROUP.index("from_state")

Row = tuple[Any, ...]
"""A sum as it is stored."""


def usage(pages: Pages, wanted: Wanted, apart: Collection[str]) -> Iterator[UsagePart]:
    """Yield sums of model responses and costs; see `AuditReader.usage`."""
    of_rows = None if pages.is_empty else keyed_rows(pages, wanted)
    if of_rows is None:
        return
    asked = wanted_used(wanted, prefix="u.")
    of_sums = keyed(asked, pages.keys([each for each in asked.values if isinstance(each, str)]))
    last: Row = _BEGIN
    while True:
        with pages.page() as connection:
            values = (*last, pages.after, pages.upto, *of_sums.values)
            stored = connection.execute(_NEXT.format(of_sums.sql), values).fetchall()
            found = _added_up(_wanted(connection, pages, wanted, of_rows, stored), apart)
            needed = {row[at] for row in found for at in _NAMED}
            names = pages.names.look_up(connection, needed - {0, None})
        for run, day, session, agent, child, from_state, model, *counts in found:
            group = names[run or None], names[child or None], day, names[session or None]
            told = (*group, names[agent or None], from_state == 1, names[model or None])
            yield UsagePart._make((*told, *counts))
        if len(stored) < PAGE:
            return
        last = stored[-1][: len(GROUP)]


def _wanted(
    connection: sqlite3.Connection,
    pages: Pages,
    wanted: Wanted,
    of_rows: Conditions,
    stored: list[Row],
) -> list[Row]:
    """Check sums; where only some of the rows of one are wanted, sum those."""
    any_row = wanted.kinds is wanted.statuses is wanted.tool is None
    since = -LARGEST - 1 if wanted.since is None else wanted.since
    until = LARGEST + 1 if wanted.until is None else wanted.until
    after, upto = pages.after, pages.upto
    whole: list[Row] = []
    cut: dict[int, set[Group]] = {}
    for row in stored:
        check("audit_used", row)
        first, last, from_at, to_at = row[RANGES_AT]
        if any_row and first > after and last <= upto and from_at >= since and to_at < until:
            whole.append(row)
        else:
            cut.setdefault(row[0], set()).add(row[: len(GROUP)])
    if cut:
        pages.names.find(connection, NAMES)
    keys = pages.names.keys
    for run, groups in cut.items():
        values = (run, keys.get(NAMES[0]), after, upto, *of_rows.values)
        rows = connection.execute(_OF_RUN.format(of_rows.sql), values).fetchall()
        for row in rows:
            check("audit_rows", row)
        sums = sums_of(rows, keys).items()
        whole += (packed_sum(group, each) for group, each in sums if group in groups)
    return whole


def _added_up(sums: list[Row], apart: Collection[str]) -> list[list[int | None]]:
    """Add up what need not be kept apart: `GROUP`, with None in its place, and `COUNTS`."""
    kept = [at for at, name in enumerate(GROUP) if name in apart]
    key_of = itemgetter(_CHILD, _FROM_STATE, *kept)
    alike: dict[Row, list[Row]] = {}
    for row in sums:
        key = row[: len(GROUP)] if row[_CHILD] or row[_FROM_STATE] else key_of(row)
        alike.setdefault(key, []).append(row)
    found = []
    for rows in alike.values():
        group: list[int | None] = list(rows[0][: len(GROUP)])
        if not (group[_CHILD] or group[_FROM_STATE]):
            group = [value if at in kept else None for at, value in enumerate(group)]
        counts = rows[0][COUNTS_AT]
        if len(rows) > 1:
            columns = zip(*(row[COUNTS_AT] for row in rows), strict=True)
            counts = tuple([min(sum(column), LARGEST) for column in columns])
        found.append([*group, *counts])
    return found
