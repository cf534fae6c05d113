"""Where large parts already stand in the old value."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple, TypeAlias

import orjson

from journal.difference.alignment import ALIKE, LONG, likeness, same_items
from journal.difference.delta import JSON, Path

WORTH = 64
"""Bytes of JSON from which on a container without long strings is looked for."""

LEVELS = 8
"""Levels of a part that are looked into."""

SPINE = 4
"""Levels of objects, from the root, that are taken for the frame of the value: it changes
all the time, and the parts in it, or the items of the lists in it, hardly ever do."""

SPARE = 4096
"""Parts that may be remembered beyond twice those of the value, before all are found anew."""

_Steps: TypeAlias = tuple[str | int, ...]


class Source(NamedTuple):
    """A part of the old value and the path it stands at."""

    path: Path
    part: JSON


class Hit(NamedTuple):
    """A part of a new value that stands in the old one."""

    size: int
    steps: _Steps
    """Where in the new value."""
    place: _Place
    """Where in the old one."""


class _Place(NamedTuple):
    """A part below the frame: it stands in a unit that never changes, only moves."""

    frame: _Steps
    at: int | None
    """For an item of a list in the frame: its index, when it was seen last."""
    unit: JSON
    steps: _Steps


class Sources:
    """Finds the long strings, and the containers without any, that a value holds.

    It learns a value when it is first asked, and of the next value only what is not the
    very same object: values that share their parts cost what is new in them.
    """

    def __init__(self) -> None:
        self._root: JSON = None
        self._learned: JSON = None
        self._texts: dict[str, _Place] = {}
        self._flat: dict[bytes, _Place] = {}
        self._most = SPARE

    def turn_to(self, root: JSON) -> None:
        """Search this value from now on; it must not change any more."""
        self._root = root

    def hits(self, value: JSON) -> list[Hit]:
        """Find the parts of a new value, itself included, that are in the old one."""
        parts = _parts(value)
        if not parts:
            return []
        self._learn()
        hits = []
        for key, steps in parts:
            place = self._flat.get(key) if type(key) is bytes else self._texts.get(key)
            if place is not None:
                hits.append(Hit(len(key), steps, place))
        return hits

    def source(self, hit: Hit) -> Source | None:
        """Tell where the part of a hit stands now; None when it went."""
        path = self._path(hit.place)
        return None if path is None else Source(path, _at(self._root, path))

    def alike(self, value: JSON, hits: list[Hit]) -> Source | None:
        """Find a container that holds, at the same key, one of the largest known parts.

        It has at least one item, or member, that is equal.
        """
        for hit in sorted(hits, reverse=True, key=_size)[:2]:
            path = self._path(hit.place)
            if path is None or len(path) < len(hit.steps):
                continue
            holder_path = path[: len(path) - len(hit.steps)]
            holder = _at(self._root, holder_path)
            if type(holder) is not type(value):
                continue
            was: Any = path[len(holder_path)]
            now: Any = hit.steps[0]
            if type(value) is list:
                like = holder[was] == value[now]
            else:
                like = was == now and likeness(holder, value) >= ALIKE
            if like:
                return Source(holder_path, holder)
        return None

    def _path(self, place: _Place) -> Path | None:
        node = self._root
        for step in place.frame:
            if type(node) is not dict or step not in node:
                return None
            node = node[step]
        if place.at is None:
            return [*place.frame, *place.steps] if node is place.unit else None
        if type(node) is not list:
            return None
        at: int | None = place.at
        if place.at >= len(node) or node[place.at] is not place.unit:
            at = next((at for at, item in enumerate(node) if item is place.unit), None)
        return None if at is None else [*place.frame, at, *place.steps]

    def _learn(self) -> None:
        if self._learned is self._root:
            return
        if len(self._texts) + len(self._flat) > self._most:
            self._texts, self._flat, self._learned = {}, {}, None
        todo: list[tuple[_Steps, JSON, JSON]] = [((), self._learned, self._root)]
        whole = self._learned is None
        while todo:
            path, old, new = todo.pop()
            if type(new) is dict and len(path) < SPINE:
                known = old if type(old) is dict else {}
                for key, item in new.items():
                    if _is_searched(item) and item is not known.get(key):
                        todo.append(((*path, key), known.get(key), item))
            elif type(new) is list:
                self._learn_items(path, old if type(old) is list else [], new)
            else:
                self._note(_Place(path, None, new, ()))
        self._learned = self._root
        if whole:
            self._most = 2 * (len(self._texts) + len(self._flat)) + SPARE

    def _learn_items(self, path: _Steps, old: list[JSON], new: list[JSON]) -> None:
        head = same_items(old, new)
        most = min(len(old), len(new)) - head
        tail = same_items(old[: -most - 1 : -1], new[: -most - 1 : -1]) if most else 0
        for at in range(head, len(new) - tail):
            if _is_searched(new[at]):
                self._note(_Place(path, at, new[at], ()))

    def _note(self, unit: _Place) -> None:
        for key, steps in _parts(unit.unit):
            place = unit._replace(steps=steps) if steps else unit
            if type(key) is bytes:
                self._flat[key] = place
            else:
                self._texts[key] = place


def by_first_step(hits: list[Hit]) -> dict[str | int, list[Hit]]:
    """Share out the hits of a container among its parts."""
    found: dict[str | int, list[Hit]] = defaultdict(list)
    for size, steps, place in hits:
        found[steps[0]].append(Hit(size, steps[1:], place))
    return found


def _is_searched(value: JSON) -> bool:
    """Tell whether a value can have parts worth finding."""
    kind = type(value)
    return len(value) >= LONG if kind is str else kind is dict or kind is list


def _parts(value: JSON) -> list[tuple[Any, _Steps]]:
    """List the long strings in a value, and its containers without any as JSON text."""
    if type(value) is str:
        return [(value, ())] if len(value) >= LONG else []
    found: list[tuple[Any, _Steps]] = []
    if type(value) is dict or type(value) is list:
        _look(value, (), LEVELS, found)
    return found


def _look(node: JSON, steps: _Steps, levels: int, found: list[tuple[Any, _Steps]]) -> bool:
    """Note a container's parts; tell whether there is a long string among them."""
    long = False
    if levels:
        for key, item in node.items() if type(node) is dict else enumerate(node):
            kind = type(item)
            if kind is str:
                if len(item) >= LONG:
                    found.append((item, (*steps, key)))
                    long = True
            elif (kind is dict or kind is list) and item:
                long |= _look(item, (*steps, key), levels - 1, found)
    if not long:
        encoded = orjson.dumps(node)
        if len(encoded) >= WORTH:
            found.append((encoded, steps))
    return long


def _at(node: JSON, path: Path) -> JSON:
    for step in path:
        node = node[step]
    return node


def _size(hit: Hit) -> int:
    return hit.size
