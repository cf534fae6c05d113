"""Short ways to write a run by hand and to name what a view shows."""

from tests import samples
from tests.samples import record


def give(run, *items):
    for item in items:
        (run.checkpoint if "checkpoint_id" in item else run.append)(item)


def call(sequence, call_id, **arguments):
    made = {"id": call_id, "name": "look", "arguments": arguments}
    return record(sequence, "tool_call", step=1, call=made)


def returned(call_id):
    return {"tool_call_id": call_id, "name": "look", "content": "seen", "is_error": False}


def tool_return(sequence, call_id):
    return record(sequence, "tool_return", step=1, tool_return=returned(call_id))


def response(sequence, step, text="", **usage):
    parts = [{"kind": "text", "text": text}]
    return record(
        sequence,
        "model_response",
        step=step,
        response={"parts": parts, "usage": samples.ZERO | usage},
    )


def custom(sequence, kind, **payload):
    return record(sequence, "custom", event={"kind": kind, "payload": payload})


def part(sequence, **event):
    return record(sequence, "model_stream", step=0, event=event)


def arguments(sequence, index, text):
    kinds = {"kind": "part_delta", "delta_kind": "tool_call_arguments"}
    return part(sequence, index=index, arguments_delta=text, **kinds)


def child(item, **source):
    usual = {
        "kind": "subagent",
        "agent_id": "w1",
        "agent_name": "worker",
        "task_id": "t",
        "run_id": "child",
        "source_sequence": 0,
    }
    return item | {"source": usual | source}


def open_ids(view):
    return [one["id"] for one in view["live"]["open_tool_calls"]]


def sequences(view):
    return [one["sequence"] for one in view["tail"]]


def texts(view):
    return [
        message["parts"][0].get("text") or message["parts"][0]["content"]
        for message in view["messages"]
    ]
