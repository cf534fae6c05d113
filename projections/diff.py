"""What changed between two views of a run, or between views of two runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from journal.json_door import JSON, canonical, equal
from projections.comparing import Compared
from projections.divergence import Divergence, divergence_of
from projections.json_patch import PatchOperation, operations, pointer
from projections.live import OpenToolCall
from projections.message_changes import MessageChange, common, message_changes
from projections.tool_calls import ToolCalls, compare_calls
from projections.view import RunView


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
    """What changed from view a to view b.

    Between two runs, what a host makes up anew for every run is no change: ids, times and the
    like, all of which `projections.volatile` lists.
    """

    run_a: str
    cursor_a: str
    run_b: str
    cursor_b: str
    status: ValueChange | None
    """None when it is the same."""
    output: ValueChange | None
    """None when it is the same."""
    error: ValueChange | None
    """`{"error_kind", "message"}` of a failed run; None when it is the same."""
    messages: tuple[MessageChange, ...]
    """In the order of the histories."""
    usage: dict[str, ValueChange]
    """The counters that differ."""
    state: StateKeys
    opened: tuple[OpenToolCall, ...]
    """Tool calls open in b and not in a."""
    closed: tuple[OpenToolCall, ...]
    """Tool calls open in a and not in b."""
    calls: ToolCalls
    """The tool calls in the messages that differ."""
    divergence: Divergence | None
    """Where they part; None when both do the same. Usage and state may differ even then."""
    patch: tuple[PatchOperation, ...]
    """JSON Patch (RFC 6902) that turns what is compared of view a into that of view b; see
    `compared`. Its paths are those of the view's JSON."""

    @property
    def same(self) -> bool:
        """Tell whether nothing of what is compared differs."""
        return not self.patch

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
            "divergence": None if self.divergence is None else self.divergence.to_json(),
            "status": _json(self.status),
            "output": _json(self.output),
            "error": _json(self.error),
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
                **self.calls.to_json(),
            },
            "patch": [operation.to_json() for operation in self.patch],
        }


def run_diff(a: RunView, b: RunView) -> RunDiff:
    """Compare two views, of one run or of two.

    Where they are of two runs, `divergence` is what the views alone tell: `diff_runs` looks
    into the journal, too.
    """
    across = a.run_id != b.run_id
    left, right = Compared(a, across=across), Compared(b, across=across)
    fingerprints = left.fingerprints(), right.fingerprints()
    messages = tuple(message_changes(left, right, *fingerprints))
    usages = a.live.usage, b.live.usage
    return RunDiff(
        a.run_id,
        a.cursor.requested,
        b.run_id,
        b.cursor.requested,
        _change(a.live.status, b.live.status),
        _change(a.live.output, b.live.output),
        _change(a.live.error, b.live.error),
        messages,
        {name: ValueChange(*_both(usages, name)) for name in _differing(*usages)},
        _state_keys(left.state() or {}, right.state() or {}),
        tuple(_only_first(right, left)),
        tuple(_only_first(left, right)),
        compare_calls(left, right),
        divergence_of(left, right, common(*fingerprints)),
        tuple(_patch(left, right, messages)),
    )


def _patch(a: Compared, b: Compared, messages: Iterable[MessageChange]) -> Iterator[PatchOperation]:
    state, other = a.state(), b.state()
    if state is None or other is None:
        if state is not other:
            value = None if other is None else {"state": other}
            yield PatchOperation("replace", "/checkpoint", value)
    else:
        yield from operations("/checkpoint/state", state, other)
    moved = 0
    for change in messages:
        # Those before it stand as in b already, so that its place is the one it has there.
        if change.index_b is not None:
            at, message = change.index_b, b.message(change.index_b)
            path = pointer("messages", at)
            if change.index_a is None:
                yield PatchOperation("add", path, message)
                moved += 1
            else:
                yield from operations(path, a.message(change.index_a), message)
        elif change.index_a is not None:
            yield PatchOperation("remove", pointer("messages", change.index_a + moved))
            moved -= 1
    yield from operations("/live", a.live(), b.live())


def _json(change: ValueChange | None) -> dict[str, Any] | None:
    return None if change is None else change.to_json()


def _change(a: JSON, b: JSON) -> ValueChange | None:
    return None if equal(a, b) else ValueChange(a, b)


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


def _only_first(first: Compared, second: Compared) -> Iterator[OpenToolCall]:
    """Yield the open calls of one view; each call of the other goes with one of them."""
    others = Counter(_keys(second))
    for call, key in zip(first.view.live.open_tool_calls, _keys(first), strict=True):
        if others[key]:
            others[key] -= 1
        else:
            yield call


def _keys(side: Compared) -> Iterator[bytes]:
    """Give by what open tool calls go together: their ids, or in two runs what is called."""
    for call in side.open_calls():
        yield canonical(call if side.across else call["id"])
