"""Every field of every record is held to the vocabulary, and no more than that."""

import json

import pytest

from journal.errors import InvalidRecord
from journal.records import AgentStreamRecord, StreamCursorRef
from tests.unit.record_fields import (
    DELTA_FIELDS,
    EVENT_FIELDS,
    FIELDS,
    STREAMED_FIELDS,
    fields_of,
    wrong_values,
)
from tests.unit.record_samples import (
    DELTAS,
    EVENTS,
    SAMPLES,
    STREAMED,
    delta_record,
    event_record,
    streamed_record,
)
from tests.unit.record_store_samples import (
    FLAT_CURSOR,
)


def sample_of(model):
    return next(sample for one, sample in SAMPLES if one is model)


FLAT = "family:word scope:text sequence:count cursor?:text created_at:text metadata?:object"
PLACES = [
    *((model, sample_of(model), (), text) for model, text in FIELDS.items()),
    (StreamCursorRef, FLAT_CURSOR, (), FLAT),
    *(
        (AgentStreamRecord, event_record(kind, EVENTS[kind]), ("event",), text)
        for kind, text in EVENT_FIELDS.items()
    ),
    *(
        (AgentStreamRecord, streamed_record(kind, STREAMED[kind]), ("event", "event"), text)
        for kind, text in STREAMED_FIELDS.items()
    ),
    *(
        (AgentStreamRecord, delta_record(kind, DELTAS[kind]), ("event", "event"), text)
        for kind, text in DELTA_FIELDS.items()
    ),
]
REQUIRED = [
    (model, sample, steps, name)
    for model, sample, steps, text in PLACES
    for name, optional, _ in fields_of(text)
    # Without its family a flat cursor is none; test_records_session has that case.
    if not optional and (name, steps) != ("family", ())
]
OPTIONAL = [
    (model, sample, steps, name)
    for model, sample, steps, text in PLACES
    for name, optional, _ in fields_of(text)
    if optional
]
ILL_TYPED = [
    (model, sample, steps, name, value)
    for model, sample, steps, text in PLACES
    for name, value in wrong_values(text)
]


def changed(sample, steps, change):
    value = json.loads(json.dumps(sample))
    inner = value
    for step in steps:
        inner = inner[step]
    change(inner)
    return value


def refusal(model, value):
    with pytest.raises(InvalidRecord) as refused:
        model.check(value)
    assert refused.value.what == model.NOUN
    return refused.value


@pytest.mark.parametrize(("model", "sample"), SAMPLES)
def test_a_full_record_is_accepted(model, sample):
    assert model.check(sample) is None


@pytest.mark.parametrize(("model", "sample", "steps", "name"), REQUIRED)
def test_a_missing_field_is_refused_with_its_path(model, sample, steps, name):
    error = refusal(model, changed(sample, steps, lambda inner: inner.pop(name)))
    assert error.path == ".".join(("$", *steps, name))
    assert error.reason.endswith("is needed, found nothing")


@pytest.mark.parametrize(("model", "sample", "steps", "name", "value"), ILL_TYPED)
def test_an_ill_typed_field_is_refused_with_its_path(model, sample, steps, name, value):
    error = refusal(model, changed(sample, steps, lambda inner: inner.update({name: value})))
    assert error.path.startswith(".".join(("$", *steps, name)))
    assert "needed, found" in error.reason


@pytest.mark.parametrize(("model", "sample", "steps", "name"), OPTIONAL)
def test_an_optional_field_may_be_absent_or_null(model, sample, steps, name):
    model.check(changed(sample, steps, lambda inner: inner.pop(name)))
    model.check(changed(sample, steps, lambda inner: inner.update({name: None})))


def test_the_first_wrong_field_of_the_json_is_named():
    error = refusal(
        AgentStreamRecord,
        {"event": {"kind": "node_start", "step": "1", "node": "weird"}, "sequence": "1"},
    )
    assert error.path == "$.event.step"
    assert error.reason == "an integer from 0 to 2^64-1 is needed, found '1'"


def test_a_wrong_field_comes_before_a_missing_one():
    error = refusal(AgentStreamRecord, {"event": {"kind": "node_start", "status": 1}})
    assert error.path == "$.event.status"


@pytest.mark.parametrize("value", [None, [], "x", 5, True])
@pytest.mark.parametrize("model", FIELDS)
def test_a_record_that_is_no_object_is_refused(model, value):
    error = refusal(model, value)
    assert error.path == "$"
    assert error.reason.startswith("an object is needed, found ")


def test_a_reason_shows_strings_escaped_and_short():
    error = refusal(AgentStreamRecord, {"sequence": "\x1b[31m" + "x" * 500, "event": {}})
    assert error.reason.endswith("...")
    assert "\\x1b[31mxxx" in error.reason
    assert len(error.message) < 200
