"""What a host makes up anew for every run: left out where two runs are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from journal.json_door import JSON
from projections.children import Child

RUN_ID = "names the run"
CONVERSATION_ID = "names the conversation"
CLOCK = "what the clock of the host said"
CALL_ID = "names a tool call; a return keeps which call it answers, told by its place"
PROVIDER = "the provider's own account: its ids, usage and signatures"

VOLATILE: Mapping[str, Mapping[str, str]] = {
    "message": {
        "run_id": RUN_ID,
        "conversation_id": CONVERSATION_ID,
        "timestamp": CLOCK,
        "usage": "depends on caches; its sum is compared",
    },
    "metadata of a message": {
        "starweaver_filter_order": "put on a request when the model is asked, not when it is made",
    },
    "provider": {
        "id": PROVIDER,
        "response_id": PROVIDER,
        "details": PROVIDER,
    },
    "tool call": {"id": CALL_ID},
    "tool return": {"tool_call_id": CALL_ID},
    "metadata of a tool return": {"duration_ms": CLOCK, "duration_seconds": CLOCK},
    "private_metadata of a tool return": {
        "python_traceback": "names files, lines and addresses of one process; the exception stays",
    },
    "end of a run": {"run_id": RUN_ID},
    "state": {
        "run_id": RUN_ID,
        "conversation_id": CONVERSATION_ID,
        "parent_run_id": "names the run that started this one",
        "parent_task_id": "names the task that started this one",
    },
}
"""Members that make no difference between two runs, by what they are members of, and why.

