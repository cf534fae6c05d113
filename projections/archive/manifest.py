"""The manifest of a segment: what it holds, and that nothing of it was changed.

It is written last and never again; a segment counts only with it. Each names the SHA-256 of the
one before, so that the last one vouches for all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Self

import orjson

from journal.errors import DamagedArchive, NewerArchive
from projections.archive.layout import EVENTS, KINDS, ROWS, RUNS, data_path, day_of, manifest_path

SCHEMA = "runjournal.archive.segment"
SCHEMA_VERSION = 1

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """A data file of a segment."""

    path: str
    """Relative to the archive."""
    bytes: int
    sha256: str
    """Of its bytes, in hexadecimal."""
    rows: int


@dataclass(frozen=True, slots=True)
class ArchiveSegment:
    """A sealed segment: the events of a range of positions, within one UTC day."""

    journal: str
    """Id of the journal that the archive is of."""
    segment: int
    """Its number: 1, 2, 3, ..."""
    previous: str | None
    """SHA-256 of the manifest before; None for the first."""
    first_position: int
    last_position: int
    """Both inclusive; no position between them is left out."""
    first_stored_at: int
    last_stored_at: int
    first_recorded_at: int
    """The smallest and the largest of its events, which imported ones may put in any order."""
    last_recorded_at: int
    day: str
    """UTC day of `stored_at`, such as `2026-11-01`."""
    events: int
    rows: int
    runs: int
    """How many events, audit rows and runs it has."""
    files: tuple[SegmentFile, ...]
    created_at: int
    """When it was archived, in microseconds since the epoch like all times."""

    def to_bytes(self) -> bytes:
        """Give it as the bytes of its manifest."""
        body = {each.name: getattr(self, each.name) for each in fields(self)}
        header = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION}
        return orjson.dumps(header | body, option=orjson.OPT_INDENT_2) + b"\n"

    @property
    def sha256(self) -> str:
        """SHA-256 of its manifest's bytes, in hexadecimal."""
        return sha256(self.to_bytes()).hexdigest()

    def file(self, kind: str) -> SegmentFile:
        """Give its file of a kind: `events`, `rows` or `runs`."""
        return self.files[KINDS.index(kind)]

    @classmethod
    def from_bytes(cls, content: bytes, *, location: str, segment: int) -> Self:
        """Read a manifest.

        Args:
            location: of the archive, for messages.
            segment: the number its name tells.

        Raises:
            NewerArchive: it has a higher schema version.
            DamagedArchive: it is no manifest of this segment.
        """
        try:
            return cls._parsed(content, location, segment)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            reason = f"is no manifest ({error})"
            raise DamagedArchive(location, segment, manifest_path(segment), reason) from error

    @classmethod
    def _parsed(cls, content: bytes, location: str, segment: int) -> Self:
        given = orjson.loads(content)
        if given.pop("schema") != SCHEMA:
            raise ValueError("another schema")
        version = given.pop("schema_version")
        if type(version) is int and version > SCHEMA_VERSION:
            raise NewerArchive(location, segment, version, SCHEMA_VERSION)
        if version != SCHEMA_VERSION:
            raise ValueError(f"schema version {version!r}")
        files = tuple(SegmentFile(**each) for each in given.pop("files"))
        made = cls(**given, files=files)
        made._check(segment)
        if made.to_bytes() != content:
            raise ValueError("its bytes are not as they were written")
        return made

    def _check(self, segment: int) -> None:
        numbers = {
            each.name: getattr(self, each.name) for each in fields(self) if each.type == "int"
        }
        numbers |= {
            f"{each.path} {what}": getattr(each, what)
            for each in self.files
            for what in ("bytes", "rows")
        }
        for name, value in numbers.items():
            if type(value) is not int:
                raise TypeError(f"{name} is no whole number")
        if not self.journal or not isinstance(self.journal, str):
            raise TypeError("journal is no id")
        if self.segment != segment:
            raise ValueError(f"it is of segment {self.segment}")
        hashes = [each.sha256 for each in self.files]
        if self.previous is not None:
            hashes.append(self.previous)
        if not all(_SHA256.fullmatch(each) for each in hashes):
            raise ValueError("a SHA-256 is none")
        self._check_ranges()

    def _check_ranges(self) -> None:
        counts = {EVENTS: self.events, ROWS: self.rows, RUNS: self.runs}
        named = [(data_path(kind, self.day, self.segment), counts[kind]) for kind in KINDS]
        if [(each.path, each.rows) for each in self.files] != named:
            raise ValueError("its files are others")
        if not 1 <= self.first_position <= self.last_position:
            raise ValueError("its positions do not rise")
        if self.events != self.last_position - self.first_position + 1:
            raise ValueError("its count of events is not that of its positions")
        days = {day_of(self.first_stored_at), day_of(self.last_stored_at)}
        if days != {self.day} or self.first_stored_at > self.last_stored_at:
            raise ValueError("its times are not of its day")
