"""Excerpts of long texts around what was found in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

AROUND = 80
"""Characters shown on either side."""
LONGEST = 400
"""Characters shown of what was found."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text, not escaped, and where in it stands what was found."""

    text: str
    start: int
    end: int
    """Bounds of what was found, or of as much of it as is shown; in code points."""
    before: bool
    """Whether the text goes on before the part; `after`: behind it."""
    after: bool

    def to_json(self) -> dict[str, Any]:
        """Give the object of the audit's answers."""
        return {
            "text": self.text,
            "start": self.start,
            "end": self.end,
            "before": self.before,
            "after": self.after,
        }


def excerpt(text: str, start: int, end: int) -> Excerpt:
    """Cut out what was found in a text, with something around it."""
    end = min(end, start + LONGEST)
    first, last = max(0, start - AROUND), min(len(text), end + AROUND)
    return Excerpt(text[first:last], start - first, end - first, first > 0, last < len(text))
