"""The part of a view that a diff compares, as it is compared."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from journal.json_door import JSON, canonical
from projections.view import RunView
from projections.volatile import Comparable, tool_call

FINGERPRINT = 16
"""Bytes that stand for a message while two histories are aligned."""


class Compared:
    """One side of a comparison.

    It keeps no second history: a message is made comparable whenever it is looked at.
    """

    def __init__(self, view: RunView, *, across: bool) -> None:
        """Take the view.

        Args:
            across: the other side is another run, so that volatile members do not count.
        """
        self.view = view
        self.across = across
        self._comparable = Comparable(view.messages, view.children) if across else None

    def message(self, at: int) -> dict[str, Any]:
        """Give the message at a place, from 0."""
        if self._comparable is None:
            return self.view.messages[at]
        return self._comparable.message(at)

    def fingerprints(self) -> list[bytes]:
        """Give what stands for each message: equal where the messages are, by JSON type."""
        return [
            blake2b(canonical(self.message(at)), digest_size=FINGERPRINT).digest()
            for at in range(len(self.view.messages))
        ]

    def state(self) -> dict[str, JSON] | None:
        """Give the checkpoint's run state without its history; None without a checkpoint."""
        if self.view.checkpoint is None:
            return None
        state = self.view.checkpoint["state"]
        state = {key: value for key, value in state.items() if key != "message_history"}
        return state if self._comparable is None else self._comparable.state(state)

    def open_calls(self) -> list[dict[str, Any]]:
        """Give the open tool calls."""
        calls = [call.to_json() for call in self.view.live.open_tool_calls]
        return [tool_call(call) for call in calls] if self.across else calls

    def tool_return(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Give a tool return that stands in the messages."""
        if self._comparable is None:
            return answer
        found: dict[str, Any] = self._comparable.tool_return(answer)
        return found

    def live(self) -> dict[str, Any]:
        """Give the members of `live` that are compared."""
        live = self.view.live
        return {
            "status": live.status,
            "open_tool_calls": self.open_calls(),
            "usage": live.usage,
            "output": live.output,
            "error": live.error,
        }

    def to_json(self) -> dict[str, Any]:
        """Give the part of the view's JSON that the operations of `RunDiff.patch` work on."""
        state = self.state()
        return {
            "checkpoint": None if state is None else {"state": state},
            "messages": [self.message(at) for at in range(len(self.view.messages))],
            "live": self.live(),
        }


def compared(view: RunView, other: RunView) -> dict[str, Any]:
    """Give the part of a view that `run_diff` compares with another view.

    That is `messages`, the members `status`, `open_tool_calls`, `usage`, `output` and `error`
    of `live`, and the checkpoint's `state` without `message_history`. Where the other view is
    of another run, it is without the members that are volatile (`projections.volatile`).
    """
    return Compared(view, across=view.run_id != other.run_id).to_json()
