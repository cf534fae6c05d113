"""The files of an archive: their names, which tell the kind, the day and the segment."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

EVENTS = "events"
ROWS = "rows"
RUNS = "runs"
KINDS = (EVENTS, ROWS, RUNS)
"""The kinds of data files; each segment has one of each."""

MANIFESTS = "segments"
TEMPORARY = ".tmp"
"""Folder of what is being written, which counts for nothing, and of the writer's lock."""

DAY = 86_400_000_000
"""Microseconds of a day."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MANIFEST = re.compile(rf"{MANIFESTS}/([0-9]{{8,}})\.json")
_DATA = re.compile(
    rf"({'|'.join(KINDS)})/day=([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})/([0-9]{{8,}})\.parquet"
)


class DataFile(NamedTuple):
    """What the name of a data file tells."""

    kind: str
    day: str
    segment: int


def day_of(microseconds: int) -> str:
    """Give the UTC day of a time, such as `2026-11-01`."""
    return (_EPOCH + timedelta(days=microseconds // DAY)).strftime("%Y-%m-%d").rjust(10, "0")


def manifest_path(segment: int) -> str:
    """Name the manifest of a segment, relative to the archive."""
    return f"{MANIFESTS}/{segment:08}.json"


def data_path(kind: str, day: str, segment: int) -> str:
    """Name a data file of a segment, relative to the archive."""
    return f"{kind}/day={day}/{segment:08}.parquet"


def manifest_number(path: str) -> int | None:
    """Tell which segment a manifest is of; None for any other file."""
    found = _MANIFEST.fullmatch(path)
    return None if found is None or path != manifest_path(int(found[1])) else int(found[1])


def data_file(path: str) -> DataFile | None:
    """Tell what a data file is; None for any other file."""
    found = _DATA.fullmatch(path)
    if found is None:
        return None
    made = DataFile(found[1], found[2], int(found[3]))
    return made if path == data_path(*made) else None
