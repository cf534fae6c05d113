"""Whether an archive and a journal have the same events."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.parquet as pq

from journal.errors import ArchiveDiffers
from journal.ids import RUN_PREFIX, SESSION_PREFIX, Position, StreamId, Version
from journal.stores.interface import StoredEvent
from projections.archive.filesystem import Place
from projections.archive.layout import EVENTS
from projections.archive.manifest import ArchiveSegment
from projections.archive.segment_file import segment_file

_COLUMNS = ["position", "run_id", "session_id", "version", "name", "stored_at", "data"]


def archived_events(
    place: Place, segment: ArchiveSegment, *, first: int = 1
) -> Iterator[StoredEvent]:
    """Yield the events of a segment from a position on, in the order of the file.

    Raises:
        DamagedArchive: its file of events is missing or cannot be read.
    """
    with segment_file(place, segment, EVENTS) as file:
        table = pq.read_table(file, columns=_COLUMNS, filters=[("position", ">=", first)])
        for batch in table.to_batches(max_chunksize=1024):
            yield from map(_stored, *(column.to_pylist() for column in batch.columns))


def _stored(  # noqa: PLR0913, PLR0917 - the columns
    position: int,
    run_id: str | None,
    session_id: str | None,
    version: int,
    name: str,
    stored_at: int,
    data: str,
) -> StoredEvent:
    stream = f"{SESSION_PREFIX}{session_id}" if run_id is None else f"{RUN_PREFIX}{run_id}"
    return StoredEvent(
        Position(position), StreamId(stream), Version(version), name, stored_at, data.encode()
    )


def compare_last(place: Place, segment: ArchiveSegment, stored: StoredEvent) -> None:
    """See that the last event of a segment is the journal's.

    Raises:
        ArchiveDiffers: it is another.
        DamagedArchive: the file of events is missing or cannot be read.
    """
    for archived in archived_events(place, segment, first=stored.position):
        difference = differing(archived, stored)
        if difference is not None:
            raise ArchiveDiffers(place.location, stored.position, difference)


def differing(archived: StoredEvent, stored: StoredEvent) -> str | None:
    """Tell in what two events of the same position differ; None where they are equal."""
    for what in StoredEvent._fields:
        if getattr(archived, what) != getattr(stored, what):
            return f"another {what.replace('_', ' ')}"
    return None
