"""Whether what is offered again is what is held, and where it first differs."""

from __future__ import annotations

from collections.abc import Iterator

from journal.json_door import JSON, canonical, equal
from journal.json_text import member

_RUNTIME_ONLY = "starweaver_tool_return_content_parts"
"""A key of a tool return's private_metadata that hosts show live and drop on commit."""


def same_record(held: JSON, offered: JSON) -> bool:
    """Tell whether an offered stream record is the held one.

    They are equal by JSON type, ignoring key order, or the offered tool return lacks only
    `private_metadata.starweaver_tool_return_content_parts`, which the Starweaver runtime
    drops between its live stream and its evidence commit.
    """
    return equal(held, offered) or equal(_committed(held), offered)


def _committed(record: JSON) -> JSON:
    event = record.get("event")
    if not isinstance(event, dict) or event.get("kind") != "tool_return":
        return record
    tool_return = event["tool_return"]
    private = tool_return.get("private_metadata")
    if not isinstance(private, dict) or _RUNTIME_ONLY not in private:
        return record
    rest = {key: value for key, value in private.items() if key != _RUNTIME_ONLY}
    slim = {key: value for key, value in tool_return.items() if key != "private_metadata"}
    if rest:
        slim["private_metadata"] = rest
    return {**record, "event": {**event, "tool_return": slim}}


def first_difference(held: JSON, offered: JSON) -> tuple[str, JSON, JSON]:
    """Find the first place where two different JSON values differ.

    Returns:
        The path, the held value there and the offered value there; None stands for a
        member that one side lacks.
    """
    path = "$"
    while True:
        for at, left, right in _pairs(path, held, offered):
            if left is _ABSENT or right is _ABSENT or canonical(left) != canonical(right):
                path, held, offered = at, left, right
                break
        else:
            return path, _shown(held), _shown(offered)


def _pairs(path: str, held: JSON, offered: JSON) -> Iterator[tuple[str, JSON, JSON]]:
    if isinstance(held, dict) and isinstance(offered, dict):
        for key in [*held, *(key for key in offered if key not in held)]:
            yield member(path, key), held.get(key, _ABSENT), offered.get(key, _ABSENT)
    elif isinstance(held, list) and isinstance(offered, list):
        for at in range(max(len(held), len(offered))):
            yield (
                f"{path}[{at}]",
                held[at] if at < len(held) else _ABSENT,
                offered[at] if at < len(offered) else _ABSENT,
            )


def _shown(value: JSON) -> JSON:
    return None if value is _ABSENT else value


_ABSENT = object()
