"""Small, valid records of a session store's host, as both stores take them."""

from tests import samples

TIME = "2026-01-01T00:00:00Z"
STATE = {"agent_id": "main", "started_at": TIME}
APPROVED = {"status": "approved", "decided_by": "ann", "decided_at": TIME}


def session(session_id="s1", **fields):
    return {
        "session_id": session_id,
        "status": "active",
        "state": STATE,
        "created_at": TIME,
        "updated_at": TIME,
        "revision": 1,
        **fields,
    }


def run(run_id="r1", status="running", **fields):
    return {
        "session_id": "s1",
        "run_id": run_id,
        "conversation_id": "c",
        "input": [],
        "status": status,
        "sequence_no": 0,
        "created_at": TIME,
        "updated_at": TIME,
        "revision": 1,
        **fields,
    }


def checkpoint(checkpoint_id="k1", run_id="r1", **fields):
    return samples.checkpoint(checkpoint_id, run_id, **{"node": "model_response", **fields})


def record(sequence, reason="because"):
    return samples.record(sequence, "suspended", node="tool_call", reason=reason)


def cursor(sequence, family="display", scope="run:r1"):
    position = {"family": family, "scope": scope, "sequence": sequence}
    return {"position": position, "created_at": TIME}


def approval(approval_id="a1", run_id="r1", status="pending", **fields):
    return {
        "approval_id": approval_id,
        "revision": 0,
        "session_id": "s1",
        "run_id": run_id,
        "action_id": "call-1",
        "action_name": "deploy",
        "request": {"risk": "high"},
        "status": status,
        "created_at": TIME,
        "updated_at": TIME,
        **fields,
    }


def deferred(deferred_id="d1", run_id="r1", status="waiting", **fields):
    return {
        "deferred_id": deferred_id,
        "revision": 0,
        "session_id": "s1",
        "run_id": run_id,
        "tool_call_id": "call-2",
        "tool_name": "report",
        "request": {"queue": "reports"},
        "status": status,
        "created_at": TIME,
        "updated_at": TIME,
        **fields,
    }


def claim(claim_id="claim-1", run_id="w", state="preflight"):
    return {
        "claim_id": claim_id,
        "session_id": "s1",
        "run_id": run_id,
        "state": state,
        "created_at": TIME,
    }


def evidence(run_id="r1", status="completed", *, of_run=None, **fields):
    """A bundle of a run; `of_run` are fields of its run record."""
    return {
        "run": run(run_id, status, **(of_run or {})),
        "context_state": STATE,
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
        **fields,
    }


def continuation(**update):
    """The bundle of run n, which went on with run w and settles its approval and tool call."""
    related = {
        "run_id": "w",
        "expected_status": "waiting",
        "status": "completed",
        "resume_claim_id": "claim-1",
        "approvals": [approval(run_id="w", status="approved", decision=APPROVED)],
        "deferred_tools": [deferred(run_id="w", status="completed", response={"url": "x"})],
        **update,
    }
    return evidence("n", of_run={"restore_from_run_id": "w"}, related_run_updates=[related])


WAITING = evidence(
    "w", "waiting", approvals=[approval(run_id="w")], deferred_tools=[deferred(run_id="w")]
)
"""The bundle of a run that waits for a person and for a tool."""
