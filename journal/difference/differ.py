"""How a delta is made; the format is described in the package."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import orjson

from journal.difference.alignment import LONG, align, equal_text
from journal.difference.corrections import corrections
from journal.difference.delta import JSON, Delta, Path, apply
from journal.difference.sources import LEVELS, Hit, Sources, by_first_step

ORDERED = 256
"""Keys up to which an object's new keys are put in their places."""

OPENED: tuple[tuple[type, ...], ...] = ((dict, list), (list,))
"""By levels from the root, the containers gone through without comparing them whole before."""

COPIED = (dict, list, str)
"""What may be copied from elsewhere."""

FEW = 64
"""Keys up to which the parts of an object are opened so."""

KEPT = 16
"""Characters from which on two strings have enough in common to be spliced."""


def diff(before: JSON, after: JSON, sources: Sources | None = None) -> Delta:
    """Make the delta that turns one JSON value into another.

    The delta is never longer, as JSON, than one that sets the whole value, and empty
    exactly when both are equal by JSON type (key order is not looked at). Parts that are the
    very same object in both values are not looked into.

    Args:
        before: any JSON value, nested at most 200 deep; not changed.
        after: the same; parts of it are in the delta, not copies.
        sources: of an earlier value, whose parts need not be found again; it turns to
            `before`, and is then of use for the difference after this one.
    """
    whole: Delta = [["=", [], after]]
    if not before or not isinstance(before, dict | list | str):
        return [] if orjson.dumps(before) == orjson.dumps(after) else whole
    sources = sources or Sources()
    sources.turn_to(before)
    delta = _Differ(before, sources).run(after)
    # Python finds 1, 1.0 and True equal, which is fast and nearly always right; what it
    # got wrong is corrected here, where the whole answer is checked.
    delta += corrections(apply(before, delta), after)
    size = len(orjson.dumps(delta)) - len('[["=",[],]]')
    shorter = _is_longer(after, size) or size < len(orjson.dumps(after))
    return delta if shorter else whole


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


class _Differ:
    """One difference in the making.

    Containers are gone through from a stack of their own, because Python's is limited and
    partly used by the host. Parents come before children, so every path is already the
    one in the new value.
    """

    def __init__(self, before: JSON, sources: Sources) -> None:
        self._before = before
        self._sources = sources
        self._delta: Delta = []
        self._sizes: list[int] = [0]
        self._todo: list[_Pair | _Mark] = []

    def run(self, after: JSON) -> Delta:
        if type(after) in OPENED[0] or self._before != after:
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
        if path:  # the root is looked at when the delta is complete
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
        same_keys = new.keys() == old.keys()
        placed = 0
        if not same_keys:
            for key in old:
                if key not in new:
                    self._add(["-", [*path, key]])
            placed = sum([key in new for key in old]) if len(new) <= ORDERED else 0
        opened = _opened(path, new)
        for place, (key, item) in enumerate(new.items()):
            if not same_keys and key not in old:
                self._set([*path, key], item, [place] if place < placed else [])
                placed += 1
                continue
            was = old[key]
            if was is not item and ((item and type(item) in opened) or was != item):
                self._todo.append(([*path, key], was, item))

    def _change_list(self, path: Path, old: list[JSON], new: list[JSON]) -> None:
        splices, pairs = align(old, new)
        if splices == [(0, len(new), len(old))]:
            self._set(path, new)
            return
        self._mark(path, new)
        for start, stop, dropped in splices:
            copies: list[_Copy] = []
            items = [
                self._part([*path, at], new[at], self._sources.hits(new[at]), copies, LEVELS)
                for at in range(start, stop)
            ]
            self._add(["@", path, start, dropped, items])
            self._copy(copies)
        for at_old, at_new in pairs:
            self._todo.append(([*path, at_new], old[at_old], new[at_new]))

    def _change_text(self, path: Path, old: str, new: str) -> None:
        head, tail = equal_text(old, new)
        inserted = new[head : len(new) - tail]
        known = len(inserted) >= LONG and self._sources.hits(new)
        if head + tail < KEPT or known:
            self._set(path, new)
        else:
            self._add(["~", path, head, len(old) - head - tail, inserted])

    def _set(self, path: Path, value: JSON, place: list[int] | None = None) -> None:
        if type(value) not in COPIED:
            self._add(["=", path, value, *(place or [])])
            return
        copies: list[_Copy] = []
        literal = self._part(path, value, self._sources.hits(value), copies, LEVELS)
        if copies and copies[0].path == path:
            self._copy(copies, place)
        else:
            self._add(["=", path, literal, *(place or [])])
            self._copy(copies)

    def _part(
        self, path: Path, value: JSON, hits: list[Hit], copies: list[_Copy], levels: int
    ) -> JSON:
        """Write a value with null for what is copied, and note the copies to make."""
        if not hits or not levels:
            return value
        copy = self._source(path, value, hits)
        if copy is not None:
            copies.append(copy)
            return None
        parts = by_first_step([hit for hit in hits if hit.steps])
        if type(value) is dict:
            return {
                key: self._part([*path, key], item, parts.get(key, []), copies, levels - 1)
                for key, item in value.items()
            }
        if type(value) is list:
            return [
                self._part([*path, at], item, parts.get(at, []), copies, levels - 1)
                for at, item in enumerate(value)
            ]
        return value

    def _source(self, path: Path, value: JSON, hits: list[Hit]) -> _Copy | None:
        whole = next((hit for hit in hits if not hit.steps), None)
        found = self._sources.source(whole) if whole else self._sources.alike(value, hits)
        if found is None:
            return None
        size = len(orjson.dumps(["<", path, found.path]))
        if not _is_longer(value, size) and len(orjson.dumps(value)) <= size:
            return None
        return _Copy(path, found.path, value if whole else found.part, value)

    def _copy(self, copies: list[_Copy], place: list[int] | None = None) -> None:
        for path, source, base, value in copies:
            self._add(["<", path, source, *(place or [])])
            if base is not value:
                self._todo.append((path, base, value))


def _opened(path: Path, holder: dict[str, JSON]) -> tuple[type, ...]:
    """Tell which containers in an object are gone through without comparing them whole.

    Near the root nearly everything is in one part. Comparing that whole, then its own parts,
    would read it twice.
    """
    return OPENED[len(path)] if len(holder) <= FEW and len(path) < len(OPENED) else ()


def _is_longer(value: JSON, size: int) -> bool:
    """Tell whether a value surely takes more bytes of JSON; reads only as much as needed."""
    todo = [value]
    while todo and size >= 0:
        node = todo.pop()
        kind = type(node)
        if kind is dict:
            size -= 5 * len(node)
            for item in node.values():
                if type(item) is str:
                    size -= len(item)
                elif type(item) is dict or type(item) is list:
                    todo.append(item)
        elif kind is list:
            size -= 2 * len(node)
            todo += node
        elif kind is str:
            size -= len(node)
    return size < 0
