"""What Python finds equal and JSON does not."""

from __future__ import annotations

from itertools import compress
from operator import is_not
from typing import Any, TypeAlias

import orjson

from journal.difference.delta import JSON, Delta, Path

FRAME = 2
"""Levels from the root that are gone through without encoding them whole before."""

_Link: TypeAlias = tuple[Any, str | int]
"""A path from its end: the link before (None at the root) and a key."""

_Pair: TypeAlias = tuple[_Link | None, JSON, JSON]


def corrections(old: JSON, new: JSON) -> Delta:
    """Set what differs by JSON type only, in values that Python finds equal.

    1, 1.0 and true are equal for Python, and so are 0.0 and -0.0. Parts that are the very
    same object in both values are not looked into.
    """
    found: Delta = []
    level: list[_Pair] = [(None, old, new)]
    depth = 0
    while level:
        if depth > FRAME and _same([one for _, one, _ in level], [other for *_, other in level]):
            break
        below: list[_Pair] = []
        for link, one, other in level:
            if type(other) is dict:
                below += [
                    ((link, key), one[key], item)
                    for key, item in other.items()
                    if one[key] is not item
                ]
            elif type(other) is list:
                changed = compress(range(len(other)), map(is_not, one, other))
                below += [((link, at), one[at], other[at]) for at in changed]
            elif type(one) is not type(other) or (type(one) is float and str(one) != str(other)):
                found.append(["=", _path(link), other])
        level = below
        depth += 1
    return found


def _same(old: list[JSON], new: list[JSON]) -> bool:
    return orjson.dumps(old) == orjson.dumps(new)


def _path(link: _Link | None) -> Path:
    path: Path = []
    while link is not None:
        link, key = link
        path.append(key)
    return path[::-1]
