"""The facts a journal records: past tense, frozen, closed.

Every event has an explicit, versioned, stored name. The name is never a Python path: an
archive must outlive this code, and reading must never import what a row names. A changed
shape gets a new name and an upcaster (`journal.codec`).

The host's JSON stands in an event as it was handed in. Checkpoints and exported states are
held as a difference (`delta`, see `journal.difference`) from an earlier one (`base_stream`,
`base_version`); `journal.documents` rebuilds them.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from journal.json_door import JSON


class Imported(BaseModel):
    """Marks an event that came in by `ingest` from another journal."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    recorded_at: int | None = None
    """Microseconds since the epoch at which the other journal recorded it, when it said."""


class Event(BaseModel):
    """Base of all events."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    NAME: ClassVar[str]
    imported: Imported | None = None
    redacted: list[str] | None = None
    """Paths, in the record, of what the journal's hook replaced before this was written;
    sorted. Of much that was replaced, the paths of what contains it."""


class RunOpened(Event):
    """A run began; always the first event of its stream."""

    NAME: ClassVar[str] = "run.opened.v1"
    run_id: str
    session_id: str
    conversation_id: str | None = None


class RunForked(Event):
    """A run began as a fork of another; always the first event of its stream.

    `journal.lineage.Lineage` says what each field means; `forked` is left out where it is
    the source.
    """

    NAME: ClassVar[str] = "run.forked.v1"
    run_id: str
    session_id: str
    conversation_id: str | None = None
    source: str
    source_version: Annotated[int, Field(ge=1)]
    before: Annotated[list[int], Field(min_length=3, max_length=3)] | None = None
    until: int | None = None
    forked: str | None = None
    cursor: str


class StreamRecorded(Event):
    """The host streamed a record (`AgentStreamRecord`)."""

    NAME: ClassVar[str] = "stream.recorded.v1"
    record: dict[str, Any]


class Document(Event):
    """An event whose JSON document is held as a difference from an earlier one."""

    delta: list[Any]
    """The difference; applied to JSON null where there is no base."""
    base_stream: str | None = None
    """The stream of the base, when it is not the event's own."""
    base_version: int | None = None
    """The version of the base event; absent for a document held whole."""
    chain_bytes: int
    """Encoded size of the deltas from the nearest whole document up to this one, in bytes."""
    chain_runs: int = 0
    """How many other runs a rebuild of this document reads."""


class CheckpointTaken(Document):
    """The host took a checkpoint (`AgentCheckpoint`); the document is the whole of it."""

    NAME: ClassVar[str] = "checkpoint.taken.v1"
    checkpoint_id: str
    conversation_id: str
    node: str
    status: str
    step: int
    messages: int
    """Length of the checkpoint's message history."""
    stream_cursor: int | None = None
    """The checkpoint's own stream cursor: its anchor in the logical order."""
    trace_context: dict[str, Any] | None = None
    """The trace context of its evidence, when not empty."""


class ContextExported(Document):
    """The host exported its context state."""

    NAME: ClassVar[str] = "context.exported.v1"
    messages: int | None = None
    """Length of the state's message history, where it has one."""


class EnvironmentExported(Document):
    """The host exported its environment state."""

    NAME: ClassVar[str] = "environment.exported.v1"


class RunStatusChanged(Event):
    """Somebody set the run's status."""

    NAME: ClassVar[str] = "run.status_changed.v1"
    status: str
    reason: str | None = None


class RunSuspended(Event):
    """The run stopped at a boundary and waits."""

    NAME: ClassVar[str] = "run.suspended.v1"
    reason: str
    checkpoint_id: str | None = None


class RunResumed(Event):
    """A suspended or crashed run goes on."""

    NAME: ClassVar[str] = "run.resumed.v1"
    attempt: int | None = None


