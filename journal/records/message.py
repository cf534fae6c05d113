"""The messages of a run's history: what went to the model and what came back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field

from journal.json_door import JSON
from journal.records.base import Record
from journal.records.fields import ByKind, Id, JsonObject
from journal.records.usage import Usage


class ToolCall(Record):
    """What the model asks a tool to do."""

    NOUN: ClassVar[str] = "tool call"

    id: Id
    name: str
    arguments: JSON
    """Any JSON: an object, a raw string, or an object that says why they are invalid."""


class ToolReturn(Record):
    """What a tool answered. `metadata.control_flow` says whether it waits for somebody."""

    NOUN: ClassVar[str] = "tool return"

    tool_call_id: Id
    name: str
    content: JSON
    is_error: bool
    metadata: JsonObject = Field(default_factory=dict)
    app_value: JSON = None
    user_content: JSON = None
    private_metadata: JsonObject = Field(default_factory=dict)


class Part(Record):
    """A part of a message of any other kind: text, thinking, user_prompt, file, ..."""

    NOUN: ClassVar[str] = "message part"

    kind: str


class ToolCallPart(ToolCall):
    """A tool call, as a part of a response."""

    kind: Literal["tool_call"] = "tool_call"


class ToolReturnPart(ToolReturn):
    """A tool return, as a part of a request."""

    kind: Literal["tool_return"] = "tool_return"


RequestPart: TypeAlias = Annotated[ToolReturnPart | Part, ByKind("kind")]
ResponsePart: TypeAlias = Annotated[ToolCallPart | Part, ByKind("kind")]


class RequestMessage(Record):
    """What was sent to the model."""

    NOUN: ClassVar[str] = "request message"

    kind: Literal["request"] = "request"
    parts: list[RequestPart]
    timestamp: str | None = None
    instructions: JSON = None
    run_id: Id | None = None
    conversation_id: Id | None = None
    metadata: JsonObject = Field(default_factory=dict)


class ModelResponse(Record):
    """What the model answered, as stream records and `latest_response` hold it."""

    NOUN: ClassVar[str] = "model response"

    parts: list[ResponsePart]
    usage: Usage
    model_name: str | None = None
    provider: JSON = None
    finish_reason: str | None = None
    timestamp: str | None = None
    run_id: Id | None = None
    conversation_id: Id | None = None
    metadata: JsonObject = Field(default_factory=dict)


class ResponseMessage(ModelResponse):
    """What the model answered, as a message of a history."""

    kind: Literal["response"] = "response"


class OtherMessage(Record):
    """A message of a kind this version does not know."""

    NOUN: ClassVar[str] = "message"

    kind: str


ModelMessage: TypeAlias = Annotated[RequestMessage | ResponseMessage | OtherMessage, ByKind("kind")]


def response_as_message(response: Mapping[str, JSON]) -> JsonObject:
    """Make the message that a stream record's response becomes in a history."""
    return {**response, "kind": "response"}


def tool_return_ids(messages: Iterable[Mapping[str, JSON]]) -> Iterator[str]:
    """Yield the ids of the tool calls that a history answers, in its order."""
    for message in messages:
        if message.get("kind") == "request":
            for part in message["parts"]:
                if part["kind"] == "tool_return":
                    yield part["tool_call_id"]
