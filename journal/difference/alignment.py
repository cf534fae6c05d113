"""How the items of two lists, and the characters of two strings, go together."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from itertools import compress, count
from operator import is_not, ne
from typing import Any, NamedTuple

import orjson

ALIGNED = 50_000
"""Lists that differ in more items together than this are not searched for equal ones."""

SOUGHT = 8
"""So few new items are looked for one by one: cheaper than encoding all old ones."""

COMPARED = 400
"""Pairs of items that may be compared for likeness where equal ones leave a gap."""

ALIKE = 0.6
"""Share from which on an item counts as a changed form of another, not as a new one."""

LONG = 64
"""Characters from which on strings are compared in parts."""


CHUNK = 64
"""Items compared at once."""


class Splice(NamedTuple):
    """Items `start` to `stop` (exclusive) of the new list, in the place of `dropped` old ones."""

    start: int
    stop: int
    dropped: int


class Alignment(NamedTuple):
    """What turns an old list into a new one; what is in neither part is equal."""

    splices: list[Splice]
    """In rising order, to be carried out in that order."""
    pairs: list[tuple[int, int]]
    """Indices (old, new) of items that are changed forms of each other."""


def align(old: list[Any], new: list[Any]) -> Alignment:
    """Align two lists (items are compared as Python does, 1 equals true)."""
    head = _equal_items(old, new)
    most = min(len(old), len(new)) - head
    tail = _equal_items(old[: -most - 1 : -1], new[: -most - 1 : -1]) if most else 0
    ends = len(old) - tail, len(new) - tail
    anchors = _anchors(old, new, head, ends)
    pairs: list[tuple[int, int]] = []
    from_old = from_new = head
    for to_old, to_new in [*anchors, ends]:
        changed = _changed(old[from_old:to_old], new[from_new:to_new])
        pairs += [(from_old + at_old, from_new + at_new) for at_old, at_new in changed]
        from_old, from_new = to_old + 1, to_new + 1
    splices: list[Splice] = []
    from_old = from_new = head
    for to_old, to_new in [*sorted(anchors + pairs), ends]:
        if from_old < to_old or from_new < to_new:
            splices.append(Splice(from_new, to_new, to_old - from_old))
        from_old, from_new = to_old + 1, to_new + 1
    return Alignment(splices, pairs)


def equal_text(old: str, new: str) -> tuple[int, int]:
    """Count the characters that two strings start with and, apart from those, end with."""
    head = _equal_start(old, new)
    most = min(len(old), len(new)) - head
    return head, _equal_start(old[: -most - 1 : -1], new[: -most - 1 : -1]) if most else 0


def likeness(old: Any, new: Any) -> float:
    """Tell how much of two items is the same, from 0 to 1, without looking deep."""
    if type(old) is not type(new) or not old or not new:
        return 0
    if type(old) is dict:
        shared: list[bool] = [old[key] == item for key, item in new.items() if key in old]
        return (len(shared) + sum(shared)) / 2 / max(len(old), len(new))
    if type(old) is list:
        return (bool(old[0] == new[0]) + bool(old[-1] == new[-1])) / 2
    if type(old) is str and min(len(old), len(new)) >= LONG:
        return float(old[:LONG] == new[:LONG] or old[-LONG:] == new[-LONG:])
    return 0


def _equal_items(old: list[Any], new: list[Any]) -> int:
    """Count the equal items that two lists start with."""
    most = min(len(old), len(new))
    for start in range(0, most, CHUNK):
        # Lists are compared many times faster than item by item.
        ours, theirs = old[start : start + CHUNK], new[start : start + CHUNK]
        if ours != theirs:
            return start + next(compress(count(), map(ne, ours, theirs)), most - start)
    return most


def same_items(old: list[Any], new: list[Any]) -> int:
    """Count the items that two lists start with and that are likely the very same objects."""
    most = min(len(old), len(new))
    for start in range(0, most, CHUNK):
        ours, theirs = old[start : start + CHUNK], new[start : start + CHUNK]
        last = min(CHUNK, most - start) - 1
        if ours[0] is not theirs[0] or ours[last] is not theirs[last] or ours != theirs:
            return start + next(compress(count(), map(is_not, ours, theirs)), last + 1)
    return most


def _anchors(
    old: list[Any], new: list[Any], start: int, ends: tuple[int, int]
) -> list[tuple[int, int]]:
    """Find equal items outside the common ends, rising in both lists."""
    if start in ends or sum(ends) - 2 * start > ALIGNED:
        return []
    if ends[1] - start <= SOUGHT:
        return rising(_sought(old[: ends[0]], new[: ends[1]], start))
    places: dict[bytes, list[int]] = defaultdict(list)
    for at in range(ends[0] - 1, start - 1, -1):
        places[orjson.dumps(old[at])].append(at)
    found = []
    for at in range(start, ends[1]):
        held = places.get(orjson.dumps(new[at]))
        if held:
            found.append((held.pop(), at))
    return rising(found)


def _sought(old: list[Any], new: list[Any], start: int) -> list[tuple[int, int]]:
    """Find a few new items among the old ones, each at a place of its own."""
    found: dict[int, int] = {}
    for at in range(start, len(new)):
        place = start - 1
        try:
            while place < start or place in found:
                place = old.index(new[at], place + 1)
        except ValueError:
            continue
        found[place] = at
    return list(found.items())


def rising(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Keep the longest subsequence that rises in the first number too (patience sorting)."""
    lowest: list[int] = []
    ending: list[int] = []
    previous: list[int] = []
    for at, (place, _) in enumerate(found):
        length = bisect_left(lowest, place)
        previous.append(ending[length - 1] if length else -1)
        lowest[length : length + 1] = [place]
        ending[length : length + 1] = [at]
    kept = []
    at = ending[-1] if ending else -1
    while at >= 0:
        kept.append(found[at])
        at = previous[at]
    return kept[::-1]


def _changed(old: list[Any], new: list[Any]) -> list[tuple[int, int]]:
    """Pair the items of a gap that are changed forms of each other, in order."""
    if len(old) == len(new) == 1:
        return [(0, 0)] if type(old[0]) is type(new[0]) else []
    if len(old) * len(new) > COMPARED:
        if len(old) != len(new):
            return []
        return [(at, at) for at in range(len(old)) if likeness(old[at], new[at]) >= ALIKE]
    # The pairs in order that are most alike together; rest[i][j] is their sum from i and j on.
    rest = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    alike = [[likeness(one, other) for other in new] for one in old]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            rest[i][j] = max(rest[i + 1][j], rest[i][j + 1])
            if alike[i][j] >= ALIKE:
                rest[i][j] = max(rest[i][j], rest[i + 1][j + 1] + alike[i][j])
    pairs = []
    i = j = 0
    while i < len(old) and j < len(new):
        if rest[i][j] == rest[i + 1][j]:
            i += 1
        elif rest[i][j] == rest[i][j + 1]:
            j += 1
        else:
            pairs.append((i, j))
            i, j = i + 1, j + 1
    return pairs


def _equal_start(old: str, new: str) -> int:
    # Halving: slices are compared by memcmp, and all of them together are as long as the text.
    low, high = 0, min(len(old), len(new)) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle
    return low
