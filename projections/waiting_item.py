"""An approval or a deferred tool call, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from journal.times import format_time
from projections.control_flow import APPROVAL_REQUIRED, CALL_DEFERRED

USER = "runjournal.user"
HOST = "runjournal.host"
NAME = "runjournal.name"
REASON = "runjournal.reason"
"""Keys of the metadata in which a decision says who made it, and for a deferred tool call,
whose record has no other place for that, the name given and the reason."""


@dataclass(frozen=True, slots=True)
class WaitingKind:
    """Either of the two: where its records say what, and which of them are open."""

    noun: str
    schema: str
    id_key: str
    call_key: str
    name_key: str
    control_flow: str
    """What a tool says that asks for one."""
    prefix: str
    """The id that the Starweaver runtime gives is this, the run's id, `_`, the call's id."""
    asked: str
    """Status of one that only the tool's return tells of."""
    open: tuple[str, ...]
    """Statuses before it is decided, or ended."""


APPROVAL = WaitingKind(
    "approval",
    "runjournal.approval",
    "approval_id",
    "action_id",
    "action_name",
    APPROVAL_REQUIRED,
    "approval_",
    "pending",
    ("pending",),
)

DEFERRED_TOOL = WaitingKind(
    "deferred tool call",
    "runjournal.deferred_tool",
    "deferred_id",
    "tool_call_id",
    "tool_name",
    CALL_DEFERRED,
    "deferred_",
    "waiting",
    ("pending", "running", "waiting"),
)


@dataclass(frozen=True, slots=True)
class Decision:
    """Who decided, when and why, as far as the record tells."""

    status: str
    by: str | None
    """The name given."""
    at: str | None
    """RFC 3339, as recorded."""
    reason: str | None
    user: str | None
    """The operating system's name of the user, where this journal's verbs recorded it."""
    host: str | None

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.approval` and `runjournal.deferred_tool`."""
        return {
            "status": self.status,
            "decided_by": self.by,
            "decided_at": self.at,
            "reason": self.reason,
            "user": self.user,
            "host": self.host,
        }


@dataclass(frozen=True, slots=True)
class WaitingItem:
    """An approval or a deferred tool call, of one run."""

    kind: WaitingKind = field(repr=False)
    run_id: str
    session_id: str | None = None
    """None only when the run cannot be read."""
    run_status: str | None = None
    """As it stands now, see `projections.standing`."""
    record: dict[str, Any] = field(default_factory=dict)
    """The latest record as the host handed it in; when `derived`, as it will be made; empty
    where the run cannot be read."""
    recorded_at: int | None = None
    """When that was recorded, in microseconds since the epoch."""
    imported: bool = False
    """Whether the latest record came from another journal: if it is a decision, nothing is
    resumed with it unless somebody says that it is trusted."""
    derived: bool = False
    """Whether only what the tool returned tells of it: no record was made yet."""
    inherited: bool = False
    """Whether it is a record of the run that this one is a fork of."""
    error: str | None = None
    """Why the run cannot be read; then nothing else is known but its ids."""

    @property
    def id(self) -> str:
        """Its approval id, or deferred id; empty where the run cannot be read."""
        return str(self.record.get(self.kind.id_key, ""))

    @property
    def status(self) -> str | None:
        """The record's status."""
        return self.record.get("status")

    @property
    def is_open(self) -> bool:
        """Tell whether it still waits."""
        return self.status in self.kind.open

    @property
    def name(self) -> str | None:
        """Name of the action, or the tool."""
        return self.record.get(self.kind.name_key)

    @property
    def decision(self) -> Decision | None:
        """What became of it; None while it waits."""
        if self.error is not None or self.is_open:
            return None
        record = self.record
        made, told = record.get("decision") or {}, record.get("metadata") or {}
        if self.kind is DEFERRED_TOOL:
            made = {
                "decided_by": told.get(NAME),
                "decided_at": record.get("updated_at"),
                "reason": told.get(REASON),
                "metadata": told,
            }
        about = made.get("metadata") or {}
        return Decision(
            str(self.status),
            made.get("decided_by"),
            made.get("decided_at"),
            made.get("reason"),
            about.get(USER),
            about.get(HOST),
        )

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.approval` or `runjournal.deferred_tool` object."""
        kind, record, decision = self.kind, self.record, self.decision
        return {
            "schema": kind.schema,
            "schema_version": 1,
            kind.id_key: record.get(kind.id_key),
            "run_id": self.run_id,
            "session_id": self.session_id,
            "run_status": self.run_status,
            "status": self.status,
            kind.name_key: self.name,
            "recorded_at": None if self.recorded_at is None else format_time(self.recorded_at),
            "imported": self.imported,
            "derived": self.derived,
            "inherited": self.inherited,
            "decision": None if decision is None else decision.to_json(),
            "record": record or None,
            "error": self.error,
        }
