"""DuckDB as the archive uses it: in memory, and shut off from all but the archive's files."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import duckdb

from journal.errors import JournalClosed, JournalForked

MEMORY = "128MB"
"""What DuckDB may use; larger sorts go through a temporary directory of the user's own."""

THREADS = 2

KEPT = "kept"
"""Schema of the tables that a reader keeps in memory, compressed."""

_BEFORE: dict[str, str | int | float | list[str]] = {
    "threads": THREADS,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
}

_NEAR_SQLITE = {
    "integer_division": "true",
    "default_null_order": "'NULLS_FIRST_ON_ASC_LAST_ON_DESC'",
    "ieee_floating_point_ops": "false",
    "error_on_division_by_zero": "false",
}
"""What makes answers more like SQLite's: 7/2 is 3, 7/0 is NULL, and NULL sorts as the smallest.
Older versions have not each of them, and then do so in any case."""


class Duck:
    """One database in memory; safe for threads, each question has a connection of its own."""

    def __init__(  # noqa: PLR0913 - what it may read and use
        self,
        location: str,
        *,
        directories: Iterable[str] = (),
        paths: Iterable[str] = (),
        attached: Mapping[str, Path] = MappingProxyType({}),
        memory: str = MEMORY,
        near_sqlite: bool = True,
    ) -> None:
        """Open it.

        Args:
            location: of the archive, for messages.
            directories: those whose files it may read.
            paths: files that it may read.
            attached: databases that it may read besides, by their names in SQL.
            memory: what it may use.
            near_sqlite: whether SQL is answered as SQLite would, as far as DuckDB can.
        """
        self._location = location
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._closed = False
        self._spill = TemporaryDirectory(prefix="runjournal-", ignore_cleanup_errors=True)
        self._connection = duckdb.connect(
            ":memory:",
            config={**_BEFORE, "memory_limit": memory, "temp_directory": self._spill.name},
        )
        self._connection.execute(f"ATTACH ':memory:' AS {KEPT} (COMPRESS)")
        for name, path in attached.items():
            quoted = str(path).replace("'", "''")
            self._connection.execute(f"ATTACH '{quoted}' AS {name} (READ_ONLY)")
        if near_sqlite:
            self._come_near_sqlite()
        self._set("parquet_metadata_cache", "true")
        self._set("allowed_directories", _texts(directories))
        self._set("allowed_paths", _texts(paths))
        self._set("enable_external_access", "false")
        self._set("lock_configuration", "true")

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        """Give a connection for one question.

        Raises:
            JournalClosed, JournalForked: the archive was closed, or opened by another process.
        """
        if os.getpid() != self._process:
            raise JournalForked(self._location, self._process)
        with self._lock:
            if self._closed:
                raise JournalClosed(self._location)
            cursor = self._connection.cursor()
        try:
            yield cursor
        finally:
            cursor.close()

    def close(self) -> None:
        """Release everything; twice does nothing."""
        if os.getpid() != self._process:
            return
        with self._lock:
            if not self._closed:
                self._closed = True
                self._connection.close()
                self._spill.cleanup()

    def _come_near_sqlite(self) -> None:
        for name, value in _NEAR_SQLITE.items():
            with suppress(duckdb.CatalogException):  # there is no such setting
                self._set(f"GLOBAL {name}", value)

    def _set(self, name: str, value: str) -> None:
        self._connection.execute(f"SET {name} = {value}")


def _texts(values: Iterable[str]) -> str:
    """Write texts as a list, for settings, which take no parameters."""
    quoted = (value.replace("'", "''") for value in values)
    return "[" + ", ".join(f"'{value}'" for value in quoted) + "]"
