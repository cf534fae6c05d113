"""Where two views part: up to where they agree, and what comes next in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from journal.json_door import equal
from projections.comparing import Compared
from projections.view import RunView


@dataclass(frozen=True, slots=True)
class NextStep:
    """The first message, or stream record, after the point up to which two views agree."""

    kind: Literal["message", "record"]
    at: int
    """The message's place in the messages, from 0, or the record's sequence."""
    value: dict[str, Any]
    """The message, or the `AgentStreamRecord`."""

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.diff`."""
        return {"kind": self.kind, "at": self.at, "value": self.value}


@dataclass(frozen=True, slots=True)
class Branch:
    """One of the two views, where they part."""

    run_id: str
    cursor: str | None
    """A cursor at which both still agree, in its text form; None where they never did."""
    next: NextStep | None
    """What comes then; None where nothing more was recorded up to the view's cursor."""

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.diff`."""
        return {
            "run_id": self.run_id,
            "cursor": self.cursor,
            "next": None if self.next is None else self.next.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first divergence of two views."""

    messages: int
    """With how many equal messages both begin, in the epoch in which they part."""
    a: Branch
    b: Branch

    @property
    def beginning(self) -> Literal["a", "b"] | None:
        """Tell which view is just the beginning of the other; None where none is."""
        if (self.a.next is None) is (self.b.next is None):
            return None
        return "a" if self.a.next is None else "b"

    def to_json(self) -> dict[str, Any]:
        """Give `divergence` of `runjournal.diff`."""
        return {
            "messages": self.messages,
            "beginning": self.beginning,
            "a": self.a.to_json(),
            "b": self.b.to_json(),
        }


def same_course(a: Compared, b: Compared) -> bool:
    """Tell whether two views with equal messages do the same; usage and state may differ."""
    return equal(_course(a), _course(b))


def divergence_of(a: Compared, b: Compared, messages: int) -> Divergence | None:
    """Tell from two views alone where they part; None where they do not.

    Two views of one run agree at the earlier one. Views of two runs agree, in their messages,
    at `message:M@E`; `projections.diff_runs` looks closer.

    Args:
        messages: with how many equal messages both begin.
    """
    if len(a.view.messages) == len(b.view.messages) == messages and same_course(a, b):
        return None
    if a.across:
        cursors = [f"message:{messages}@{side.view.cursor.epoch}" for side in (a, b)]
    else:
        cursors = [min(a.view, b.view, key=_reached).cursor.requested] * 2
    branches = [
        Branch(side.view.run_id, cursor, next_message(side.view, messages))
        for side, cursor in zip((a, b), cursors, strict=True)
    ]
    return Divergence(messages, *branches)


def next_message(view: RunView, messages: int) -> NextStep | None:
    """Give the message after the first so many of a view."""
    if messages == len(view.messages):
        return None
    return NextStep("message", messages, view.messages[messages])


def _reached(view: RunView) -> tuple[int, int, int, int]:
    cursor = view.cursor
    stream = -1 if cursor.stream is None else cursor.stream
    return cursor.epoch, cursor.message, stream, cursor.version


def _course(side: Compared) -> dict[str, Any]:
    live = side.view.live
    streamed = {"text": live.text, "thinking": live.thinking}
    return {**side.live(), "usage": None, "step": live.step, **streamed}
