"""What a difference between two states adds to the history of messages.

What was moved, or stands where it stood, is not new; nor is metadata that was added to a
message, or a part that was shortened in place. What is like an earlier message is new where
nothing was taken out of the history: then it was not moved.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from journal.difference import Delta

Path = tuple[str, ...]


class New(NamedTuple):
    """A message that is new, or got new parts."""

    at: int
    """In the history that the difference leads to."""
    message: Any
    """As the difference holds it; None where it does not."""
    parts: dict[int, Any] | None
    """Of a message that was there: its new parts, each None where the difference does not hold
    it. None where the whole message is new."""
    whole: bool
    """Whether nothing of it has to be looked up in the document."""


class _Message:
    __slots__ = ("alike", "copied", "message", "parts", "touched")

    def __init__(
        self,
        message: Any,
        *,
        copied: bool = False,
        alike: bool = False,
        parts: dict[int, Any] | None = None,
    ) -> None:
        self.message = message
        self.copied = copied
        self.alike = alike
        """Whether it was copied from a message of the history."""
        self.touched = False
        self.parts = parts


class NewMessages:
    """Follows the operations of a difference, as far as they concern the history.

    Args:
        history: where it is in the document.
    """

    def __init__(self, history: Path) -> None:
        self._history = list(history)
        self._found: dict[int, _Message] = {}
        self.replaced = False
        """Whether the history as a whole stands in the difference."""
        self._shrunk = False
        """Whether messages were taken out of it."""

    def follow(self, delta: Delta) -> list[New]:
        """Give what is new, in the order of the history.

        Raises:
            AttributeError, KeyError, TypeError, IndexError: it is no difference.
        """
        depth = len(self._history)
        for operation in delta:
            sign, path = operation[0], operation[1]
            if path[:depth] == self._history and len(path) > depth:
                self._message(sign, path[depth], path[depth + 1 :], operation)
            elif path == self._history[: len(path)]:
                self._above(sign, len(path), operation)
        found = sorted(self._found.items())
        return [_new(index, one) for index, one in found if self._is_new(one)]

    def _is_new(self, one: _Message) -> bool:
        return one.touched or not one.copied or (one.alike and not self._shrunk)

    def _above(self, sign: str, depth: int, operation: list[Any]) -> None:
        """Follow an operation on the history, or on what holds it."""
        if sign == "@" and depth == len(self._history):
            self._splice(operation[2], operation[3], operation[4])
            return
        self._found = {}
        self._shrunk = True
        if sign == "=":
            value = operation[2]
            for key in self._history[depth:]:
                value = value.get(key) if type(value) is dict else None
            if type(value) is list:
                self.replaced = True
                self._found = {at: _Message(one) for at, one in enumerate(value)}

    def _splice(self, start: int, cut: int, items: list[Any]) -> None:
        moved = len(items) - cut
        self._shrunk = self._shrunk or cut > 0
        found = {}
        for index, message in self._found.items():
            if index < start:
                found[index] = message
            elif index >= start + cut:
                found[index + moved] = message
        found |= {at: _Message(one) for at, one in enumerate(items, start)}
        self._found = found

    def _message(self, sign: str, index: int, below: list[Any], operation: list[Any]) -> None:
        """Follow an operation on a message, or on what is in it."""
        if not below:
            copied = sign == "<"
            self._shrunk = self._shrunk or index not in self._found
            alike = copied and operation[2][:-1] == self._history
            message = None if copied else operation[2]
            self._found[index] = _Message(message, copied=copied, alike=alike)
            return
        if below[0] == "metadata":
            return
        message = self._found.get(index)
        if message is not None and (
            message.parts is None or (len(below) > 2 and below[1] in message.parts)
        ):
            message.touched = True
        elif below[0] == "parts":
            self._parts(index, sign, below[1:], operation)

    def _parts(self, index: int, sign: str, below: list[Any], operation: list[Any]) -> None:
        """Follow an operation on the parts of a message that was there."""
        added: dict[int, Any] = {}
        if not below and sign == "=":
            added = dict(enumerate(operation[2]))
        elif not below and sign == "@":
            added = dict(enumerate(operation[4], operation[2]))
        elif len(below) == 1 and sign == "=":
            added = {below[0]: operation[2]}
        if added:
            message = self._found.setdefault(index, _Message(None, parts={}))
            message.parts = (message.parts or {}) | added


def _new(index: int, found: _Message) -> New:
    if found.parts is not None:
        shown = all(part is not None for part in found.parts.values())
        return New(index, None, found.parts, shown and not found.touched)
    shown = found.message is not None and not found.touched
    return New(index, found.message, None, shown)
