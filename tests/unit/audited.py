"""Runs to ask the audit about, in a few words."""

from journal import times
from tests import samples

START = times.parse_time("2026-11-01T00:00:00Z")
DAY = 86_400_000_000


def child(run_id, name="worker"):
    return {
        "kind": "subagent",
        "agent_id": f"{name}-1",
        "agent_name": name,
        "task_id": "t",
        "run_id": run_id,
        "source_sequence": 0,
    }


def record(sequence, kind, source=None, **fields):
    made = samples.record(sequence, kind, **fields)
    return made if source is None else made | {"source": source}


def called(sequence, call_id, tool="lookup", step=1, *, arguments=None, source=None):
    call = {"id": call_id, "name": tool, "arguments": arguments or {}}
    return record(sequence, "tool_call", source, step=step, call=call)


def returned(
    sequence, call_id, tool="lookup", step=1, *, content="done", error=False, flow=None,
    duration=None, source=None,
):  # fmt: skip
    metadata = {}
    if flow is not None:
        metadata["control_flow"] = flow
    if duration is not None:
        metadata["duration_ms"] = duration
    made = {"tool_call_id": call_id, "name": tool, "content": content, "is_error": error}
    if metadata:
        made["metadata"] = metadata
    return record(sequence, "tool_return", source, step=step, tool_return=made)


def response(sequence, step=1, text="well", model="m", *, source=None, **tokens):
    made = {
        "parts": [{"kind": "text", "text": text}],
        "usage": samples.ZERO | tokens,
        "model_name": model,
    }
    return record(sequence, "model_response", source, step=step, response=made)


def ended(sequence, run_id="r", output="done"):
    return record(sequence, "run_complete", run_id=run_id, output=output)


def failed(sequence, run_id="r", kind="boom", message="it broke"):
    return record(sequence, "run_failed", run_id=run_id, error_kind=kind, message=message)


def opened(journal, run_id="r", session_id="s", *records):
    run = journal.run(run_id, session_id=session_id, conversation_id="c")
    if records:
        run.append_many(list(records))
    return run
