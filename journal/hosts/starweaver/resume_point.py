"""Where an agent goes on with a run: its next request to the model, and what that lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Part: TypeAlias = dict[str, Any]

CALLS = ("tool_call", "provider_tool_call")
"""Parts of a response that the runtime answers itself; the others the provider answers."""

BEGINNING = ("run_start", "prepare_model_request")
"""Nodes at which a run's prompt is not part of its history, in its first step."""


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """A run's history up to its next request to the model, and what goes into that request."""

    history: list[dict[str, Any]]
    """Ends with the response whose tool calls are answered next, or before the prompt."""
    returns: list[Part]
    """Answers to that response's tool calls (`tool_return` without `kind`), as far as known."""
    calls: list[Part]
    """Its tool calls (`id`, `name`, `arguments`) that nothing answers yet, in order."""
    prompt: str
    """What the user asked; empty where tool calls are answered."""


def resume_point(
    checkpoint: Mapping[str, Any],
    history: list[dict[str, Any]],
    recorded: Sequence[Part] = (),
) -> ResumePoint:
    """Tell where to go on after a checkpoint (`AgentCheckpoint`).

    A request that the model did not answer is asked again, as the runtime makes it; so is one
    whose answer had no tool calls and was not accepted yet. Steering messages in it are lost.

    Args:
        checkpoint: the last one.
        history: at the checkpoint, or later.
        recorded: answers of tools that were recorded after the history.
    """
    state = checkpoint["state"]
    pending = state.get("pending_tool_returns") or ()
    returns: list[Part] = [answer for answer in (*pending, *recorded) if not asks(answer)]
    prompt = str((state.get("metadata") or {}).get("starweaver_original_request") or "")
    if checkpoint["node"] in BEGINNING and not checkpoint["run_step"] and not returns:
        return ResumePoint(history, [], [], prompt)
    for at in range(len(history), 0, -1):
        message = history[at - 1]
        if message["kind"] == "response":
            calls = [call for part in message["parts"] if (call := called(part)) is not None]
            if calls:
                return _answering(history[:at], calls, returns)
        elif answers := [answer for answer in tool_returns(message) if not asks(answer)]:
            returns = [*answers, *returns]
        elif text := prompted(message):
            mine = state["run_id"]
            begins = not any(earlier.get("run_id") == mine for earlier in history[: at - 1])
            return ResumePoint(history[: at - 1], [], [], (begins and prompt) or text)
    return ResumePoint([], [], [], prompt)


def called(part: Part) -> Part | None:
    """Give the tool call that a part of a response is, or holds; None where there is none."""
    if part["kind"] not in CALLS:
        return None
    call = part.get("call", part)
    return {key: call[key] for key in ("id", "name", "arguments") if key in call}


def tool_returns(message: Mapping[str, Any]) -> list[Part]:
    """Give the tool returns in a request, without their `kind`."""
    return [
        {key: value for key, value in part.items() if key != "kind"}
        for part in message["parts"]
        if part["kind"] == "tool_return"
    ]


def asks(answer: Mapping[str, Any]) -> bool:
    """Tell whether a tool returned with a demand in place of an answer."""
    return bool((answer.get("metadata") or {}).get("control_flow"))


def prompted(message: Mapping[str, Any]) -> str:
    """Give the text of the last thing that a user said in a request."""
    for part in reversed(message["parts"]):
        if part["kind"] == "user_prompt":
            return "\n".join(item["text"] for item in part["content"] if item["kind"] == "text")
    return ""


def _answering(
    history: list[dict[str, Any]], calls: list[Part], returns: list[Part]
) -> ResumePoint:
    known = {answer["tool_call_id"]: answer for answer in returns}
    asked = [call["id"] for call in calls]
    return ResumePoint(
        history,
        [known[call_id] for call_id in asked if call_id in known],
        [call for call in calls if call["id"] not in known],
        "",
    )
