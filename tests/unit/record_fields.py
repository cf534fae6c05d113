"""The records' fields as the vocabulary states them, written apart from the models.

`?` marks what may be absent or null; the word after the colon is the type.
"""

from journal import records

FIELDS = {
    records.Usage: "requests:count input_tokens:count output_tokens:count total_tokens:count "
    "cache_write_tokens?:count cache_read_tokens?:count tool_calls?:count "
    "cache_write_1h_tokens?:count",
    records.TraceContext: "trace_id?:id span_id?:id parent_span_id?:id trace_state?:text "
    "metadata?:object",
    records.ToolCall: "id:id name:text arguments:any",
    records.ToolReturn: "tool_call_id:id name:text content:any is_error:flag metadata?:object "
    "app_value?:any user_content?:any private_metadata?:object",
    records.ModelResponse: "parts:list usage:object model_name?:text provider?:any "
    "finish_reason?:text timestamp?:text run_id?:id conversation_id?:id metadata?:object",
    records.RequestMessage: "kind:word parts:list timestamp?:text instructions?:any run_id?:id "
    "conversation_id?:id metadata?:object",
    records.AgentRunState: "run_id:id conversation_id:id message_history:list usage:object "
    "run_step:count status:word output?:any structured_output?:any latest_response?:object "
    "pending_tool_calls?:list pending_tool_returns?:list pending_approval_tool_returns?:list "
    "deferred_tool_returns?:list idle_messages?:list parent_run_id?:id parent_task_id?:id "
    "metadata?:object",
    records.AgentResumeCursor: "model_request_attempt:count tool_call_batch_id?:id "
    "output_validation_attempt:count stream_cursor?:count message_cursor:count",
    records.AgentResumeEvidence: "node:word status:word run_step:count cursor:object "
    "usage:object context_revision?:text environment_ref?:text pending_approval_count:count "
    "deferred_tool_count:count trace_context?:object metadata?:object",
    records.AgentCheckpoint: "checkpoint_id:id run_id:id conversation_id:id node:word "
    "run_step:count resume:object state:object metadata?:object",
    records.ResumableState: "agent_id:id run_id?:id session_id?:id parent_run_id?:id "
    "parent_task_id?:id conversation_id?:id message_history?:list pending_tool_returns?:list "
    "subagent_history?:object user_prompts?:any previous_assistant_response_reference?:any "
    "steering_messages?:any handoff_message?:any usage?:object state?:any message_bus?:any "
    "trace_snapshot?:any metadata?:object extra?:any",
    records.EnvironmentState: "provider_id:id files?:object resources?:list processes?:list "
    "metadata?:object",
    records.EnvironmentStateRef: "provider:text reference:text revision?:any metadata?:object",
    records.EnvironmentResource: "id:id uri:text metadata?:object",
    records.EnvironmentProcess: "process_id:id command:text status:text stdout:text stderr:text "
    "return_code?:integer metadata?:object",
    records.StreamPosition: "family:word scope:text sequence:count backend_cursor?:text",
    records.StreamCursorRef: "position:object created_at:text metadata?:object",
    records.SessionRecord: "session_id:id namespace_id?:id title?:text profile?:any "
    "workspace?:any status:word state:object environment_state?:object head_run_id?:id "
    "head_success_run_id?:id active_run_id?:id stream_cursors?:list trace_context?:object "
    "created_at:text updated_at:text revision:count metadata?:object",
    records.RunRecord: "session_id:id run_id:id conversation_id:id parent_run_id?:id "
    "parent_task_id?:id restore_from_run_id?:id profile?:any input?:any status:word "
    "output_preview?:text structured_output?:any environment_state?:object "
    "latest_checkpoint?:object stream_cursors?:list sequence_no:count trace_context?:object "
    "created_at:text updated_at:text revision:count metadata?:object",
    records.RunTerminalError: "code:text message:text",
    records.ApprovalRecord: "approval_id:id revision:count session_id:id run_id:id action_id:id "
    "action_name:text request?:any reviewed_arguments?:any status:word decision?:object "
    "created_at:text updated_at:text trace_context?:object metadata?:object",
    records.ApprovalDecision: "status:word decided_by?:text decided_at:text reason?:text "
    "metadata?:object",
    records.DeferredToolRecord: "deferred_id:id revision:count session_id:id run_id:id "
    "tool_call_id:id tool_name:text request?:any status:word response?:any created_at:text "
    "updated_at:text trace_context?:object metadata?:object",
    records.ResumeClaim: "claim_id:id session_id:id run_id:id state:word created_at:text",
    records.AgentStreamSource: "kind:word agent_id:id agent_name:text task_id?:id run_id?:id "
    "parent_run_id?:id source_sequence:count",
    records.RunEvidenceCommit: "run:object context_state:object environment_state?:object "
    "stream_records:list checkpoints:list approvals:list deferred_tools:list "
    "stream_cursors:list display_messages:list replay_events:list display_snapshot?:object "
    "publication_targets:object related_run_updates:list host_event_publications?:list",
    records.RelatedRunUpdate: "run_id:id expected_status:word status:word resume_claim_id:id "
    "output_preview?:text terminal_error?:object approvals?:list deferred_tools?:list",
    records.PublicationTargets: "archive:flag replay:flag",
    records.AgentStreamRecord: "sequence:count source?:object event:object",
}

EVENT_FIELDS = {
    "run_start": "run_id:id conversation_id:id",
    "node_start": "node:word step:count status:word",
    "node_complete": "node:word step:count status:word",
    "custom": "event:object",
    "model_request": "step:count",
    "model_stream": "step:count event:object",
    "model_response": "step:count response:object",
    "checkpoint": "node:word step:count",
    "suspended": "node:word reason:text",
    "tool_call": "step:count call:object",
    "tool_return": "step:count tool_return:object",
    "output_retry": "retries:count prompt:text",
    "steering_guard": "step:count prompt:text",
    "run_complete": "run_id:id output:text",
    "run_cancelled": "run_id:id reason:text",
    "run_failed": "run_id:id error_kind:text message:text",
}
STREAMED_FIELDS = {
    "part_start": "index:count part_kind:text",
    "part_end": "index:count part_kind?:text",
    "diagnostic": "kind:text payload:any metadata?:object",
    "final_result": FIELDS[records.ModelResponse],
}
DELTA_FIELDS = {
    "text": "index:count text:text",
    "thinking": "index:count text:text",
    "tool_call_name": "index:count name:text",
    "tool_call_arguments": "index:count arguments_delta:text",
    "native_payload": "index:count payload:any",
    "file_metadata": "index:count payload:any",
}

WRONG = {
    "id": ["", 5, ["a"]],
    "text": [5, {"a": 1}, True],
    "count": ["5", 1.0, True, -1, 2**64],
    "integer": ["5", 1.0, False, 2**64, -(2**63) - 1],
    "flag": [0, "true"],
    "object": [[], "x", 1],
    "list": [{}, "x", 1],
    "word": ["weird", "", "Running", 5, ["running"]],
    "any": [],
}
"""Values no field of the type may have; null neither, where the field must be there."""


def fields_of(text):
    """Read field notation: (name, may be absent, type)."""
    for field in text.split():
        name, kind = field.split(":")
        yield name.removesuffix("?"), name.endswith("?"), kind


def wrong_values(text):
    """Yield each field with each value that is wrong for it."""
    for name, optional, kind in fields_of(text):
        for value in WRONG[kind] if optional or kind == "any" else [*WRONG[kind], None]:
            yield name, value