What a person, a model or a tool said is no such member, save the id of a child run or of its
task in what a tool returned: it is replaced by the name of the child's agent.
"""

CHILD_IDS = ("agent_id", "run_id", "task_id")
"""Members of what a tool returned that may name a child run."""

Place: TypeAlias = tuple[int, int]
"""Of a part: the message, and which of its parts."""

ENDS = ("run_cancelled", "run_complete", "run_failed")
TURNS = ("model_request", "output_retry", "steering_guard", "suspended")
"""Kinds of stream records that have nothing volatile."""

STATE_MESSAGES = ("idle_messages", "message_history")
STATE_CALLS = ("pending_tool_calls",)
STATE_RETURNS = (
    "deferred_tool_returns",
    "pending_approval_tool_returns",
    "pending_tool_returns",
)


class Comparable:
    """Gives messages and run states of one run as they compare with those of another."""

    def __init__(self, messages: Sequence[dict[str, Any]], children: Iterable[Child]) -> None:
        self._messages = messages
        self._names = {
            each: child.agent_name
            for child in children
            for each in (child.agent_id, child.run_id, child.task_id)
            if each is not None
        }
        self._answers = dict(_answers(messages))

    def message(self, at: int) -> dict[str, Any]:
        """Give the message at a place, from 0."""
        answers = self._answers.get
        found: dict[str, Any] = self._message(self._messages[at], lambda part: answers((at, part)))
        return found

    def state(self, state: Mapping[str, JSON]) -> dict[str, JSON]:
        """Give the members of a run state."""
        return {key: self._member(key, value) for key, value in _without("state", state).items()}

    def tool_return(self, answer: JSON, answers: str | None = None) -> JSON:
        """Give a tool return, or the part of a message that is one.

        Args:
            answers: the call it answers, told by its place.
        """
        if not isinstance(answer, dict):
            return answer
        found = _without("tool return", answer)
        if answers is not None:
            found["tool_call_id"] = answers
        for key in ("metadata", "private_metadata"):
            if isinstance(answer.get(key), dict):
                found[key] = _without(f"{key} of a tool return", answer[key])
        if self._names and "content" in answer:
            found["content"] = self._content(answer["content"])
        return found

    def record(self, record: Mapping[str, JSON]) -> JSON:
        """Give what a run's own stream record tells of its course; None where that is nothing.

        Custom events, nodes and checkpoints are told by other records, too.
        """
        event = record["event"]
        if record.get("source") is not None:
            return None
        told: JSON = None
        match event["kind"]:
            case "model_response":
                told = {**event, "response": self._message(event["response"], _unknown)}
            case "model_stream":
                told = event if event["event"]["kind"] == "part_delta" else None
            case "tool_call":
                told = {**event, "call": tool_call(event["call"])}
            case "tool_return":
                told = {**event, "tool_return": self.tool_return(event["tool_return"])}
            case kind if kind in ENDS:
                told = _without("end of a run", event)
            case kind if kind in TURNS:
                told = event
        return told

    def _message(self, message: JSON, answers: Callable[[int], str | None]) -> JSON:
        if not isinstance(message, dict):
            return message
        found = _without("message", message)
        if isinstance(message.get("provider"), dict):
            found["provider"] = _without("provider", message["provider"])
        if isinstance(message.get("metadata"), dict):
            found["metadata"] = _without("metadata of a message", message["metadata"])
            if not found["metadata"]:
                del found["metadata"]  # as where it was never put
        if isinstance(message.get("parts"), list):
            found["parts"] = [
                self._part(part, answers(at)) for at, part in enumerate(message["parts"])
            ]
        return found

    def _part(self, part: JSON, answers: str | None) -> JSON:
        call = called(part)
        if call is part and call is not None:
            found = tool_call(part)
        elif call is not None:
            found = {**part, "call": tool_call(call)}
        elif isinstance(part, dict) and part.get("kind") == "tool_return":
            return self.tool_return(part, answers)
        else:
            found = part
        if isinstance(found, dict) and isinstance(found.get("provider"), dict):
            return {**found, "provider": _without("provider", found["provider"])}
        return found

    def _member(self, key: str, value: JSON) -> JSON:
        if key == "latest_response":
            return self._message(value, _unknown)
        if not isinstance(value, list):
            return value
        if key in STATE_MESSAGES:
            return [self._message(each, _unknown) for each in value]
        if key in STATE_CALLS:
            return [tool_call(each) for each in value]
        if key in STATE_RETURNS:
            return [self.tool_return(each) for each in value]
        return value

    def _content(self, value: JSON) -> JSON:
        if isinstance(value, list):
            return [self._content(each) for each in value]
        if isinstance(value, dict):
            return {
                key: self._names.get(each, each)
                if key in CHILD_IDS and isinstance(each, str)
                else self._content(each)
                for key, each in value.items()
            }
        return value


def called(part: JSON) -> dict[str, Any] | None:
    """Give the tool call that a part of a message is, or holds; None where there is none."""
    if not isinstance(part, dict) or not str(part.get("kind")).endswith("tool_call"):
        return None
    call = part.get("call")
    return call if isinstance(call, dict) else part


def parts_of(message: JSON) -> list[JSON]:
    """Give the parts of a message; one of an unknown shape has none."""
    parts = message.get("parts") if isinstance(message, dict) else None
    return parts if isinstance(parts, list) else []


def tool_call(call: JSON) -> JSON:
    """Give a tool call as it compares with those of another run."""
    return _without("tool call", call) if isinstance(call, dict) else call


def _answers(messages: Sequence[JSON]) -> Iterable[tuple[Place, str]]:
    """Tell of every tool return in a history which call it answers, counted backwards.

    Counted so, it does not change where the two histories begin differently.
    """
    calls: dict[str, Place] = {}
    for at, message in enumerate(messages):
        for number, part in enumerate(parts_of(message)):
            call = called(part)
            if call is not None and isinstance(call.get("id"), str):
                calls[call["id"]] = at, number
            elif isinstance(part, dict) and part.get("kind") == "tool_return":
                place = calls.get(str(part.get("tool_call_id")))
                if place is not None:
                    yield (at, number), f"{at - place[0]} back, part {place[1]}"


def _without(what: str, value: Mapping[str, JSON]) -> dict[str, JSON]:
    volatile = VOLATILE[what]
    return {key: each for key, each in value.items() if key not in volatile}


def _unknown(_: int) -> None:
    return None
