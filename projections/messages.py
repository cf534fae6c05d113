"""How many messages a run has, step by step, and the epochs in which they only grow."""

from __future__ import annotations

from typing import Any

from projections.order import whole


class MessageCount:
    """The number of canonical messages at a place, folded in logical order.

    The latest complete history, a checkpoint's or a later exported context's, counts as it
    is; each own model response after it adds one when its step is above the run step of the
    latest checkpoint. An epoch, counted from 1, ends where the number falls. What is no
    whole number is a TypeError.
    """

    __slots__ = ("count", "epoch", "step")

    def __init__(self) -> None:
        self.count = 0
        self.epoch = 1
        self.step: int | None = None
        """Run step of the latest checkpoint."""

    def checkpoint(self, messages: int, step: int) -> None:
        """Count a checkpoint's history."""
        self.step = whole(step)
        self.history(messages)

    def history(self, messages: int) -> None:
        """Count a complete history."""
        if whole(messages) < self.count:
            self.epoch += 1
        self.count = messages

    def response(self, step: int) -> bool:
        """Count a model response; tell whether it is a message of its own."""
        if self.step is not None and whole(step) <= self.step:
            return False
        self.count += 1
        return True


def is_own(record: dict[str, Any]) -> bool:
    """Tell whether a stream record is the run's own, not one of a child merged into it."""
    return record.get("source") is None
