"""Stream records: known kinds are held to the table, unknown ones kept verbatim."""

import pytest

from journal import records
from journal.errors import InvalidRecord
from journal.json_door import equal
from journal.records import AgentStreamRecord, validate_stream_record
from tests.unit.record_samples import (
    DELTAS,
    EVENTS,
    SOURCE,
    STREAMED,
    delta_record,
    event_record,
    streamed_record,
)
from tests.unit.record_state_samples import (
    CALL,
    RETURN,
    USAGE,
)

CLASSES = {
    "run_start": records.RunStartEvent,
    "node_start": records.NodeStartEvent,
    "node_complete": records.NodeCompleteEvent,
    "custom": records.CustomEvent,
    "model_request": records.ModelRequestEvent,
    "model_stream": records.ModelStreamEvent,
    "model_response": records.ModelResponseEvent,
    "checkpoint": records.CheckpointEvent,
    "suspended": records.SuspendedEvent,
    "tool_call": records.ToolCallEvent,
    "tool_return": records.ToolReturnEvent,
    "output_retry": records.OutputRetryEvent,
    "steering_guard": records.SteeringGuardEvent,
    "run_complete": records.RunCompleteEvent,
    "run_cancelled": records.RunCancelledEvent,
    "run_failed": records.RunFailedEvent,
}
STREAMED_CLASSES = {
    "part_start": records.PartStart,
    "part_end": records.PartEnd,
    "diagnostic": records.Diagnostic,
    "final_result": records.FinalResult,
}
DELTA_CLASSES = {
    "text": records.TextDelta,
    "thinking": records.TextDelta,
    "tool_call_name": records.ToolCallNameDelta,
    "tool_call_arguments": records.ToolCallArgumentsDelta,
    "native_payload": records.PayloadDelta,
    "file_metadata": records.PayloadDelta,
}


def refusal(value):
    with pytest.raises(InvalidRecord) as refused:
        validate_stream_record(value)
    return refused.value


@pytest.mark.parametrize("kind", EVENTS)
def test_each_kind_reads_as_its_class(kind):
    record = AgentStreamRecord.from_json(event_record(kind, EVENTS[kind]))
    assert type(record.event) is CLASSES[kind]
    assert record.event.kind == kind


@pytest.mark.parametrize("kind", STREAMED)
def test_each_model_stream_kind_reads_as_its_class(kind):
    record = AgentStreamRecord.from_json(streamed_record(kind, STREAMED[kind]))
    assert type(record.event.event) is STREAMED_CLASSES[kind]


@pytest.mark.parametrize("kind", DELTAS)
def test_each_delta_kind_reads_as_its_class(kind):
    record = AgentStreamRecord.from_json(delta_record(kind, DELTAS[kind]))
    assert type(record.event.event) is DELTA_CLASSES[kind]
    assert record.event.event.delta_kind == kind


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (event_record("of tomorrow", {"step": "x", "node": None}), records.UnknownEvent),
        (event_record("", {}), records.UnknownEvent),
        (streamed_record("of tomorrow", {"index": "x"}), records.OtherModelStream),
        (delta_record("of tomorrow", {"index": 1, "text": 5}), records.OtherDelta),
    ],
)
def test_an_unknown_kind_is_kept_verbatim(value, kept):
    validate_stream_record(value)
    record = AgentStreamRecord.from_json(value)
    event = record.event if kept is records.UnknownEvent else record.event.event
    assert type(event) is kept
    assert equal(record.to_json(), value)


@pytest.mark.parametrize("kind", ["tool_called", "usage_snapshot", "run_complete", "", "ü"])
@pytest.mark.parametrize("payload", [None, {"run_id": 5}, [1], "x"])
def test_a_custom_event_of_any_kind_and_payload_is_accepted(kind, payload):
    validate_stream_record(
        event_record("custom", {"event": {"kind": kind, "payload": payload, "more": 1}})
    )


def test_unknown_parts_of_a_response_are_accepted():
    parts = [{"kind": "of tomorrow", "index": "x"}, {"kind": "native_tool_call"}]
    response = {"parts": parts, "usage": USAGE}
    validate_stream_record(event_record("model_response", {"step": 1, "response": response}))


def test_a_response_that_says_its_kind_is_accepted_too():
    response = {"kind": "response", "parts": [], "usage": USAGE}
    value = event_record("model_response", {"step": 1, "response": response})
    assert equal(AgentStreamRecord.from_json(value).to_json(), value)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"sequence": 1, "event": {}}, "$.event.kind"),
        ({"sequence": 1, "event": {"kind": None}}, "$.event.kind"),
        ({"sequence": 1, "event": {"kind": ["run_start"]}}, "$.event.kind"),
        ({"sequence": 1, "event": "run_start"}, "$.event"),
        (event_record("custom", {"event": {"payload": 1}}), "$.event.event.kind"),
        (event_record("model_stream", {"step": 1, "event": {}}), "$.event.event.kind"),
        (streamed_record("part_delta", {"index": 1}), "$.event.event.delta_kind"),
        (delta_record(5, {"index": 1}), "$.event.event.delta_kind"),
        (delta_record("of tomorrow", {"index": "1"}), "$.event.event.index"),
        (delta_record("of tomorrow", {}), "$.event.event.index"),
        (
            event_record("tool_call", {"step": 1, "call": {"name": "x", "arguments": {}}}),
            "$.event.call.id",
        ),
        (
            event_record("tool_call", {"step": 1, "call": {**CALL, "id": ""}}),
            "$.event.call.id",
        ),
        (
            event_record(
                "tool_return", {"step": 1, "tool_return": {**RETURN, "is_error": "false"}}
            ),
            "$.event.tool_return.is_error",
        ),
        (
            event_record(
                "model_response",
                {"step": 1, "response": {"parts": [{"kind": "text"}, {}], "usage": USAGE}},
            ),
            "$.event.response.parts[1].kind",
        ),
        (
            event_record(
                "model_response",
                {
                    "step": 1,
                    "response": {"parts": [], "usage": {**USAGE, "input_tokens": 1.0}},
                },
            ),
            "$.event.response.usage.input_tokens",
        ),
        (
            {
                "sequence": 1,
                "source": {**SOURCE, "kind": "of tomorrow"},
                "event": {"kind": "x"},
            },
            "$.source.kind",
        ),
    ],
)
def test_what_is_wrong_inside_an_event_is_named(value, path):
    assert refusal(value).path == path


def test_a_null_source_reads_as_the_runs_own_record():
    value = {"sequence": 1, "source": None, "event": {"kind": "model_request", "step": 1}}
    record = AgentStreamRecord.from_json(value)
    assert record.source is None
    assert equal(record.to_json(), value)
