"""Messages: unknown kinds are tolerated, what a replay needs is held to."""

import pytest

from journal.errors import InvalidRecord
from journal.records import (
    AgentRunState,
    ModelResponse,
    ResponseMessage,
    response_as_message,
    tool_return_ids,
    validate_context_state,
)
from tests.unit.record_state_samples import (
    CALL,
    MESSAGES,
    REQUEST,
    RESPONSE,
    RETURN,
    STATE,
    USAGE,
)


def refusal(history):
    with pytest.raises(InvalidRecord) as refused:
        AgentRunState.check({**STATE, "message_history": history})
    return refused.value


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (5, ""),
        ({}, ".kind"),
        ({"kind": None}, ".kind"),
        ({"kind": "request"}, ".parts"),
        ({"kind": "request", "parts": {}}, ".parts"),
        ({"kind": "request", "parts": ["x"]}, ".parts[0]"),
        ({"kind": "request", "parts": [{"kind": "instruction"}, {}]}, ".parts[1].kind"),
        ({"kind": "request", "parts": [{"kind": "tool_return"}]}, ".parts[0].tool_call_id"),
        (
            {"kind": "request", "parts": [{**RETURN, "kind": "tool_return", "name": 5}]},
            ".parts[0].name",
        ),
        ({"kind": "response", "parts": []}, ".usage"),
        ({"kind": "response", "parts": [], "usage": {}}, ".usage.requests"),
        (
            {
                "kind": "response",
                "parts": [{**CALL, "kind": "tool_call", "id": ""}],
                "usage": USAGE,
            },
            ".parts[0].id",
        ),
    ],
)
def test_what_is_wrong_in_a_history_is_named(message, path):
    assert refusal([*MESSAGES, message]).path == f"$.message_history[3]{path}"


@pytest.mark.parametrize(
    "message",
    [
        {"kind": "of tomorrow", "parts": "x", "usage": None},
        {"kind": "request", "parts": []},
        {"kind": "request", "parts": [{"kind": "user_prompt", "content": "hi"}]},
        {"kind": "request", "parts": [{"kind": "tool_call"}]},
        {"kind": "response", "parts": [{"kind": "tool_return"}], "usage": USAGE},
        {"kind": "response", "parts": [{"kind": "of tomorrow", "id": 5}], "usage": USAGE},
    ],
)
def test_what_the_vocabulary_leaves_open_is_accepted(message):
    AgentRunState.check({**STATE, "message_history": [message]})
    validate_context_state({"agent_id": "a", "message_history": [message]})


def test_a_response_becomes_a_message():
    message = response_as_message(RESPONSE)
    assert message == {"kind": "response", **RESPONSE}
    assert "kind" not in RESPONSE
    assert ResponseMessage.from_json(message).usage == ModelResponse.from_json(RESPONSE).usage


def test_a_response_that_names_another_kind_becomes_a_message_all_the_same():
    assert response_as_message({"kind": "x", "parts": []}) == {"kind": "response", "parts": []}


def test_tool_return_ids_are_those_that_requests_hold():
    second = {"kind": "request", "parts": [{**RETURN, "kind": "tool_return", "tool_call_id": "2"}]}
    stray = {"kind": "response", "parts": [{**RETURN, "kind": "tool_return"}], "usage": USAGE}
    other = {"kind": "of tomorrow"}
    assert list(tool_return_ids([REQUEST, stray, other, second])) == ["call 1", "2"]
    assert list(tool_return_ids([])) == []
