"""A record is a typed, frozen view of the host's JSON, and gives it back unchanged."""

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal import records
from journal.errors import InvalidJSON, InvalidRecord
from journal.json_door import equal
from journal.records import (
    AgentCheckpoint,
    AgentStreamRecord,
    ModelRequestEvent,
    NodeStartEvent,
    Record,
    ResumableState,
    ToolReturn,
    UnknownEvent,
    Usage,
)
from tests.unit.record_fields import FIELDS, fields_of
from tests.unit.record_samples import (
    SAMPLES,
)
from tests.unit.record_state_samples import (
    CHECKPOINT,
    CONTEXT,
    RETURN,
    USAGE,
)


@pytest.mark.parametrize(("model", "sample"), SAMPLES)
def test_a_record_gives_back_the_json_it_was_read_from(model, sample):
    record = model.from_json(sample)
    assert equal(record.to_json(), sample)
    # Not only in value: the keys keep their order.
    assert json.dumps(record.to_json()) == json.dumps(sample)


@pytest.mark.parametrize(("model", "sample"), SAMPLES)
def test_json_text_reads_the_same(model, sample):
    assert model.from_json(json.dumps(sample).encode()) == model.from_json(sample)


@pytest.mark.parametrize("model", FIELDS)
def test_a_null_reads_as_absent_and_comes_back_as_null(model):
    sample = next(sample for one, sample in SAMPLES if one is model)
    absent = {name for name, optional, _ in fields_of(FIELDS[model]) if optional}
    bare = {name: item for name, item in sample.items() if name not in absent}
    nulls = dict.fromkeys(absent) | bare
    without, with_nulls = model.from_json(bare), model.from_json(nulls)
    for name in absent:
        assert getattr(with_nulls, name) == getattr(without, name)
        assert not getattr(with_nulls, name)
    assert equal(without.to_json(), bare)
    assert equal(with_nulls.to_json(), nulls)


def test_counters_that_are_absent_read_as_zero():
    usage = Usage.from_json({k: v for k, v in USAGE.items() if "cache" not in k})
    assert (usage.cache_write_tokens, usage.cache_read_tokens) == (0, 0)
    assert usage.cache_write_1h_tokens is None
    assert Usage.from_json({**USAGE, "cache_read_tokens": None}).cache_read_tokens == 0


def test_a_null_where_any_json_may_stand_is_a_value():
    assert ToolReturn.from_json(RETURN).content is None
    assert "content" in ToolReturn.from_json(RETURN).to_json()


NAMES = [
    "model_config",
    "model_fields",
    "model_extra",
    "to_json",
    "check",
    "copy",
    "json",
    "dict",
    "self",
    "cls",
    "_keys",
    "_check",
    "RULE",
    "SCHEMA",
    "__class__",
    "__dict__",
    "__pydantic_extra__",
    "",
    "ü key",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [None, {"a": [1.0, -0.0, None]}, True])
def test_an_unknown_key_of_any_name_is_kept(name, value):
    sample = {**USAGE, name: value}
    usage = Usage.from_json(sample)
    assert equal(usage.to_json(), sample)
    assert usage.requests == 1


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text() | st.sampled_from(NAMES), JSON, max_size=5), JSON)
def test_any_json_beside_the_known_fields_is_kept(extra, payload):
    event = {**extra, "kind": "custom", "event": {**extra, "kind": "", "payload": payload}}
    event["event"].pop("metadata", None)
    sample = {**extra, "sequence": 0, "event": event}
    sample.pop("source", None)
    assert equal(AgentStreamRecord.from_json(sample).to_json(), sample)


def test_what_is_given_back_is_the_callers_own():
    record = AgentCheckpoint.from_json(CHECKPOINT)
    given_back = record.to_json()
    given_back["state"]["message_history"].clear()
    given_back["metadata"]["new"] = given_back["model_config"]["new"] = 1
    assert equal(record.to_json(), CHECKPOINT)


def test_the_caller_keeps_the_json_it_gave():
    sample = copy.deepcopy(CHECKPOINT)
    record = AgentCheckpoint.from_json(sample)
    sample["state"]["message_history"].clear()
    sample["metadata"]["new"] = 1
    assert equal(record.to_json(), CHECKPOINT)


def test_a_record_is_frozen():
    record = AgentStreamRecord.from_json({"sequence": 1, "event": {"kind": "x"}})
    with pytest.raises(ValueError, match="frozen"):
        record.sequence = 2


