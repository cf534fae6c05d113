"""Questions to the data files of an archive, in SQL; each file is checked when it is needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import duckdb
from pyarrow import dataset

from journal.errors import DamagedArchive, JournalError, StorageFailed
from journal.ids import is_text
from projections.archive.duck import Duck
from projections.archive.filesystem import Place
from projections.archive.parts import Part
from projections.archive.schema import SCHEMAS

SOURCE = "source"
"""Name under which a question finds the rows of the files that it is about."""

BLOCK = 1024 * 1024

Rows = list[tuple[Any, ...]]


class SegmentFiles:
    """The files of an archive; safe for threads."""

    def __init__(self, place: Place, duck: Duck) -> None:
        self.place = place
        self.duck = duck
        self._lock = threading.Lock()
        self._checked: set[str] = set()

    def ask(self, kind: str, parts: Sequence[Part], select: str, *values: Any) -> Rows:
        """Ask for rows of files.

        Args:
            kind: of the files.
            parts: the segments; without any the answer is empty.
            select: a SELECT from `source`; `?` stands for a value.

        Raises:
            DamagedArchive, NewerArchive: a file of one of the segments cannot be read.
            StorageFailed: the files are right, and the system or the memory fails.
        """
        with self.pages(kind, parts, select, *values, size=0) as pages:
            return [row for rows in pages for row in rows]

    @contextmanager
    def pages(
        self, kind: str, parts: Sequence[Part], select: str, *values: Any, size: int
    ) -> Iterator[Iterator[Rows]]:
        """Ask likewise, and give rows as they are read, `size` at a time; 0 for all at once."""
        paths = [self.needed(part, kind) for part in parts]
        with self.duck.cursor() as cursor:
            try:
                if paths:
                    statement, given = self._statement(cursor, kind, paths, select)
                    cursor.execute(statement, [*given, *_bindable(values)])
                yield _fetched(cursor, size) if paths else iter(())
            except duckdb.Error as error:
                raise self.blamed(kind, parts, error) from error

    def columns(
        self, kind: str, parts: Sequence[Part], select: str, *values: Any
    ) -> list[list[Any]]:
        """Ask likewise, and give a list a column: quicker where there are many rows."""
        paths = [self.needed(part, kind) for part in parts]
        if not paths:
            return []
        with self.duck.cursor() as cursor:
            try:
                statement, given = self._statement(cursor, kind, paths, select)
                table = cursor.sql(statement, params=[*given, *_bindable(values)]).to_arrow_table()
            except duckdb.Error as error:
                raise self.blamed(kind, parts, error) from error
        return [column.to_pylist() for column in table.columns]

    def keep(self, table: str, kind: str, paths: Sequence[str], select: str) -> None:
        """Put an answer into a table that stays in memory; all of it or nothing.

        Raises:
            duckdb.Error: a file cannot be read.
        """
        with self.duck.cursor() as cursor:
            expression, given = self.source(cursor, kind, paths)
            cursor.execute(
                f"INSERT INTO {table} WITH {SOURCE} AS NOT MATERIALIZED ({expression}) {select}",
                given,
            )

    def keep_all(self, table: str, kind: str, parts: Sequence[Part], select: str) -> None:
        """Do likewise with the files of segments that are all needed.

        Raises:
            DamagedArchive, NewerArchive, StorageFailed: as `ask`.
        """
        paths = [self.needed(part, kind) for part in parts]
        try:
            if paths:
                self.keep(table, kind, paths, select)
        except duckdb.Error as error:
            raise self.blamed(kind, parts, error) from error

    def look(self, select: str, *values: Any) -> Rows:
        """Ask tables in memory."""
        with self.duck.cursor() as cursor:
            rows: Rows = cursor.execute(select, _bindable(values)).fetchall()
            return rows

    def look_columns(self, select: str, *values: Any) -> list[list[Any]]:
        """Ask tables in memory, and give a list a column."""
        with self.duck.cursor() as cursor:
            table = cursor.sql(select, params=_bindable(values)).to_arrow_table()
        return [column.to_pylist() for column in table.columns]

    def source(self, cursor: Any, kind: str, paths: Sequence[str]) -> tuple[str, list[Any]]:
        """Say how a connection reads files: as an expression, and the values of its parameters.

        Files of this machine are read by DuckDB itself, others through pyarrow.
        """
        directory = self.place.directory
        if directory is not None:
            found = [str(directory / path) for path in paths]
            return "SELECT * FROM read_parquet(?, hive_partitioning=false)", [found]
        found = [self.place.full(path) for path in paths]
        files = dataset.dataset(
            found, schema=SCHEMAS[kind], filesystem=self.place.filesystem, format="parquet"
        )
        cursor.register(f"{kind}_files", files)
        return f"SELECT * FROM {kind}_files", []

    def _statement(
        self, cursor: Any, kind: str, paths: Sequence[str], select: str
    ) -> tuple[str, list[Any]]:
        expression, given = self.source(cursor, kind, paths)
        return f"WITH {SOURCE} AS NOT MATERIALIZED ({expression}) {select}", given

    def needed(self, part: Part, kind: str) -> str:
        """Give the path of a file that an answer needs.

        Raises:
            DamagedArchive, NewerArchive: it cannot be read, as far as that is told without
                reading it.
            StorageFailed: it cannot be looked at.
        """
        if part.fault is not None:
            raise part.fault
        file = part.file(kind)
        assert file is not None  # noqa: S101 - there is no fault
        with self._lock:
            if file.path in self._checked:
                return file.path
        size = self.place.size(file.path)
        if size != file.bytes:
            wrong = f"has {size} bytes and not {file.bytes}"
            raise self.damaged(part, file.path, "is missing" if size is None else wrong)
        with self._lock:
            self._checked.add(file.path)
        return file.path

    def damaged(self, part: Part, path: str, reason: str) -> DamagedArchive:
        """Make the error of a file of a segment."""
        return DamagedArchive(self.place.location, part.number, path, reason)

    def blamed(self, kind: str, parts: Sequence[Part], error: Exception) -> JournalError:
        """Find which file an answer failed of: one that is not what its manifest says."""
        reason = " ".join(str(error).split())
        failed = StorageFailed(f"the archive {self.place.location}", "read", reason)
        return self.damaged_of(kind, parts) or failed

    def damaged_of(self, kind: str, parts: Sequence[Part]) -> DamagedArchive | None:
        """Give the error of the first file that is not what its manifest says; None if all are.

        It reads the files to their ends.
        """
        for part in parts:
            file = part.file(kind)
            if file is None:
                continue
            found = self._sha256(file.path)
            if found != file.sha256:
                reason = "is missing" if found is None else "was changed: its SHA-256 is another"
                return self.damaged(part, file.path, reason)
        return None

    def _sha256(self, path: str) -> str | None:
        opened = self.place.open(path)
        if opened is None:
            return None
        made = sha256()
        with self.place.reading(path), opened:
            while block := opened.read(BLOCK):
                made.update(block)
        return made.hexdigest()


def _fetched(cursor: Any, size: int) -> Iterator[Rows]:
    while rows := cursor.fetchmany(size) if size else cursor.fetchall():
        yield rows


def _bindable(values: Sequence[Any]) -> list[Any]:
    """Give NULL, which equals nothing, in place of texts that cannot be stored."""
    return [
        _bindable(each)
        if isinstance(each, list)
        else (None if isinstance(each, str) and not is_text(each) else each)
        for each in values
    ]
