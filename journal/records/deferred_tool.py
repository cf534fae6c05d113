"""What waits for somebody else: tool calls that end outside the run."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from journal.json_door import JSON
from journal.records.base import Record
from journal.records.envelope import DEFERRED_TOOL_RECORD
from journal.records.fields import Counter, Id, JsonObject
from journal.records.trace import TraceContext
from journal.records.vocabulary import ExecutionStatus


class DeferredToolRecord(Record):
    """A deferred tool call. Created pending or waiting, it ends once."""

    NOUN: ClassVar[str] = "deferred tool"
    SCHEMA: ClassVar[str] = DEFERRED_TOOL_RECORD

    deferred_id: Id
    revision: Counter
    session_id: Id
    run_id: Id
    tool_call_id: Id
    tool_name: str
    request: JSON = None
    status: ExecutionStatus
    response: JSON = None
    created_at: str
    updated_at: str
    trace_context: TraceContext | None = None
    metadata: JsonObject = Field(default_factory=dict)
