"""What appends records in a benchmark: the journal, its bare table, and the library.

Each writer opens a file and makes callers. A caller takes the numbers of the records of one
commit. What it may prepare without writing is prepared before.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
import zlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from eventsourcing.persistence import OperationalError, StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore
from records import Records

from journal import AsyncJournal, Journal

T = TypeVar("T")
Append = Callable[[Sequence[int]], object]
AppendSoon = Callable[[int], Awaitable[object]]

DURABILITIES = ("full", "relaxed")


class Writer(Protocol):
    """Writes to one file at a time."""

    failures: int
    """Calls that failed and were tried again."""

    def open(self, path: Path) -> None:
        """Open the file, making it where it is missing."""
        ...

    def caller(self, number: int, records: Records) -> Append:
        """Make a caller with a stream of its own."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


class JournalWriter:
    """The journal, one run a caller."""

    failures = 0

    def __init__(self, form: str, durability: str) -> None:
        """Hand records in as `dicts` or as JSON `bytes`."""
        self._dicts = form == "dicts"
        self._durability = durability

    def open(self, path: Path) -> None:
        """Open the journal."""
        self._journal = Journal.open(path, durability=self._durability)

    def caller(self, number: int, records: Records) -> Append:
        """Open a run and make its caller."""
        run = self._journal.run(f"run{number}", session_id="session")
        handed: Sequence[Any] = records.dicts if self._dicts else records.texts

        def append(numbers: Sequence[int]) -> None:
            if len(numbers) == 1:
                run.append(handed[numbers[0]])
            else:
                run.append_many([handed[at] for at in numbers])

        return append

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()


class RawWriter:
    """sqlite3 alone: inserts the bytes as they are, into the journal's schema and guards.

    It is one writer with one stream. Rows are made before; nothing is packed.
    """

    failures = 0

    def __init__(self, durability: str) -> None:
        self._synchronous = {"full": "FULL", "relaxed": "NORMAL"}[durability]

    def open(self, path: Path) -> None:
        """Let the journal write its schema, then open the file without it."""
        Journal.open(path).close()
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute(f"PRAGMA synchronous = {self._synchronous}")
        self._db.execute("PRAGMA foreign_keys = ON")
        self._db.execute("INSERT INTO names VALUES (1, 'stream.recorded.v1')")
        self._db.execute("INSERT INTO streams VALUES (1, 'run:run0')")

    def caller(self, number: int, records: Records) -> Append:
        """Make the rows and the caller."""
        if number:
            raise ValueError("one writer, one stream")
        now = time.time_ns() // 1000
        rows = [
            (at, 1, at, 1, 0, now, at - 1, zlib.crc32(text) - 2**31, text)
            for at, text in enumerate(records.texts, 1)
        ]
        insert = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        execute, executemany = self._db.execute, self._db.executemany

        def append(numbers: Sequence[int]) -> None:
            execute("BEGIN IMMEDIATE")
            executemany(insert, rows[numbers[0] : numbers[-1] + 1])
            execute("COMMIT")

        return append

    def close(self) -> None:
        """Close the file."""
        self._db.close()


class LibraryWriter:
    """The library's recorder as shipped, which syncs every commit; one originator a caller."""

    def __init__(self) -> None:
        self.failures = 0

    def open(self, path: Path) -> None:
        """Open the store and create its table."""
        self._store, self._recorder = self.insist(lambda: self._opened(path))

    def caller(self, number: int, records: Records) -> Append:
        """Make a caller."""

        def append(numbers: Sequence[int]) -> None:
            events = [
                StoredEvent(f"run{number}", at + 1, "stream.recorded.v1", records.texts[at])
                for at in numbers
            ]
            self.insist(lambda: self._recorder.insert_events(events))

        return append

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def insist(self, call: Callable[[], T]) -> T:
        """Try until the database is not locked."""
        while True:
            try:
                return call()
            except (OperationalError, sqlite3.OperationalError):
                self.failures += 1

    def _opened(self, path: Path) -> tuple[SQLiteDatastore, SQLiteApplicationRecorder]:
        store = SQLiteDatastore(str(path), originator_id_type="text")
        recorder = SQLiteApplicationRecorder(store)
        try:
            recorder.create_table()
        except BaseException:
            store.close()
            raise
        return store, recorder


class JournalTasks:
    """The asynchronous journal, one run a task."""

    def __init__(self, form: str, durability: str) -> None:
        """Hand records in as `dicts` or as JSON `bytes`."""
        self._dicts = form == "dicts"
        self._durability = durability

    async def open(self, path: Path) -> None:
        """Open the journal."""
        self._journal = await AsyncJournal.open(path, durability=self._durability)

    async def caller(self, number: int, records: Records) -> AppendSoon:
        """Open a run and make its caller."""
        run = await self._journal.run(f"run{number}", session_id="session")
        handed: Sequence[Any] = records.dicts if self._dicts else records.texts
        return lambda at: run.append(handed[at])

    async def close(self) -> None:
        """Close the journal."""
        await self._journal.close()


class LibraryTasks:
    """The library's recorder as shipped, called by tasks through `asyncio.to_thread`."""

    def __init__(self) -> None:
        self._writer = LibraryWriter()

    async def open(self, path: Path) -> None:
        """Open the store."""
        self._writer.open(path)

    async def caller(self, number: int, records: Records) -> AppendSoon:
        """Make a caller."""
        append = self._writer.caller(number, records)
        return lambda at: asyncio.to_thread(append, (at,))

    async def close(self) -> None:
        """Close the store."""
        self._writer.close()


def writer(name: str, durability: str) -> Writer:
    """Make a writer by its name in the tables."""
    if name == "raw":
        return RawWriter(durability)
    if name == "library":
        return LibraryWriter()
    return JournalWriter(name.removeprefix("journal, "), durability)


def tasks_writer(name: str, durability: str) -> JournalTasks | LibraryTasks:
    """Make a writer for tasks by its name in the tables."""
    if name == "library":
        return LibraryTasks()
    return JournalTasks(name.removeprefix("journal, "), durability)


def bytes_on_disk(path: Path) -> int:
    """Add up the file and whatever lies beside it."""
    return sum(part.stat().st_size for part in path.parent.glob(path.name + "*"))


def sync_ms(folder: Path, times: int = 200) -> float:
    """Measure what the disk takes to append 4 KB and sync them: the median, in ms."""
    taken = []
    file = os.open(folder / "sync", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    try:
        for _ in range(times):
            before = time.perf_counter()
            os.write(file, b"\7" * 4096)
            os.fdatasync(file)
            taken.append(time.perf_counter() - before)
    finally:
        os.close(file)
    return sorted(taken)[times // 2] * 1000
