"""One line of plain text for each event, for logs.

The text is not escaped: whoever prints it on a terminal does that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from journal.codec import RecordedEvent
from journal.events import StreamRecorded
from journal.json_door import dumps
from projections.children import response_text
from projections.order import shaped

CALL_PARTS = ("tool_call", "provider_tool_call", "native_tool_call")
"""Parts of a response that call a tool, by kind."""

Summarize = Callable[[dict[str, Any]], str]


def summarize(event: RecordedEvent) -> str:
    """Say in one line what happened.

    An event of an unknown name, or a record of an unknown kind, is shown as its JSON.

    Raises:
        CorruptEvent: its JSON does not have the shape its name promises.
    """
    with shaped(event):
        if event.name == StreamRecorded.NAME:
            return _line(_record(event.data["record"]))
        tell: Summarize = FACTS.get(event.name, _json)
        return _line(tell(event.data))


def summarize_record(record: dict[str, Any]) -> str:
    """Say in one line what a stream record tells, as the log does.

    A record of an unknown kind, or one that lacks what its kind promises, is shown as JSON.

    Args:
        record: an `AgentStreamRecord`, such as those of `RunView.tail`.
    """
    try:
        return _line(_record(record))
    except (AttributeError, KeyError, TypeError):
        return _json(record)


def _record(record: dict[str, Any]) -> str:
    event = record["event"]
    tell: Summarize = RECORDS.get(event["kind"], _json)
    summary = tell(event)
    source = record.get("source")
    return summary if source is None else f"[{source['agent_name']}] {summary}"


def _line(summary: str) -> str:
    return " ".join(summary.splitlines())


def _json(value: Any) -> str:
    return dumps(value).decode()


def _text_or_json(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _and(text: str, reason: str | None) -> str:
    return text if reason is None else f"{text}: {reason}"


def _node(event: dict[str, Any]) -> str:
    return f"{event['node']}, step {event['step']}, {event['status']}"


def _custom(event: dict[str, Any]) -> str:
    custom = event["event"]
    return f"{custom['kind']} {_json(custom['payload'])}"


def _model_stream(event: dict[str, Any]) -> str:
    streamed = event["event"]
    match streamed["kind"]:
        case "part_start":
            return f"part {streamed['index']} starts: {streamed['part_kind']}"
        case "part_end":
            return f"part {streamed['index']} ends"
        case "part_delta":
            return _delta(streamed)
        case "final_result":
            return _and("final result", _response(streamed))
        case kind:
            return f"{kind} {_json(streamed)}"


def _delta(delta: dict[str, Any]) -> str:
    kind = delta["delta_kind"]
    match kind:
        case "text" | "thinking":
            value = delta["text"]
        case "tool_call_name":
            value = delta["name"]
        case "tool_call_arguments":
            value = delta["arguments_delta"]
        case _:
            value = _json(delta.get("payload"))
    return f"{kind} {value}"


def _response(response: dict[str, Any]) -> str:
    calls = [_call(_called(part)) for part in response["parts"] if part["kind"] in CALL_PARTS]
    text = response_text(response)
    return "; ".join([text, *calls] if text or not calls else calls)


def _called(part: dict[str, Any]) -> dict[str, Any]:
    """Give the call in a part; a provider's part may hold it in a member of its own."""
    inner = part.get("call")
    return inner if isinstance(inner, dict) else part


def _call(call: dict[str, Any]) -> str:
    return f"{call['name']}({_text_or_json(call.get('arguments'))})"


def _tool_return(event: dict[str, Any]) -> str:
    answer = event["tool_return"]
    sign = "failed" if answer["is_error"] else "->"
    return f"{answer['name']} {sign} {_text_or_json(answer['content'])}"


