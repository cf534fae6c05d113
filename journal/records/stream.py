"""The stream record: one thing that happened in a run, with the host's own number.

Source: `AgentStreamRecord` of the Starweaver runtime, 0.15.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field

from journal.json_door import JSON
from journal.records.base import Record
from journal.records.envelope import STREAM_RECORD
from journal.records.fields import ByKind, Counter, Id, JsonObject
from journal.records.message import ModelResponse, ToolCall, ToolReturn
from journal.records.model_stream import ModelStream
from journal.records.vocabulary import ExecutionNode, LifecycleStatus


class _Event(Record):
    NOUN: ClassVar[str] = "stream event"


class RunStartEvent(_Event):
    """The run began."""

    kind: Literal["run_start"] = "run_start"
    run_id: Id
    conversation_id: Id


class NodeStartEvent(_Event):
    """The run entered a node."""

    kind: Literal["node_start"] = "node_start"
    node: ExecutionNode
    step: Counter
    status: LifecycleStatus


class NodeCompleteEvent(_Event):
    """The run left a node."""

    kind: Literal["node_complete"] = "node_complete"
    node: ExecutionNode
    step: Counter
    status: LifecycleStatus


class AgentEvent(Record):
    """What a custom event carries; its kind is any name."""

    NOUN: ClassVar[str] = "custom event"

    kind: str
    payload: JSON
    metadata: JsonObject = Field(default_factory=dict)


class CustomEvent(_Event):
    """Something the runtime's kinds have no name for."""

    kind: Literal["custom"] = "custom"
    event: AgentEvent


class ModelRequestEvent(_Event):
    """A request goes to the model."""

    kind: Literal["model_request"] = "model_request"
    step: Counter


class ModelStreamEvent(_Event):
    """The model streams."""

    kind: Literal["model_stream"] = "model_stream"
    step: Counter
    event: ModelStream


class ModelResponseEvent(_Event):
    """The model answered."""

    kind: Literal["model_response"] = "model_response"
    step: Counter
    response: ModelResponse


class CheckpointEvent(_Event):
    """The runtime takes a checkpoint at this node."""

    kind: Literal["checkpoint"] = "checkpoint"
    node: ExecutionNode
    step: Counter


class SuspendedEvent(_Event):
    """The run stopped to wait."""

    kind: Literal["suspended"] = "suspended"
    node: ExecutionNode
    reason: str


class ToolCallEvent(_Event):
    """A tool was called; it may have started before this was recorded."""

    kind: Literal["tool_call"] = "tool_call"
    step: Counter
    call: ToolCall


class ToolReturnEvent(_Event):
    """A tool answered."""

    kind: Literal["tool_return"] = "tool_return"
    step: Counter
    tool_return: ToolReturn


class OutputRetryEvent(_Event):
    """The output was refused and the model is asked again."""

    kind: Literal["output_retry"] = "output_retry"
    retries: Counter
    prompt: str


class SteeringGuardEvent(_Event):
    """Steering arrived and the model is asked again."""

    kind: Literal["steering_guard"] = "steering_guard"
    step: Counter
    prompt: str


class RunCompleteEvent(_Event):
    """The run ended with an output."""

    kind: Literal["run_complete"] = "run_complete"
    run_id: Id
    output: str


class RunCancelledEvent(_Event):
    """The run was stopped."""

    kind: Literal["run_cancelled"] = "run_cancelled"
    run_id: Id
    reason: str


class RunFailedEvent(_Event):
    """The run ended with an error."""

    kind: Literal["run_failed"] = "run_failed"
    run_id: Id
    error_kind: str
    message: str


class UnknownEvent(_Event):
    """An event of a kind this version does not know, kept as it came."""

    kind: str


AgentStreamEvent: TypeAlias = Annotated[
    RunStartEvent
    | NodeStartEvent
    | NodeCompleteEvent
    | CustomEvent
    | ModelRequestEvent
    | ModelStreamEvent
    | ModelResponseEvent
    | CheckpointEvent
    | SuspendedEvent
    | ToolCallEvent
    | ToolReturnEvent
    | OutputRetryEvent
    | SteeringGuardEvent
    | RunCompleteEvent
    | RunCancelledEvent
    | RunFailedEvent
    | UnknownEvent,
    ByKind("kind"),
]


class AgentStreamSource(Record):
    """Which child run a merged record came from."""

    NOUN: ClassVar[str] = "stream source"

    kind: Literal["subagent"] = "subagent"
    agent_id: Id
    agent_name: str
    task_id: Id | None = None
    run_id: Id | None = None
    parent_run_id: Id | None = None
    source_sequence: Counter
    """The record's number in the child run's own stream."""


class AgentStreamRecord(Record):
    """One event of a run, under the host's own number, which is unique within the run."""

    NOUN: ClassVar[str] = "stream record"
    SCHEMA: ClassVar[str] = STREAM_RECORD

    sequence: Counter
    source: AgentStreamSource | None = None
    event: AgentStreamEvent
