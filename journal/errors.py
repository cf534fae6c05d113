"""Every error of the journal, grouped by what the caller does next.

    JournalError
    +-- RetryUnchanged           the same call may succeed later
    |   +-- JournalBusy
    +-- ReadAgain                somebody else was there first: re-read, decide again
    |   +-- Conflict
    |   |   +-- RecordConflict
    |   |   +-- RunConflict
    |   +-- VersionConflict
    |       +-- IdentityTaken
    +-- FixInput                 the call names or carries something wrong
    |   +-- InvalidJSON
    |   +-- InvalidRecord
    |   +-- InvalidEnvelope
    |   +-- InvalidLine
    |   +-- InvalidCursor
    |   +-- CursorOutOfRange
    |   +-- InvalidLocation
    |   +-- UnknownEvent
    |   +-- NotFound
    |       +-- RunNotFound
    |       +-- SessionNotFound
    |       +-- CheckpointNotFound
    |       +-- JournalNotFound
    +-- Stop                     no retry and no other input helps by itself
        +-- JournalClosed
        |   +-- JournalForked
        +-- CorruptEvent
        +-- BrokenBase
        +-- NotAJournal
        +-- NewerFormat
        +-- GuardsMissing
        +-- StorageFailed
        +-- AgentExecutorError

Each error carries its facts as fields; the message is derived from them and says what
failed, why, and what to do. Errors are picklable.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


class JournalError(Exception):
    """Base of every error the journal raises on purpose."""

    def __post_init__(self) -> None:
        super().__init__(self.message)

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        raise NotImplementedError  # pragma: no cover - every leaf has its own

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), tuple(getattr(self, f.name) for f in fields(self)))  # type: ignore[arg-type]


class RetryUnchanged(JournalError):
    """The same call may succeed later, unchanged."""


class ReadAgain(JournalError):
    """The journal moved on or disagrees: read it again and decide again."""


class FixInput(JournalError):
    """The call carries something wrong; it will fail until that is fixed."""


class Stop(JournalError):
    """Neither a retry nor other input helps by itself."""


@dataclass(eq=False)
class JournalBusy(RetryUnchanged):
    """Another process kept the journal locked for longer than the wait."""

    location: str
    waited_seconds: float

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"the journal {self.location} stayed locked by another writer for "
            f"{self.waited_seconds:g} s; nothing was written, try again"
        )


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
class InvalidLocation(FixInput):
    """A journal URL or path that cannot name a journal."""

    location: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"cannot use {self.location!r} as a journal: {self.reason}"


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
class JournalNotFound(NotFound):
    """A command that only reads was pointed at a journal that is not there."""

    location: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"no journal at {self.location}; name one with --db or RUNJOURNAL_DB"


@dataclass(eq=False)
class JournalClosed(Stop):
    """The journal, or the run taken from it, was closed."""

    location: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"the journal {self.location} is closed; open it again"


@dataclass(eq=False)
class JournalForked(JournalClosed):
    """The process was forked, and the child uses what the parent opened."""

    opened_by: int

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"the journal {self.location} was opened by process {self.opened_by} and cannot be "
            "used after a fork; open it again in this process"
        )


@dataclass(eq=False)
class CorruptEvent(Stop):
    """A stored row that no longer decodes."""

    stream: str
    version: int
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"event {self.version} of {self.stream!r} is damaged ({self.reason}); this run cannot "
            "be read past it, the others can: restore the file from a backup"
        )


@dataclass(eq=False)
class BrokenBase(Stop):
    """A run whose first state builds on another run that cannot be read."""

    stream: str
    version: int
    base_stream: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"event {self.version} of {self.stream!r} builds on {self.base_stream!r}, which cannot "
            f"be read ({self.reason}): restore the file from a backup"
        )


@dataclass(eq=False)
class NotAJournal(Stop):
    """The file exists and is not a journal."""

    location: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"{self.location} is not a journal: {self.reason}; name another file"


@dataclass(eq=False)
class NewerFormat(Stop):
    """The journal was written by a newer runjournal."""

    location: str
    found: int
    known: int

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"{self.location} has format {self.found}, this runjournal reads up to {self.known}; "
            "upgrade runjournal"
        )


@dataclass(eq=False)
class GuardsMissing(Stop):
    """The rules that keep the events append-only were removed from the file."""

    location: str
    missing: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return (
            f"{self.location} lacks or changed the guards {self.missing}: its events may have been "
            "altered; restore the file from a backup"
        )


@dataclass(eq=False)
class StorageFailed(Stop):
    """The storage engine refused: permission, disk full, file gone."""

    location: str
    operation: str
    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"cannot {self.operation} {self.location}: {self.reason}"


@dataclass(eq=False)
class AgentExecutorError(Stop):
    """An executor failed; the host must not go past the checkpoint it handed in.

    The cause, when the journal refused, is the `JournalError` in `__cause__`.
    """

    reason: str

    @property
    def message(self) -> str:
        """One line: what failed, why, what to do."""
        return f"the executor failed, stop the run at this checkpoint: {self.reason}"


def brief(value: Any, limit: int = 60) -> str:
    """Shorten a value to one printable line of at most `limit` characters."""
    text = ascii(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
