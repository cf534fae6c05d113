"""Deltas and how they are applied; the format is described in the package."""

from __future__ import annotations

from typing import Any, TypeAlias

JSON: TypeAlias = Any
"""A parsed JSON value: dict, list, str, int, float, bool or None."""

Path: TypeAlias = list[str | int]
"""Object keys and list indices from the root."""

Delta: TypeAlias = list[list[JSON]]
"""A list of operations, itself JSON."""


_CONTAINERS = (dict, list)

BRIEF = 60
"""Characters of a key or number that an error shows."""


class DifferenceError(ValueError):
    """A delta that does not fit the value it is applied to, or is none at all.

    Attributes:
        operation: number of the operation in the delta, from 0.
        reason: what does not fit.
    """

    def __init__(self, operation: int, reason: str) -> None:
        super().__init__(operation, reason)
        self.operation = operation
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"operation {self.operation} of the difference does not fit: {self.reason}; "
            "apply it to the very value it was made from"
        )


def apply(before: JSON, delta: Delta) -> JSON:
    """Build the value that a delta leads to.

    `before` and `delta` stay as they are; the result shares what is unchanged with them.

    Raises:
        DifferenceError: an operation is malformed, its path is not there, or its range is
            outside the list or string.
    """
    if type(delta) is not list:
        raise DifferenceError(0, f"a difference is a list, not a {type(delta).__name__}")
    document = _Document(before)
    for number, operation in enumerate(delta):
        try:
            document.change(operation)
        except _MisfitError as misfit:
            raise DifferenceError(number, str(misfit)) from None
    return document.top[0]


class _MisfitError(Exception):
    pass


class _Document:
    """The document being built: containers are copied when first written to."""

    def __init__(self, before: JSON) -> None:
        self.before = before
        self.top = [before]
        # By id, and with the containers themselves, so that no id is used again.
        self._copies: dict[int, JSON] = {id(self.top): self.top}

    def change(self, operation: list[JSON]) -> None:
        match operation:
            case ["=", list(path), value, *place]:
                self._put(path, value, place)
            case ["<", list(path), list(source), *place]:
                self._put(path, _at(self.before, source), place)
            case ["-", list(path)]:
                self._remove(path)
            case ["@", list(path), start, count, list(items)]:
                self._splice_list(path, start, count, items)
            case ["~", list(path), start, count, str(text)]:
                self._splice_text(path, start, count, text)
            case _:
                raise _MisfitError("no operation has this form")

    def _put(self, path: Path, value: JSON, place: list[JSON]) -> None:
        holder, key = self._holder(path)
        if place:
            self._insert(holder, key, value, place)
            return
        if type(holder) is not dict:
            _child(holder, key)
        elif type(key) is not str:
            raise _MisfitError(f"{_brief(key)} is no object key")
        holder[key] = value

    def _insert(self, holder: JSON, key: JSON, value: JSON, places: list[JSON]) -> None:
        if type(holder) is not dict or type(key) is not str or key in holder:
            raise _MisfitError(f"{_brief(key)} is no new object key")
        place = places[0]
        if len(places) > 1 or type(place) is not int or not 0 <= place <= len(holder):
            raise _MisfitError(f"{_brief(places)} is no place among {len(holder)} keys")
        later = [holder.popitem() for _ in range(len(holder) - place)]
        holder[key] = value
        holder.update(reversed(later))

    def _remove(self, path: Path) -> None:
        holder, key = self._holder(path)
        if type(holder) is not dict:
            raise _MisfitError(f"{_named(holder)} has no keys to remove")
        _child(holder, key)
        del holder[key]

    def _splice_list(self, path: Path, start: JSON, count: JSON, items: list[JSON]) -> None:
        target = self._writable(path)
        if type(target) is not list:
            raise _MisfitError(f"{_named(target)} stands where a list should")
        target[_range(target, start, count)] = items

    def _splice_text(self, path: Path, start: JSON, count: JSON, text: str) -> None:
        target = _at(self.top[0], path)
        if type(target) is not str:
            raise _MisfitError(f"{_named(target)} stands where a string should")
        cut = _range(target, start, count)
        self._put(path, target[: cut.start] + text + target[cut.stop :], [])

    def _holder(self, path: Path) -> tuple[JSON, str | int]:
        """Find the container, made writable, and the key in it that a path ends with."""
        return (self._writable(path[:-1]), path[-1]) if path else (self.top, 0)

    def _writable(self, path: Path) -> JSON:
        node: JSON = self.top
        copies = self._copies
        for step in (0, *path):
            child = _child(node, step)
            if id(child) not in copies and type(child) in _CONTAINERS:
                child = node[step] = child.copy()
                copies[id(child)] = child
            node = child
        return node


def _at(node: JSON, path: Path) -> JSON:
    for step in path:
        node = _child(node, step)
    return node


def _child(node: JSON, step: JSON) -> JSON:
    if type(node) is dict:
        if type(step) is str and step in node:
            return node[step]
    elif type(node) is list and type(step) is int and 0 <= step < len(node):
        return node[step]
    raise _MisfitError(f"{_named(node)} has nothing at {_brief(step)}")


def _range(target: list[JSON] | str, start: JSON, count: JSON) -> slice:
    if type(start) is not int or type(count) is not int or start < 0 or count < 0:
        raise _MisfitError(f"{_brief([start, count])} is no start and count")
    if start + count > len(target):
        raise _MisfitError(f"{count} from {start} on is outside a length of {len(target)}")
    return slice(start, start + count)


def _named(node: JSON) -> str:
    if type(node) is dict:
        return f"an object of {len(node)}"
    if type(node) is list:
        return f"a list of {len(node)}"
    return "a string" if type(node) is str else f"the value {node!r}"


def _brief(value: JSON) -> str:
    text = ascii(value)
    return text if len(text) <= BRIEF else text[:BRIEF] + "..."
