"""Facts of runs as the views file keeps them."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, Final

import orjson

from journal.stores.audit import RunFacts
from journal.stores.audit_sql import RUN_COLUMNS
from journal.stores.sqlite_audit_values import NAMED, Keys, NamesByKey, checksum, insert

RUN_STORED: Final = (*RUN_COLUMNS, "checksum")
"""Columns of `audit_runs`."""

_REQUIRED: Final = ("run_id", "opened_at", "updated_at", "version", "position", "anchor")
_TOLD: Final = ("records", "sequences", "trace_ids", "archived", "state", "checksum")
PUT_RUN: Final = insert(
    "INSERT OR REPLACE", "audit_runs", RUN_STORED, required=(*_REQUIRED, *_TOLD)
)

names_in_facts = itemgetter(*(at for at, name in enumerate(RUN_COLUMNS) if name in NAMED))
"""Gives the names in facts."""

keys_in_facts = itemgetter(*(at for at, name in enumerate(RUN_STORED) if name in NAMED))
"""Gives the keys of names in stored facts."""

_NAMED: Final = tuple(at for at, name in enumerate(RUN_COLUMNS) if name in NAMED)
_ARCHIVED: Final = RUN_COLUMNS.index("archived")


def packed_facts(facts: RunFacts, keys: Keys) -> tuple[Any, ...]:
    """Make what is stored of a run's facts."""
    values: list[Any] = list(facts)
    for at in _NAMED:
        values[at] = keys[values[at]]
    # SQLite stores a truth value as a number, which is what the checksum is of.
    values[_ARCHIVED] = int(facts.archived)
    return (*values, checksum(tuple(values)))


def unpacked_facts(stored: tuple[Any, ...], names: NamesByKey) -> RunFacts:
    """Undo `packed_facts`."""
    values: list[Any] = list(stored[:-1])
    for at in _NAMED:
        values[at] = names[values[at]]
    values[_ARCHIVED] = values[_ARCHIVED] == 1
    return RunFacts._make(values)


def traces_of(facts: RunFacts) -> list[str]:
    """Give the traces that a run was on."""
    return [str(each) for each in orjson.loads(facts.trace_ids)]
