"""The facts a journal records: past tense, frozen, closed.

Every event has an explicit, versioned, stored name. The name is never a Python path: an
archive must outlive this code, and reading must never import what a row names. A changed
shape gets a new name and an upcaster (`journal.codec`).

The host's JSON stands in an event as it was handed in. Checkpoints and exported states are
held as a difference (`delta`, see `journal.difference`) from an earlier one (`base_stream`,
`base_version`); `journal.documents` rebuilds them.
"""

from __future__ import annotations

from typing import TypeAlias

from journal.events.base import (
    Document,
    DocumentCopied,
    Event,
    Imported,
    Operator,
)
from journal.events.run import (
    ArchivedSegment,
    CheckpointTaken,
    ContextExported,
    EnvironmentExported,
    RunArchived,
    RunCommitted,
    RunForked,
    RunLeaseTaken,
    RunOpened,
    RunResumed,
    RunSaved,
    RunSealed,
    RunStatusChanged,
    RunSuspended,
    StreamRecorded,
)
from journal.events.session import (
    EnvironmentReferenced,
    SessionRunAdded,
    SessionRunChanged,
    SessionSaved,
    SessionStatusChanged,
)
from journal.events.waiting import (
    ApprovalDecided,
    ApprovalRequested,
    CursorSaved,
    DeferredToolRequested,
    DeferredToolResolved,
    PublicationAcknowledged,
    ResumeAllowed,
    ResumeClaimed,
    ResumeReleased,
    ResumeStarted,
    RunSuspendRequested,
)
from journal.json_door import JSON

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
        DocumentCopied,
        EnvironmentExported,
        EnvironmentReferenced,
        PublicationAcknowledged,
        ResumeAllowed,
        ResumeClaimed,
        ResumeReleased,
        ResumeStarted,
        RunArchived,
        RunCommitted,
        RunForked,
        RunLeaseTaken,
        RunOpened,
        RunResumed,
        RunSaved,
        RunSealed,
        RunStatusChanged,
        RunSuspendRequested,
        RunSuspended,
        SessionRunAdded,
        SessionRunChanged,
        SessionSaved,
        SessionStatusChanged,
        StreamRecorded,
    )
}
"""Every event of this version, by stored name."""

RUN_NOTES = (SessionRunAdded.NAME, SessionRunChanged.NAME)
"""Names of the events in which a session's stream repeats what happened to its runs."""

OPENINGS = (RunForked.NAME, RunOpened.NAME)
"""Names of the events that a run can begin with."""

STATE_DOCUMENTS = (CheckpointTaken.NAME, ContextExported.NAME, SessionSaved.NAME)
"""Names whose documents repeat the message history: one chain of differences."""

ENVIRONMENT_DOCUMENTS = (EnvironmentExported.NAME,)
"""Names whose documents repeat the environment: a chain of its own."""

EventData: TypeAlias = dict[str, JSON]
"""An event's JSON: the model's fields, absent ones left out."""

__all__ = [
    "ENVIRONMENT_DOCUMENTS",
    "EVENTS",
    "OPENINGS",
    "RUN_NOTES",
    "STATE_DOCUMENTS",
    "ApprovalDecided",
    "ApprovalRequested",
    "ArchivedSegment",
    "CheckpointTaken",
    "ContextExported",
    "CursorSaved",
    "DeferredToolRequested",
    "DeferredToolResolved",
    "Document",
    "DocumentCopied",
    "EnvironmentExported",
    "EnvironmentReferenced",
    "Event",
    "EventData",
    "Imported",
    "Operator",
    "PublicationAcknowledged",
    "ResumeAllowed",
    "ResumeClaimed",
    "ResumeReleased",
    "ResumeStarted",
    "RunArchived",
    "RunCommitted",
    "RunForked",
    "RunLeaseTaken",
    "RunOpened",
    "RunResumed",
    "RunSaved",
    "RunSealed",
    "RunStatusChanged",
    "RunSuspendRequested",
    "RunSuspended",
    "SessionRunAdded",
    "SessionRunChanged",
    "SessionSaved",
    "SessionStatusChanged",
    "StreamRecorded",
]
