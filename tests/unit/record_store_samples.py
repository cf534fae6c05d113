"""One full sample of each record that only a session store keeps."""

from tests.unit.record_state_samples import CONTEXT, TRACE

ENVIRONMENT = {
    "provider_id": "virtual",
    "files": {"a.txt": "x"},
    "resources": [{"id": "i", "uri": "mem://i", "metadata": {"resource_kind": "db"}}],
    "processes": [
        {
            "process_id": "p",
            "command": "sleep 5",
            "status": "exited",
            "stdout": "",
            "stderr": "",
            "return_code": -9,
            "metadata": {},
        }
    ],
    "metadata": {"provider_kind": "virtual"},
}
ENVIRONMENT_REF = {"provider": "p", "reference": "ref", "revision": "2", "metadata": {}}
CURSOR = {
    "position": {
        "family": "display",
        "scope": "run:r",
        "sequence": 4,
        "backend_cursor": "b",
        "more": 1,
    },
    "created_at": "2026-11-29T20:44:38.571306Z",
    "metadata": {},
}
FLAT_CURSOR = {
    "family": "raw_runtime",
    "scope": "run:r",
    "sequence": 4,
    "cursor": "b",
    "created_at": "2026-11-29T20:44:38.571306Z",
    "metadata": {},
    "backend_cursor": "a key nobody knows here",
}
_TIMES = {
    "created_at": "2026-11-29T20:44:38.571306Z",
    "updated_at": "2026-11-29T20:44:38.677502Z",
}
SESSION = {
    "session_id": "s",
    "namespace_id": "n",
    "title": "",
    "profile": "p",
    "workspace": {"workspace_id": "w"},
    "status": "active",
    "state": CONTEXT,
    "environment_state": ENVIRONMENT_REF,
    "head_run_id": "r",
    "head_success_run_id": "r",
    "active_run_id": "r",
    "stream_cursors": [CURSOR, FLAT_CURSOR],
    "trace_context": TRACE,
    **_TIMES,
    "revision": 0,
    "metadata": {},
    "deletion_fence": {"state": "open"},
}
RUN = {
    "session_id": "s",
    "run_id": "r",
    "conversation_id": "c",
    "parent_run_id": "r0",
    "parent_task_id": "task",
    "restore_from_run_id": "r1",
    "profile": "p",
    "input": [{"kind": "text", "text": "hi"}],
    "status": "failed",
    "output_preview": "do",
    "structured_output": 1.0,
    "terminal_error": {"code": "x", "message": "y", "more": 1},
    "environment_state": ENVIRONMENT_REF,
    "latest_checkpoint": {"checkpoint_id": "k"},
    "stream_cursors": [CURSOR],
    "sequence_no": 0,
    "trace_context": TRACE,
    **_TIMES,
    "revision": 1,
    "metadata": {},
}
APPROVAL = {
    "approval_id": "a",
    "revision": 2,
    "session_id": "s",
    "run_id": "r",
    "action_id": "call 1",
    "action_name": "deploy",
    "request": {"risk": "high"},
    "reviewed_arguments": 0,
    "status": "approved",
    "decision": {
        "status": "approved",
        "decided_by": "ann",
        "decided_at": "2026-11-29T20:44:39Z",
        "reason": "",
        "metadata": {},
    },
    **_TIMES,
    "trace_context": TRACE,
    "metadata": {},
}
DEFERRED = {
    "deferred_id": "d",
    "revision": 2,
    "session_id": "s",
    "run_id": "r",
    "tool_call_id": "call 1",
    "tool_name": "build",
    "request": {"queue": "q"},
    "status": "completed",
    "response": False,
    **_TIMES,
    "trace_context": TRACE,
    "metadata": {},
}
CLAIM = {
    "claim_id": "x",
    "session_id": "s",
    "run_id": "r",
    "state": "preflight",
    "created_at": "2026-11-29T20:44:38.571306Z",
}
