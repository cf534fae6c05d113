"""The records of a session store: sessions, runs, cursors, people, environments, bundles."""

import json

import pytest

from journal.errors import InvalidRecord
from journal.json_door import equal
from journal.records import (
    ResumableState,
    RunRecord,
    RunStatus,
    SessionRecord,
    SessionStatus,
    StreamCursorRef,
    durable_ids,
    validate_approval,
    validate_context_state,
    validate_deferred_tool,
    validate_environment_state,
    validate_evidence_commit,
    validate_resume_claim,
    validate_run,
    validate_session,
    validate_stream_cursor,
)
from tests.unit.record_samples import (
    COMMIT,
    RECORD,
)
from tests.unit.record_state_samples import (
    CHECKPOINT,
    CONTEXT,
)
from tests.unit.record_store_samples import (
    APPROVAL,
    CLAIM,
    CURSOR,
    DEFERRED,
    ENVIRONMENT,
    FLAT_CURSOR,
    RUN,
    SESSION,
)

VALIDATE = [
    (validate_approval, APPROVAL, "approval_id", "approval"),
    (validate_context_state, CONTEXT, "agent_id", "context state"),
    (validate_deferred_tool, DEFERRED, "tool_call_id", "deferred tool"),
    (validate_environment_state, ENVIRONMENT, "provider_id", "environment state"),
    (validate_evidence_commit, COMMIT, "run", "run evidence commit"),
    (validate_resume_claim, CLAIM, "claim_id", "resume claim"),
    (validate_run, RUN, "run_id", "run"),
    (validate_session, SESSION, "session_id", "session"),
    (validate_stream_cursor, CURSOR, "position", "stream cursor"),
]


@pytest.mark.parametrize(("validate", "sample", "name", "what"), VALIDATE)
def test_each_door_checks_its_own_record(validate, sample, name, what):
    assert validate(sample) is None
    with pytest.raises(InvalidRecord) as refused:
        validate({**sample, name: ""})
    assert refused.value.path == f"$.{name}"
    assert refused.value.what == what


def path_of(validate, value):
    with pytest.raises(InvalidRecord) as refused:
        validate(value)
    return refused.value.path


@pytest.mark.parametrize("error", [None, "absent"])
def test_a_failed_run_needs_its_error(error):
    run = {**RUN, "status": "failed", "terminal_error": None}
    if error == "absent":
        del run["terminal_error"]
    assert path_of(validate_run, run) == "$.terminal_error"
    assert path_of(RunRecord.from_json, run) == "$.terminal_error"


def test_a_completed_run_must_not_have_an_error():
    run = {**RUN, "status": "completed"}
    assert path_of(validate_run, run) == "$.terminal_error"
    assert path_of(RunRecord.model_validate, run) == "$.terminal_error"
    validate_run({**run, "terminal_error": None})


@pytest.mark.parametrize("error", [None, {"code": "x", "message": ""}])
def test_a_run_that_was_cancelled_may_have_an_error_or_not(error):
    validate_run({**RUN, "status": "cancelled", "terminal_error": error})


@pytest.mark.parametrize("status", ["queued", "starting", "running", "waiting"])
def test_a_run_that_goes_on_must_not_have_an_error(status):
    run = {**RUN, "status": status}
    assert path_of(validate_run, run) == "$.terminal_error"
    assert path_of(RunRecord.model_validate, run) == "$.terminal_error"
    validate_run({**run, "terminal_error": None})


def test_an_error_needs_code_and_message():
    run = {**RUN, "terminal_error": {"code": "x"}}
    assert path_of(validate_run, run) == "$.terminal_error.message"


@pytest.mark.parametrize("status", list(RunStatus))
def test_every_run_status_is_known(status):
    error = {"code": "x", "message": "y"} if status == "failed" else None
    record = RunRecord.from_json({**RUN, "status": status.value, "terminal_error": error})
    assert record.status is status
    assert record.to_json()["status"] == status.value


def test_a_session_status_is_no_run_status():
    assert path_of(validate_run, {**RUN, "status": "active"}) == "$.status"
    assert path_of(validate_session, {**SESSION, "status": "running"}) == "$.status"
    validate_session({**SESSION, "status": SessionStatus.DELETED.value})


def test_both_forms_of_a_stream_cursor_read_the_same():
    current, flat = StreamCursorRef.from_json(CURSOR), StreamCursorRef.from_json(FLAT_CURSOR)
    assert flat.position.sequence == current.position.sequence == 4
    assert flat.position.backend_cursor == current.position.backend_cursor == "b"
    assert flat.position.scope == "run:r"
    assert flat.position.family == "raw_runtime"
    assert flat.created_at == current.created_at


@pytest.mark.parametrize("cursor", [None, "b", "absent"])
@pytest.mark.parametrize("more", [{}, {"metadata": None}, {"metadata": {"a": 1}, "more": 1.0}])
def test_an_old_flat_cursor_comes_back_flat(cursor, more):
    flat = {**FLAT_CURSOR, "cursor": cursor} | more
    if cursor == "absent":
        del flat["cursor"]
    read = StreamCursorRef.from_json(flat)
    assert list(read.to_json()) == list(flat)
    assert equal(read.to_json(), flat)


