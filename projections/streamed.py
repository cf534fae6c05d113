"""What the current model request streamed so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from projections.order import Ref, text

PIECE = 4096
"""Characters of a settled piece."""


@dataclass(frozen=True, slots=True)
class PartialToolCall:
    """A tool call whose arguments the model streams."""

    index: int
    """Index of its part in the response."""
    name: str | None
    """Tool name, once streamed."""
    arguments_text: str
    """The arguments' text so far; often not yet JSON."""

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.view`."""
        return {"index": self.index, "name": self.name, "arguments_text": self.arguments_text}


@dataclass(slots=True)
class PartialCall:
    """What was streamed of a tool call, in pieces."""

    name: str | None = None
    arguments: list[str] = field(default_factory=list)


class Streamed:
    """The text, thinking and tool calls streamed since the last model request.

    They stay after the response, until the next request or a custom `model_stream_resume`.
    A `final_result` never counts: the response record follows it.
    """

    __slots__ = ("calls", "response", "texts", "thoughts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        """The text, in pieces."""
        self.thoughts: list[str] = []
        """The thinking, in pieces."""
        self.calls: dict[int, PartialCall] = {}
        """The tool calls by the index of their part, in the order in which they began."""
        self.response: Ref | None = None
        """The model response that ended it; None while it may go on, or was cut short."""

    def restart(self) -> None:
        """Forget it all: the model is asked again."""
        self.texts = []
        self.thoughts = []
        self.calls = {}
        self.response = None

    def settle(self) -> None:
        """Hold what was streamed in pieces of one length, so that there are few of them.

        They depend on the text alone, and a text that grows keeps all but its last piece.
        """
        self.texts = _pieces(self.texts)
        self.thoughts = _pieces(self.thoughts)
        for call in self.calls.values():
            call.arguments = _pieces(call.arguments)

    def add(self, event: dict[str, Any]) -> None:
        """Take the event of a `model_stream` record."""
        kind = event["kind"]
        if kind == "part_delta":
            delta = event["delta_kind"]
            if delta == "text":
                self.texts.append(text(event["text"]))
            elif delta == "thinking":
                self.thoughts.append(text(event["text"]))
            elif delta == "tool_call_arguments":
                self._call(event["index"]).arguments.append(text(event["arguments_delta"]))
            elif delta == "tool_call_name":
                self._call(event["index"]).name = text(event["name"])
        elif kind == "part_start" and event["part_kind"] == "tool_call":
            self._call(event["index"])

    def _call(self, index: int) -> PartialCall:
        call = self.calls.get(index)
        if call is None:
            call = self.calls[index] = PartialCall()
        return call

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self.texts)

    @property
    def thinking(self) -> str:
        """The thinking so far."""
        return "".join(self.thoughts)

    @property
    def partial_tool_calls(self) -> tuple[PartialToolCall, ...]:
        """The tool calls so far, in the order in which they began."""
        return tuple(
            PartialToolCall(index, call.name, "".join(call.arguments))
            for index, call in self.calls.items()
        )


def _pieces(texts: list[str]) -> list[str]:
    text = "".join(texts)
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
