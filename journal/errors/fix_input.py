"""The call names or carries something wrong."""

from __future__ import annotations

from dataclasses import dataclass

from journal.errors.base import FixInput, brief


@dataclass(eq=False)
class InvalidJSON(FixInput):
    """A value that JSON, or the journal's limits for it, does not allow."""

    path: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"at {self.path}: {self.reason}"


@dataclass(eq=False)
class InvalidRecord(FixInput):
    """A record of a known kind whose fields are wrong."""

    what: str
    path: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"invalid {self.what} at {self.path}: {self.reason}"


@dataclass(eq=False)
class InvalidEnvelope(FixInput):
    """An envelope of another schema, of an unknown version, or without payload."""

    expected: str
    found: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"invalid envelope: expected {self.expected}, found {self.found}"


@dataclass(eq=False)
class RedactionFailed(FixInput):
    """The journal's redaction hook failed, or what it left is refused."""

    kind: str
    path: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do; never what the hook was given."""
        what = self.kind.replace("_", " ")
        return f"the redaction hook failed on a {what} at {self.path}: {self.reason}"


@dataclass(eq=False)
class InvalidLine(FixInput):
    """An interchange line that cannot be ingested."""

    line: int
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"line {self.line}: {self.reason}"


@dataclass(eq=False)
class InvalidCursor(FixInput):
    """A cursor that is not one of the known forms."""

    text: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"invalid cursor {brief(self.text)}: {self.reason}; use latest, stream:N, message:N, "
            "message:N@E, checkpoint:ID, step:N, version:N or time:RFC3339"
        )


@dataclass(eq=False)
class CursorOutOfRange(FixInput):
    """A cursor outside what the run holds."""

    run_id: str
    cursor: str
    smallest: str
    largest: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"cursor {self.cursor} is outside run {self.run_id!r}, which reaches from "
            f"{self.smallest} to {self.largest}"
        )


@dataclass(eq=False)
class PositionOutOfRange(FixInput):
    """A position that the journal never reached: it is of another one, or of a later copy."""

    location: str
    position: int
    last: int

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"position {self.position} is outside {self.location}, which reaches from 0 to "
            f"{self.last}: it is of another journal, or this one was put back from a backup; "
            "begin at 0 or at a position of this one"
        )


@dataclass(eq=False)
class InvalidLocation(FixInput):
    """A journal URL or path that cannot name a journal."""

    location: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"cannot use {self.location!r} as a journal: {self.reason}"


@dataclass(eq=False)
class TargetExists(FixInput):
    """A backup was to be written where something is already."""

    target: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"{self.target} exists already, and a backup overwrites nothing; name another file, "
            "or move that one away"
        )


@dataclass(eq=False)
class InvalidSource(FixInput):
    """What was named to be imported is no database that can be imported."""

    source: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"cannot import {self.source}: {self.reason}"


@dataclass(eq=False)
class UnknownEvent(FixInput):
    """An event name that this version of the journal does not know."""

    name: str
    stream: str
    version: int

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"event {self.version} of {self.stream!r} is named {self.name!r}, which this "
            "runjournal does not know; read it with a newer runjournal"
        )


class NotFound(FixInput):
    """What the call names is not in the journal."""


@dataclass(eq=False)
class RunNotFound(NotFound):
    """No event of this run was ever recorded."""

    run_id: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"no run {self.run_id!r} in this journal; `runjournal runs` lists them"


@dataclass(eq=False)
class RunNotInSession(RunNotFound):
    """The session has no run of this id."""

    session_id: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"session {self.session_id!r} has no run {self.run_id!r}; "
            f"`runjournal runs --session {self.session_id}` lists its runs"
        )


@dataclass(eq=False)
class SessionNotFound(NotFound):
    """No event of this session was ever recorded."""

    session_id: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"no session {self.session_id!r} in this journal; `runjournal sessions` lists them"


@dataclass(eq=False)
class CheckpointNotFound(NotFound):
    """The run has no checkpoint of this id."""

    run_id: str
    checkpoint_id: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"run {self.run_id!r} has no checkpoint {self.checkpoint_id!r}; "
            f"`runjournal log {self.run_id} --kind checkpoint.taken` lists them"
        )


@dataclass(eq=False)
class CannotFork(FixInput):
    """The run never was in exactly the state that a fork would begin with."""

    run_id: str
    cursor: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"run {self.run_id!r} cannot be forked at {self.cursor}: {self.reason}; "
            f"fork it at a checkpoint, `runjournal log {self.run_id} --kind checkpoint.taken` "
            "lists them"
        )


@dataclass(eq=False)
class JournalNotFound(NotFound):
    """A command that only reads was pointed at a journal that is not there."""

    location: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"no journal at {self.location}; name one with --db or RUNJOURNAL_DB"
