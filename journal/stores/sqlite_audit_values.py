"""Values as the tables of the audit keep them: keys for names, and a checksum of each row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from zlib import crc32

import orjson

from journal.stores.views import AUDIT, ViewsUnusable

NAMED: Final = frozenset(
    {
        "run_id",
        "session_id",
        "conversation_id",
        "parent_run_id",
        "agent",
        "child_run_id",
        "kind",
        "node",
        "tool",
        "status",
        "error_kind",
        "actor",
        "trace_id",
        "model",
        "forked_from",
        "last_tool",
    }
)
"""Columns whose values come again and again: `audit_names` has each once."""


_NULL: Final = -(2**63)
"""A number that is in no column."""

Keys = Mapping[str | None, int | None]
NamesByKey = Mapping[int | None, str | None]


def insert(verb: str, table: str, columns: Sequence[str], *, required: Collection[str]) -> str:
    """Write the statement that stores rows which were made `bindable`.

    Args:
        verb: `INSERT`, or `INSERT OR REPLACE`.
        required: columns that are never NULL.
    """
    values = ("?" if name in required else f"nullif(?, {_NULL})" for name in columns)
    return f"{verb} INTO {table} VALUES ({', '.join(values)})"


def bindable(values: tuple[Any, ...]) -> list[Any]:
    """Put a number, which is in no column, in the place of None.

    Python takes long to bind None: it looks for adapters, again and again.
    """
    return [_NULL if value is None else value for value in values]


def checksum(values: tuple[Any, ...]) -> int:
    """Compute the CRC-32 of a row's values as a JSON array.

    Raises:
        TypeError: one of them is bytes.
    """
    return crc32(orjson.dumps(values))


def check(what: str, stored: tuple[Any, ...]) -> None:
    """Compare a stored row's checksum, its last value, with what it is of.

    Raises:
        ViewsUnusable: it does not match.
    """
    try:
        if checksum(stored[:-1]) == stored[-1]:
            return
    except TypeError as error:
        raise damaged(what, f"a value of another type: {error}") from error
    raise damaged(what, "its checksum does not match")


def damaged(what: str, why: str) -> ViewsUnusable:
    """Say that a row is damaged."""
    return ViewsUnusable(AUDIT, f"a row of {what} is damaged: {why}")
