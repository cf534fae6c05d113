"""Where large parts already stand in the old value."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

import orjson

from journal.difference.alignment import ALIKE, likeness
from journal.difference.delta import JSON, Path

WORTH = 64
"""Bytes of JSON from which on a part is looked for."""

TRIES = 4
"""Places where the text of a part may turn out to be something else, inside a string say."""

PASSES = 32
"""How often one difference may search the old value's text from end to end, ..."""

SPARE = 64 * 1024 * 1024
"""... and how many bytes of it besides; after that nothing more is found."""


class Source(NamedTuple):
    """A part of the old value and the path it stands at."""

    path: Path
    part: JSON


class Sources:
    """Finds parts of one value by searching its JSON text, which is made at the first search.

    A search runs at memory speed, and nothing is built for what is not found.
    """

    def __init__(self, root: JSON) -> None:
        self._root = root
        self._text = b""
        self._budget = 0
        self._found: dict[int, Source | None] = {}
        self._layouts: dict[int, _Layout] = {}

    def find(self, value: JSON, encoded: bytes) -> Source | None:
        """Find the first container or string with just this JSON text, the value's own.

        The value must live as long as this object, which remembers by its id.
        """
        if not self._text:
            self._text = orjson.dumps(self._root)
            self._budget = PASSES * len(self._text) + SPARE
        if id(value) not in self._found:
            self._found[id(value)] = self._search(encoded)
        return self._found[id(value)]

    def find_alike(self, value: JSON) -> Source | None:
        """Find a container that holds, at the same key, one of the largest parts of this one."""
        if type(value) is dict:
            parts = [(key, item, encode(item)) for key, item in value.items()]
            parts = sorted(parts, key=lambda part: -len(part[2]))[:2]
        elif type(value) is list:
            places = {0, len(value) // 2, len(value) - 1}
            parts = [(at, value[at], encode(value[at])) for at in places]
        else:
            return None
        for key, item, encoded in parts:
            found = self.find(item, encoded) if len(encoded) >= WORTH else None
            if found is None or not found.path:
                continue
            holder = self._root
            for step in found.path[:-1]:
                holder = holder[step]
            if type(holder) is not type(value):
                continue
            if type(value) is list or (found.path[-1] == key and likeness(holder, value) >= ALIKE):
                return Source(found.path[:-1], holder)
        return None

    def _search(self, encoded: bytes) -> Source | None:
        start = 0
        for _ in range(TRIES):
            if self._budget < 0:
                break
            at = self._text.find(encoded, start)
            self._budget -= (at if at >= 0 else len(self._text)) - start
            if at < 0:
                break
            found = self._locate(at)
            if found is not None:
                return found
            start = at + 1
        return None

    def _locate(self, at: int) -> Source | None:
        """Find the part whose text begins at an offset, if any does."""
        node, path = self._root, []
        while at:
            if type(node) not in (dict, list) or not node:
                return None
            layout = self._layouts.get(id(node))
            if layout is None:
                layout = self._layouts[id(node)] = _Layout(node)
            key, start = layout.reach(at)
            if at < start:
                return None
            at -= start
            path.append(key)
            node = node[key]
        return Source(path, node)


class _Layout:
    """Offsets of a container's parts in its JSON text, measured as far as they were needed."""

    def __init__(self, node: JSON) -> None:
        self._node = node
        self._is_object = type(node) is dict
        self._keys = list(node) if self._is_object else range(len(node))
        self._starts = [1 + self._name(0)]

    def reach(self, at: int) -> tuple[str | int, int]:
        """Find the key and start of the last part that starts at an offset or before it."""
        starts = self._starts
        while starts[-1] <= at and len(starts) < len(self._keys):
            last = len(starts) - 1
            size = len(orjson.dumps(self._node[self._keys[last]]))
            starts.append(starts[last] + size + 1 + self._name(last + 1))
        place = max(bisect_right(starts, at) - 1, 0)
        return self._keys[place], starts[place]

    def _name(self, place: int) -> int:
        return len(orjson.dumps(self._keys[place])) + 1 if self._is_object else 0


def encode(value: JSON) -> bytes:
    """Encode what could be copied: containers and long strings; other values give nothing."""
    kind = type(value)
    if kind is dict or kind is list or (kind is str and len(value) >= WORTH):
        return orjson.dumps(value)
    return b""
