"""What an examination of a journal found, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from shlex import quote
from typing import Any

from journal.errors.base import RESTORE
from journal.ids import RUN_PREFIX, SESSION_PREFIX

SCHEMA = "runjournal.doctor"
SCHEMA_VERSION = 1


LISTED = 50
"""Findings of one code that are listed one by one; the others are counted."""


class Severity(StrEnum):
    """Whether a finding needs somebody to act."""

    WRONG = "wrong"
    """Something is lost, altered or cannot be used."""
    NOTICE = "notice"
    """Worth knowing; the journal works."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found."""

    severity: Severity
    code: str
    """What kind of finding, for programs, such as `event.damaged`."""
    what: str
    advice: str
    """What to do, with the exact command where there is one."""
    stream: str | None = None
    """Where it is, when in one stream: `run:<run id>` or `session:<session id>`."""
    version: int | None = None
    """Where in the stream."""

    @property
    def run_id(self) -> str | None:
        """The run it concerns."""
        return _id(self.stream, RUN_PREFIX)

    @property
    def session_id(self) -> str | None:
        """The session whose own stream it concerns."""
        return _id(self.stream, SESSION_PREFIX)

    def to_json(self) -> dict[str, Any]:
        """Give it as a JSON object; a place that is not known is null."""
        return {
            "severity": self.severity.value,
            "code": self.code,
            "what": self.what,
            "run_id": self.run_id,
            "session_id": self.session_id,
            "version": self.version,
            "advice": self.advice,
        }


def _id(stream: str | None, prefix: str) -> str | None:
    return stream[len(prefix) :] if stream is not None and stream.startswith(prefix) else None


class Findings:
    """Collects findings; of each code it keeps `LISTED` and counts the rest.

    Args:
        command: how a command on the journal begins, for advice.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        self.opens = False
        """Whether the journal can still be opened."""
        self._listed: list[Finding] = []
        self._counts: Counter[str] = Counter()
        self._more: dict[str, Finding] = {}
        self._readable: dict[str, int] = {}
        """The version before the first damage, of streams in the list."""

    def damage(
        self, code: str, what: str, *, stream: str | None = None, version: int | None = None
    ) -> None:
        """Note something wrong that only a backup brings back."""
        self._add(Severity.WRONG, code, what, "", (stream, version))

    def wrong(self, code: str, what: str, advice: str, *, stream: str | None = None) -> None:
        """Note something else that is wrong."""
        self._add(Severity.WRONG, code, what, advice, (stream, None))

    def notice(self, code: str, what: str, advice: str, *, stream: str | None = None) -> None:
        """Note something worth knowing."""
        self._add(Severity.NOTICE, code, what, advice, (stream, None))

    def _add(
        self, severity: Severity, code: str, what: str, advice: str, place: tuple[Any, Any]
    ) -> None:
        # Columns of a damaged row may hold values of any type.
        stream = None if place[0] is None else str(place[0])
        version = place[1] if type(place[1]) is int else None
        finding = Finding(severity, code, what, advice, stream, version)
        self._counts[code] += 1
        listed = self._counts[code] <= LISTED
        if listed:
            self._listed.append(finding)
        else:
            self._more.setdefault(code, finding)
        if stream is not None and version is not None and (listed or stream in self._readable):
            before = self._readable.get(stream, version)
            self._readable[stream] = min(before, version - 1)

    def __iter__(self) -> Iterator[Finding]:
        """Yield what is wrong, then the notices, each in the order it was found."""
        found = [replace(each, advice=each.advice or self._restore(each)) for each in self._listed]
        for code, each in self._more.items():
            what = f"{self._counts[code] - LISTED} more of these"
            found.append(Finding(each.severity, code, what, each.advice or RESTORE))
        for severity in Severity:
            yield from (each for each in found if each.severity is severity)

    def _restore(self, finding: Finding) -> str:
        """Say how to get back what is damaged, and what can still be read without that."""
        if not self.opens:
            return f"{RESTORE}; as it is it does not open, but FORMAT.md says how to read it"
        run_id, readable = finding.run_id, self._readable.get(finding.stream or "", 0)
        if run_id is not None and readable > 0:
            run = f"-- {quote(run_id)}" if run_id.startswith("-") else quote(run_id)
            replay = f"{self.command} replay --at version:{readable} {run}"
            return f"{RESTORE}; `{replay}` shows the run up to there"
        return f"{RESTORE}; `{self.command} export RUN` writes a run that can still be read"


@dataclass(frozen=True, slots=True)
class Report:
    """What an examination found; what `runjournal doctor --json` prints."""

    location: str
    quick: bool
    """Whether the integrity check and the rebuilding of documents were left out."""
    findings: tuple[Finding, ...]
    """What is wrong first."""
    counts: Mapping[str, int]
    """Of what was examined: `events`, `runs`, `sessions`, `documents`, `leases`."""
    facts: Mapping[str, Any]
    """Of the file, such as `format` and `wal_bytes`; those that could not be read are missing."""

    @property
    def is_sound(self) -> bool:
        """Tell whether nothing is wrong; notices do not count."""
        return not any(each.severity is Severity.WRONG for each in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Give the report as a JSON object."""
        return {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "location": self.location,
            "sound": self.is_sound,
            "quick": self.quick,
            "findings": [each.to_json() for each in self.findings],
            "counts": dict(self.counts),
            "facts": dict(self.facts),
        }
