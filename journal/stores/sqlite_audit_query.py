"""SQL of people over the audit rows: one SELECT, that can only read, and only so much.

What a SELECT may read is settled by SQLite's authorizer, which is asked about every table,
column and function before anything runs. How much it may take is watched while it runs: after
every few steps of SQLite's virtual machine, the time and the memory of the process are looked
at. SQLite keeps everything in memory and writes no temporary files, so that is all it takes; no
value is larger than a part of what may be taken, so that a few steps cannot take much more.
"""

from __future__ import annotations

import os
import re
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from journal.errors import LimitReached, SQLRefused
from journal.stores.audit import Selected

if sys.platform != "win32":
    import resource

VIEWS: Final = frozenset({"rows", "runs", "calls"})
"""What may be read."""

FUNCTIONS: Final = frozenset(
    """-> ->> abs avg coalesce count cume_dist date datetime dense_rank first_value glob
    group_concat ifnull iif instr json_array_length json_extract json_valid julianday lag
    last_value lead length like lower ltrim max min nth_value ntile nullif percent_rank rank
    replace round row_number rtrim sign strftime substr substring sum time total trim typeof
    unicode unixepoch upper""".split()  # noqa: SIM905 - so it can be read
)
"""What may be called: nothing that has effects, and nothing that makes much of little."""

_BENEATH = frozenset({"audit_rows", "audit_runs", "audit_names"})
"""What the views read."""

_SCHEMAS = {"sqlite_schema", "sqlite_master", "sqlite_temp_schema", "sqlite_temp_master"}

_STEPS = 200
"""Steps of the virtual machine between two looks at the time."""

_LOOK_EVERY = 0.005
"""Seconds between two looks at the memory: within them not much can be written."""

_LARGEST_PART = 64
"""No value takes more than this part of the memory."""

_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 20_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 100_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 16,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
"""What bounds the work before a statement runs, and how many values it holds at once."""

_BEGINS = re.compile(
    r"(?:\s+|--[^\n]*|(?>/\*.*?\*/))*+(?:select|with|values)\b", re.IGNORECASE | re.DOTALL
)
_MEGABYTE = 1024 * 1024
_STATM = Path("/proc/self/statm")


class Watch:
    """Stops a statement that takes too much.

    Args:
        seconds: that it may take.
        megabytes: that the process may grow by.
    """

    def __init__(self, seconds: float, megabytes: int) -> None:
        self._limits = seconds, megabytes
        self._until = time.monotonic() + seconds
        self._most = _memory() + megabytes * _MEGABYTE
        self._look_again = 0.0
        self.reached: LimitReached | None = None
        """Why it was stopped."""

    def __call__(self) -> int:
        """Look at what was taken; 1 stops the statement."""
        now = time.monotonic()
        if now >= self._until:
            self.reached = LimitReached("seconds", self._limits[0])
        elif now >= self._look_again:
            self._look_again = now + _LOOK_EVERY
            if _memory() > self._most:
                self.reached = LimitReached("megabytes", self._limits[1])
        return int(self.reached is not None)


def select(
    connection: sqlite3.Connection, sql: str, *, rows: int, seconds: float, megabytes: int
) -> Selected:
    """Run one SELECT over the views `rows`, `runs` and `calls`.

    Args:
        connection: with a read transaction of the caller; it is left as it was.
        rows: that are given at most.
        seconds: that it may take.
        megabytes: of memory, likewise.

    Raises:
        SQLRefused: it is no SELECT, or reads or calls something else.
        LimitReached: it takes more; that there are more rows is told after the last.
        sqlite3.Error: the database is damaged, or gone.
    """
    if "\0" in sql or _BEGINS.match(sql) is None:
        raise SQLRefused("it does not begin with SELECT, WITH or VALUES")
    gate = _Gate(_tables(connection))
    watch = Watch(seconds, megabytes)
    try:
        with _confined(connection, gate, watch, megabytes):
            cursor = connection.execute(sql)
            columns = tuple(column for column, *_ in cursor.description)
            found = cursor.fetchmany(rows + 1)
            cursor.close()
    except MemoryError as error:
        raise LimitReached("megabytes", megabytes) from error
    except UnicodeEncodeError as error:
        raise SQLRefused("half of a surrogate pair is no text") from error
    except (sqlite3.Error, sqlite3.Warning) as error:
        problem = watch.reached or _told(error, gate, megabytes)
        if problem is None and _was_interrupted(error):
            raise KeyboardInterrupt from error
        if problem is None:
            raise
        raise problem from error
    return Selected(columns, _given(found, rows))


