"""The resumable state of a session: the context an agent exports after a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from journal.json_door import JSON
from journal.records.base import Record
from journal.records.envelope import RESUMABLE_STATE
from journal.records.fields import Id, JsonObject
from journal.records.message import ModelMessage, ToolReturn
from journal.records.usage import Usage

_DURABLE_SESSION_ID = "starweaver.durable_session_id"
_DURABLE_RUN_ID = "starweaver.durable_run_id"


class ResumableState(Record):
    """The context an agent continues from.

    Its `session_id` and `run_id` are the model provider's affinity; the durable ids, where
    they are told, stand in its metadata. Keys not named here are kept all the same.
    """

    NOUN: ClassVar[str] = "context state"
    SCHEMA: ClassVar[str] = RESUMABLE_STATE

    agent_id: Id
    run_id: Id | None = None
    session_id: Id | None = None
    parent_run_id: Id | None = None
    parent_task_id: Id | None = None
    conversation_id: Id | None = None
    message_history: list[ModelMessage] = Field(default_factory=list)
    pending_tool_returns: list[ToolReturn] = Field(default_factory=list)
    subagent_history: JsonObject = Field(default_factory=dict)
    user_prompts: JSON = None
    previous_assistant_response_reference: JSON = None
    steering_messages: JSON = None
    handoff_message: JSON = None
    usage: Usage | None = None
    state: JSON = None
    message_bus: JSON = None
    trace_snapshot: JSON = None
    metadata: JsonObject = Field(default_factory=dict)
    extra: JSON = None


def durable_ids(state: Mapping[str, JSON]) -> tuple[JSON, JSON]:
    """Tell the durable session id and run id that a context state claims; None where none.

    A claim that is there must match the session and run the state is recorded under.
    """
    metadata = state.get("metadata") or {}
    return metadata.get(_DURABLE_SESSION_ID), metadata.get(_DURABLE_RUN_ID)
