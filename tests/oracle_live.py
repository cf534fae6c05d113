"""Part of the oracle (`tests.oracle`): what is going on at the end of some events."""

from tests.oracle_order import CHECKPOINT, RECORD, RUN_RECORDS, is_own, last, responses

COUNTERS = (
    "requests",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cache_write_tokens",
    "cache_read_tokens",
    "tool_calls",
)
WITH_STEP = (
    "node_start",
    "node_complete",
    "checkpoint",
    "model_request",
    "model_response",
    "tool_call",
    "tool_return",
    "steering_guard",
)


def usage(events):
    """Start from the checkpoint's usage and add that of the responses after it.

    A response that a later context took into its own history is in the messages, too.
    """
    at, checkpoint = last(events, CHECKPOINT)
    step, total = -1, dict.fromkeys(COUNTERS, 0)
    if checkpoint is not None:
        step, total = checkpoint.body["run_step"], checkpoint.body["state"]["usage"]
    hours = "cache_write_1h_tokens"
    for one in [response["usage"] for response in responses(events[at + 1 :], step)]:
        both = {}
        for name in COUNTERS:
            both[name] = min((total.get(name) or 0) + (one.get(name) or 0), 2**64 - 1)
        if total.get(hours) is not None or one.get(hours) is not None:
            both[hours] = min((total.get(hours) or 0) + (one.get(hours) or 0), 2**64 - 1)
        total = both
    return total


def open_tool_calls(checkpoint, records, records_after, messages):
    """List the calls that nobody has answered.

    "The history" is the checkpoint's, and that of the messages where it is another. A call
    that a checkpoint still holds as pending is answered by a return before it, too: a
    compacted history may no longer hold that return.
    """
    calls, answered = [], set()
    if checkpoint is not None:
        state = checkpoint.body["state"]
        before = {
            event.body["event"]["tool_return"]["tool_call_id"]
            for event in records
            if event not in records_after and is_own(event, "tool_return")
        }
        calls += [c for c in state.get("pending_tool_calls") or [] if c["id"] not in before]
        for held in (
            "pending_tool_returns",
            "pending_approval_tool_returns",
            "deferred_tool_returns",
        ):
            answered |= {one["tool_call_id"] for one in state.get(held) or []}
        messages = state["message_history"] + messages
    for message in messages:
        if message["kind"] == "request":
            for part in message["parts"]:
                if part["kind"] == "tool_return":
                    answered.add(part["tool_call_id"])
    for event in records_after:
        if is_own(event, "tool_call"):
            calls.append(event.body["event"]["call"])
        if is_own(event, "tool_return"):
            answered.add(event.body["event"]["tool_return"]["tool_call_id"])
    found = {}
    for call in calls:
        if call["id"] not in answered and call["id"] not in found:
            found[call["id"]] = {name: call[name] for name in ("id", "name", "arguments")}
    return list(found.values())


def restarts(said):
    """Tell whether the model starts to answer anew with this."""
    if said["kind"] == "custom":
        return said["event"]["kind"] == "model_stream_resume"
    return said["kind"] == "model_request"


def streamed(records):
    """Collect what the model streams: text, thinking, and tool calls by part index."""
    text, thinking, partial = "", "", {}
    for event in records:
        if is_own(event, "model_request", "custom") and restarts(event.body["event"]):
            text, thinking, partial = "", "", {}
        if not is_own(event, "model_stream"):
            continue
        part = event.body["event"]["event"]
        delta = part.get("delta_kind") if part["kind"] == "part_delta" else None
        if delta == "text":
            text += part["text"]
        if delta == "thinking":
            thinking += part["text"]
        started = part["kind"] == "part_start" and part["part_kind"] == "tool_call"
        if started or delta in ("tool_call_name", "tool_call_arguments"):
            call = partial.setdefault(
                part["index"], {"index": part["index"], "name": None, "arguments_text": ""}
            )
            if delta == "tool_call_name":
                call["name"] = part["name"]
            if delta == "tool_call_arguments":
                call["arguments_text"] += part["arguments_delta"]
    return text, thinking, list(partial.values())


def said_status(record):
    """Tell the status a record sets; None for most."""
    event = record["event"]
    return {
        "run_start": "running",
        "node_start": event.get("status"),
        "node_complete": event.get("status"),
        "suspended": "waiting",
        "run_complete": "completed",
        "run_cancelled": "cancelled",
        "run_failed": "failed",
    }.get(event["kind"])


def status_of(event):
    """Tell the status of the run that an event sets; None for most."""
    if event.kind == CHECKPOINT:
        return event.body["state"]["status"]
    if event.kind == RECORD and event.body.get("source") is None:
        return said_status(event.body)
    if event.name == "run.status_changed.v1":
        return event.body["status"]
    if event.name in RUN_RECORDS:
        return event.body["run"]["status"]
    return {"run.suspended.v1": "waiting", "run.resumed.v1": "running"}.get(event.name)


def progress(events):
    """Walk through all events: status, node, step, output, error, suspended.

    An error and a suspension last as long as the status they came with.
    """
    now = dict.fromkeys(("status", "node", "output", "error", "suspended")) | {"step": 0}
    for event in events:
        status = status_of(event)
        if status is not None and status != now["status"]:
            now["status"] = status
            now["error"] = now["suspended"] = None
        if event.kind == CHECKPOINT:
            now["node"], now["step"] = event.body["node"], event.body["run_step"]
            now["output"] = event.body["state"].get("output")
        if is_own(event, "node_start", "node_complete", "checkpoint", "suspended"):
            now["node"] = event.body["event"]["node"]
        if is_own(event, *WITH_STEP):
            now["step"] = event.body["event"]["step"]
        if is_own(event, "suspended"):
            now["suspended"] = {"reason": event.body["event"]["reason"]}
        if is_own(event, "run_complete"):
            now["output"] = event.body["event"]["output"]
        if is_own(event, "run_failed"):
            said = event.body["event"]
            now["error"] = {"error_kind": said["error_kind"], "message": said["message"]}
        if event.name == "run.suspended.v1":
            now["suspended"] = {"reason": event.body["reason"]}
        if event.name in RUN_RECORDS and now["error"] is None:
            wrong = event.body["run"].get("terminal_error")
            if wrong is not None:
                now["error"] = {"error_kind": wrong["code"], "message": wrong["message"]}
    return now


def children(records):
    """List the child runs whose records were merged into this run's."""
    found = {}
    for event in records:
        source = event.body.get("source")
        if source is not None:
            key = (source.get("run_id"), source["agent_id"], source.get("task_id"))
            found.setdefault(key, []).append(event)
    return [child(key, events) for key, events in found.items()]


def child(key, events):
    """Describe one child run from its records."""
    run_id, agent_id, task_id = key
    status, deltas, answered = None, "", ""
    for event in events:
        status = said_status(event.body) or status
        said = event.body["event"]
        if restarts(said):
            deltas = ""
        if said["kind"] == "model_request":
            answered = ""
        if said["kind"] == "model_stream" and said["event"].get("delta_kind") == "text":
            deltas += said["event"]["text"]
        if said["kind"] == "model_response":
            parts = said["response"]["parts"]
            texts = [part for part in parts if part["kind"] in ("text", "provider_text")]
            answered = "".join(part["text"] for part in texts)
    return {
        "run_id": run_id,
        "agent_id": agent_id,
        "agent_name": events[-1].body["source"]["agent_name"],
        "task_id": task_id,
        "status": status,
        "text": deltas or answered,
        "records": len(events),
    }
