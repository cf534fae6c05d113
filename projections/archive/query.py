"""SQL of people over an archive, or a journal together with it: DuckDB answers.

A database of its own runs each statement, with nothing in it but the views. It can open no file
but those of the archive's rows, and no other program or network; see `projections.archive.duck`.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import duckdb

from journal.errors import LimitReached, SQLRefused
from journal.stores.audit import Selected
from journal.stores.sqlite_audit_query import Watch
from projections.archive.duck import Duck
from projections.archive.layout import ROWS, RUNS
from projections.archive.live_rows import LiveRows
from projections.archive.sql_values import plain
from projections.archive.sql_views import make_views
from projections.archive.statement import views_of
from projections.reading import HasReader

if TYPE_CHECKING:
    from projections.archive.opened import Archive

LOOK_EVERY = 0.005
"""Seconds between two looks at what a statement takes."""

SMALLEST = 64
"""Megabytes below which DuckDB cannot work; the process is watched besides."""

_NEEDED = {"rows": {ROWS}, "runs": {RUNS}, "calls": {ROWS, RUNS}}


def select(  # noqa: PLR0913 - where, what, and its limits
    archive: Archive,
    journal: HasReader | None,
    sql: str,
    *,
    rows: int,
    seconds: float,
    megabytes: int,
) -> Selected:
    """Run one SELECT over the views `rows`, `runs` and `calls`; see `AuditStore.query`.

    Args:
        journal: adds what it has after the archive; None for the archive alone.

    Raises:
        SQLRefused: it is no SELECT, or reads or calls something else.
        LimitReached: it takes more time or memory; that there are more rows than may be given
            is told after the last.
        DamagedArchive, NewerArchive: a file of a view that it reads cannot be read.
        ViewsUnusable: see `journal.stores.views`.
    """
    with archive.files.duck.cursor() as cursor:
        views = views_of(cursor, sql)
    kinds = set().union(*(_NEEDED[view] for view in views))
    paths = {
        kind: [archive.files.needed(part, kind) for part in archive.catalogue.parts]
        for kind in sorted(kinds)
    }
    with ExitStack() as stack:
        live = None
        if journal is not None and kinds:
            live = stack.enter_context(LiveRows(journal, archive.last_position).taken(kinds))
        directory = archive.files.place.directory
        files = [str(directory / path) for each in paths.values() for path in each if directory]
        duck = Duck(
            archive.location,
            paths=files,
            attached={} if live is None else {"live": live},
            memory=f"{max(megabytes, SMALLEST)}MB",
        )
        stack.callback(duck.close)
        cursor = stack.enter_context(duck.cursor())
        make_views(
            cursor,
            archive.files,
            paths,
            after=archive.last_position,
            live=live is not None,
        )
        watch = Watch(seconds, megabytes)
        try:
            columns, found = _watched(cursor, sql, rows, watch)
        except (duckdb.Error, MemoryError) as error:
            raise _told(archive, kinds, error, watch, megabytes) from error
    return Selected(columns, _given(found, rows))


def _watched(
    cursor: Any, sql: str, rows: int, watch: Watch
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Run a statement, and interrupt it when it takes too much or Ctrl-C comes.

    It runs in a thread of its own, because Ctrl-C reaches only the main thread, which DuckDB
    would hold until the statement ends.
    """

    def run() -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        cursor.execute(sql)
        columns = tuple(column[0] for column in cursor.description)
        return columns, [tuple(map(plain, row)) for row in cursor.fetchmany(rows + 1)]

    with ThreadPoolExecutor(1, "runjournal-sql") as pool:
        answer = pool.submit(run)
        try:
            while not wait([answer], LOOK_EVERY).done:
                if watch():
                    cursor.interrupt()
        finally:
            while not wait([answer], LOOK_EVERY).done:
                cursor.interrupt()
    if watch.reached is not None:
        raise watch.reached
    return answer.result()


def _told(
    archive: Archive, kinds: set[str], error: Exception, watch: Watch, megabytes: int
) -> Exception:
    if watch.reached is not None:
        return watch.reached
    if isinstance(error, (MemoryError, duckdb.OutOfMemoryException)):
        return LimitReached("megabytes", megabytes)
    for kind in sorted(kinds):
        fault = archive.files.damaged_of(kind, archive.catalogue.parts)
        if fault is not None and isinstance(error, _OF_FILES):
            return fault
    return SQLRefused(" ".join(str(error).split()))


_OF_FILES = (duckdb.IOException, duckdb.SerializationException, duckdb.InvalidInputException)


def _given(found: list[tuple[Any, ...]], rows: int) -> Iterator[tuple[Any, ...]]:
    yield from found[:rows]
    if len(found) > rows:
        raise LimitReached("rows", rows)
