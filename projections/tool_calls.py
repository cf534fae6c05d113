"""Which tool calls the messages of a run make, and what they returned."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from journal.json_door import JSON, canonical, equal
from projections.alignment import align
from projections.comparing import FINGERPRINT, Compared
from projections.volatile import called, parts_of

ANSWER = ("content", "is_error", "app_value", "user_content")
"""Members of a tool return that are what the tool answered."""


@dataclass(frozen=True, slots=True)
class ToolCallMade:
    """A tool call in the messages of a run."""

    id: str
    name: str
    arguments: JSON
    """As the model gave them: any JSON, a raw string, or an invalid-arguments object."""
    message: int
    """The place of the message that makes the call, from 0."""
    answer: dict[str, Any] | None
    """The tool return that answers it in the messages; None where none does."""

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.diff`."""
        return {
            "id": self.id,
            "name": self.name,
            "arguments": self.arguments,
            "message": self.message,
            "answer": self.answer,
        }


@dataclass(frozen=True, slots=True)
class ToolCallChange:
    """A tool call that only one view has, or that returned differently."""

    a: ToolCallMade | None
    b: ToolCallMade | None

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.diff`."""
        return {
            "a": None if self.a is None else self.a.to_json(),
            "b": None if self.b is None else self.b.to_json(),
        }


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """The tool calls that two views make, aligned by name and arguments."""

    made_a: int
    """How many the first view makes."""
    made_b: int
    """How many the second view makes."""
    changes: tuple[ToolCallChange, ...]
    """Those that only one makes or that returned differently, in the order of the histories."""

    @property
    def only_a(self) -> tuple[ToolCallMade, ...]:
        """Calls that only the first view makes."""
        return tuple(each.a for each in self.changes if each.a is not None and each.b is None)

    @property
    def only_b(self) -> tuple[ToolCallMade, ...]:
        """Calls that only the second view makes."""
        return tuple(each.b for each in self.changes if each.b is not None and each.a is None)

    @property
    def returned_differently(self) -> tuple[ToolCallChange, ...]:
        """Calls that both make, and that did not return the same."""
        return tuple(each for each in self.changes if each.a is not None and each.b is not None)

    def to_json(self) -> dict[str, Any]:
        """Give members of `tool_calls` in `runjournal.diff`."""
        return {
            "made": {"a": self.made_a, "b": self.made_b},
            "only_a": [call.to_json() for call in self.only_a],
            "only_b": [call.to_json() for call in self.only_b],
            "returned_differently": [each.to_json() for each in self.returned_differently],
        }


def compare_calls(a: Compared, b: Compared) -> ToolCalls:
    """Align the tool calls of two views; within one run those of the same id go together."""
    calls, others = list(_calls(a)), list(_calls(b))
    left, right = [_key(a, call) for call in calls], [_key(b, call) for call in others]
    changes: list[ToolCallChange] = []
    i = j = 0
    for at, other in [*align(left, right), (len(calls), len(others))]:
        changes += [ToolCallChange(call, None) for call in calls[i:at]]
        changes += [ToolCallChange(None, call) for call in others[j:other]]
        if at < len(calls) and not _same_answer(a, calls[at], b, others[other]):
            changes.append(ToolCallChange(calls[at], others[other]))
        i, j = at + 1, other + 1
    return ToolCalls(len(calls), len(others), tuple(changes))


def _calls(side: Compared) -> Iterator[ToolCallMade]:
    """Yield the calls in the order of the messages; an id made twice is two calls."""
    answers = _answers(side)
    seen: dict[str, int] = {}
    for at, message in enumerate(side.view.messages):
        for part in parts_of(message):
            call = called(part)
            if call is None or not isinstance(call.get("id"), str):
                continue
            number = seen[call["id"]] = seen.get(call["id"], -1) + 1
            found = answers.get(call["id"], ())
            answer = found[number] if number < len(found) else None
            yield ToolCallMade(call["id"], str(call.get("name")), call.get("arguments"), at, answer)


def _answers(side: Compared) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for message in side.view.messages:
        for part in parts_of(message):
            if isinstance(part, dict) and part.get("kind") == "tool_return":
                found.setdefault(str(part.get("tool_call_id")), []).append(part)
    return found


def _key(side: Compared, call: ToolCallMade) -> Hashable:
    arguments = blake2b(canonical(call.arguments), digest_size=FINGERPRINT).digest()
    return "" if side.across else call.id, call.name, arguments


def _same_answer(a: Compared, call: ToolCallMade, b: Compared, other: ToolCallMade) -> bool:
    if call.answer is None or other.answer is None:
        return call.answer is other.answer
    left, right = a.tool_return(call.answer), b.tool_return(other.answer)
    return all(equal(left.get(key), right.get(key)) for key in ANSWER)
