"""One full sample of each record: every field it may have, and keys nobody knows."""

from journal import records
from journal.records import Record
from tests.unit.record_state_samples import (
    CALL,
    CHECKPOINT,
    CONTEXT,
    EVIDENCE,
    REQUEST,
    RESPONSE,
    RETURN,
    STATE,
    TRACE,
    USAGE,
)
from tests.unit.record_store_samples import (
    APPROVAL,
    CLAIM,
    CURSOR,
    DEFERRED,
    ENVIRONMENT,
    ENVIRONMENT_REF,
    FLAT_CURSOR,
    RUN,
    SESSION,
)

SOURCE = {
    "kind": "subagent",
    "agent_id": "a",
    "agent_name": "worker",
    "task_id": "t",
    "run_id": "r2",
    "parent_run_id": "r",
    "source_sequence": 0,
}
EVENTS = {
    "run_start": {"run_id": "r", "conversation_id": "c"},
    "node_start": {"node": "run_start", "step": 0, "status": "starting"},
    "node_complete": {"node": "run_failed", "step": 2**64 - 1, "status": "cancelled"},
    "custom": {"event": {"kind": "usage_snapshot", "payload": None, "metadata": {}}},
    "model_request": {"step": 1},
    "model_stream": {"step": 1, "event": {"kind": "part_start", "index": 0, "part_kind": "text"}},
    "model_response": {"step": 1, "response": RESPONSE},
    "checkpoint": {"node": "validate_output", "step": 1},
    "suspended": {"node": "tool_call", "reason": ""},
    "tool_call": {"step": 1, "call": CALL},
    "tool_return": {"step": 1, "tool_return": RETURN},
    "output_retry": {"retries": 1, "prompt": "again"},
    "steering_guard": {"step": 1, "prompt": "again"},
    "run_complete": {"run_id": "r", "output": ""},
    "run_cancelled": {"run_id": "r", "reason": "user"},
    "run_failed": {"run_id": "r", "error_kind": "model", "message": "no"},
}
STREAMED = {
    "part_start": {"index": 0, "part_kind": "text"},
    "part_end": {"index": 0, "part_kind": "text"},
    "diagnostic": {"payload": 5, "metadata": {}},
    "final_result": RESPONSE,
}
DELTAS = {
    "text": {"index": 1, "text": ""},
    "thinking": {"index": 1, "text": "hm"},
    "tool_call_name": {"index": 1, "name": "read"},
    "tool_call_arguments": {"index": 1, "arguments_delta": '{"a'},
    "native_payload": {"index": 1, "payload": {"a": [None]}},
    "file_metadata": {"index": 1, "payload": None},
}


def event_record(kind, fields):
    return {"sequence": 9, "source": SOURCE, "event": {"kind": kind, **fields}, "more": [1]}


def streamed_record(kind, fields):
    event = {"kind": kind, **fields}
    return event_record("model_stream", {"step": 1, "event": event})


def delta_record(delta_kind, fields):
    return streamed_record("part_delta", {"delta_kind": delta_kind, **fields})


RECORD = event_record("tool_return", EVENTS["tool_return"])
UPDATE = {
    "run_id": "r1",
    "expected_status": "waiting",
    "status": "failed",
    "resume_claim_id": "x",
    "output_preview": "do",
    "terminal_error": {"code": "x", "message": "y"},
    "approvals": [APPROVAL],
    "deferred_tools": [DEFERRED],
}
COMMIT = {
    "run": RUN,
    "context_state": CONTEXT,
    "environment_state": {
        "schema": "starweaver.environment.state",
        "version": 1,
        "payload": ENVIRONMENT,
    },
    "stream_records": [RECORD, {"sequence": 1, "event": {"kind": "of tomorrow"}}],
    "checkpoints": [
        {"schema": "starweaver.runtime.checkpoint", "version": 1, "payload": CHECKPOINT},
        CHECKPOINT,
    ],
    "approvals": [APPROVAL],
    "deferred_tools": [DEFERRED],
    "stream_cursors": [CURSOR, FLAT_CURSOR],
    "display_messages": [{"sequence": 1}],
    "replay_events": [{}],
    "display_snapshot": {"scope": "run:r"},
    "publication_targets": {"archive": True, "replay": False},
    "related_run_updates": [UPDATE],
    "host_event_publications": [{"publication_key": "k"}],
}

SAMPLES: list[tuple[type[Record], dict]] = [
    (records.Usage, USAGE),
    (records.RelatedRunUpdate, UPDATE),
    (records.TraceContext, TRACE),
    (records.ToolCall, CALL),
    (records.ToolReturn, RETURN),
    (records.ModelResponse, RESPONSE),
    (records.RequestMessage, REQUEST),
    (records.AgentRunState, STATE),
    (records.AgentResumeCursor, EVIDENCE["cursor"]),
    (records.AgentResumeEvidence, EVIDENCE),
    (records.AgentCheckpoint, CHECKPOINT),
    (records.ResumableState, CONTEXT),
    (records.EnvironmentState, ENVIRONMENT),
    (records.EnvironmentStateRef, ENVIRONMENT_REF),
    (records.EnvironmentResource, ENVIRONMENT["resources"][0]),
    (records.EnvironmentProcess, ENVIRONMENT["processes"][0]),
    (records.StreamCursorRef, CURSOR),
    (records.StreamCursorRef, FLAT_CURSOR),
    (records.StreamPosition, CURSOR["position"]),
    (records.SessionRecord, SESSION),
    (records.RunRecord, RUN),
    (records.RunTerminalError, RUN["terminal_error"]),
    (records.ApprovalRecord, APPROVAL),
    (records.ApprovalDecision, APPROVAL["decision"]),
    (records.DeferredToolRecord, DEFERRED),
    (records.ResumeClaim, CLAIM),
    (records.AgentStreamSource, SOURCE),
    (records.RunEvidenceCommit, COMMIT),
    (records.PublicationTargets, COMMIT["publication_targets"]),
    *((records.AgentStreamRecord, event_record(k, f)) for k, f in EVENTS.items()),
    *((records.AgentStreamRecord, streamed_record(k, f)) for k, f in STREAMED.items()),
    *((records.AgentStreamRecord, delta_record(k, f)) for k, f in DELTAS.items()),
]
