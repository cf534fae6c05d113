"""The checkpoint: a run's whole state at one node, and the evidence to resume from it.

Source: `AgentCheckpoint` and `AgentResumeEvidence` of the Starweaver runtime, 0.15.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import Field

from journal.json_door import JSON
from journal.records.base import Record, peek
from journal.records.checks import Rule, Wrong, shown
from journal.records.envelope import CHECKPOINT
from journal.records.fields import Counter, Id, JsonObject
from journal.records.state import AgentRunState
from journal.records.trace import TraceContext
from journal.records.usage import Usage
from journal.records.vocabulary import ExecutionNode, LifecycleStatus


class AgentResumeCursor(Record):
    """How far the run had come, counted in each of its dimensions."""

    NOUN: ClassVar[str] = "resume cursor"

    model_request_attempt: Counter
    tool_call_batch_id: Id | None = None
    output_validation_attempt: Counter
    stream_cursor: Counter | None = None
    """The sequence of the last stream record before the checkpoint."""
    message_cursor: Counter
    """The number of messages in the history."""


class AgentResumeEvidence(Record):
    """What a host needs to decide how a run goes on."""

    NOUN: ClassVar[str] = "resume evidence"

    node: ExecutionNode
    status: LifecycleStatus
    run_step: Counter
    cursor: AgentResumeCursor
    usage: Usage
    context_revision: str | None = None
    environment_ref: str | None = None
    pending_approval_count: Counter
    deferred_tool_count: Counter
    trace_context: TraceContext | None = None
    metadata: JsonObject = Field(default_factory=dict)

    @classmethod
    def from_state(cls, node: ExecutionNode | str, state: AgentRunState) -> Self:
        """Build the evidence that a run state gives at a node.

        The stream cursor, a trace context and metadata are not in a state; they are
        attached afterwards.
        """
        cursor: JsonObject = {
            "model_request_attempt": state.run_step,
            "output_validation_attempt": 0,
            "message_cursor": len(state.message_history),
        }
        if state.pending_tool_calls:
            cursor["tool_call_batch_id"] = f"tool_batch_{state.run_step}"
        evidence: JsonObject = {
            "node": str(node),
            "status": state.status.value,
            "run_step": state.run_step,
            "cursor": cursor,
            "usage": state.usage.to_json(),
            "pending_approval_count": len(state.pending_approval_tool_returns),
            "deferred_tool_count": len(state.deferred_tool_returns),
        }
        for name in ("context_revision", "environment_ref"):
            if isinstance(text := state.metadata.get(name), str):
                evidence[name] = text
        return cls.from_json(evidence)

    def with_stream_cursor(self, sequence: int) -> Self:
        """Give the evidence with the sequence of the last stream record before it."""
        evidence = self.to_json()
        evidence["cursor"]["stream_cursor"] = sequence
        return self.from_json(evidence)

    def with_trace_context(self, trace: TraceContext) -> Self:
        """Give the evidence with a trace context; an empty one takes it away."""
        evidence = self.to_json()
        evidence.pop("trace_context", None)
        return self.from_json(
            evidence if trace.is_empty else {**evidence, "trace_context": trace.to_json()}
        )

    def with_metadata(self, metadata: Mapping[str, JSON]) -> Self:
        """Give the evidence with this metadata in place of its own."""
        return self.from_json({**self.to_json(), "metadata": dict(metadata)})


_AGREE = (
    ("node", "resume"),
    ("run_step", "resume"),
    ("run_id", "state"),
    ("conversation_id", "state"),
    ("run_step", "state"),
)


def _agree(checkpoint: Any) -> None:
    for name, inside in _AGREE:
        outer, inner = peek(checkpoint, name), peek(checkpoint, inside, name)
        if outer != inner:
            raise Wrong(f"{shown(outer)} differs from {shown(inner)} at $.{inside}.{name}", name)


class AgentCheckpoint(Record):
    """A run's state at a node. Its ids, node and step agree with those inside it."""

    NOUN: ClassVar[str] = "checkpoint"
    SCHEMA: ClassVar[str] = CHECKPOINT
    RULE: ClassVar[Rule | None] = _agree

    checkpoint_id: Id
    run_id: Id
    conversation_id: Id
    node: ExecutionNode
    run_step: Counter
    resume: AgentResumeEvidence
    state: AgentRunState
    metadata: JsonObject = Field(default_factory=dict)

    @classmethod
    def from_state(
        cls,
        checkpoint_id: str,
        node: ExecutionNode | str,
        state: AgentRunState,
        metadata: Mapping[str, JSON] | None = None,
    ) -> Self:
        """Build the checkpoint of a run state at a node, with the evidence it gives."""
        given: JsonObject = {} if metadata is None else {"metadata": dict(metadata)}
        resume = AgentResumeEvidence.from_state(node, state)
        return cls(
            checkpoint_id=checkpoint_id,
            run_id=state.run_id,
            conversation_id=state.conversation_id,
            node=resume.node,
            run_step=state.run_step,
            resume=resume,
            state=state,
            **given,
        )
