"""Comparing a database's schema, before anything else is read, with the one that is known.

Only the very tables of `schema.sql` are read. A view, a trigger or a generated column in the
place of one of them could say anything, and a newer Starweaver may mean something else by
the same names.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.resources import files
from typing import NamedTuple

from journal.errors import InvalidSource, brief

KNOWN = "Starweaver 0.15.0"

_MIGRATIONS = "starweaver_schema_migrations"
_MOST = 1000
"""Objects and migrations that are looked at: more than any Starweaver database has."""
_STATISTICS = {(b"table", name) for name in (b"sqlite_stat1", b"sqlite_stat3", b"sqlite_stat4")}
"""What ANALYZE leaves."""
_NAMED = 3
"""Differences that a message names."""


class _Schema(NamedTuple):
    objects: dict[str, tuple[str, str]]
    """By name, the type of an object and its definition."""
    migrations: dict[str, str]
    """By id, the checksum of a migration that was applied."""


def check_schema(connection: sqlite3.Connection, source: str) -> None:
    """Refuse a database whose schema is not the known one.

    Args:
        source: what messages call it.

    Raises:
        InvalidSource: it is no Starweaver database, an older or newer one, or an altered one;
            it names what differs.
        sqlite3.Error: it cannot be read.
    """
    known = _known()
    objects = _objects(connection)
    if _MIGRATIONS not in objects:
        reason = f"not a Starweaver session database, it has no table {_MIGRATIONS}"
        raise InvalidSource(source, reason)
    different = _differences(known.objects, objects)
    if objects[_MIGRATIONS] != known.objects[_MIGRATIONS]:
        raise InvalidSource(source, _altered(different))
    applied = _migrations(connection)
    newer = [id_ for id_ in applied if id_ not in known.migrations]
    if newer:
        reason = (
            f"its schema is newer than that of {KNOWN}, the last this runjournal knows: "
            f"{_some([f'migration {brief(id_)}' for id_ in newer] + different)}; "
            "use a newer runjournal"
        )
        raise InvalidSource(source, reason)
    older = [id_ for id_ in known.migrations if id_ not in applied]
    if older:
        reason = (
            f"its schema is older than that of {KNOWN}, it lacks the migrations {_some(older)}; "
            "bring a copy of it up to date with `SqliteSessionStore.migrate(path)` and import that"
        )
        raise InvalidSource(source, reason)
    changed = [
        f"migration {brief(id_)} has another checksum"
        for id_, checksum in applied.items()
        if checksum != known.migrations[id_]
    ]
    if changed or different:
        raise InvalidSource(source, _altered(changed + different))


def _altered(different: list[str]) -> str:
    return f"its schema is not that of {KNOWN}: {_some(different)}; import an unaltered database"


def _some(things: list[str]) -> str:
    more = f" and {len(things) - _NAMED} more" if len(things) > _NAMED else ""
    return ", ".join(things[:_NAMED]) + more


def _differences(known: dict[str, tuple[str, str]], found: dict[str, tuple[str, str]]) -> list[str]:
    different = []
    for name, (kind, text) in known.items():
        if name not in found:
            different.append(f"{kind} {name} is missing")
        elif found[name][0] != kind:
            different.append(f"{name} is a {brief(found[name][0], 20)} and no {kind}")
        elif found[name][1] != text:
            different.append(f"{kind} {name} is defined in another way")
    different += [
        f"{brief(kind, 20).strip(chr(39))} {brief(name)} is unknown"
        for name, (kind, _) in found.items()
        if name not in known
    ]
    return different


def _known() -> _Schema:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(files(__package__).joinpath("schema.sql").read_text())
        connection.text_factory = bytes
        return _Schema(_objects(connection), _migrations(connection))


def _objects(connection: sqlite3.Connection) -> dict[str, tuple[str, str]]:
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchmany(_MOST)
    return {
        _text(name): (_text(kind), " ".join(_text(sql).split()))
        for kind, name, sql in rows
        if (kind, name) not in _STATISTICS
    }


def _migrations(connection: sqlite3.Connection) -> dict[str, str]:
    rows = connection.execute(f"SELECT id, checksum FROM {_MIGRATIONS} ORDER BY id")
    return {_text(id_): _text(checksum) for id_, checksum in rows.fetchmany(_MOST)}


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
