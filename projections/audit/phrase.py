"""Which texts hold a phrase: the only judge, whichever engine found them."""

from __future__ import annotations

import re

from journal.errors import InvalidFilter
from journal.words import spaced, words
from projections.audit.excerpts import Excerpt, excerpt
from projections.audit.filters import check_text

_BETWEEN = r"\x00-/:-`{-\x7f"
"""What is between words in a text in which they were spaced: outside ASCII, all are words."""

MOST = 200
"""Words of a phrase."""


class Phrase:
    """Words that stand one after the other, whatever their case and what is between them.

    See `journal.words` for what a word is. Nothing in a phrase is syntax.

    Raises:
        InvalidFilter: there is no word in it, or more than `MOST`.
    """

    def __init__(self, text: str) -> None:
        check_text("phrase", text)
        found = words(text)
        if not found:
            raise InvalidFilter("phrase", text, "there is no word in it to search for")
        if len(found) > MOST:
            reason = f"it has {len(found)} words, and {MOST} are the most; search for fewer"
            raise InvalidFilter("phrase", text, reason)
        self.text = text
        first, *others = map(re.escape, found)
        # What is before the first word is looked at behind it: a plain text is found fastest.
        parts = [f"{first}(?<![^{_BETWEEN}]{first})", *others]
        self._pattern = re.compile(f"[{_BETWEEN}]+".join(parts) + f"(?![^{_BETWEEN}])")

    def count(self, text: str) -> int:
        """Tell how often a text holds it, without overlaps."""
        return sum(1 for _ in self._pattern.finditer(_folded(text)))

    def excerpt(self, text: str) -> Excerpt | None:
        """Show the first place where a text holds it; None where none does."""
        found = self._pattern.search(_folded(text))
        if found is None:
            return None
        start, end = found.span()
        if not text.isascii():
            start, end = _original(text, start, end)
        return excerpt(text, start, end)


def _folded(text: str) -> str:
    return spaced(text).casefold()


def _original(text: str, start: int, end: int) -> tuple[int, int]:
    """Find where in a text stands what is from `start` to `end` once its words are spaced."""
    at = 0
    first = last = -1
    for index, character in enumerate(text):
        folded = _folded(character)
        at += len(folded)
        if first < 0 and at > start:
            first = index
        if at >= end:
            last = index + 1
            break
    return first, last
