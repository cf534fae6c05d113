"""How a delta is made; the format is described in the package."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import orjson

from journal.difference.alignment import LONG, align, equal_text
from journal.difference.delta import JSON, Delta, Path, apply
from journal.difference.sources import WORTH, Sources, encode

ORDERED = 256
"""Keys up to which an object's new keys are put in their places."""

SEARCHED = 8
"""Levels of a new value that are searched for parts to copy."""

OPENED: dict[type, int] = {dict: 1, list: 2}
"""Levels whose containers are gone through without comparing them whole before."""

FEW = 64
"""Keys up to which the parts of an object are opened so."""

KEPT = 16
"""Characters from which on two strings have enough in common to be spliced."""


def diff(before: JSON, after: JSON) -> Delta:
    """Make the delta that turns one JSON value into another.

    The delta is never longer, as JSON, than one that sets the whole value, and empty
    exactly when both are equal by JSON type (key order is not looked at).

    Args:
        before: any JSON value, nested at most 200 deep; not changed.
        after: the same; parts of it are in the delta, not copies.
    """
    whole: Delta = [["=", [], after]]
    encoded = orjson.dumps(after)
    if not before or not isinstance(before, dict | list | str):
        return [] if orjson.dumps(before) == encoded else whole
    delta = _Differ(before).run(after)
    # Python finds 1, 1.0 and True equal, which is fast and nearly always right; what it
    # got wrong is corrected here, where the whole answer is checked.
    rebuilt = apply(before, delta)
    if orjson.dumps(rebuilt) != encoded:
        delta += _corrections(rebuilt, after)
    frame = len('[["=",[],]]')
    return delta if len(orjson.dumps(delta)) < len(encoded) + frame else whole


class _Mark(NamedTuple):
    """Where the operations for one value begin."""

    path: Path
    value: JSON
    operations: int
    size: int


class _Copy(NamedTuple):
    """What shall stand at a path, and where something like it stands in the old value."""

    path: Path
    source: Path
    base: JSON
    value: JSON


_Pair: TypeAlias = tuple[Path, JSON, JSON]
"""A path, what stands there, and what shall stand there."""

_Link: TypeAlias = tuple[Any, str | int]
"""A path from its end: the link before (None at the root) and a key."""


