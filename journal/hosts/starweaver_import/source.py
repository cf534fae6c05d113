"""A Starweaver session database: its rows, and what else is asked of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from journal.errors import DamagedSource
from journal.hosts.starweaver_import.database import ReadOnlyDatabase, TooLargeError
from journal.hosts.starweaver_import.schema import check_schema
from journal.hosts.starweaver_import.tables import COMMITS, OUTBOX, RUNS, SESSIONS, Table
from journal.json_door import MAX_BYTES
from journal.times import format_time, parse_time

_OF_RUN = "WHERE session_id = ? AND run_id = ?"


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its keys, the time it was written at and its record."""

    table: str
    owner: tuple[str, ...]
    identity: str
    raw: bytes
    """The record's text; empty where `problem` says why there is none."""
    written_at: str | None = None
    """RFC 3339 in UTC, where the table keeps a time and the row has one."""
    problem: str | None = None
    is_named: bool = True
    """Whether other rows can name it: a key that is no text equals none."""

    @property
    def key(self) -> str:
        """Name the row in messages."""
        # The first column of a run's rows is its session, which the run tells as well.
        return " ".join([*self.owner[1:], self.identity])


class Source:
    """One moment of a database. Use it as a context manager."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open a database and check that it is one of the known schema.

        Raises:
            InvalidSource, SourceBusy, DamagedSource: see `ReadOnlyDatabase`.
        """
        self._database = ReadOnlyDatabase(path, check_schema)
        self.name = self._database.name

    def count(self, table: str) -> int:
        """Count the rows of a table, in the table itself and not in an index."""
        return self._database.number(f"SELECT count(*) FROM {table} NOT INDEXED")

    def count_of(self, table: str, session_id: str, run_id: str) -> int:
        """Count the rows of a run in a table."""
        statement = f"SELECT count(*) FROM {table} {_OF_RUN}"
        return self._database.number(statement, session_id, run_id)

    def count_not_copied(self, old: str, new: Table, keys: tuple[str, ...]) -> int:
        """Count the rows of an older version's table that are not in the one after it."""
        same = " AND ".join(f"o.{key} = n.{key}" for key in keys)
        return self._database.number(
            f"SELECT count(*) FROM {old} o WHERE NOT EXISTS "
            f"(SELECT 1 FROM {new.name} n WHERE {same})"
        )

    def size_of(self, table: Table, scope: str) -> int:
        """Tell how many bytes the records of a scope have."""
        return self._database.number(
            "SELECT coalesce(sum(length(CAST(record AS BLOB))), 0) "
            f"FROM {table.name} WHERE scope = ?",
            scope,
        )

    def sessions_without_record(self) -> Iterator[str]:
        """Yield sessions that have runs, but no row of their own."""
        statement = (
            f"SELECT DISTINCT session_id FROM {RUNS.name} "
            f"WHERE session_id NOT IN (SELECT session_id FROM {SESSIONS.name}) "
            "AND typeof(session_id) != 'blob'"
        )
        for (session_id,) in self._database.pages(statement):
            yield _text(session_id)

    def opened_at(self, session_id: str, run_id: str) -> str | None:
        """Tell when a run's row was made."""
        statement = f"SELECT created_at FROM {RUNS.name} {_OF_RUN}"
        found = self._database.first(statement, session_id, run_id)
        return None if found is None else rfc3339(found[0])

    def seal(self, session_id: str, run_id: str) -> tuple[str, str | None] | None:
        """Give the digest of a run's committed evidence and when it was committed."""
        statement = f"SELECT digest, created_at FROM {COMMITS} {_OF_RUN}"
        found = self._database.first(statement, session_id, run_id)
        return None if found is None else (_text(found[0]), rfc3339(found[1]))

    def publication(self, session_id: str, run_id: str) -> dict[str, bool] | None:
        """Give the targets that a run's publication still waits for, where it has one."""
        statement = f"SELECT archive_pending, replay_pending FROM {OUTBOX} {_OF_RUN}"
        found = self._database.first(statement, session_id, run_id)
        return None if found is None else {"archive": bool(found[0]), "replay": bool(found[1])}

    def rows(self, table: Table, *owner: str) -> Iterator[Row]:
        """Yield the rows of a table that have this owner, in order; one record at a time."""
        where = " AND ".join(f"{column} = ?" for column in table.owner) or "TRUE"
        statement = (
            f"SELECT rowid, {table.identity}, typeof({table.identity}) FROM {table.name} "
            f"WHERE {where} ORDER BY {table.order}"
        )
        for rowid, identity, kind in self._database.pages(statement, *owner):
            if kind == b"blob":
                problem = f"its {table.identity} is no text, but blob"
                shown = _text(identity)
                yield Row(table.name, owner, shown, b"", problem=problem, is_named=False)
            else:
                yield self._row(table, owner, _text(identity), rowid)

    def _row(self, table: Table, owner: tuple[str, ...], identity: str, rowid: int) -> Row:
        written = table.time or "NULL"
        statement = f"SELECT typeof(record), record, {written} FROM {table.name} WHERE rowid = ?"
        try:
            found = self._database.first(statement, rowid)
        except TooLargeError:
            problem = f"over the limit of {MAX_BYTES} bytes"
            return Row(table.name, owner, identity, b"", problem=problem)
        if found is None:
            raise DamagedSource(self.name, f"an index of {table.name} names a row that is missing")
        kind, raw, time = found
        if kind != b"text":
            problem = f"its record is no text, but {_text(kind)}"
            return Row(table.name, owner, identity, b"", problem=problem)
        return Row(table.name, owner, identity, raw, rfc3339(time))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._database.close()


def rfc3339(value: object) -> str | None:
    """Give a time as interchange lines write it; None for anything that is no time."""
    try:
        return format_time(parse_time(_text(value)))
    except ValueError:
        return None


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
