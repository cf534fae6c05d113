"""The texts in JSON, each with its path; and those that are new since another state of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from journal.json_door import dumps

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indices from the root."""

Leaf = tuple[Path, str]

_NOTHING = object()


def new_leaves(new: Any, old: Any = _NOTHING) -> Iterator[Leaf]:
    """Yield the texts in a value that its earlier state has not at the same place.

    Texts are strings, the keys of objects, and numbers as JSON writes them. What a list shares
    with the earlier one counts as known wherever it stands in it.

    Args:
        old: the earlier state; without one everything is new.
    """
    waiting: list[tuple[Path, Any, Any]] = [((), new, old)]
    while waiting:
        path, new, old = waiting.pop()
        if new is old:
            continue
        if type(new) is dict:
            known = old if type(old) is dict else {}
            yield from ((path, key) for key in new if key not in known)
            waiting += reversed(
                [((*path, key), value, known.get(key, _NOTHING)) for key, value in new.items()]
            )
        elif type(new) is list:
            waiting += reversed(list(_items(path, new, old)))
        elif type(new) is str:
            if type(old) is not str or new != old:
                yield path, new
        elif type(new) in (int, float) and (type(new) is not type(old) or new != old):
            yield path, dumps(new).decode()


def _items(path: Path, new: list[Any], old: Any) -> Iterator[tuple[Path, Any, Any]]:
    before = old if type(old) is list else []
    # Numbers and short texts may be one object in many places.
    shared = {id(item) for item in before if type(item) in (dict, list)}
    for index, item in enumerate(new):
        if id(item) not in shared:
            yield (*path, index), item, before[index] if index < len(before) else _NOTHING


def shown(path: Path) -> str:
    """Write a path: `state.message_history[3].parts[0].content`."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            text += f".{key}" if text else key
    return text
