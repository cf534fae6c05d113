"""The fast check of a model and the model itself accept the same JSON."""

import copy
import json

from hypothesis import given
from hypothesis import strategies as st

from journal.errors import InvalidRecord
from journal.json_door import equal
from journal.records import RelatedRunUpdate, RunEvidenceCommit
from tests.unit.record_samples import (
    SAMPLES,
)

VALUES = st.sampled_from(
    [
        None,
        True,
        0,
        1,
        -1,
        2**64 - 1,
        1.0,
        "",
        "x",
        "text",
        "part_delta",
        "tool_call",
        "response",
        "running",
        [],
        [None],
        [{}],
        {},
        {"kind": "tool_call"},
        {"kind": "x"},
        {"position": {}},
    ]
)


def places(value, steps=()):
    """Give the steps to every value inside a JSON value."""
    if isinstance(value, dict):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value))
    else:
        inside = []
    for step, item in inside:
        yield (*steps, step)
        yield from places(item, (*steps, step))


# A bundle's durable records are plain JSON in its model; only the check looks into them.
CASES = [
    (model, sample, list(places(sample)))
    for model, sample in SAMPLES
    if model not in (RelatedRunUpdate, RunEvidenceCommit)
]


@st.composite
def mutated(draw):
    model, sample, steps = draw(st.sampled_from(CASES))
    value = json.loads(json.dumps(sample))
    for *way, last in draw(st.lists(st.sampled_from(steps), max_size=2)):
        inner = value
        try:
            for step in way:
                inner = inner[step]
            there = last in (inner if isinstance(inner, dict) else range(len(inner)))
        except (KeyError, IndexError, TypeError):
            there = False  # an earlier change took this place away
        if there and not isinstance(inner, str):
            if draw(st.booleans()):
                inner[last] = copy.deepcopy(draw(VALUES))
            else:
                del inner[last]
    return model, value


def checked(model, value):
    try:
        model.check(value)
    except InvalidRecord:
        return False
    return True


def built(model, value):
    try:
        return model.model_validate(value)
    except InvalidRecord:
        return None


@given(mutated())
def test_check_and_model_accept_the_same(case):
    model, value = case
    record = built(model, value)
    if checked(model, value):
        assert equal(record.to_json(), value)
    elif record is not None:
        # A model fills in a fixed `kind` that was left out; nothing else sets them apart.
        assert checked(model, record.to_json())
        assert record.to_json() != value
