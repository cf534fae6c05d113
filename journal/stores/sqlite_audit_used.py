"""Sums of what audit rows used, kept as rows come: of each run by day, model and agent."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

from journal.stores.audit import LARGEST
from journal.stores.audit_sql import MICROSECONDS_A_DAY, TOKENS
from journal.stores.sqlite_audit_names import batches, listed
from journal.stores.sqlite_audit_pages import ROWS
from journal.stores.sqlite_audit_rows import ROW_STORED
from journal.stores.sqlite_audit_values import Keys, check, checksum

GROUP: Final = ("run_id", "day", "session_id", "agent", "child_run_id", "from_state", "model")
"""What the rows of a sum have in common; 0 stands for a name that is missing."""

RANGES: Final = ("first", "last", "from_at", "to_at")
"""The keys and the times that the rows of a sum lie between."""

COUNTS: Final = ("responses", *TOKENS)
USED_STORED: Final = (*GROUP, *RANGES, *COUNTS, "checksum")
"""Columns of `audit_used`."""

USED: Final = f"SELECT {', '.join(f'u.{name}' for name in USED_STORED)} FROM audit_used AS u"

USING: Final = f"""
    {ROWS} INDEXED BY audit_rows_by_run WHERE r.run_id = ?
        AND (r.kind = ? OR coalesce({", ".join(f"r.{name}" for name in TOKENS)}) IS NOT NULL)
"""
"""Selects the rows of a run that are summed; the kind is the first of `NAMES`."""

NAMES: Final = ("model_response", "repeated")
"""A kind and a status, which tell what counts as a response."""

_OF_RUNS: Final = f"{USED} WHERE u.run_id IN ({{}})"
_PUT: Final = f"INSERT OR REPLACE INTO audit_used VALUES ({', '.join('?' * len(USED_STORED))})"
_REMOVE: Final = "DELETE FROM audit_used WHERE run_id = ?"

RANGES_AT: Final = slice(len(GROUP), len(GROUP) + len(RANGES))
COUNTS_AT: Final = slice(RANGES_AT.stop, RANGES_AT.stop + len(COUNTS))
"""Where they stand in a stored sum."""

_AT: Final = {name: ROW_STORED.index(name) for name in ROW_STORED}
_TOKENS: Final = slice(_AT[TOKENS[0]], _AT[TOKENS[-1]] + 1)
_RUN, _SESSION, _AGENT, _CHILD = (
    _AT[name] for name in ("run_id", "session_id", "agent", "child_run_id")
)
_KIND, _STATUS, _MODEL = _AT["kind"], _AT["status"], _AT["model"]
_RECORDED, _FROM_STATE = _AT["recorded_at"], _AT["from_state"]
_NOTHING: Final = (None,) * len(TOKENS)

Group = tuple[int, ...]


class Sum(NamedTuple):
    """A sum of rows that are alike in `GROUP`."""

    first: int
    last: int
    from_at: int
    to_at: int
    counts: tuple[int, ...]
    """As `COUNTS`; each saturates at `LARGEST`."""

    def plus(self, other: Sum) -> Sum:
        """Add another of the same group."""
        return Sum(
            min(self.first, other.first),
            max(self.last, other.last),
            min(self.from_at, other.from_at),
            max(self.to_at, other.to_at),
            added(self.counts, other.counts),
        )


def added(counts: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    """Add counts, none of which is negative."""
    return tuple([min(sum(each), LARGEST) for each in zip(counts, others, strict=True)])


def sums_of(stored: Iterable[tuple[Any, ...]], keys: Keys) -> dict[Group, Sum]:
    """Sum what rows used.

    Args:
        stored: the rows, as they are stored.
        keys: those of `NAMES`, as far as there are any.
    """
    found: dict[Group, Sum] = {}
    response, repeated = map(keys.get, NAMES)
    for row in stored:
        is_response, tokens = row[_KIND] == response, row[_TOKENS]
        if not is_response and tokens == _NOTHING:
            continue
        key, at = row[0], row[_RECORDED]
        group = (
            row[_RUN],
            at // MICROSECONDS_A_DAY,
            row[_SESSION] or 0,
            row[_AGENT] or 0,
            row[_CHILD] or 0,
            row[_FROM_STATE],
            row[_MODEL] or 0,
        )
        counts = (
            int(is_response and (repeated is None or row[_STATUS] != repeated)),
            *[each or 0 for each in tokens],
        )
        one = Sum(key, key, at, at, counts)
        known = found.get(group)
        found[group] = one if known is None else known.plus(one)
    return found


def unpacked_sum(stored: tuple[Any, ...]) -> tuple[Group, Sum]:
    """Check a stored sum, and take it apart.

    Raises:
        ViewsUnusable: it is damaged.
    """
    check("audit_used", stored)
    return stored[: len(GROUP)], Sum._make((*stored[RANGES_AT], stored[COUNTS_AT]))


def packed_sum(group: Group, each: Sum) -> tuple[int, ...]:
    """Make what is stored of a sum."""
    *ranges, counts = each
    packed = (*group, *ranges, *counts)
    return (*packed, checksum(packed))


def put_sums(connection: sqlite3.Connection, new: dict[Group, Sum]) -> None:
    """Add sums to those that are stored."""
    if not new:
        return
    known = stored_sums(connection, {group[0] for group in new})
    values = []
    for group, each in new.items():
        before = known.get(group)
        values.append(packed_sum(group, each if before is None else before.plus(each)))
    connection.executemany(_PUT, values)


def remove_sums(connection: sqlite3.Connection, run: int) -> None:
    """Remove the sums of a run."""
    connection.execute(_REMOVE, [run])


def stored_sums(connection: sqlite3.Connection, runs: Collection[int]) -> dict[Group, Sum]:
    """Give the sums of runs.

    Raises:
        ViewsUnusable: one is damaged.
    """
    found = []
    for batch in batches(sorted(runs)):
        found += connection.execute(listed(_OF_RUNS, len(batch)), batch).fetchall()
    return dict(map(unpacked_sum, found))
