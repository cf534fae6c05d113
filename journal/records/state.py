"""The state of a run, complete, as a checkpoint holds it."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from journal.json_door import JSON
from journal.records.base import Record
from journal.records.fields import Counter, Id, JsonObject
from journal.records.message import ModelMessage, ModelResponse, ToolCall, ToolReturn
from journal.records.usage import Usage
from journal.records.vocabulary import LifecycleStatus


class AgentRunState(Record):
    """Everything a run is: its history, usage, status and open work.

    `pending_tool_calls` is not cleared when the calls return.
    """

    NOUN: ClassVar[str] = "run state"

    run_id: Id
    conversation_id: Id
    message_history: list[ModelMessage]
    usage: Usage
    run_step: Counter
    status: LifecycleStatus
    output: JSON = None
    structured_output: JSON = None
    latest_response: ModelResponse | None = None
    pending_tool_calls: list[ToolCall] = Field(default_factory=list)
    pending_tool_returns: list[ToolReturn] = Field(default_factory=list)
    pending_approval_tool_returns: list[ToolReturn] = Field(default_factory=list)
    deferred_tool_returns: list[ToolReturn] = Field(default_factory=list)
    idle_messages: list[JSON] = Field(default_factory=list)
    parent_run_id: Id | None = None
    parent_task_id: Id | None = None
    metadata: JsonObject = Field(default_factory=dict)