def test_fields_have_their_types():
    record = AgentCheckpoint.from_json(CHECKPOINT)
    assert record.state.pending_tool_calls[0].arguments is None
    assert record.resume.cursor.stream_cursor == 40
    assert record.node is records.ExecutionNode.TOOL_RETURN
    assert record.state.status is records.LifecycleStatus.WAITING
    request, response, other = record.state.message_history
    assert isinstance(request, records.RequestMessage)
    assert isinstance(request.parts[1], records.ToolReturnPart)
    assert isinstance(response, records.ResponseMessage)
    assert isinstance(response.parts[1], records.ToolCallPart)
    assert isinstance(response.parts[2], records.Part)
    assert isinstance(other, records.OtherMessage)
    # A host's key of this name does not shadow pydantic's setting, and is kept.
    assert ResumableState.from_json(CONTEXT).model_extra["model_config"] == {"capabilities": []}


def test_a_record_built_by_keyword_writes_what_was_passed():
    usage = Usage(requests=1, input_tokens=2, output_tokens=3, total_tokens=5)
    assert usage.to_json() == {
        "requests": 1,
        "input_tokens": 2,
        "output_tokens": 3,
        "total_tokens": 5,
    }
    event = NodeStartEvent(node="tool_call", step=1, status="running")
    assert AgentStreamRecord(sequence=5, event=event).to_json() == {
        "sequence": 5,
        "event": {"kind": "node_start", "node": "tool_call", "step": 1, "status": "running"},
    }
    assert AgentStreamRecord(sequence=5, event=UnknownEvent(kind="x", more=None)).to_json() == {
        "sequence": 5,
        "event": {"kind": "x", "more": None},
    }


@pytest.mark.parametrize("value", ["5", 5.0, True, -1, 2**64, None])
def test_building_by_keyword_coerces_nothing(value):
    with pytest.raises(InvalidRecord, match=r"invalid stream event at \$\.step"):
        ModelRequestEvent(step=value)


@pytest.mark.parametrize(
    ("event", "path"),
    [
        ({}, "$.event"),
        ({"kind": 5}, "$.event"),
        (5, "$.event"),
        (Usage.from_json(USAGE), "$.event"),
        ({"kind": "model_request"}, "$.step"),
        ({"kind": "node_start", "node": "weird", "step": 1, "status": "running"}, "$.node"),
    ],
)
def test_building_by_keyword_names_the_wrong_field_of_the_record_it_is_in(event, path):
    with pytest.raises(InvalidRecord) as refused:
        AgentStreamRecord(sequence=1, event=event)
    assert refused.value.path == path


def test_building_by_keyword_names_the_place_in_a_list():
    with pytest.raises(InvalidRecord) as refused:
        records.RequestMessage(parts=[{"kind": "instruction"}, 5])
    assert refused.value.path == "$.parts[1]"


def test_building_by_keyword_needs_every_required_field():
    with pytest.raises(InvalidRecord) as refused:
        AgentStreamRecord(sequence=1)
    assert refused.value.path == "$.event"


def test_a_copy_with_a_change_writes_the_change():
    read = Usage.from_json({**USAGE, "cache_read_tokens": None})
    changed = read.model_copy(update={"requests": 9, "cache_read_tokens": 8, "added": 1})
    assert changed.to_json() == {**USAGE, "requests": 9, "cache_read_tokens": 8, "added": 1}
    assert read.to_json() == {**USAGE, "cache_read_tokens": None}


@pytest.mark.parametrize(("model", "sample"), SAMPLES)
def test_a_record_survives_pickling(model, sample):
    record = model.from_json(sample)
    again = pickle.loads(pickle.dumps(record))
    assert again == record
    assert equal(again.to_json(), sample)


def test_what_json_does_not_allow_is_refused_at_the_door():
    with pytest.raises(InvalidJSON) as refused:
        AgentStreamRecord.from_json({"sequence": 2**64, "event": {"kind": "x"}})
    assert refused.value.path == "$.sequence"
    with pytest.raises(InvalidJSON, match="not JSON"):
        AgentStreamRecord.from_json(b"{")


def test_reading_refuses_with_the_whole_path():
    sample = copy.deepcopy(CHECKPOINT)
    sample["state"]["message_history"][0]["parts"][1]["tool_call_id"] = ""
    with pytest.raises(InvalidRecord) as refused:
        AgentCheckpoint.from_json(sample)
    assert refused.value.path == "$.state.message_history[0].parts[1].tool_call_id"
    assert refused.value.what == "checkpoint"
    with pytest.raises(InvalidRecord, match="an object is needed, found a list"):
        Record.from_json([])
