"""What a verification of an archive found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from journal.findings import Severity


@dataclass(frozen=True, slots=True)
class ArchiveFinding:
    """One thing that was found, and where."""

    severity: Severity
    code: str
    """What kind of finding, for programs, such as `file.missing`."""
    segment: int | None
    """The segment it concerns; None where it is none's."""
    file: str | None
    """The file, relative to the archive; None where it is none."""
    what: str

    def to_json(self) -> dict[str, Any]:
        """Give it as a JSON object."""
        return {
            "severity": self.severity.value,
            "code": self.code,
            "segment": self.segment,
            "file": self.file,
            "what": self.what,
        }


@dataclass(frozen=True, slots=True)
class Verification:
    """What was examined of an archive, and what is wrong."""

    location: str
    journal: str | None
    """Id of the journal it is of; None where no manifest can be read."""
    segments: int
    """How many segments have a manifest that can be read, and what they say they hold:"""
    events: int
    rows: int
    bytes: int
    last_position: int
    compared: int | None
    """How many events were compared with those of a journal; None where none was given."""
    findings: tuple[ArchiveFinding, ...]
    """By segment and file."""

    @property
    def is_sound(self) -> bool:
        """Tell whether nothing is wrong; notices do not count."""
        return not any(each.severity is Severity.WRONG for each in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Give it as a JSON object."""
        return {
            "schema": "runjournal.archive.verification",
            "schema_version": 1,
            "location": self.location,
            "journal": self.journal,
            "sound": self.is_sound,
            "segments": self.segments,
            "events": self.events,
            "rows": self.rows,
            "bytes": self.bytes,
            "last_position": self.last_position,
            "compared": self.compared,
            "findings": [each.to_json() for each in self.findings],
        }
