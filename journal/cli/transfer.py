"""Interchange lines in and out, with progress, and the page of what an ingest did."""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import typer

from journal.cli.failures import complain
from journal.cli.output import Output
from journal.cli.progress import progress_bar
from journal.errors import InvalidLine
from journal.export import count_lines, export_all, export_run
from journal.ingest import Ingest, IngestCounts
from journal.journal import Journal
from projections.reading import HasReader


@contextmanager
def opened(file: str) -> Iterator[BinaryIO]:
    """Open a file for reading; `-` is the standard input."""
    if file == "-":
        yield sys.stdin.buffer
        return
    if "\0" in file:
        raise typer.BadParameter("a path cannot hold a NUL character")
    with Path(file).open("rb") as lines:
        yield lines


def ingest_lines(journal: Journal, lines: BinaryIO, output: Output, *, keep_going: bool) -> bool:
    """Read lines to the end, or to the first bad one; tell whether none was bad."""
    reading = Ingest(journal, keep_going=keep_going)
    size = _size(lines)
    stopped = []
    with progress_bar("ingest", size) as at:
        try:
            reading.read(lines, at if size is None else lambda _lines: at(lines.tell()))
        except InvalidLine as error:
            stopped.append(error)
    refused = [*reading.counts.refused, *stopped]
    _show_counts(output, reading.counts, refused)
    for each in refused:
        complain(each.message)
    return not refused


def _size(lines: BinaryIO) -> int | None:
    try:
        about = os.fstat(lines.fileno())
    except OSError:  # not a file of the system
        return None
    return about.st_size if stat.S_ISREG(about.st_mode) else None


def _show_counts(output: Output, counts: IngestCounts, refused: list[InvalidLine]) -> None:
    if output.json:
        output.document(
            {
                "schema": "runjournal.ingest",
                "schema_version": 1,
                "lines": counts.lines,
                "recorded": dict(counts.recorded),
                "repeated": dict(counts.repeated),
                "refused": [{"line": each.line, "reason": each.reason} for each in refused],
            }
        )
        return
    output.line(f"{counts.lines:>9} lines read")
    output.line(f"{counts.recorded.total():>9} recorded", (_by_type(counts.recorded), "dim"))
    output.line(f"{counts.repeated.total():>9} repeated", (_by_type(counts.repeated), "dim"))
    output.line(f"{len(refused):>9} refused")


def _by_type(counts: Counter[str]) -> str:
    each = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    return f" ({each})" if each else ""


def export_lines(journal: HasReader, run_id: str | None, output: Output) -> None:
    """Print a run, or everything, as interchange lines."""
    reader = journal.reader
    if run_id is None:
        lines, total = export_all(reader), None
    else:
        lines, total = export_run(reader, run_id), count_lines(reader, run_id)
    if sys.stdout.isatty():
        for line in lines:
            output.document(line)
        return
    with progress_bar("export", total) as at:
        for done, line in enumerate(lines, 1):
            output.document(line)
            at(done)
