"""Durable records are read bare and from every version of their envelope, and no other.

The fixtures hold each schema in each version ever written; none is ever changed.
"""

import json
from pathlib import Path

import pytest

from journal import records
from journal.errors import InvalidEnvelope
from journal.json_door import equal
from journal.records import VERSIONS, AgentCheckpoint, unwrap, wrap

FOLDER = Path(__file__).parents[1] / "fixtures" / "envelopes"

MODELS = {
    "checkpoint": AgentCheckpoint,
    "stream_record": records.AgentStreamRecord,
    "resumable_state": records.ResumableState,
    "environment_state": records.EnvironmentState,
    "approval_record": records.ApprovalRecord,
    "deferred_tool_record": records.DeferredToolRecord,
    "session_record": records.SessionRecord,
    "run_record": records.RunRecord,
}
NEWEST = {"session_record": 2, "run_record": 2}
EVERY = pytest.mark.parametrize("name", MODELS)


def fixture(name, case):
    return json.loads((FOLDER / name / f"{case}.json").read_text("utf-8"))


def refusal(value, schema=records.CHECKPOINT):
    with pytest.raises(InvalidEnvelope) as refused:
        unwrap(value, schema)
    return refused.value


def test_every_schema_has_its_fixtures():
    assert {model.SCHEMA for model in MODELS.values()} == set(VERSIONS)
    assert {path.name for path in FOLDER.iterdir()} == set(MODELS)


@EVERY
def test_every_version_is_read(name):
    model, bare = MODELS[name], fixture(name, "version_0_bare")
    assert unwrap(bare, model.SCHEMA) == (bare, 1)
    for version in range(1, NEWEST.get(name, 1) + 1):
        enveloped = fixture(name, f"version_{version}")
        assert unwrap(enveloped, model.SCHEMA) == (bare, version)
        assert equal(model.from_json(enveloped).to_json(), bare)
    assert equal(model.from_json(bare).to_json(), bare)


@EVERY
def test_the_newest_version_is_written(name):
    model, newest = MODELS[name], fixture(name, f"version_{NEWEST.get(name, 1)}")
    assert wrap(newest["payload"], model.SCHEMA) == newest


@EVERY
@pytest.mark.parametrize(
    ("case", "expected", "found"),
    [
        ("unknown_version", "{schema} version 1{upto}", "version {newer}"),
        ("wrong_schema", "schema '{schema}'", "schema '{schema}s'"),
        ("missing_payload", "{schema} with an object as payload", "payload nothing"),
    ],
)
def test_what_is_not_an_envelope_of_the_record_is_refused(name, case, expected, found):
    model, newest = MODELS[name], NEWEST.get(name, 1)
    facts = {
        "schema": model.SCHEMA,
        "newer": newest + 1,
        "upto": f" to {newest}" if newest > 1 else "",
    }
    for read in (model.from_json, lambda value: unwrap(value, model.SCHEMA)):
        with pytest.raises(InvalidEnvelope) as refused:
            read(fixture(name, case))
        assert refused.value.expected == expected.format(**facts)
        assert refused.value.found == found.format(**facts)


@pytest.mark.parametrize("version", [0, -1, 2, 1.0, True, "1", None])
def test_a_version_that_is_not_known_is_refused(version):
    envelope = {**fixture("checkpoint", "version_1"), "version": version}
    error = refusal(envelope)
    assert error.expected == "starweaver.runtime.checkpoint version 1"
    assert error.found.startswith("version ")


@pytest.mark.parametrize("payload", [None, [], "x", 5])
def test_a_payload_that_is_no_object_is_refused(payload):
    error = refusal({**fixture("checkpoint", "version_1"), "payload": payload})
    assert error.expected == "starweaver.runtime.checkpoint with an object as payload"


@pytest.mark.parametrize("schema", ["starweaver.runtime.stream_record", "", None, 5, []])
def test_another_schema_is_refused(schema):
    error = refusal({**fixture("checkpoint", "version_1"), "schema": schema})
    assert error.expected == "schema 'starweaver.runtime.checkpoint'"


@pytest.mark.parametrize("key", ["schema", "version"])
@pytest.mark.parametrize("value", [None, 1, "starweaver.runtime.checkpoint"])
def test_an_object_with_either_key_is_always_an_envelope(key, value):
    bare = fixture("checkpoint", "version_0_bare")
    refusal({**bare, key: value})
    with pytest.raises(InvalidEnvelope):
        AgentCheckpoint.from_json({**bare, key: value})


def test_a_key_that_no_envelope_has_is_refused_not_dropped():
    error = refusal({**fixture("checkpoint", "version_1"), "signature": "x"})
    assert error.expected == "starweaver.runtime.checkpoint with schema, version, payload only"
    assert error.found == "key 'signature'"


def test_a_stream_cursor_has_no_envelope():
    cursor = {"position": {"family": "display", "scope": "run:r", "sequence": 1}}
    extra = {**cursor, "created_at": "t", "schema": "x", "version": 9}
    assert records.StreamCursorRef.from_json(extra).to_json() == extra


def test_a_value_that_is_no_object_is_left_to_the_record():
    assert unwrap([], records.CHECKPOINT) == ([], 1)
