"""JSON Patch (RFC 6902): operations that turn one JSON value into another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from journal.json_door import JSON, equal


@dataclass(frozen=True, slots=True)
class PatchOperation:
    """One operation; those of a patch are carried out in their order."""

    op: Literal["add", "remove", "replace"]
    path: str
    """A JSON pointer (RFC 6901)."""
    value: JSON = None
    """What is there afterwards; nothing where it was removed."""

    def to_json(self) -> dict[str, Any]:
        """Give the operation as RFC 6902 writes it."""
        if self.op == "remove":
            return {"op": self.op, "path": self.path}
        return {"op": self.op, "path": self.path, "value": self.value}


def pointer(*tokens: str | int) -> str:
    """Write a JSON pointer: each token after a slash, `~` as `~0` and `/` as `~1`."""
    return "".join("/" + str(each).replace("~", "~0").replace("/", "~1") for each in tokens)


def operations(path: str, a: JSON, b: JSON) -> Iterator[PatchOperation]:
    """Yield what turns `a` into `b`, compared by JSON type; nothing where they are equal.

    Objects are changed member by member, save two of different `kind`: these are replaced.
    Items that two lists begin or end with stay; of what is between, the first go together.

    Args:
        path: JSON pointer of the value.
    """
    if isinstance(a, dict) and isinstance(b, dict) and a.get("kind") == b.get("kind"):
        yield from _of_objects(path, a, b)
    elif isinstance(a, list) and isinstance(b, list):
        yield from _of_lists(path, a, b)
    elif not equal(a, b):
        yield PatchOperation("replace", path, b)


def _of_objects(path: str, a: dict[str, JSON], b: dict[str, JSON]) -> Iterator[PatchOperation]:
    for key in a:
        if key not in b:
            yield PatchOperation("remove", path + pointer(key))
    for key, value in b.items():
        if key in a:
            yield from operations(path + pointer(key), a[key], value)
        else:
            yield PatchOperation("add", path + pointer(key), value)


def _of_lists(path: str, a: list[JSON], b: list[JSON]) -> Iterator[PatchOperation]:
    start, end, most = 0, 0, min(len(a), len(b))
    if len(a) != len(b):
        while start < most and equal(a[start], b[start]):
            start += 1
        while end < most - start and equal(a[-1 - end], b[-1 - end]):
            end += 1
    for at in range(start, most - end):
        yield from operations(path + pointer(at), a[at], b[at])
    for _ in range(most, len(a)):
        yield PatchOperation("remove", path + pointer(most - end))
    for at in range(most - end, len(b) - end if len(b) > most else 0):
        yield PatchOperation("add", path + pointer(at), b[at])