@pytest.mark.parametrize("path", ["family", "scope", "sequence", "created_at"])
def test_a_wrong_flat_cursor_is_named_by_its_own_keys(path):
    assert path_of(validate_stream_cursor, {**FLAT_CURSOR, path: None}) == f"$.{path}"


def test_a_cursor_of_neither_form_lacks_its_position():
    cursor = {name: item for name, item in FLAT_CURSOR.items() if name != "family"}
    assert path_of(validate_stream_cursor, cursor) == "$.position"


def test_a_cursor_with_a_position_is_never_flat():
    both = {**CURSOR, "family": 5, "sequence": "x"}
    validate_stream_cursor(both)
    assert equal(StreamCursorRef.from_json(both).to_json(), both)


def test_cursors_inside_a_session_are_checked():
    session = {**SESSION, "stream_cursors": [CURSOR, {**FLAT_CURSOR, "sequence": -1}]}
    assert path_of(validate_session, session) == "$.stream_cursors[1].sequence"
    read = SessionRecord.from_json(SESSION)
    assert [cursor.position.sequence for cursor in read.stream_cursors] == [4, 4]


def test_the_state_inside_a_session_is_checked():
    session = {**SESSION, "state": {**CONTEXT, "agent_id": None}}
    assert path_of(validate_session, session) == "$.state.agent_id"


def test_an_approval_decision_needs_its_time():
    approval = {**APPROVAL, "decision": {"status": "approved", "decided_by": "ann"}}
    assert path_of(validate_approval, approval) == "$.decision.decided_at"


def test_resources_and_processes_of_an_environment_are_checked():
    assert path_of(validate_environment_state, {**ENVIRONMENT, "resources": [{"id": "i"}]}) == (
        "$.resources[0].uri"
    )
    processes = [ENVIRONMENT["processes"][0], {**ENVIRONMENT["processes"][0], "return_code": "0"}]
    assert path_of(validate_environment_state, {**ENVIRONMENT, "processes": processes}) == (
        "$.processes[1].return_code"
    )


def test_durable_ids_are_those_of_the_metadata_not_the_affinity():
    assert durable_ids(CONTEXT) == ("s", "r")
    assert durable_ids({"agent_id": "a", "session_id": "affinity", "run_id": "x"}) == (None, None)
    assert durable_ids({"agent_id": "a", "metadata": None}) == (None, None)
    assert ResumableState.from_json(CONTEXT).session_id == "affinity"


def damaged(*steps, value):
    commit = json.loads(json.dumps(COMMIT))
    inner = commit
    for step in steps[:-1]:
        inner = inner[step]
    inner[steps[-1]] = value
    return commit


@pytest.mark.parametrize(
    ("commit", "path"),
    [
        (damaged("run", "run_id", value=""), "$.run.run_id"),
        (damaged("run", "status", value="completed"), "$.run.terminal_error"),
        (damaged("context_state", "agent_id", value=5), "$.context_state.agent_id"),
        (
            damaged("environment_state", "payload", "provider_id", value=5),
            "$.environment_state.payload.provider_id",
        ),
        (damaged("environment_state", "version", value=2), "$.environment_state"),
        (damaged("stream_records", 1, "sequence", value="1"), "$.stream_records[1].sequence"),
        (damaged("checkpoints", 0, "payload", "node", value="x"), "$.checkpoints[0].payload.node"),
        (damaged("checkpoints", 1, "run_step", value=9), "$.checkpoints[1].run_step"),
        (damaged("checkpoints", 1, "version", value=1), "$.checkpoints[1]"),
        (damaged("approvals", 0, "status", value="x"), "$.approvals[0].status"),
        (damaged("deferred_tools", 0, "deferred_id", value=""), "$.deferred_tools[0].deferred_id"),
        (damaged("stream_cursors", 1, "scope", value=None), "$.stream_cursors[1].scope"),
        (damaged("display_messages", 0, value=5), "$.display_messages[0]"),
        (damaged("replay_events", 0, value=[]), "$.replay_events[0]"),
        (damaged("related_run_updates", 0, value=None), "$.related_run_updates[0]"),
        (damaged("host_event_publications", 0, value="x"), "$.host_event_publications[0]"),
        (damaged("publication_targets", "archive", value=1), "$.publication_targets.archive"),
    ],
)
def test_what_is_wrong_in_a_bundle_is_named(commit, path):
    assert path_of(validate_evidence_commit, commit) == path


def test_a_wrong_envelope_in_a_bundle_says_what_was_expected():
    with pytest.raises(InvalidRecord) as refused:
        validate_evidence_commit(damaged("stream_records", 0, "schema", value="x"))
    assert refused.value.path == "$.stream_records[0]"
    assert "expected schema 'starweaver.runtime.stream_record', found schema 'x'" in str(
        refused.value
    )


def test_bare_and_enveloped_items_of_a_bundle_are_both_accepted():
    wrapped = {"schema": "starweaver.runtime.stream_record", "version": 1, "payload": RECORD}
    commit = {
        **COMMIT,
        "run": {"schema": "starweaver.session.run_record", "version": 2, "payload": RUN},
        "environment_state": ENVIRONMENT,
        "stream_records": [RECORD, wrapped],
        "checkpoints": [CHECKPOINT],
    }
    assert validate_evidence_commit(commit) is None
