"""Small, valid records of a host, as plain JSON."""

ZERO = {
    "requests": 0,
    "input_tokens": 0,
    "output_tokens": 0,
    "total_tokens": 0,
    "cache_write_tokens": 0,
    "cache_read_tokens": 0,
    "tool_calls": 0,
}


def record(sequence, kind="node_start", **fields):
    event = {"kind": kind, **fields}
    if kind == "node_start" and not fields:
        event |= {"node": "model_response", "step": 1, "status": "running"}
    return {"sequence": sequence, "event": event}


def delta(sequence, text, step=0):
    event = {"kind": "part_delta", "index": 0, "delta_kind": "text", "text": text}
    return record(sequence, "model_stream", step=step, event=event)


def user(text):
    return {"kind": "request", "parts": [{"kind": "user_prompt", "content": text}]}


def answer(text, usage=None):
    return {
        "kind": "response",
        "parts": [{"kind": "text", "text": text}],
        "usage": usage or ZERO,
    }


def checkpoint(
    checkpoint_id="k1",
    run_id="r",
    *,
    stream_cursor=0,
    messages=(),
    step=0,
    node="run_start",
    status="running",
    conversation_id="c",
    **state,
):
    cursor = {
        "model_request_attempt": step,
        "output_validation_attempt": 0,
        "message_cursor": len(messages),
    }
    if stream_cursor is not None:
        cursor["stream_cursor"] = stream_cursor
    return {
        "checkpoint_id": checkpoint_id,
        "run_id": run_id,
        "conversation_id": conversation_id,
        "node": node,
        "run_step": step,
        "resume": {
            "node": node,
            "status": status,
            "run_step": step,
            "cursor": cursor,
            "usage": ZERO,
            "pending_approval_count": 0,
            "deferred_tool_count": 0,
        },
        "state": {
            "run_id": run_id,
            "conversation_id": conversation_id,
            "message_history": list(messages),
            "usage": ZERO,
            "run_step": step,
            "status": status,
            **state,
        },
        "metadata": {"span_id": None},
    }


def context(messages=(), **fields):
    return {"agent_id": "main", "message_history": list(messages), **fields}


def run_record(run_id="r", session_id="s", status="completed", **fields):
    return {
        "run_id": run_id,
        "session_id": session_id,
        "conversation_id": "c",
        "input": [{"kind": "text", "text": "hi"}],
        "status": status,
        "sequence_no": 0,
        "created_at": "2026-11-29T20:44:38.571306Z",
        "updated_at": "2026-11-29T20:44:38.677502Z",
        "revision": 1,
        **fields,
    }


def bundle(run=None, **items):
    return {
        "run": run or run_record(),
        "context_state": context(),
        "environment_state": None,
        "stream_records": [],
        "checkpoints": [],
        "approvals": [],
        "deferred_tools": [],
        "stream_cursors": [],
        "display_messages": [],
        "replay_events": [],
        "display_snapshot": None,
        "publication_targets": {"archive": False, "replay": False},
        "related_run_updates": [],
        **items,
    }


def approval(status="pending", run_id="r", **fields):
    made = {
        "approval_id": "a1",
        "revision": 1,
        "session_id": "s",
        "run_id": run_id,
        "action_id": "call-1",
        "action_name": "deploy",
        "request": {"risk": "high"},
        "status": status,
        "created_at": "2026-11-29T20:44:39.179966441Z",
        "updated_at": "2026-11-29T20:44:39.179966441Z",
    }
    if status != "pending":
        made |= {
            "decision": {"status": status, "decided_at": "2026-11-29T20:50:00Z"},
            "revision": 2,
        }
    return made | fields


def deferred_tool(status="waiting", run_id="r", **fields):
    return {
        "deferred_id": "d1",
        "revision": 1,
        "session_id": "s",
        "run_id": run_id,
        "tool_call_id": "call-1",
        "tool_name": "lookup",
        "status": status,
        "created_at": "2026-11-29T20:44:39.179966441Z",
        "updated_at": "2026-11-29T20:44:39.179966441Z",
        **fields,
    }


def session_record(session_id="s", **fields):
    return {
        "session_id": session_id,
        "status": "active",
        "state": {"agent_id": "main"},
        "created_at": "2026-11-29T20:44:38.567828079Z",
        "updated_at": "2026-11-29T20:44:38.567828079Z",
        "revision": 1,
        **fields,
    }


def stream_cursor(sequence=52, run_id="r"):
    position = {"family": "raw_runtime", "scope": f"run:{run_id}", "sequence": sequence}
    return {"position": position, "created_at": "2026-11-29T20:44:38.686015004Z"}


def resume_claim(run_id="r"):
    return {
        "claim_id": "x",
        "session_id": "s",
        "run_id": run_id,
        "state": "preflight",
        "created_at": "2026-11-29T20:44:39Z",
    }
