"""The rows and facts that a journal has after its archive, lent to DuckDB as a file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa

from journal.ids import Position
from journal.stores.audit import AuditReader, RunFacts, Wanted
from projections.archive.layout import ROWS, RUNS
from projections.archive.schema import RUN_SCHEMA, SCHEMAS
from projections.audit.catching_up import catch_up
from projections.reading import HasReader

AT_ONCE = 4096
"""Rows copied at a time."""

_FACTS = pa.schema([RUN_SCHEMA.field(name) for name in RunFacts._fields])


class LiveRows:
    """Copies what the audit of a journal has after a position.

    Args:
        after: the position that the archive reaches to.
    """

    def __init__(self, journal: HasReader, after: Position) -> None:
        self._journal = journal
        self._after = after

    @contextmanager
    def taken(self, kinds: Collection[str]) -> Iterator[Path]:
        """Lend the file, in a directory that only its owner can read.

        Args:
            kinds: `rows`, `runs` or both; each is a table of that name.

        Raises:
            ViewsUnusable: see `journal.stores.views`.
        """
        with TemporaryDirectory(prefix="runjournal-", ignore_cleanup_errors=True) as folder:
            path = Path(folder) / "live.duckdb"
            with (
                catch_up(self._journal).reading(after=self._after) as reader,
                duckdb.connect(str(path), config={"threads": 1, "memory_limit": "64MB"}) as made,
            ):
                for kind in sorted(kinds):
                    self._copy(made, kind, reader)
            yield path

    @staticmethod
    def _copy(made: Any, kind: str, reader: AuditReader) -> None:
        schema = {ROWS: SCHEMAS[ROWS], RUNS: _FACTS}[kind]
        source: Iterable[tuple[Any, ...]] = reader.rows(Wanted()) if kind == ROWS else reader.runs()
        made.register("nothing", schema.empty_table())
        made.execute(f"CREATE TABLE {kind} AS FROM nothing")
        rest = iter(source)
        while some := list(islice(rest, AT_ONCE)):
            columns = zip(*some, strict=True)
            arrays = [
                pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)
            ]
            made.register("page", pa.Table.from_arrays(arrays, schema=schema))
            made.execute(f"INSERT INTO {kind} FROM page")
            made.unregister("page")
