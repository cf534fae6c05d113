"""Places of a run's order that are looked for by a name, as 16 bytes that stand for it."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from journal.codec import RecordedEvent
from journal.events import StreamRecorded
from projections.messages import is_own


def tool_return_name(call_id: str) -> bytes:
    """Name the returns of a tool call of the run's own."""
    return _name(f"tool_return:{call_id}")


def checkpoint_name(checkpoint_id: Any) -> bytes:
    """Name a checkpoint that has no stream cursor to tell its anchor."""
    return _name(f"checkpoint:{checkpoint_id}")


def returned_call(event: RecordedEvent) -> str | None:
    """Give the id of the call that an event returns, when it is the run's own."""
    if event.name != StreamRecorded.NAME:
        return None
    record = event.data["record"]
    if record["event"]["kind"] != "tool_return" or not is_own(record):
        return None
    answer = record["event"].get("tool_return")
    call_id = answer.get("tool_call_id") if isinstance(answer, dict) else None
    return call_id if isinstance(call_id, str) else None


def _name(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
