"""Events of a run: what its host recorded and what became of it."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from journal.events.base import Document, Event


class RunOpened(Event):
    """A run began; always the first event of its stream."""

    NAME: ClassVar[str] = "run.opened.v1"
    run_id: str
    session_id: str
    conversation_id: str | None = None
    sequence_no: Annotated[int, Field(ge=1)] | None = None
    """Its number among the runs of its session, where it was given one by then; else the
    next one."""
    status: str | None = None
    """What its record says from the start; absent for `running`."""
    terminal_error: dict[str, Any] | None = None
    """Why it had failed or was cancelled by then: code and message."""


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
    stream_cursor: int | None = None
    """The last stream record before the export, where the host told: its anchor in the logical
    order."""


class RunStatusChanged(Event):
    """Somebody set the run's status."""

    NAME: ClassVar[str] = "run.status_changed.v1"
    status: str
    reason: str | None = None
    output_preview: str | None = None
    terminal_error: dict[str, Any] | None = None
    """Why the run failed or was cancelled: code and message."""
    continued_by: str | None = None
    """The run that went on with this one, and whose evidence changed the status."""
    claim_id: str | None = None
    """The resume claim that this used up."""
    generation: int | None = None
    """Of the lease under which the run's own host said that it waits; else absent."""


class RunSuspended(Event):
    """The run stopped at a boundary and waits."""

    NAME: ClassVar[str] = "run.suspended.v1"
    reason: str
    checkpoint_id: str | None = None


class RunResumed(Event):
    """A suspended or crashed run goes on."""

    NAME: ClassVar[str] = "run.resumed.v1"
    attempt: int | None = None
    """Counts the attempts at the run; the first one, which nothing resumed, is 1."""
    generation: int | None = None
    """Of the lease it goes on under."""
    crashed: bool | None = None
    """Whether nobody had said that the run waits: the attempt before ended in the middle."""
    unknown: list[str] | None = None
    """Ids of the tool calls that may have run before, and of which no return is known."""
    rerun: list[str] | None = None
    """Those of them that were accepted to run again."""
    decisions: list[str] | None = None
    """Ids of the approvals and deferred tool calls whose decisions it goes on with."""
    trusted_imported: bool | None = None
    """Whether decisions that another journal recorded were accepted."""


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
    revision: int | None = None
    """The run's revision with it, where another store had counted it; else it follows from what
    was recorded (see `projections.records`)."""


class RunCommitted(Event):
    """The host committed the run's evidence; its other items are events of their own."""

    NAME: ClassVar[str] = "run.committed.v1"
    run: dict[str, Any]
    rest: dict[str, Any]
    """What the bundle held besides run, records, checkpoints, states and the like."""
    sha256: str
    """SHA-256 of the whole bundle as compact JSON with sorted keys, hexadecimal."""
    revision: int | None = None
    """The run's revision with it (see `projections.records`); a bundle counts once."""
    saves: int | None = None
    """The same without the cursors that were saved: what it adds to its session's revision."""


class ArchivedSegment(BaseModel):
    """A segment of an archive, and the digest that shows that it is this one."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    segment: Annotated[int, Field(ge=1)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """Of its manifest, hexadecimal."""


class RunArchived(Event):
    """The run's events are in an archive, and are deleted here; always the last of its stream.

    It says what lists of runs need, so that they need not open the archive.
    """

    NAME: ClassVar[str] = "run.archived.v1"
    run_id: str
    session_id: str
    conversation_id: str | None = None
    parent_run_id: str | None = None
    """The run that started it as a child, when known."""
    forked_from: str | None = None
    """For a fork, the run it was made of."""
    cursor: str | None = None
    """For a fork, the cursor it was made at."""
    status: str
    """As it was recorded last: one that ends a run."""
    opened_at: int
    """When its first event was recorded, in microseconds since the epoch."""
    updated_at: int
    """When its last one was, likewise."""
    through_version: Annotated[int, Field(ge=1)]
    """The last version that the archive has: the one before this event's."""
    archive: str
    """Id of the journal that the archive belongs to."""
    segments: Annotated[list[ArchivedSegment], Field(min_length=1)]
    """Those that hold events of the run, in order."""
    for_session: dict[str, Any] | None = None
    """What the session's record takes from the run (see `projections.session_parts`)."""
