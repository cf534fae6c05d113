"""Whether what is offered again is what is held, and where it first differs."""

from __future__ import annotations

from collections.abc import Iterator

from journal.json_door import JSON, canonical, equal
from journal.json_text import member
from journal.records.stream_cursor import nested

_RUNTIME_ONLY = "starweaver_tool_return_content_parts"
"""A key of a tool return's private_metadata that hosts show live and drop on commit."""


def same_record(held: JSON, offered: JSON) -> bool:
    """Tell whether an offered stream record is the held one.

    They are equal by JSON type, ignoring key order, or one of the two tool returns lacks only
    `private_metadata.starweaver_tool_return_content_parts`, which the Starweaver runtime
    drops between its live stream and its evidence commit.
    """
    if equal(held, offered):
        return True
    tapped, committed = _without_parts(held), _without_parts(offered)
    if (tapped is None) == (committed is None):
        return False
    return equal(tapped or _tidy(held), committed or _tidy(offered))


def _without_parts(record: JSON) -> JSON:
    """Give the record without the content parts; None where it has none."""
    private = _private(record)
    if not isinstance(private, dict) or _RUNTIME_ONLY not in private:
        return None
    return _with_private(record, {k: v for k, v in private.items() if k != _RUNTIME_ONLY})


def _tidy(record: JSON) -> JSON:
    """Give the record without private metadata that says nothing."""
    return record if _private(record) else _with_private(record, None)


def _private(record: JSON) -> JSON:
    event = record["event"]
    return event["tool_return"].get("private_metadata") if event["kind"] == "tool_return" else None


def _with_private(record: JSON, private: JSON) -> JSON:
    event = record["event"]
    if event["kind"] != "tool_return":
        return record
    slim = {key: value for key, value in event["tool_return"].items() if key != "private_metadata"}
    if private:
        slim["private_metadata"] = private
    return {**record, "event": {**event, "tool_return": slim}}


def same_cursor(held: JSON, offered: JSON) -> bool:
    """Tell whether two saved cursors agree; the same place may be saved again later."""
    left, right = (
        {key: item for key, item in nested(one).items() if key != "created_at"}
        for one in (held, offered)
    )
    return equal(left, right)


def opening_difference(held: JSON, offered: JSON) -> tuple[str, str, str] | None:
    """Find where two ways to open a run differ; one may not know the conversation.

    Args:
        held: the JSON of a run.opened or run.forked event.
        offered: that of another, for the same run.

    Returns:
        What differs, as it is held and as it is offered; None where they agree.
    """
    if held["session_id"] != offered["session_id"]:
        return "session", held["session_id"], offered["session_id"]
    was, now = held.get("conversation_id"), offered.get("conversation_id")
    if was is not None and now is not None and was != now:
        return "conversation", was, now
    if _lineage(held) != _lineage(offered):
        return "origin", _origin(held), _origin(offered)
    return None


def _lineage(opening: JSON) -> list[JSON]:
    source, forked = opening.get("source"), opening.get("forked")
    others = [opening.get(key) for key in ("source_version", "before", "until", "cursor")]
    return [source, source if forked is None else forked, *others]


def _origin(opening: JSON) -> str:
    """Say where a run comes from, for messages."""
    source, forked, version, before, until, cursor = _lineage(opening)
    if source is None:
        return "no fork"
    bounds = [] if before is None else [f"before {'.'.join(map(str, before))}"]
    if until is not None:
        bounds.append(f"until {until}")
    upto = " ".join([f"version {version}", *bounds])
    of = "" if source == forked else f" of {source}"
    return f"fork of {forked} at {cursor}, {upto}{of}"


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
