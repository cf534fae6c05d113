"""Somebody else was there first: read again and decide again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from journal.errors.base import ReadAgain, brief


class Conflict(ReadAgain):
    """What is offered disagrees with what the journal already holds."""


@dataclass(eq=False)
class RecordConflict(Conflict):
    """The same identity is already recorded with different JSON."""

    run_id: str
    what: str
    version: int
    path: str
    held: Any
    offered: Any

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"{self.what} of run {self.run_id!r} is already recorded as version {self.version} "
            f"and differs at {self.path}: held {brief(self.held)}, offered {brief(self.offered)}; "
            "recorded events never change, use a new number or id"
        )


@dataclass(eq=False)
class BatchConflict(Conflict):
    """One call offers the same identity twice, with different JSON."""

    what: str
    path: str
    first: Any
    second: Any

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"{self.what} is offered twice and differs at {self.path}: first {brief(self.first)}, "
            f"then {brief(self.second)}; nothing was written, offer it once"
        )


@dataclass(eq=False)
class StateConflict(Conflict):
    """What is asked for does not fit how things stand."""

    what: str
    """What it is about, such as `run 'r1'`."""
    reason: str
    """How it stands, and why that does not fit."""
    remedy: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"{self.what} {self.reason}; {self.remedy}"


@dataclass(eq=False)
class RunConflict(Conflict):
    """The run id is taken by a run that belongs elsewhere."""

    run_id: str
    field: str
    held: str | None
    offered: str | None

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"run {self.run_id!r} exists with {self.field} {self.held!r}, not {self.offered!r}; "
            "run ids are unique in a journal, choose another id"
        )


@dataclass(eq=False)
class VersionConflict(ReadAgain):
    """The stream is not at the version the writer expected, or the identity is taken."""

    stream: str
    expected: int
    actual: int

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"stream {self.stream!r} is at version {self.actual}, the writer expected "
            f"{self.expected}; read it again and append after that"
        )


@dataclass(eq=False)
class IdentityTaken(VersionConflict):
    """An event of the same identity is in the stream already, at version `actual`."""

    identity: int | str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"stream {self.stream!r} holds {brief(self.identity)} already, as version "
            f"{self.actual}; read that event and compare"
        )


@dataclass(eq=False)
class LeaseMoved(ReadAgain):
    """The lease of a stream has another generation than the writer thought."""

    stream: str
    expected: int
    found: int

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"the lease of {self.stream!r} is at generation {self.found}, the writer expected "
            f"{self.expected}; read it again"
        )
