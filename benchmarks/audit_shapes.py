"""The records of a run as the runtime makes them, for the audit's journal."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

JSON = dict[str, Any]

COUNTERS = (
    "requests",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cache_write_tokens",
    "cache_read_tokens",
    "tool_calls",
)
MODELS = ("model-large-2", "model-small-2", "model-large-1", "model-mini")
PRICES = {"model-large-2": (5, 25), "model-small-2": (1, 5), "model-large-1": (3, 15)}
"""Micro-dollars of a token put in and of one that came out; the smallest model has no price."""


def identity(dice: random.Random, prefix: str) -> str:
    """Make an id as the runtime makes them."""
    digits = f"{dice.getrandbits(128):032x}"
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return f"{prefix}_{'-'.join(parts)}"


def stamp(microseconds: int) -> str:
    """Write a time as the runtime does, with nanoseconds."""
    seconds, rest = divmod(microseconds, 1_000_000)
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest:06d}{rest * 7 % 1000:03d}Z"


def node(name: str, step: int, status: str = "running") -> Iterator[JSON]:
    """Give the three records of a node of the runtime."""
    yield {"kind": "node_start", "node": name, "status": status, "step": step}
    yield {"kind": "checkpoint", "node": name, "step": step}
    yield {"kind": "node_complete", "node": name, "status": status, "step": step}


def streamed(step: int, kind: str, **fields: Any) -> JSON:
    """Give what a model streams."""
    return {"kind": "model_stream", "step": step, "event": {"kind": kind, **fields}}


def custom(kind: str, /, **payload: Any) -> JSON:
    """Give an event of the runtime's own."""
    return {"kind": "custom", "event": {"kind": kind, "payload": payload}}


def no_usage() -> JSON:
    """Give the usage of nothing."""
    return dict.fromkeys(COUNTERS, 0)


def added(usage: JSON, more: JSON) -> JSON:
    """Add up two usages."""
    return {name: usage[name] + more[name] for name in COUNTERS}


def used(dice: random.Random, letters_in: int, letters_out: int) -> JSON:
    """Say what a request of so many letters used."""
    put_in = 600 + letters_in // 4
    cached = put_in * 3 // 4 if dice.random() < 0.6 else 0
    came_out = 20 + letters_out // 4
    values = (1, put_in, came_out, put_in + came_out, 0, cached, 0)
    return dict(zip(COUNTERS, values, strict=True))


def cost(model: str, usage: JSON) -> JSON | None:
    """Estimate what a usage costs; None for a model without a price."""
    price = PRICES.get(model)
    if price is None:
        return None
    amount = usage["input_tokens"] * price[0] + usage["output_tokens"] * price[1]
    return {"amount_micros_usd": amount}


def snapshot(run_id: str, agent: str, model: str, latest: JSON, total: JSON) -> JSON:
    """Give the runtime's account of what a run used so far."""
    entry: JSON = {
        "agent_name": agent,
        "model_id": model,
        "source": "model_request",
        "usage": total,
        "usage_id": f"{run_id}:{agent}",
    }
    payload: JSON = {
        "run_id": run_id,
        "latest_usage": latest,
        "total_usage": total,
        "entries": [{"agent_id": agent, **entry}],
        "agent_usages": {agent: entry},
        "model_usages": {model: total},
    }
    estimate = cost(model, total)
    if estimate is not None:
        payload["estimate_pricing"] = estimate
        payload["model_estimate_pricing"] = {model: estimate}
    return custom("usage_snapshot", **payload)


def response(parts: Sequence[JSON], usage: JSON, model: str, run_id: str, at: str) -> JSON:
    """Give a model's response."""
    return {
        "finish_reason": "tool_calls" if parts[-1]["kind"] == "tool_call" else "stop",
        "model_name": model,
        "parts": list(parts),
        "run_id": run_id,
        "timestamp": at,
        "usage": usage,
    }


def request(parts: Sequence[JSON], run_id: str, at: str) -> JSON:
    """Give a message to the model."""
    return {"kind": "request", "parts": list(parts), "run_id": run_id, "timestamp": at}


def prompt(text: str) -> JSON:
    """Give what a user says, as part of a message."""
    return {"content": [{"kind": "text", "text": text}], "kind": "user_prompt"}


def waits(call: JSON, seconds: float) -> JSON:
    """Give the return of a call that needs an approval."""
    how = "Wait for the approval decision. If approval is denied, change the plan or arguments."
    told = {
        "how_to_fix": how,
        "message": "tool call requires approval before execution",
        "model_retryable": False,
        "retryable": False,
        "tool": call["name"],
    }
    error = f"tool {call['name']} requires approval"
    content = {"error": error, "kind": "approval_required", "success": False, **told}
    metadata = {
        "approval": {"reason": f"{call['name']} to production", "risk": "high"},
        "control_flow": "approval_required",
        "duration_ms": int(seconds * 1000),
        "duration_seconds": seconds,
        "error_kind": "approval_required",
        "starweaver.approval_tool_arguments": call["arguments"],
        **told,
    }
    return {
        "content": content,
        "is_error": True,
        "metadata": metadata,
        "name": call["name"],
        "tool_call_id": call["id"],
    }
