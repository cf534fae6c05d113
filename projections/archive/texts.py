"""Finding texts that may hold a phrase by a regular expression of RE2.

It lets through all that `projections.audit.phrase` takes, and some more. What a word is, and
when letters are the same, is as in `journal.words`.
"""

from __future__ import annotations

import re
from functools import cache

from journal.words import words

_LAST_WITH_CASE = 0x1FFFF
"""No character above has another case."""

_BETWEEN = "[^0-9A-Za-z]*"
"""Between two words stands nothing of ASCII's letters and digits; what else may stand there is
left to the judge."""


def pattern(phrase: str) -> str | None:
    """Make the expression that a text with these words matches; None where there is no word."""
    found = words(phrase)
    if not found:
        return None
    alike, expanding = _folding()
    texts = ["".join(map(_class, (alike.get(each, each) for each in word))) for word in found]
    # A letter that stands for several ones, such as a ligature, may hide any of the words.
    return f"(?s){_BETWEEN.join(texts)}|[{re.escape(expanding)}]"


def _class(characters: str) -> str:
    escaped = "".join(f"\\x{{{ord(each):x}}}" for each in characters)
    return escaped if len(characters) == 1 else f"[{escaped}]"


@cache
def _folding() -> tuple[dict[str, str], str]:
    """Give the characters that fold to each, and those that fold to more than one."""
    alike: dict[str, str] = {}
    expanding = []
    for code in range(_LAST_WITH_CASE + 1):
        character = chr(code)
        folded = character.casefold()
        if len(folded) > 1:
            expanding.append(character)
        elif folded != character:
            alike[folded] = alike.get(folded, folded) + character
    return alike, "".join(expanding)
