"""The durable record of a run."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from journal.json_door import JSON
from journal.records.base import Record, peek
from journal.records.checks import Rule, Wrong
from journal.records.envelope import RUN_RECORD
from journal.records.environment import EnvironmentStateRef
from journal.records.fields import Counter, Id, JsonObject
from journal.records.stream_cursor import StreamCursorRef
from journal.records.trace import TraceContext
from journal.records.vocabulary import RunStatus


class RunTerminalError(Record):
    """Why a run failed."""

    NOUN: ClassVar[str] = "terminal error"

    code: str
    message: str


def _diagnosed(run: Any) -> None:
    status, error = peek(run, "status"), peek(run, "terminal_error")
    if status == "failed" and error is None:
        raise Wrong("a failed run needs an object with code and message", "terminal_error")
    if status not in ("failed", "cancelled") and error is not None:
        raise Wrong(f"a {status} run must not have one", "terminal_error")


class RunRecord(Record):
    """A run of a session: what it was given, how it stands, what came out."""

    NOUN: ClassVar[str] = "run"
    SCHEMA: ClassVar[str] = RUN_RECORD
    RULE: ClassVar[Rule | None] = _diagnosed

    session_id: Id
    run_id: Id
    conversation_id: Id
    parent_run_id: Id | None = None
    parent_task_id: Id | None = None
    restore_from_run_id: Id | None = None
    profile: JSON = None
    input: JSON = None
    status: RunStatus
    output_preview: str | None = None
    structured_output: JSON = None
    terminal_error: RunTerminalError | None = None
    environment_state: EnvironmentStateRef | None = None
    latest_checkpoint: JsonObject | None = None
    stream_cursors: list[StreamCursorRef] = Field(default_factory=list)
    sequence_no: Counter
    """Counts the runs of a session from 1; 0, when written, asks for the next."""
    trace_context: TraceContext | None = None
    created_at: str
    updated_at: str
    revision: Counter
    metadata: JsonObject = Field(default_factory=dict)