RECORDS: dict[str, Summarize] = {
    "run_start": lambda event: event["run_id"],
    "node_start": _node,
    "node_complete": _node,
    "custom": _custom,
    "model_request": lambda event: f"step {event['step']}",
    "model_stream": _model_stream,
    "model_response": lambda event: f"step {event['step']}: {_response(event['response'])}",
    "checkpoint": lambda event: f"{event['node']}, step {event['step']}",
    "suspended": lambda event: f"{event['node']}: {event['reason']}",
    "tool_call": lambda event: _call(event["call"]),
    "tool_return": _tool_return,
    "output_retry": lambda event: f"retry {event['retries']}: {event['prompt']}",
    "steering_guard": lambda event: event["prompt"],
    "run_complete": lambda event: event["output"],
    "run_cancelled": lambda event: event["reason"],
    "run_failed": lambda event: f"{event['error_kind']}: {event['message']}",
}
"""How each kind of stream record is told; another kind is not known."""


def _checkpoint(data: dict[str, Any]) -> str:
    return (
        f"{data['checkpoint_id']} at {data['node']}, step {data['step']}, {data['status']}, "
        f"{data['messages']} messages"
    )


def _context(data: dict[str, Any]) -> str:
    messages = data.get("messages")
    return "context state" if messages is None else f"context state, {messages} messages"


def _run(data: dict[str, Any]) -> str:
    return str(data["run"]["status"])


def _approval(data: dict[str, Any]) -> str:
    record = data["record"]
    return f"{record['approval_id']} {record['action_name']}: {record['status']}"


def _deferred_tool(data: dict[str, Any]) -> str:
    record = data["record"]
    return f"{record['deferred_id']} {record['tool_name']}: {record['status']}"


def _run_changed(data: dict[str, Any]) -> str:
    committed = ", committed" if data.get("committed") else ""
    return f"run {data['run_id']}: {data['status']}{committed}"


def _operator(data: dict[str, Any]) -> str:
    who = data["operator"]
    account = f"{who['user']}@{who['host']}"
    return account if who.get("name") is None else f"{who['name']} ({account})"


FACTS: dict[str, Summarize] = {
    "approval.decided.v1": _approval,
    "approval.requested.v1": _approval,
    "checkpoint.taken.v1": _checkpoint,
    "context.exported.v1": _context,
    "cursor.saved.v1": lambda data: _json(data["cursor"]),
    "deferred_tool.requested.v1": _deferred_tool,
    "deferred_tool.resolved.v1": _deferred_tool,
    "document.copied.v1": lambda data: f"the document of event {data['version']}, whole",
    "environment.exported.v1": lambda _: "environment state",
    "environment.referenced.v1": lambda data: (
        f"environment state {data['environment_state']['reference']}"
    ),
    "publication.acknowledged.v1": lambda data: data["target"],
    "resume.allowed.v1": lambda data: _and(_operator(data), data.get("reason")),
    "resume.claimed.v1": lambda data: data["claim"]["claim_id"],
    "resume.released.v1": lambda data: data["claim_id"],
    "resume.started.v1": lambda data: data["claim_id"],
    "run.archived.v1": lambda data: (
        f"{data['through_version']} events are in the archive of journal {data['archive']}"
    ),
    "run.committed.v1": _run,
    "run.forked.v1": lambda data: (
        f"session {data['session_id']}, from {data.get('forked') or data['source']} "
        f"at {data['cursor']}"
    ),
    "run.lease_taken.v1": lambda data: (
        f"generation {data['generation']}, process {data['process']} on {data['host']} "
        f"({data['taken']})"
    ),
    "run.opened.v1": lambda data: f"session {data['session_id']}",
    "run.resumed.v1": lambda data: (
        "goes on" if data.get("attempt") is None else f"attempt {data['attempt']}"
    ),
    "run.saved.v1": _run,
    "run.sealed.v1": lambda _: "closed for good",
    "run.status_changed.v1": lambda data: _and(data["status"], data.get("reason")),
    "run.suspend_requested.v1": lambda data: _and(_operator(data), data["reason"]),
    "run.suspended.v1": lambda data: data["reason"],
    "session.run_added.v1": lambda data: f"run {data['run_id']}",
    "session.run_changed.v1": _run_changed,
    "session.saved.v1": lambda _: "session record",
    "session.status_changed.v1": lambda data: data["status"],
}
"""How each event is told, besides stream records."""
