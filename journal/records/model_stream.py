"""What a model streams while it answers: the event inside a `model_stream` event."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field

from journal.json_door import JSON
from journal.records.base import Record
from journal.records.fields import ByKind, Counter, JsonObject
from journal.records.message import ModelResponse


class PartStart(Record):
    """A part of the answer begins."""

    NOUN: ClassVar[str] = "part start"

    kind: Literal["part_start"] = "part_start"
    index: Counter
    part_kind: str


class _Delta(Record):
    NOUN: ClassVar[str] = "part delta"

    kind: Literal["part_delta"] = "part_delta"
    index: Counter


class TextDelta(_Delta):
    """More text, or more thinking."""

    delta_kind: Literal["text", "thinking"]
    text: str


class ToolCallNameDelta(_Delta):
    """The name of the tool that is called."""

    delta_kind: Literal["tool_call_name"] = "tool_call_name"
    name: str


class ToolCallArgumentsDelta(_Delta):
    """More of the arguments' JSON text."""

    delta_kind: Literal["tool_call_arguments"] = "tool_call_arguments"
    arguments_delta: str


class PayloadDelta(_Delta):
    """More of a provider's own payload, or what is known of a file."""

    delta_kind: Literal["native_payload", "file_metadata"]
    payload: JSON


class OtherDelta(_Delta):
    """A delta of a kind this version does not know."""

    delta_kind: str


PartDelta: TypeAlias = Annotated[
    TextDelta | ToolCallNameDelta | ToolCallArgumentsDelta | PayloadDelta | OtherDelta,
    ByKind("delta_kind"),
]


class PartEnd(Record):
    """A part of the answer is complete."""

    NOUN: ClassVar[str] = "part end"

    kind: Literal["part_end"] = "part_end"
    index: Counter
    part_kind: str | None = None


class Diagnostic(Record):
    """Something a provider reports beside the answer."""

    NOUN: ClassVar[str] = "diagnostic"

    kind: Literal["diagnostic"] = "diagnostic"
    payload: JSON
    metadata: JsonObject = Field(default_factory=dict)


class FinalResult(ModelResponse):
    """The whole answer; the `model_response` event that follows is what counts."""

    kind: Literal["final_result"] = "final_result"


class OtherModelStream(Record):
    """An event of a kind this version does not know."""

    NOUN: ClassVar[str] = "model stream event"

    kind: str


ModelStream: TypeAlias = Annotated[
    PartStart | PartDelta | PartEnd | Diagnostic | FinalResult | OtherModelStream,
    ByKind("kind"),
]
