"""One data file of a segment, opened without a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pyarrow as pa

from journal.errors import DamagedArchive
from projections.archive.filesystem import Place
from projections.archive.manifest import ArchiveSegment


@contextmanager
def segment_file(place: Place, segment: ArchiveSegment, kind: str) -> Iterator[BinaryIO]:
    """Lend the file of a kind, to be read as Parquet.

    Raises:
        DamagedArchive: it is missing, or cannot be read; also from within.
    """
    path = segment.file(kind).path
    file = place.open(path)
    if file is None:
        raise DamagedArchive(place.location, segment.segment, path, "is missing")
    with file:
        try:
            yield file
        except (OSError, ValueError, KeyError, pa.ArrowException) as error:
            reason = f"cannot be read ({' '.join(str(error).split())})"
            raise DamagedArchive(place.location, segment.segment, path, reason) from error
