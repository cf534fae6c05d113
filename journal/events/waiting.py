"""Events of a run about those who wait for it, and for whom it waits."""

from __future__ import annotations

from typing import Any, ClassVar

from journal.events.base import Event, Operator


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


class PublicationAcknowledged(Event):
    """A target has what the run's evidence wanted published."""

    NAME: ClassVar[str] = "publication.acknowledged.v1"
    target: str
    """`archive` or `replay`."""


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


class ResumeAllowed(Event):
    """An operator allowed what the next resume would otherwise refuse."""

    NAME: ClassVar[str] = "resume.allowed.v1"
    operator: Operator
    rerun: list[str] | None = None
    """Ids of the tool calls that may have run before and may run again."""
    trust_imported: bool | None = None
    """Whether decisions that another journal recorded may be acted on."""
    reason: str | None = None


class RunSuspendRequested(Event):
    """An operator asked the run to stop at its next boundary."""

    NAME: ClassVar[str] = "run.suspend_requested.v1"
    reason: str
    operator: Operator
