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

    __slots__ = ("count", "epochs", "step")

    def __init__(self) -> None:
        self.count = 0
        self.epochs = [[0, 0]]
        """The fewest and the most messages of each epoch so far."""
        self.step: int | None = None
        """Run step of the latest checkpoint."""

    def checkpoint(self, messages: int, step: int) -> None:
        """Count a checkpoint's history."""
        self.step = whole(step)
        self.history(messages)

    def history(self, messages: int) -> None:
        """Count a complete history."""
        if whole(messages) < self.count:
            self.epochs.append([messages, messages])
        self.count = messages
        self.epochs[-1][1] = max(self.epochs[-1][1], messages)

    def response(self, step: int) -> bool:
        """Count a model response; tell whether it is a message of its own."""
        if self.step is not None and whole(step) <= self.step:
            return False
        self.count += 1
        self.epochs[-1][1] = max(self.epochs[-1][1], self.count)
        return True

    @property
    def epoch(self) -> int:
        """The epoch it is in, from 1."""
        return len(self.epochs)

    @property
    def reached(self) -> tuple[int, int]:
        """Epoch and number of messages; in this order they never fall."""
        return len(self.epochs), self.count


def is_own(record: dict[str, Any]) -> bool:
    """Tell whether a stream record is the run's own, not one of a child merged into it."""
    return record.get("source") is None