class _Differ:
    """One difference in the making.

    Containers are gone through from a stack of their own, because Python's is limited and
    partly used by the host. Parents come before children, so every path is already the
    one in the new value.
    """

    def __init__(self, before: JSON) -> None:
        self._before = before
        self._sources = Sources(before)
        self._delta: Delta = []
        self._sizes: list[int] = [0]
        self._todo: list[_Pair | _Mark] = []

    def run(self, after: JSON) -> Delta:
        if _is_opened([], after, 1) or self._before != after:
            self._todo.append(([], self._before, after))
        while self._todo:
            task = self._todo.pop()
            if isinstance(task, _Mark):
                self._settle(task)
            else:
                self._change(*task)
        return self._delta

    def _add(self, operation: list[JSON]) -> None:
        self._delta.append(operation)
        self._sizes.append(self._sizes[-1] + len(orjson.dumps(operation)) + 1)

    def _mark(self, path: Path, value: JSON) -> None:
        self._todo.append(_Mark(path, value, len(self._delta), self._sizes[-1]))

    def _settle(self, mark: _Mark) -> None:
        """Set the value whole where that is shorter than the operations since the mark."""
        if len(self._delta) - mark.operations < 2:
            return
        size = self._sizes[-1] - mark.size
        if _is_longer(mark.value, size):
            return
        whole = ["=", mark.path, mark.value]
        if len(orjson.dumps(whole)) < size:
            del self._delta[mark.operations :]
            del self._sizes[mark.operations + 1 :]
            self._add(whole)

    def _change(self, path: Path, old: JSON, new: JSON) -> None:
        kind = type(new)
        if kind is not type(old):
            self._set(path, new)
        elif kind is dict:
            self._change_object(path, old, new)
        elif kind is list:
            self._change_list(path, old, new)
        elif kind is str and len(new) >= LONG:
            self._change_text(path, old, new)
        else:
            self._set(path, new)

    def _change_object(self, path: Path, old: dict[str, JSON], new: dict[str, JSON]) -> None:
        if new.keys().isdisjoint(old):
            self._set(path, new)
            return
        self._mark(path, new)
        for key in old:
            if key not in new:
                self._add(["-", [*path, key]])
        placed = sum(key in new for key in old) if len(new) <= ORDERED else 0
        for place, (key, item) in enumerate(new.items()):
            if key not in old:
                self._set([*path, key], item, [place] if place < placed else [])
                placed += 1
            elif _is_opened(path, item, len(new)) or old[key] != item:
                self._todo.append(([*path, key], old[key], item))

    def _change_list(self, path: Path, old: list[JSON], new: list[JSON]) -> None:
        splices, pairs = align(old, new)
        if splices == [(0, len(new), len(old))]:
            self._set(path, new)
            return
        self._mark(path, new)
        for start, stop, dropped in splices:
            copies: list[_Copy] = []
            items = [
                self._part([*path, at], new[at], copies, SEARCHED) for at in range(start, stop)
            ]
            self._add(["@", path, start, dropped, items])
            self._copy(copies)
        for at_old, at_new in pairs:
            self._todo.append(([*path, at_new], old[at_old], new[at_new]))

    def _change_text(self, path: Path, old: str, new: str) -> None:
        head, tail = equal_text(old, new)
        inserted = new[head : len(new) - tail]
        if head + tail < KEPT or (len(inserted) >= WORTH and self._source(path, new, encode(new))):
            self._set(path, new)
        else:
            self._add(["~", path, head, len(old) - head - tail, inserted])

    def _set(self, path: Path, value: JSON, place: list[int] | None = None) -> None:
        copies: list[_Copy] = []
        literal = self._part(path, value, copies, SEARCHED)
        if copies and copies[0].path == path:
            self._copy(copies, place)
        else:
            self._add(["=", path, literal, *(place or [])])
            self._copy(copies)

    def _part(self, path: Path, value: JSON, copies: list[_Copy], levels: int) -> JSON:
        """Write a value with null for what is copied, and note the copies to make."""
        encoded = encode(value) if levels else b""
        if len(encoded) < WORTH:
            return value
        copy = self._source(path, value, encoded)
        if copy is not None:
            copies.append(copy)
            return None
        if type(value) is dict:
            return {
                key: self._part([*path, key], item, copies, levels - 1)
                for key, item in value.items()
            }
        if type(value) is list:
            return [
                self._part([*path, at], item, copies, levels - 1) for at, item in enumerate(value)
            ]
        return value

    def _source(self, path: Path, value: JSON, encoded: bytes) -> _Copy | None:
        found = self._sources.find(value, encoded)
        base = value
        if found is None:
            found = self._sources.find_alike(value)
            if found is None:
                return None
            base = found.part
        shorter = len(orjson.dumps(["<", path, found.path])) < len(encoded)
        return _Copy(path, found.path, base, value) if shorter else None

    def _copy(self, copies: list[_Copy], place: list[int] | None = None) -> None:
        for path, source, base, value in copies:
            self._add(["<", path, source, *(place or [])])
            if base is not value:
                self._todo.append((path, base, value))


def _is_opened(path: Path, part: JSON, parts: int) -> bool:
    # Near the root nearly everything is in one part. Comparing that whole, then its own
    # parts, would read it twice.
    return bool(part) and parts <= FEW and len(path) < OPENED.get(type(part), 0)


def _is_longer(value: JSON, size: int) -> bool:
    """Tell whether a value surely takes more bytes of JSON; reads only as much as needed."""
    todo = [value]
    while todo and size >= 0:
        node = todo.pop()
        if type(node) is str:
            size -= len(node) + 2
        elif type(node) is dict:
            size -= 4 * len(node) + 1
            todo += node.values()
        elif type(node) is list:
            size -= len(node) + 1
            todo += node
        else:
            size -= 1
    return size < 0


def _corrections(old: JSON, new: JSON) -> Delta:
    """Set what differs by JSON type only, in values that Python finds equal."""
    found: Delta = []
    todo: list[tuple[_Link | None, JSON, JSON]] = [(None, old, new)]
    while todo:
        link, one, other = todo.pop()
        if type(other) is dict:
            todo += [((link, key), one[key], item) for key, item in other.items()]
        elif type(other) is list:
            todo += [((link, at), one[at], item) for at, item in enumerate(other)]
        elif type(one) is not type(other) or (type(one) is float and str(one) != str(other)):
            path: Path = []
            while link is not None:
                link, key = link
                path.append(key)
            found.append(["=", path[::-1], other])
    return found
