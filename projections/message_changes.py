"""Which messages of two histories differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from projections.alignment import align
from projections.comparing import Compared


@dataclass(frozen=True, slots=True)
class MessageChange:
    """A message that one view has and the other has not, or has otherwise."""

    index_a: int | None
    """Its place in the first view's messages, from 0; None for an added one."""
    index_b: int | None
    """Its place in the second view's messages, from 0; None for a removed one."""
    a: dict[str, Any] | None
    b: dict[str, Any] | None

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.diff`."""
        return {"index_a": self.index_a, "index_b": self.index_b, "a": self.a, "b": self.b}


def message_changes(
    a: Compared, b: Compared, left: Sequence[bytes], right: Sequence[bytes]
) -> Iterator[MessageChange]:
    """Yield the messages that differ, in the order of the histories.

    Args:
        left: the fingerprints of `a`.
        right: the fingerprints of `b`.
    """
    ours, theirs = a.view.messages, b.view.messages
    i = j = 0
    for i_end, j_end in [*align(left, right), (len(left), len(right))]:
        while i < i_end and j < j_end:
            yield MessageChange(i, j, ours[i], theirs[j])
            i, j = i + 1, j + 1
        for at in range(i, i_end):
            yield MessageChange(at, None, ours[at], None)
        for at in range(j, j_end):
            yield MessageChange(None, at, None, theirs[at])
        i, j = i_end + 1, j_end + 1


def common(left: Sequence[bytes], right: Sequence[bytes]) -> int:
    """Count the messages that two histories begin with, by their fingerprints."""
    for at, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return at
    return min(len(left), len(right))
