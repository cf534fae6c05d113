"""What changed between two views of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from journal.json_door import JSON, canonical, equal
from projections.alignment import align
from projections.live import OpenToolCall
from projections.view import RunView


@dataclass(frozen=True, slots=True)
class MessageChange:
    """A message that one view has and the other has not, or has otherwise."""

    index_a: int | None
    """Its place in the first view's messages, from 0; None for an added one."""
    index_b: int | None
    """Its place in the second view's messages, from 0; None for a removed one."""
    a: dict[str, Any] | None
    b: dict[str, Any] | None

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.diff`."""
        return {"index_a": self.index_a, "index_b": self.index_b, "a": self.a, "b": self.b}


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A value in the first view and in the second; null where it is absent."""

    a: JSON
    b: JSON

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.diff`."""
        return {"a": self.a, "b": self.b}


@dataclass(frozen=True, slots=True)
class StateKeys:
    """Members of the checkpoint's run state, the message history left out."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.diff`."""
        return {
            "added": list(self.added),
            "removed": list(self.removed),
            "changed": list(self.changed),
        }


@dataclass(frozen=True, slots=True)
class RunDiff:
    """What changed from view a to view b."""

    run_a: str
    cursor_a: str
    run_b: str
    cursor_b: str
    status: ValueChange | None
    """None when it is the same."""
    messages: tuple[MessageChange, ...]
    """In the order of the histories."""
    usage: dict[str, ValueChange]
    """The counters that differ."""
    state: StateKeys
    opened: tuple[OpenToolCall, ...]
    """Tool calls open in b and not in a."""
    closed: tuple[OpenToolCall, ...]
    """Tool calls open in a and not in b."""

    @property
    def same(self) -> bool:
        """Tell whether nothing of what is compared differs."""
        state = self.state
        return not (
            self.status
            or self.messages
            or self.usage
            or state.added
            or state.removed
            or state.changed
            or self.opened
            or self.closed
        )

    @property
    def added(self) -> tuple[MessageChange, ...]:
        """Messages that only b has."""
        return tuple(change for change in self.messages if change.index_a is None)

    @property
    def removed(self) -> tuple[MessageChange, ...]:
        """Messages that only a has."""
        return tuple(change for change in self.messages if change.index_b is None)

    @property
    def changed(self) -> tuple[MessageChange, ...]:
        """Messages that stand in both, otherwise."""
        return tuple(
            change
            for change in self.messages
            if change.index_a is not None and change.index_b is not None
        )

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.diff` object that `runjournal diff --json` prints."""
        return {
            "schema": "runjournal.diff",
            "schema_version": 1,
            "a": {"run_id": self.run_a, "cursor": self.cursor_a},
            "b": {"run_id": self.run_b, "cursor": self.cursor_b},
            "same": self.same,
            "status": None if self.status is None else self.status.to_json(),
            "messages": {
                "added": [change.to_json() for change in self.added],
                "removed": [change.to_json() for change in self.removed],
                "changed": [change.to_json() for change in self.changed],
            },
            "usage": {name: change.to_json() for name, change in self.usage.items()},
            "state": self.state.to_json(),
            "tool_calls": {
                "opened": [call.to_json() for call in self.opened],
                "closed": [call.to_json() for call in self.closed],
            },
        }


def run_diff(a: RunView, b: RunView) -> RunDiff:
    """Compare two views, of one run or of two."""
    status = None
    if a.live.status != b.live.status:
        status = ValueChange(a.live.status, b.live.status)
    usages = a.live.usage, b.live.usage
    return RunDiff(
        a.run_id,
        a.cursor.requested,
        b.run_id,
        b.cursor.requested,
        status,
        tuple(_messages(a.messages, b.messages)),
        {name: ValueChange(*_both(usages, name)) for name in _differing(*usages)},
        _state_keys(_state(a), _state(b)),
        _only_first(b.live.open_tool_calls, a.live.open_tool_calls),
        _only_first(a.live.open_tool_calls, b.live.open_tool_calls),
    )


def _messages(a: Sequence[dict[str, Any]], b: Sequence[dict[str, Any]]) -> Iterator[MessageChange]:
    # Histories mostly grow at the end: what they begin with is not written out to compare it.
    start = 0
    while start < min(len(a), len(b)) and equal(a[start], b[start]):
        start += 1
    left, right = ([canonical(message) for message in each[start:]] for each in (a, b))
    i = j = start
    for to_left, to_right in [*align(left, right), (len(left), len(right))]:
        i_end, j_end = start + to_left, start + to_right
        while i < i_end and j < j_end:
            yield MessageChange(i, j, a[i], b[j])
            i, j = i + 1, j + 1
        for at in range(i, i_end):
            yield MessageChange(at, None, a[at], None)
        for at in range(j, j_end):
            yield MessageChange(None, at, None, b[at])
        i, j = i_end + 1, j_end + 1


def _state(view: RunView) -> dict[str, Any]:
    state = {} if view.checkpoint is None else view.checkpoint["state"]
    return {key: value for key, value in state.items() if key != "message_history"}


def _state_keys(a: Mapping[str, JSON], b: Mapping[str, JSON]) -> StateKeys:
    return StateKeys(
        added=tuple(key for key in b if key not in a),
        removed=tuple(key for key in a if key not in b),
        changed=tuple(key for key in _differing(a, b) if key in a and key in b),
    )


def _differing(a: Mapping[str, JSON], b: Mapping[str, JSON]) -> Iterator[str]:
    return (key for key in {**a, **b} if not equal(a.get(key), b.get(key)))


def _both(pair: tuple[Mapping[str, JSON], Mapping[str, JSON]], key: str) -> tuple[JSON, JSON]:
    return pair[0].get(key), pair[1].get(key)


def _only_first(
    first: Sequence[OpenToolCall], second: Sequence[OpenToolCall]
) -> tuple[OpenToolCall, ...]:
    other = {call.id for call in second}
    return tuple(call for call in first if call.id not in other)
