"""A data file of an archive as it is on the disk, against what its manifest says."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from projections.archive.filesystem import Place
from projections.archive.layout import EVENTS
from projections.archive.manifest import ArchiveSegment
from projections.archive.schema import SCHEMAS

BLOCK = 1024 * 1024


def examine_file(place: Place, segment: ArchiveSegment, kind: str) -> tuple[str, str] | None:
    """Tell what is wrong with a file of a segment: a code and words; None where nothing is.

    Raises:
        StorageFailed: the system does not let it be read.
    """
    named = segment.file(kind)
    file = place.open(named.path)
    if file is None:
        return "file.missing", "is missing"
    with file:
        with place.reading(named.path):
            size, digest = _digest(file)
        if size != named.bytes:
            return "file.changed", f"has {size} bytes, and not {named.bytes}"
        if digest != named.sha256:
            return "file.changed", f"has the SHA-256 {digest}, and not {named.sha256}"
        try:
            fault = _content(file, segment, kind)
        except (OSError, ValueError, pa.ArrowException) as error:
            fault = f"cannot be read ({' '.join(str(error).split())})"
    return None if fault is None else ("file.wrong", fault)


def _digest(file: Any) -> tuple[int, str]:
    digest, size = sha256(), 0
    while block := file.read(BLOCK):
        digest.update(block)
        size += len(block)
    return size, digest.hexdigest()


def _content(file: Any, segment: ArchiveSegment, kind: str) -> str | None:
    """Tell what a file has that its manifest does not say, though its bytes are as written."""
    file.seek(0)
    content = pq.ParquetFile(file)
    found, named = content.metadata.num_rows, segment.file(kind).rows
    if found != named:
        return f"has {found} rows, and not {named}"
    if not content.schema_arrow.equals(SCHEMAS[kind], check_metadata=False):
        return "has other columns"
    if kind != EVENTS:
        return None
    positions = content.read(columns=["position"])["position"].combine_chunks()
    expected = pa.array(range(segment.first_position, segment.last_position + 1), pa.int64())
    if not positions.sort().equals(expected):
        return f"has not the events {segment.first_position} to {segment.last_position}"
    return None
