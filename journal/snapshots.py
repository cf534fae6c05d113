"""The snapshots of a journal as a whole: what they take, and dropping them.

They are what projections derived from events, in a file beside the journal. Without them
every answer is the same; what is needed of them is made again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from journal.errors import InvalidLocation
from journal.stores.location import MemoryLocation, parse_location
from journal.stores.sqlite_views_drop import look_into_views, remove_views


@dataclass(frozen=True, slots=True)
class SnapshotsStatus:
    """What is in the file of snapshots; what `runjournal snapshots --json` prints."""

    location: str
    """The journal."""
    file: str
    """Whether it exists or not."""
    bytes: int
    """On disk, with its log; 0 where there is none."""
    problem: str | None
    """Why it cannot be used, where that is so; then answers are worked out without."""
    streams: int | None
    """Runs, once for each revision of the fold. None, as the others: not to be counted."""
    pages: int | None
    chunks: int | None
    documents: int | None

    def to_json(self) -> dict[str, Any]:
        """Give it as a JSON object."""
        return {
            "schema": "runjournal.snapshots",
            "schema_version": 1,
            "location": self.location,
            "file": self.file,
            "bytes": self.bytes,
            "problem": self.problem,
            "streams": self.streams,
            "pages": self.pages,
            "chunks": self.chunks,
            "documents": self.documents,
        }


@dataclass(frozen=True, slots=True)
class SnapshotsDropped:
    """What `drop_views` removed; what `runjournal snapshots drop --json` prints."""

    location: str
    """The journal."""
    file: str
    bytes: int
    """That the disk has back; 0 where there was no file."""

    def to_json(self) -> dict[str, Any]:
        """Give it as a JSON object."""
        return {
            "schema": "runjournal.snapshots_dropped",
            "schema_version": 1,
            "location": self.location,
            "file": self.file,
            "bytes": self.bytes,
        }


def look_at_views(location: str | os.PathLike[str]) -> SnapshotsStatus:
    """Tell what is in the file of a journal's snapshots; nothing is changed.

    Raises:
        InvalidLocation: a journal in memory, or no location of ours.
        JournalNotFound, NotAJournal, StorageFailed: there is no journal.
    """
    found = look_into_views(_path(location))
    counts = found.counts or (None, None, None, None)
    return SnapshotsStatus(str(location), str(found.file), found.bytes, found.reason, *counts)


def drop_views(location: str | os.PathLike[str]) -> SnapshotsDropped:
    """Remove the file of a journal's snapshots, also a damaged one.

    Others may use the journal meanwhile; they go on without, and make a new one in time.

    Raises:
        InvalidLocation: a journal in memory, or no location of ours.
        JournalNotFound, NotAJournal: there is no journal.
        StorageFailed: what is there is no file of snapshots, or it may not be removed.
    """
    path, bytes_ = remove_views(_path(location))
    return SnapshotsDropped(str(location), str(path), bytes_)


def _path(location: str | os.PathLike[str]) -> Path:
    parsed = parse_location(location)
    if isinstance(parsed, MemoryLocation):
        raise InvalidLocation(str(parsed), "it is in memory, and so are its snapshots")
    return parsed.path
