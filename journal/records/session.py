"""The durable record of a session."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from journal.json_door import JSON
from journal.records.base import Record
from journal.records.context import ResumableState
from journal.records.envelope import SESSION_RECORD
from journal.records.environment import EnvironmentStateRef
from journal.records.fields import Counter, Id, JsonObject
from journal.records.stream_cursor import StreamCursorRef
from journal.records.trace import TraceContext
from journal.records.vocabulary import SessionStatus


class SessionRecord(Record):
    """A session: its context state, and which of its runs stand where."""

    NOUN: ClassVar[str] = "session"
    SCHEMA: ClassVar[str] = SESSION_RECORD

    session_id: Id
    namespace_id: Id | None = None
    title: str | None = None
    profile: JSON = None
    workspace: JSON = None
    status: SessionStatus
    state: ResumableState
    environment_state: EnvironmentStateRef | None = None
    head_run_id: Id | None = None
    head_success_run_id: Id | None = None
    active_run_id: Id | None = None
    stream_cursors: list[StreamCursorRef] = Field(default_factory=list)
    trace_context: TraceContext | None = None
    created_at: str
    updated_at: str
    revision: Counter
    metadata: JsonObject = Field(default_factory=dict)
