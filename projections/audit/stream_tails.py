"""What the model streamed last, part by part, so that what is split across deltas is found."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

_TEXTS = {
    "text": "text",
    "thinking": "text",
    "tool_call_name": "name",
    "tool_call_arguments": "arguments_delta",
}
"""Member that holds the text of a delta, by its kind."""


class Piece(NamedTuple):
    """The end of a part with a delta added to it."""

    text: str
    added: int
    """Where in it the delta begins."""
    starts: tuple[tuple[int, int], ...]
    """Where each delta that it is of begins in it, at or before 0 for the first, and its
    sequence."""

    def began(self, at: int) -> int:
        """Tell the sequence of the delta that holds a character."""
        return max(start for start in self.starts if start[0] <= at)[1]


class StreamTails:
    """Remembers the last characters of each part that is being streamed.

    Args:
        length: how many.
    """

    def __init__(self, length: int) -> None:
        self._length = length
        self._tails: dict[tuple[Any, ...], tuple[str, deque[tuple[int, int]]]] = {}

    def restart(self, source: Any) -> None:
        """Forget what a source streamed: its model is asked again."""
        for key in [key for key in self._tails if key[0] == source]:
            del self._tails[key]

    def delta(self, source: Any, streamed: dict[str, Any], sequence: int) -> Piece | None:
        """Add a delta; None where the stream's event is none that holds text.

        Raises:
            KeyError, TypeError: it has another shape.
        """
        kind = streamed["kind"]
        if kind in ("part_start", "part_end"):
            for key in [key for key in self._tails if key[:2] == (source, streamed["index"])]:
                del self._tails[key]
            return None
        if kind != "part_delta" or streamed["delta_kind"] not in _TEXTS:
            return None
        key = source, streamed["index"], streamed["delta_kind"]
        text = streamed[_TEXTS[streamed["delta_kind"]]]
        tail, starts = self._tails.get(key, ("", deque()))
        starts.append((len(tail), sequence))
        piece = Piece(tail + text, len(tail), tuple(starts))
        self._keep(key, piece.text, starts)
        return piece

    def _keep(self, key: tuple[Any, ...], text: str, starts: deque[tuple[int, int]]) -> None:
        cut = max(0, len(text) - self._length)
        kept = deque((start - cut, sequence) for start, sequence in starts)
        while len(kept) > 1 and kept[1][0] <= 0:
            kept.popleft()
        self._tails[key] = text[cut:], kept
