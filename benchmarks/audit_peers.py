"""What the audit is measured against: the same questions to tools that people have at hand.

SQLite over the event sourcing library's own table, its state as JSON, asked by `json_extract`:
with its primary key only, and with an expression index for each question that one helps.
DuckDB over the same events as zstd JSON lines, one file a day. None of them knows what was
recorded twice, or merged: their answers are about those of the audit, not the same.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Protocol

import zstandard
from eventsourcing.persistence import StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore

from journal import Journal

DAY = 86_400_000_000
PAGE = 5000
LEVEL = 9

SMALL = ("model_stream", "node_start", "node_complete", "checkpoint")
"""Kinds of records that the audit leaves out, too."""


class Peer(Protocol):
    """Answers the six questions; each gives how many things it found."""

    def tools(self, tool: str, since: int, until: int) -> int:
        """Find the calls of a tool in a time, each with its outcome and duration."""
        ...

    def trace(self, trace_id: str) -> int:
        """Find everything in the runs on a trace."""
        ...

    def search(self, phrase: str) -> int:
        """Find the newest texts that hold a phrase."""
        ...

    def timeline(self, run_id: str) -> int:
        """Find everything that happened in a run, in order."""
        ...

    def failures(self) -> int:
        """Find every failed run, with its error, the last tool called and the last text."""
        ...

    def usage(self) -> int:
        """Sum tokens by session and day."""
        ...


def pages(path: Path) -> Iterator[tuple[str, int, str, int, str]]:
    """Yield every event: stream, version, name, time and JSON, with the time in it."""
    with Journal.open(path, create=False) as journal:
        for event in journal.reader.all_events():
            time = event.recorded_at
            data = json.dumps({"recorded_at": time, **event.data}, separators=(",", ":"))
            yield event.stream, event.version, event.name, time, data


@contextmanager
def _recorder(path: Path) -> Iterator[SQLiteApplicationRecorder]:
    datastore = SQLiteDatastore(str(path))
    recorder = SQLiteApplicationRecorder(datastore)
    recorder.create_table()
    try:
        yield recorder
    finally:
        datastore.close()


def write_table(journal: Path, path: Path) -> None:
    """Store every event as the library does, through its recorder."""
    with _recorder(path) as recorder:
        page = []
        for stream, version, name, _, data in pages(journal):
            page.append(StoredEvent(stream, version, name, data.encode()))
            if len(page) == PAGE:
                recorder.insert_events(page)
                page = []
        recorder.insert_events(page)


def write_lines(journal: Path, folder: Path) -> None:
    """Write every event as a line, a file a day."""
    packer = zstandard.ZstdCompressor(level=LEVEL)
    for day, events in groupby(pages(journal), key=lambda event: event[3] // DAY):
        with (
            (folder / f"{day}.jsonl.zst").open("wb") as file,
            packer.stream_writer(file) as packed,
            io.BufferedWriter(packed, 1 << 20) as lines,  # type: ignore[type-var]
        ):
            for stream, version, name, _, data in events:
                head = json.dumps({"stream": stream, "version": version, "name": name})
                lines.write(f'{head[:-1]}, "data": {data}}}\n'.encode())


def size(paths: Iterable[Path]) -> int:
    """Add up the sizes of files, in bytes."""
    return sum(path.stat().st_size for path in paths)
