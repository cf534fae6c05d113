"""What waits for a person: approvals of actions."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from journal.json_door import JSON
from journal.records.base import Record
from journal.records.envelope import APPROVAL_RECORD
from journal.records.fields import Counter, Id, JsonObject
from journal.records.trace import TraceContext
from journal.records.vocabulary import ApprovalStatus


class ApprovalDecision(Record):
    """What was decided, by whom, when and why."""

    NOUN: ClassVar[str] = "approval decision"

    status: ApprovalStatus
    decided_by: str | None = None
    decided_at: str
    reason: str | None = None
    metadata: JsonObject = Field(default_factory=dict)


class ApprovalRecord(Record):
    """An action that needs a decision. Only the decision part changes, once."""

    NOUN: ClassVar[str] = "approval"
    SCHEMA: ClassVar[str] = APPROVAL_RECORD

    approval_id: Id
    revision: Counter
    session_id: Id
    run_id: Id
    action_id: Id
    action_name: str
    request: JSON = None
    reviewed_arguments: JSON = None
    status: ApprovalStatus
    decision: ApprovalDecision | None = None
    created_at: str
    updated_at: str
    trace_context: TraceContext | None = None
    metadata: JsonObject = Field(default_factory=dict)
