"""Which messages of two histories go together, in an amount of work that stays bounded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

from journal.difference.alignment import rising

COMPARED = 250_000
"""Pairs of items that are compared for the best alignment; beyond, a near best one is taken."""

Pair = tuple[int, int]
"""Places of two equal items, in the first sequence and in the second."""


def align(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    """Pair equal items of two sequences, rising in both.

    What the two begin and end with is paired first. Of what is between, as many as possible
    are paired where few items differ. Where many do, the first of several equal items goes
    with the first, the second with the second, and so on, and of these pairs as many as rise
    in both are kept: O(n log n).
    """
    start, most = 0, min(len(a), len(b))
    while start < most and a[start] == b[start]:
        start += 1
    end = 0
    while end < most - start and a[-1 - end] == b[-1 - end]:
        end += 1
    left, right = a[start : len(a) - end], b[start : len(b) - end]
    find = _best if len(left) * len(right) <= COMPARED else _near_best
    return [
        *((at, at) for at in range(start)),
        *((start + i, start + j) for i, j in find(left, right)),
        *((len(a) - at, len(b) - at) for at in range(end, 0, -1)),
    ]


def _best(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    """Find the longest common subsequence, the earliest one."""
    # longest[i][j]: its length from places i and j on.
    longest = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        item, row, below = a[i], longest[i], longest[i + 1]
        for j in range(len(b) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if item == b[j] else max(below[j], row[j + 1])
    pairs = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _near_best(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    places: dict[Hashable, list[int]] = defaultdict(list)
    for at in range(len(a) - 1, -1, -1):
        places[a[at]].append(at)
    found = [(places[item].pop(), at) for at, item in enumerate(b) if places.get(item)]
    return rising(found)
