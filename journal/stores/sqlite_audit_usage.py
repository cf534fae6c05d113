"""Answers about usage: from the sums that are kept, and from rows where only some are wanted."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from typing import Any, Final

from journal.stores.audit import UsagePart, Wanted
from journal.stores.audit_sql import Conditions, wanted_used
from journal.stores.sqlite_audit_newest import keyed, keyed_rows
from journal.stores.sqlite_audit_pages import Pages
from journal.stores.sqlite_audit_used import (
    GROUP,
    NAMES,
    USED,
    USING,
    Group,
    Sum,
    added,
    sums_of,
    unpacked_sum,
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


def usage(pages: Pages, wanted: Wanted, apart: Collection[str]) -> Iterator[UsagePart]:
    """Yield sums of model responses and costs; see `AuditReader.usage`."""
    rows = None if pages.is_empty else keyed_rows(pages, wanted)
    if rows is None:
        return
    of_sums = wanted_used(wanted, prefix="u.")
    sums = keyed(of_sums, pages.keys([each for each in of_sums.values if isinstance(each, str)]))
    keeps = tuple(name in apart for name in GROUP)
    last = _BEGIN
    while True:
        found: dict[tuple[int | None, ...], tuple[int, ...]] = {}
        with pages.page() as connection:
            values = (*last, pages.after, pages.upto, *sums.values)
            stored = connection.execute(_NEXT.format(sums.sql), values).fetchall()
            for group, counts in _counted(connection, pages, wanted, rows, stored):
                alike: tuple[int | None, ...] = group
                if not (group[_CHILD] or group[_FROM_STATE]):
                    alike = tuple(
                        [each if keep else None for each, keep in zip(group, keeps, strict=True)]
                    )
                known = found.get(alike)
                found[alike] = counts if known is None else added(known, counts)
            needed = {group[at] for group in found for at in _NAMED}
            names = pages.names.look_up(connection, needed - {0})
        for (run, day, session, agent, child, from_state, model), counts in found.items():
            yield UsagePart(
                names[run or None],
                names[child or None],
                day,
                names[session or None],
                names[agent or None],
                from_state == 1,
                names[model or None],
                *counts,
            )
        if len(stored) < PAGE:
            return
        last = stored[-1][: len(GROUP)]


def _counted(
    connection: sqlite3.Connection,
    pages: Pages,
    wanted: Wanted,
    rows: Conditions,
    stored: list[tuple[Any, ...]],
) -> Iterator[tuple[Group, tuple[int, ...]]]:
    """Yield the counts of sums, of each as far as its rows are wanted."""
    cut: dict[int, set[Group]] = {}
    for group, each in map(unpacked_sum, stored):
        if _is_whole(each, pages, wanted):
            yield group, each.counts
        else:
            cut.setdefault(group[0], set()).add(group)
    if not cut:
        return
    pages.names.find(connection, NAMES)
    keys = pages.names.keys
    statement = _OF_RUN.format(rows.sql)
    for run, groups in cut.items():
        values = (run, keys.get(NAMES[0]), pages.after, pages.upto, *rows.values)
        found = connection.execute(statement, values).fetchall()
        for row in found:
            check("audit_rows", row)
        for group, each in sums_of(found, keys).items():
            if group in groups:
                yield group, each.counts


def _is_whole(each: Sum, pages: Pages, wanted: Wanted) -> bool:
    """Tell whether every row of a sum is wanted."""
    return (
        each.first > pages.after
        and each.last <= pages.upto
        and (wanted.since is None or each.from_at >= wanted.since)
        and (wanted.until is None or each.to_at < wanted.until)
        and wanted.kinds is wanted.statuses is wanted.tool is None
    )
