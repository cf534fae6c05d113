"""Whatever the hook would replace anywhere is replaced, and nothing else is touched."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from journal.redact import MAX_PATH, MAX_PATHS, Redactor
from tests.property.test_difference_is_exact import values

GONE = {"gone": True}


def hidden(value: Any) -> bool:
    return value is True or (isinstance(value, str) and "a" in value) or value == []


def hook(value: Any, _path: str, _kind: str) -> Any:
    return dict(GONE) if hidden(value) else value


def without(value: Any) -> Any:
    """What the hook leaves, and how much it replaced."""
    if hidden(value):
        return GONE, 1
    if isinstance(value, dict):
        left = {key: without(item) for key, item in value.items()}
        return {key: item for key, (item, _) in left.items()}, sum(n for _, n in left.values())
    if isinstance(value, list):
        items = [without(item) for item in value]
        return [item for item, _ in items], sum(n for _, n in items)
    return value, 0


@settings(max_examples=200)
@given(values(40), st.booleans())
def test_everything_the_hook_replaces_is_replaced(value: Any, inside: bool) -> None:
    was = orjson.dumps(value)
    below = ("payload",) if inside else ()
    given_ = {"schema": "a", "payload": value} if inside else value
    left, paths = Redactor(hook).redact(given_, "stream_record", below)
    expected, replaced = without(value)
    assert orjson.dumps(left["payload"] if inside else left) == orjson.dumps(expected)
    assert orjson.dumps(value) == was
    assert bool(paths) == bool(replaced)
    assert paths == sorted(set(paths))
    assert len(paths) == replaced or replaced > len(paths)
    assert len(paths) <= MAX_PATHS
    assert all(path.startswith("$") and len(path) <= MAX_PATH for path in paths)
