"""The records that agent hosts hand to the journal, as typed views of their JSON.

Source: the records of the Starweaver runtime, 0.15. Every model reads host JSON with
`from_json`, gives it back unchanged with `to_json`, and checks it with `check`, which the
`validate_*` functions name for each durable record.

Names are loaded when first used: not every command needs the models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from journal.lazily import lazy

if TYPE_CHECKING:
    from journal.records.approval import ApprovalDecision, ApprovalRecord
    from journal.records.base import Record
    from journal.records.checkpoint import AgentCheckpoint, AgentResumeCursor, AgentResumeEvidence
    from journal.records.context import ResumableState, durable_ids
    from journal.records.deferred_tool import DeferredToolRecord
    from journal.records.envelope import (
        APPROVAL_RECORD,
        CHECKPOINT,
        DEFERRED_TOOL_RECORD,
        ENVIRONMENT_STATE,
        RESUMABLE_STATE,
        RUN_RECORD,
        SESSION_RECORD,
        STREAM_RECORD,
        VERSIONS,
        unwrap,
        wrap,
    )
    from journal.records.environment import (
        EnvironmentProcess,
        EnvironmentResource,
        EnvironmentState,
        EnvironmentStateRef,
    )
    from journal.records.evidence_commit import (
        PublicationTargets,
        RelatedRunUpdate,
        RunEvidenceCommit,
    )
    from journal.records.message import (
        ModelMessage,
        ModelResponse,
        OtherMessage,
        Part,
        RequestMessage,
        RequestPart,
        ResponseMessage,
        ResponsePart,
        ToolCall,
        ToolCallPart,
        ToolReturn,
        ToolReturnPart,
        response_as_message,
        tool_return_ids,
    )
    from journal.records.model_stream import (
        Diagnostic,
        FinalResult,
        ModelStream,
        OtherDelta,
        OtherModelStream,
        PartDelta,
        PartEnd,
        PartStart,
        PayloadDelta,
        TextDelta,
        ToolCallArgumentsDelta,
        ToolCallNameDelta,
    )
    from journal.records.resume_claim import ResumeClaim
    from journal.records.run import RunRecord, RunTerminalError
    from journal.records.session import SessionRecord
    from journal.records.state import AgentRunState
    from journal.records.stream import (
        AgentEvent,
        AgentStreamEvent,
        AgentStreamRecord,
        AgentStreamSource,
        CheckpointEvent,
        CustomEvent,
        ModelRequestEvent,
        ModelResponseEvent,
        ModelStreamEvent,
        NodeCompleteEvent,
        NodeStartEvent,
        OutputRetryEvent,
        RunCancelledEvent,
        RunCompleteEvent,
        RunFailedEvent,
        RunStartEvent,
        SteeringGuardEvent,
        SuspendedEvent,
        ToolCallEvent,
        ToolReturnEvent,
        UnknownEvent,
    )
    from journal.records.stream_cursor import StreamCursorRef, StreamPosition
    from journal.records.trace import TraceContext
    from journal.records.usage import Usage, add_usage
    from journal.records.validation import (
        validate_approval,
        validate_checkpoint,
        validate_context_state,
        validate_deferred_tool,
        validate_environment_ref,
        validate_environment_state,
        validate_evidence_commit,
        validate_resume_claim,
        validate_run,
        validate_session,
        validate_stream_cursor,
        validate_stream_record,
    )
    from journal.records.vocabulary import (
        TERMINAL,
        ApprovalStatus,
        ClaimState,
        CursorFamily,
        ExecutionNode,
        ExecutionStatus,
        LifecycleStatus,
        PublicationTarget,
        RunStatus,
        SessionStatus,
    )

__all__ = [
    "APPROVAL_RECORD",
    "CHECKPOINT",
    "DEFERRED_TOOL_RECORD",
    "ENVIRONMENT_STATE",
    "RESUMABLE_STATE",
    "RUN_RECORD",
    "SESSION_RECORD",
    "STREAM_RECORD",
    "TERMINAL",
    "VERSIONS",
    "AgentCheckpoint",
    "AgentEvent",
    "AgentResumeCursor",
    "AgentResumeEvidence",
    "AgentRunState",
    "AgentStreamEvent",
    "AgentStreamRecord",
    "AgentStreamSource",
    "ApprovalDecision",
    "ApprovalRecord",
    "ApprovalStatus",
    "CheckpointEvent",
    "ClaimState",
    "CursorFamily",
    "CustomEvent",
    "DeferredToolRecord",
    "Diagnostic",
    "EnvironmentProcess",
    "EnvironmentResource",
    "EnvironmentState",
    "EnvironmentStateRef",
    "ExecutionNode",
    "ExecutionStatus",
    "FinalResult",
    "LifecycleStatus",
    "ModelMessage",
    "ModelRequestEvent",
    "ModelResponse",
    "ModelResponseEvent",
    "ModelStream",
    "ModelStreamEvent",
    "NodeCompleteEvent",
    "NodeStartEvent",
    "OtherDelta",
    "OtherMessage",
    "OtherModelStream",
    "OutputRetryEvent",
    "Part",
    "PartDelta",
    "PartEnd",
    "PartStart",
    "PayloadDelta",
    "PublicationTarget",
    "PublicationTargets",
    "Record",
    "RelatedRunUpdate",
    "RequestMessage",
    "RequestPart",
    "ResponseMessage",
    "ResponsePart",
    "ResumableState",
    "ResumeClaim",
    "RunCancelledEvent",
    "RunCompleteEvent",
    "RunEvidenceCommit",
    "RunFailedEvent",
    "RunRecord",
    "RunStartEvent",
    "RunStatus",
    "RunTerminalError",
    "SessionRecord",
    "SessionStatus",
    "SteeringGuardEvent",
    "StreamCursorRef",
    "StreamPosition",
    "SuspendedEvent",
    "TextDelta",
    "ToolCall",
    "ToolCallArgumentsDelta",
    "ToolCallEvent",
    "ToolCallNameDelta",
    "ToolCallPart",
    "ToolReturn",
    "ToolReturnEvent",
    "ToolReturnPart",
    "TraceContext",
    "UnknownEvent",
    "Usage",
    "add_usage",
    "durable_ids",
    "response_as_message",
    "tool_return_ids",
    "unwrap",
    "validate_approval",
    "validate_checkpoint",
    "validate_context_state",
    "validate_deferred_tool",
    "validate_environment_ref",
    "validate_environment_state",
    "validate_evidence_commit",
    "validate_resume_claim",
    "validate_run",
    "validate_session",
    "validate_stream_cursor",
    "validate_stream_record",
    "wrap",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "approval": "ApprovalDecision ApprovalRecord",
        "base": "Record",
        "checkpoint": "AgentCheckpoint AgentResumeCursor AgentResumeEvidence",
        "context": "ResumableState durable_ids",
        "deferred_tool": "DeferredToolRecord",
        "envelope": """
            APPROVAL_RECORD CHECKPOINT DEFERRED_TOOL_RECORD ENVIRONMENT_STATE RESUMABLE_STATE
            RUN_RECORD SESSION_RECORD STREAM_RECORD VERSIONS unwrap wrap
        """,
        "environment": """
            EnvironmentProcess EnvironmentResource EnvironmentState EnvironmentStateRef
        """,
        "evidence_commit": "PublicationTargets RelatedRunUpdate RunEvidenceCommit",
        "message": """
            ModelMessage ModelResponse OtherMessage Part RequestMessage RequestPart
            ResponseMessage ResponsePart ToolCall ToolCallPart ToolReturn ToolReturnPart
            response_as_message tool_return_ids
        """,
        "model_stream": """
            Diagnostic FinalResult ModelStream OtherDelta OtherModelStream PartDelta PartEnd
            PartStart PayloadDelta TextDelta ToolCallArgumentsDelta ToolCallNameDelta
        """,
        "resume_claim": "ResumeClaim",
        "run": "RunRecord RunTerminalError",
        "session": "SessionRecord",
        "state": "AgentRunState",
        "stream": """
            AgentEvent AgentStreamEvent AgentStreamRecord AgentStreamSource CheckpointEvent
            CustomEvent ModelRequestEvent ModelResponseEvent ModelStreamEvent NodeCompleteEvent
            NodeStartEvent OutputRetryEvent RunCancelledEvent RunCompleteEvent RunFailedEvent
            RunStartEvent SteeringGuardEvent SuspendedEvent ToolCallEvent ToolReturnEvent
            UnknownEvent
        """,
        "stream_cursor": "StreamCursorRef StreamPosition",
        "trace": "TraceContext",
        "usage": "Usage add_usage",
        "validation": """
            validate_approval validate_checkpoint validate_context_state validate_deferred_tool
            validate_environment_ref validate_environment_state validate_evidence_commit
            validate_resume_claim validate_run validate_session validate_stream_cursor
            validate_stream_record
        """,
        "vocabulary": """
            TERMINAL ApprovalStatus ClaimState CursorFamily ExecutionNode ExecutionStatus
            LifecycleStatus PublicationTarget RunStatus SessionStatus
        """,
    },
)