class RunLeaseTaken(Event):
    """Somebody took the right to write a run that existed already."""

    NAME: ClassVar[str] = "run.lease_taken.v1"
    generation: int
    """Rises with each lease of the run; a run's first events are of generation 1."""
    owner: str
    """Id of the journal object that writes from here on."""
    host: str
    process: int
    taken: str
    """Why it was free: `unowned`, `released`, `expired` or `gone`; or `takeover`, by force."""


class RunSealed(Event):
    """The run is closed for good."""

    NAME: ClassVar[str] = "run.sealed.v1"


class RunSaved(Event):
    """The host saved its run record."""

    NAME: ClassVar[str] = "run.saved.v1"
    run: dict[str, Any]


class RunCommitted(Event):
    """The host committed the run's evidence; its other items are events of their own."""

    NAME: ClassVar[str] = "run.committed.v1"
    run: dict[str, Any]
    rest: dict[str, Any]
    """What the bundle held besides run, records, checkpoints, states and the like."""
    sha256: str
    """SHA-256 of the whole bundle as compact JSON with sorted keys, hexadecimal."""


class ApprovalRequested(Event):
    """A tool call waits for a person."""

    NAME: ClassVar[str] = "approval.requested.v1"
    record: dict[str, Any]


class ApprovalDecided(Event):
    """A person, or the passing of time, decided."""

    NAME: ClassVar[str] = "approval.decided.v1"
    record: dict[str, Any]


class DeferredToolRequested(Event):
    """A tool call waits for a worker."""

    NAME: ClassVar[str] = "deferred_tool.requested.v1"
    record: dict[str, Any]


class DeferredToolResolved(Event):
    """The deferred tool call ended."""

    NAME: ClassVar[str] = "deferred_tool.resolved.v1"
    record: dict[str, Any]


class CursorSaved(Event):
    """The host saved how far a reader of its streams got."""

    NAME: ClassVar[str] = "cursor.saved.v1"
    cursor: dict[str, Any]


class ResumeClaimed(Event):
    """Somebody claimed the right to resume the run."""

    NAME: ClassVar[str] = "resume.claimed.v1"
    claim: dict[str, Any]


class ResumeStarted(Event):
    """The claimed resume began."""

    NAME: ClassVar[str] = "resume.started.v1"
    claim_id: str


class ResumeReleased(Event):
    """The claim was given back."""

    NAME: ClassVar[str] = "resume.released.v1"
    claim_id: str


class SessionSaved(Document):
    """The host saved its session record; stands in the session's stream.

    The record repeats the history of the session's last run, so it is held as a difference
    from that run's last state.
    """

    NAME: ClassVar[str] = "session.saved.v1"


class SessionRunAdded(Event):
    """A run was opened in the session; stands in the session's stream."""

    NAME: ClassVar[str] = "session.run_added.v1"
    run_id: str


EVENTS: dict[str, type[Event]] = {
    model.NAME: model
    for model in (
        ApprovalDecided,
        ApprovalRequested,
        CheckpointTaken,
        ContextExported,
        CursorSaved,
        DeferredToolRequested,
        DeferredToolResolved,
        EnvironmentExported,
        ResumeClaimed,
        ResumeReleased,
        ResumeStarted,
        RunCommitted,
        RunForked,
        RunLeaseTaken,
        RunOpened,
        RunResumed,
        RunSaved,
        RunSealed,
        RunStatusChanged,
        RunSuspended,
        SessionRunAdded,
        SessionSaved,
        StreamRecorded,
    )
}
"""Every event of this version, by stored name."""

OPENINGS = (RunForked.NAME, RunOpened.NAME)
"""Names of the events that a run can begin with."""

STATE_DOCUMENTS = (CheckpointTaken.NAME, ContextExported.NAME, SessionSaved.NAME)
"""Names whose documents repeat the message history: one chain of differences."""

ENVIRONMENT_DOCUMENTS = (EnvironmentExported.NAME,)
"""Names whose documents repeat the environment: a chain of its own."""

EventData: TypeAlias = dict[str, JSON]
"""An event's JSON: the model's fields, absent ones left out."""
