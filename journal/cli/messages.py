"""Messages, tool calls and their returns as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

ROLE_STYLES = {
    "system": "dim",
    "instruction": "dim",
    "user": "cyan",
    "assistant": "green",
    "thinking": "dim italic",
    "call": "yellow",
    "return": "magenta",
    "retry": "yellow",
    "error": "red",
}

_ROLES = {
    "system_prompt": "system",
    "instruction": "instruction",
    "user_prompt": "user",
    "retry_prompt": "retry",
    "text": "assistant",
    "provider_text": "assistant",
    "thinking": "thinking",
    "provider_thinking": "thinking",
}
"""Message parts that are text, by kind."""


class Said(NamedTuple):
    """One part of a message: who, and what."""

    role: str
    text: str


def said(message: dict[str, Any]) -> Iterator[Said]:
    """Yield the parts of a message; one of an unknown kind, or without parts, is one part."""
    parts = message.get("parts")
    if not isinstance(parts, list):
        yield Said(shown(message["kind"]), shown(_besides_kind(message)))
        return
    for part in parts:
        yield _said(part)
    if not parts:
        yield Said(message["kind"], "")


def _said(part: Any) -> Said:
    if not isinstance(part, dict):
        return Said("?", shown(part))  # a damaged part is shown, too
    kind = shown(part.get("kind"))
    if kind in _ROLES:
        return Said(_ROLES[kind], _text(part))
    if kind == "tool_return":
        role = "error" if part.get("is_error") else "return"
        return Said(role, f"{shown(part.get('name'))}: {shown(part.get('content'))}")
    call = part.get("call")
    if not isinstance(call, dict):
        call = part
    if kind.endswith("tool_call") and isinstance(call.get("name"), str):
        return Said("call", call_text(call["name"], call.get("arguments")))
    return Said(kind, shown(_besides_kind(part)))


def _besides_kind(value: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in value.items() if key != "kind"}


def _text(part: dict[str, Any]) -> str:
    """Give the text of a part; anything that is not text is shown as JSON."""
    for key in ("text", "content", "prompt"):
        if key in part:
            value = part[key]
            pieces = value if isinstance(value, list) else [value]
            return " ".join(map(_piece, pieces))
    return shown(_besides_kind(part))


def _piece(piece: Any) -> str:
    if isinstance(piece, dict) and piece.get("kind") == "text" and "text" in piece:
        return shown(piece["text"])
    return shown(piece)


def call_text(name: str, arguments: Any) -> str:
    """Write a tool call as `name(city="Paris", days=3)`."""
    if isinstance(arguments, dict):
        return f"{name}({', '.join(f'{key}={_json(each)}' for key, each in arguments.items())})"
    return f"{name}({'' if arguments is None else shown(arguments)})"


def shown(value: Any) -> str:
    """Give a string as it is, any other JSON as compact text."""
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