class _Gate:
    """Decides what a statement may do, and remembers what it may not."""

    def __init__(self, tables: frozenset[str]) -> None:
        self._others = tables - VIEWS - _BENEATH
        self.refused: str | None = None

    def __call__(
        self,
        action: int,
        first: str | None,
        second: str | None,
        _database: str | None,
        view: str | None,
    ) -> int:
        """Allow or deny one thing that a statement does."""
        if action in {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE}:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            # Of no column: a table of a view of which none is asked for, or a WITH.
            of_none = second == "" and (first or "").lower() not in self._others
            if of_none or first in VIEWS or (view in VIEWS and first in _BENEATH):
                return sqlite3.SQLITE_OK
            return self._refuse(f"it reads {first}")
        if action == sqlite3.SQLITE_FUNCTION:
            if second is not None and second.lower() in FUNCTIONS:
                return sqlite3.SQLITE_OK
            return self._refuse(f"it calls {second}(), and may call {' '.join(sorted(FUNCTIONS))}")
        return self._refuse("it does more than to read")

    def _refuse(self, reason: str) -> int:
        self.refused = self.refused or reason
        return sqlite3.SQLITE_DENY


@contextmanager
def _confined(
    connection: sqlite3.Connection, gate: _Gate, watch: Watch, megabytes: int
) -> Iterator[None]:
    """Let a connection do nothing but what the gate and the watch allow."""
    limits = {**_LIMITS, sqlite3.SQLITE_LIMIT_LENGTH: megabytes * _MEGABYTE // _LARGEST_PART}
    before = {limit: connection.setlimit(limit, value) for limit, value in limits.items()}
    factory = connection.text_factory
    connection.text_factory = _text
    connection.set_progress_handler(watch, _STEPS)
    connection.set_authorizer(gate)
    try:
        yield
    finally:
        connection.set_authorizer(None)
        connection.set_progress_handler(None, 0)
        connection.text_factory = factory
        for limit, value in before.items():
            connection.setlimit(limit, value)


def _tables(connection: sqlite3.Connection) -> frozenset[str]:
    names = connection.execute("SELECT name FROM sqlite_schema").fetchall()
    return frozenset(name for (name,) in names) | _SCHEMAS


def _told(error: Exception, gate: _Gate, megabytes: int) -> Exception | None:
    """Say what is wrong with a statement; None where it is not the statement."""
    if gate.refused is not None:
        return SQLRefused(gate.refused)
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code == sqlite3.SQLITE_TOOBIG:
        return LimitReached("megabytes", megabytes)
    if code in {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE}:
        return SQLRefused(str(error))
    return None


def _was_interrupted(error: Exception) -> bool:
    """Tell whether Ctrl-C came: it is raised in the watch, where SQLite drops it."""
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT


def _given(found: list[tuple[Any, ...]], rows: int) -> Iterator[tuple[Any, ...]]:
    yield from found[:rows]
    if len(found) > rows:
        raise LimitReached("rows", rows)


def _text(value: bytes) -> str:
    """Read a text, also one that a CAST made of other bytes."""
    return value.decode(errors="replace")


def _of_linux() -> int:
    return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _of_others() -> int:
    """Give the most that the process ever took: growth below that goes unseen."""
    if sys.platform == "win32":
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


_memory = _of_linux if _STATM.exists() else _of_others
"""Gives the bytes of memory that the process takes."""
