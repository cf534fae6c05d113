"""Answers about usage: from the sums that are kept, and from rows where only some are wanted."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from journal.stores.audit import LARGEST, UsagePart, Wanted
from journal.stores.audit_sql import Conditions, bounded, wanted_used
from journal.stores.sqlite_audit_newest import keyed, keyed_rows
from journal.stores.sqlite_audit_pages import Pages
from journal.stores.sqlite_audit_used import (
    COUNTS,
    GROUP,
    NAMES,
    USED,
    USING,
    Group,
    added,
    sums_of,
)
from journal.stores.sqlite_audit_values import check

PAGE = 20_000
"""Sums that are added up at a time; all of a run are."""

_PLAIN = "(u.child_run_id = 0 AND u.from_state = 0)"
"""What can be summed over runs."""

_SUM = ", ".join(f"sum(u.{name})" for name in COUNTS)
_HALVES = ", ".join(f"sum(u.{name} >> 32), sum(u.{name} & 4294967295)" for name in COUNTS)
_OVERFLOW = "integer overflow"

_END = "SELECT run_id FROM audit_used WHERE run_id > ? ORDER BY run_id LIMIT 1 OFFSET ?"
_OF_PAGE = """
    FROM audit_used AS u
    WHERE u.run_id > ? AND u.run_id <= ? AND u.last > ? AND u.first <= ? AND {}
"""
_OF_RUN = f"{USING} AND r.key > ? AND r.key <= ? AND {{}}"

_NAMED: Final = [at for at, name in enumerate(GROUP) if name not in {"day", "from_state"}]
_CHILD, _FROM_STATE = GROUP.index("child_run_id"), GROUP.index("from_state")

Alike = tuple[int | None, ...]
"""`GROUP`, with None in the place of what need not be kept apart."""

Found = dict[Alike, tuple[int, ...]]
"""Counts of sums."""


class _Asked(NamedTuple):
    """A question about usage."""

    overlapping: Conditions
    """Of sums that may have rows that are wanted."""
    whole: Conditions
    """Of those whose rows are all wanted."""
    rows: Conditions
    """Of rows that are wanted."""
    kept: Collection[str]
    """Columns of `GROUP` that are told of what can be summed over runs; others are None."""


def usage(pages: Pages, wanted: Wanted, apart: Collection[str]) -> Iterator[UsagePart]:
    """Yield sums of model responses and costs; see `AuditReader.usage`."""
    of_rows = None if pages.is_empty else keyed_rows(pages, wanted)
    if of_rows is None:
        return
    of_sums = wanted_used(wanted, prefix="u.")
    keys = pages.keys([each for each in of_sums.values if isinstance(each, str)])
    kept = {"child_run_id", "from_state"}.union(apart)
    asked = _Asked(keyed(of_sums, keys), _whole(pages, wanted), of_rows, kept)
    last = -1
    while last < LARGEST:
        with pages.page() as connection:
            _check_new(connection, pages)
            end = connection.execute(_END, (last, PAGE)).fetchone()
            runs = last, LARGEST if end is None else end[0]
            found = _added_up(connection, pages, asked, runs)
            _add_cut(connection, pages, asked, runs, found)
            needed = {group[at] for group in found for at in _NAMED}
            names = pages.names.look_up(connection, needed - {0, None})
        for (run, day, session, agent, child, from_state, model), counts in found.items():
            of_run = names[run or None], names[child or None], day, names[session or None]
            told = (*of_run, names[agent or None], from_state == 1, names[model or None])
            yield UsagePart._make((*told, *counts))
        last = runs[1]


def _check_new(connection: sqlite3.Connection, pages: Pages) -> None:
    """Check the sums that changed since they were checked, which is once for each process."""
    seen = pages.names.sums_upto
    if seen is not None and seen >= pages.upto:
        return
    fitting, values = ("TRUE", ()) if seen is None else ("u.last > ?", (seen,))
    for row in connection.execute(f"{USED} WHERE {fitting}", values):
        check("audit_used", row)
    pages.names.sums_upto = pages.upto


def _whole(pages: Pages, wanted: Wanted) -> Conditions:
    found = Conditions(("u.first > ?", "u.last <= ?"), (pages.after, pages.upto))
    if wanted.since is not None:
        found = found.plus("u.from_at >= ?", bounded(wanted.since))
    if wanted.until is not None:
        found = found.plus("u.to_at < ?", bounded(wanted.until))
    if not (wanted.kinds is wanted.statuses is wanted.tool is None):
        found = found.plus("FALSE")
    return found


def _added_up(
    connection: sqlite3.Connection, pages: Pages, asked: _Asked, runs: tuple[int, int]
) -> Found:
    """Add up the sums of some runs whose rows are all wanted."""
    columns = ", ".join(
        f"u.{name}" if name in asked.kept else f"CASE WHEN NOT {_PLAIN} THEN u.{name} END"
        for name in GROUP
    )
    of_page = _OF_PAGE.format(f"{asked.overlapping.sql} AND {asked.whole.sql}")
    groups = ", ".join(str(at) for at in range(1, len(GROUP) + 1))
    select = f"SELECT {columns}, {{}} {of_page} GROUP BY {groups}"
    values = (*runs, pages.after, pages.upto, *asked.overlapping.values, *asked.whole.values)
    size = len(GROUP)
    try:
        rows = connection.execute(select.format(_SUM), values).fetchall()
        return {row[:size]: row[size:] for row in rows}
    except sqlite3.Error as error:
        if _OVERFLOW not in str(error):
            raise
    # SQLite refuses sums above 64 bits; halves of the numbers stay below.
    rows = connection.execute(select.format(_HALVES), values).fetchall()
    return {row[:size]: _joined(row[size:]) for row in rows}


def _joined(halves: tuple[int, ...]) -> tuple[int, ...]:
    pairs = zip(halves[::2], halves[1::2], strict=True)
    return tuple([min((high << 32) + low, LARGEST) for high, low in pairs])


def _add_cut(
    connection: sqlite3.Connection,
    pages: Pages,
    asked: _Asked,
    runs: tuple[int, int],
    found: Found,
) -> None:
    """Add the rows that are wanted of sums of which others are not."""
    of_page = _OF_PAGE.format(f"{asked.overlapping.sql} AND NOT ({asked.whole.sql})")
    values = (*runs, pages.after, pages.upto, *asked.overlapping.values, *asked.whole.values)
    select = f"SELECT {', '.join(f'u.{name}' for name in GROUP)} {of_page}"
    cut: dict[int, set[Group]] = {}
    for group in connection.execute(select, values).fetchall():
        cut.setdefault(group[0], set()).add(group)
    if cut:
        pages.names.find(connection, NAMES)
    keys = pages.names.keys
    for run, groups in cut.items():
        of_run = (run, keys.get(NAMES[0]), pages.after, pages.upto, *asked.rows.values)
        rows = connection.execute(_OF_RUN.format(asked.rows.sql), of_run).fetchall()
        for row in rows:
            check("audit_rows", row)
        for group, each in sums_of(rows, keys).items():
            if group not in groups:
                continue
            alike: Alike = group
            if not (group[_CHILD] or group[_FROM_STATE]):
                named = zip(GROUP, group, strict=True)
                alike = tuple([value if name in asked.kept else None for name, value in named])
            known = found.get(alike)
            found[alike] = each.counts if known is None else added(known, each.counts)
