"""What changed within a text, in words or lines, in an amount of work that stays bounded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal, NamedTuple

from journal.cli.escape import CUT, shorten_middle
from journal.difference.alignment import equal_text
from projections.alignment import COMPARED, align

PAIRS = 90_000
"""Pairs of words, or of lines, that `difflib` compares; of more, a near best alignment is taken."""
WORK = 2_000_000
"""Pairs for all texts of a page; of further texts only both ends are compared."""
MOST = 50_000
"""Words, or lines, of both texts from which on they are not aligned at all: what is between
their first and their last difference is shown as changed."""
LONGEST = 1_000_000
"""Characters of both texts from which on they are not split into words."""
LONGEST_WORD = 40
CONTEXT = 24
"""Characters of unchanged text that are shown before and after a change."""
CHANGED = 40
"""Characters of a changed stretch that are shown at least."""

Sign = Literal["=", "-", "+"]

_WORDS = re.compile(r"\w+[^\S\n]*|[^\w\s][^\S\n]*|\s+")
_WORD_START = re.compile(r"\w*[^\S\n]*")
_WORD_END = re.compile(r"\w*$")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


class Piece(NamedTuple):
    """A stretch of text that both have (`=`), or only the first (`-`) or the second (`+`)."""

    sign: Sign
    text: str


class TextAlignment:
    """Splits changed texts; so much work in all that a page stays quick."""

    def __init__(self) -> None:
        self._left = WORK

    def pieces(self, a: str, b: str) -> list[Piece]:
        """Split two texts into what they share and what only one has, in order."""
        head, tail = _whole_words(a, *equal_text(a, b))
        between = self._between(a[head : len(a) - tail], b[head : len(b) - tail])
        return _joined([Piece("=", a[:head]), *between, Piece("=", a[len(a) - tail :])])

    def _between(self, a: str, b: str) -> Iterator[Piece]:
        """Compare short texts by words, longer ones by lines and by words what differs there."""
        if _few_words(a, b):
            yield from self._compared(_WORDS, a, b)
            return
        lines = self._compared(_LINES, a, b)
        for shared, group in groupby(lines, key=lambda each: each.sign == "="):
            stretch = list(group)
            if shared:
                yield from stretch
            else:
                old, new = ("".join(each.text for each in stretch if each.sign == s) for s in "-+")
                yield from self._compared(_WORDS, old, new)

    def _compared(self, tokens: re.Pattern[str], a: str, b: str) -> Iterator[Piece]:
        many = len(a) + len(b) > LONGEST
        if many and (tokens is _WORDS or a.count("\n") + b.count("\n") > MOST):
            yield from (Piece("-", a), Piece("+", b))
            return
        left, right = tokens.findall(a), tokens.findall(b)
        i = j = 0
        for at, other in [*self._aligned(left, right), (len(left), len(right))]:
            yield Piece("-", "".join(left[i:at]))
            yield Piece("+", "".join(right[j:other]))
            yield Piece("=", "".join(left[at : at + 1]))
            i, j = at + 1, other + 1

    def _aligned(self, a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
        pairs = min(len(a) * len(b), COMPARED)
        if len(a) + len(b) > MOST or pairs > self._left:
            return []
        self._left -= pairs
        if pairs > PAIRS:
            return align(a, b)
        blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
        return [(i + at, j + at) for i, j, size in blocks for at in range(size)]


def hunks(found: Sequence[Piece], *, room: int) -> list[list[Piece]]:
    """Group pieces into stretches that fit a line, long unchanged text left out.

    Args:
        room: characters of a line; a stretch with one change may take more.
    """
    shared = any(each.sign == "=" for each in found)
    if not shared or sum(len(each.text) for each in found) <= room:
        return [list(found)]
    most = max(CHANGED, room - 2 * len(CUT) - 2 * CONTEXT)
    groups: list[list[Piece]] = [[]]
    for at, each in enumerate(found):
        if each.sign != "=":
            groups[-1].append(Piece(each.sign, shorten_middle(each.text, most)))
            continue
        before, after = at > 0, at + 1 < len(found)
        length = len(each.text)
        if length <= 2 * CONTEXT and sum(len(one.text) for one in groups[-1]) + length <= room // 2:
            groups[-1].append(each)
            continue
        if before:
            groups[-1].append(Piece("=", _head(each.text)))
            groups.append([])
        if after:
            groups[-1].append(Piece("=", _tail(each.text)))
    return [group for group in groups if any(each.sign != "=" for each in group)]


def _whole_words(text: str, head: int, tail: int) -> tuple[int, int]:
    """Leave to a change the word that it begins or ends within; a long one may be cut."""
    end = len(text) - tail
    before = _WORD_END.search(text[max(0, head - LONGEST_WORD) : head])
    after = _WORD_START.match(text[end : end + LONGEST_WORD])
    return head - _length(before), tail - _length(after)


def _length(found: re.Match[str] | None) -> int:
    return len(found[0]) if found else 0


def _few_words(a: str, b: str) -> bool:
    if len(a) + len(b) > LONGEST:
        return False
    return len(_WORDS.findall(a)) * len(_WORDS.findall(b)) <= PAIRS


def _joined(found: Iterable[Piece]) -> list[Piece]:
    """Join pieces of the same sign; all of a change's old text stands before its new text."""
    joined: list[Piece] = []
    shared = old = new = ""
    for each in (*found, Piece("=", "")):
        if each.sign == "=":
            if (old or new) and each.text:
                joined += [Piece("=", shared), Piece("-", old), Piece("+", new)]
                shared = old = new = ""
            shared += each.text
        elif each.sign == "-":
            old += each.text
        else:
            new += each.text
    joined += [Piece("=", shared), Piece("-", old), Piece("+", new)]
    return [each for each in joined if each.text]


def _head(text: str) -> str:
    return text if len(text) <= CONTEXT else text[:CONTEXT] + CUT


def _tail(text: str) -> str:
    return text if len(text) <= CONTEXT else CUT + text[-CONTEXT:]
