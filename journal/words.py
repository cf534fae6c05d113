"""Words as a search for phrases sees them.

A word is a run of letters, numbers and marks, whatever its case. Ideographs, kana, hangul and
thai are written without spaces: each of their characters is a word of its own.
"""

from __future__ import annotations

import re
import unicodedata

SINGLE = (
    (0x0E00, 0x0E7F),  # thai
    (0x1100, 0x11FF),  # hangul
    (0x2E80, 0x9FFF),  # kana, hangul, ideographs
    (0xA960, 0xA97F),  # hangul
    (0xAC00, 0xD7FF),  # hangul
    (0xF900, 0xFAFF),  # ideographs
    (0xFF66, 0xFFDC),  # kana and hangul of half the width
    (0x1B000, 0x1B16F),  # kana
    (0x20000, 0x3FFFF),  # ideographs
)
"""First and last code points of what is written without spaces, with some punctuation between."""

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_WORD = re.compile(r"[0-9a-z\x80-\U0010ffff]+")


class _Spaced(dict[int, str]):
    """What stands for a character outside ASCII: found when it is first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if unicodedata.category(character)[0] not in "LNM":
            found = " "
        elif any(first <= code <= last for first, last in SINGLE):
            found = f" {character} "
        else:
            found = character.casefold()
        self[code] = found
        return found


_spaced = _Spaced()


def spaced(text: str) -> str:
    """Give a text the same words, with spaces between them wherever there is no ASCII.

    Outside ASCII the case is folded, and what is in no word becomes a space. So any splitting
    into words that knows letters of ASCII, and takes the rest as it comes, does as well.
    """
    if text.isascii():
        return text
    return _NOT_ASCII.sub(lambda found: found[0].translate(_spaced), text)


def words(text: str) -> list[str]:
    """Give the words of a text in order, their case folded."""
    return _WORD.findall(spaced(text).casefold())
