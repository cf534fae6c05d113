"""Sealing a segment: its files, sorted and compressed, and then its manifest."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from typing import Any, BinaryIO

import pyarrow.compute as pc
import pyarrow.parquet as pq

from journal import times
from journal.errors import ArchiveBusy, JournalError
from projections.archive.draft import STREAM, Draft
from projections.archive.filesystem import Place
from projections.archive.layout import EVENTS, KINDS, ROWS, RUNS, data_path, manifest_path
from projections.archive.manifest import ArchiveSegment, SegmentFile
from projections.archive.schema import BLOOMS, ROW_GROUP, SCHEMAS, SORTED_BY

LEVEL = 9
"""Of zstd."""
PAGE_BYTES = 4 * 1024 * 1024
"""Of a page, which is what is compressed at once."""
FALSE_POSITIVES = 0.01
"""Of a bloom filter."""

_DELTA = "DELTA_BINARY_PACKED"
_NUMBERS = ("position", "part", "version", "anchor", "recorded_at", "stored_at", "host_at")
_ENCODINGS: dict[str, dict[str, str]] = {
    EVENTS: dict.fromkeys(_NUMBERS, _DELTA) | {"data": "PLAIN"},
    ROWS: dict.fromkeys(_NUMBERS, _DELTA) | {"text": "PLAIN"},
    RUNS: {"state": "PLAIN"},
}
"""Of columns that are not written with a dictionary."""


def seal(place: Place, journal: str, draft: Draft, before: ArchiveSegment | None) -> ArchiveSegment:
    """Write a segment; it counts when this returns.

    Args:
        journal: id of the journal.
        draft: at least one event.
        before: the segment before it; None for the first.

    Raises:
        ArchiveBusy: another archiver wrote a segment of that number meanwhile.
        DiskFull, ReadOnly, StorageFailed: it cannot be written; then nothing of it is left.
    """
    number = 1 if before is None else before.segment + 1
    manifest = manifest_path(number)
    if place.size(manifest) is not None:
        raise ArchiveBusy(place.location)
    paths = [data_path(kind, draft.day, number) for kind in KINDS]
    try:
        tables = draft.tables()
        files = [
            write_file(place, path, tables.pop(kind), kind)
            for kind, path in zip(KINDS, paths, strict=True)
        ]
        segment = _segment(journal, draft, before, tuple(files))
        made = place.create(manifest, segment.to_bytes())
    except BaseException:
        _remove(place, manifest, paths)
        raise
    if not made:
        raise ArchiveBusy(place.location)
    return segment


def _remove(place: Place, manifest: str, paths: list[str]) -> None:
    """Remove the files of a segment that failed, where that can be done: they do not count."""
    with suppress(JournalError):  # the failure is told, and the next archiver removes them
        if place.size(manifest) is None:
            for path in paths:
                place.remove(path)


def _segment(
    journal: str, draft: Draft, before: ArchiveSegment | None, files: tuple[SegmentFile, ...]
) -> ArchiveSegment:
    first, last = draft.span
    events, rows, runs = (each.rows for each in files)
    return ArchiveSegment(
        journal=journal,
        segment=1 if before is None else before.segment + 1,
        previous=None if before is None else before.sha256,
        first_position=first.position,
        last_position=last.position,
        first_stored_at=first.stored_at,
        last_stored_at=last.stored_at,
        first_recorded_at=draft.recorded_at[0],
        last_recorded_at=draft.recorded_at[1],
        day=draft.day,
        events=events,
        rows=rows,
        runs=runs,
        files=files,
        created_at=times.now(),
    )


class _Digested:
    """A file that is written to its end once; what goes through is counted and digested."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = sha256()
        self.bytes = 0
        self.closed = False

    def write(self, content: Any) -> int:
        self.digest.update(content)
        self.bytes += len(content)
        return self._file.write(content)

    def tell(self) -> int:
        return self.bytes

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self.closed = True


def write_file(place: Place, path: str, table: Any, kind: str) -> SegmentFile:
    """Write a table as a data file, sorted.

    Args:
        table: in any order; one of events has the names of their streams as last column.

    Raises:
        DiskFull, ReadOnly, StorageFailed: it cannot be written.
    """
    order = pc.sort_indices(table, sort_keys=[(name, "ascending") for name in _keys(kind)])
    schema = SCHEMAS[kind]
    table = table.select(schema.names)
    with place.making(path) as file:
        digested = _Digested(file)
        options = _options(kind, table)
        with pq.ParquetWriter(digested, schema, **options) as writer:
            for start in range(0, table.num_rows, ROW_GROUP):
                group = table.take(order[start : start + ROW_GROUP])
                writer.write_table(group, row_group_size=ROW_GROUP)
    return SegmentFile(path, digested.bytes, digested.digest.hexdigest(), table.num_rows)


def _keys(kind: str) -> tuple[str, ...]:
    return (STREAM, *SORTED_BY[kind][1:]) if kind == EVENTS else SORTED_BY[kind]


def _options(kind: str, table: Any) -> dict[str, Any]:
    encodings = _ENCODINGS[kind]
    groups = max(1, -(-table.num_rows // ROW_GROUP))
    blooms = {
        name: {"ndv": pc.count_distinct(table[name]).as_py() // groups + 64, "fpp": FALSE_POSITIVES}
        for name in BLOOMS[kind]
    }
    return {
        "version": "2.6",
        "compression": "zstd",
        "compression_level": LEVEL,
        "use_dictionary": [name for name in table.schema.names if name not in encodings],
        "column_encoding": encodings,
        "data_page_size": PAGE_BYTES,
        "max_rows_per_page": ROW_GROUP,
        "dictionary_pagesize_limit": PAGE_BYTES,
        "data_page_version": "2.0",
        "write_statistics": True,
        "write_page_index": True,
        "bloom_filter_options": blooms,
        "store_schema": False,
    }
