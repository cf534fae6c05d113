"""Every record that a real runtime handed over is accepted, and comes back unchanged."""

import pytest

from journal import records
from journal.json_door import equal
from journal.records import AgentCheckpoint, AgentResumeEvidence, AgentStreamRecord
from tests.recorded import FILES, lines

CALLS = {
    "save_session": (records.SessionRecord, 0),
    "commit_checkpoint": (AgentCheckpoint, 1),
    "commit_run_evidence": (records.RunEvidenceCommit, 0),
    "claim_hitl_resume": (records.ResumeClaim, 0),
}
IN_BUNDLE = {
    "run": records.RunRecord,
    "context_state": records.ResumableState,
    "environment_state": records.EnvironmentState,
    "stream_records": AgentStreamRecord,
    "checkpoints": AgentCheckpoint,
    "approvals": records.ApprovalRecord,
    "deferred_tools": records.DeferredToolRecord,
    "stream_cursors": records.StreamCursorRef,
    "publication_targets": records.PublicationTargets,
}


def handed(name):
    """Give every record of a file with its model, those inside bundles too."""
    for call in lines(name):
        if call["op"] not in CALLS:
            continue
        model, place = CALLS[call["op"]]
        value = call["args"][place]
        yield model, value
        if model is records.RunEvidenceCommit:
            for key, one in IN_BUNDLE.items():
                items = value[key] if isinstance(value[key], list) else [value[key]]
                yield from ((one, item) for item in items if item is not None)


@pytest.mark.parametrize("name", FILES)
def test_every_recorded_call_is_accepted(name):
    count = 0
    for model, value in handed(name):
        payload, _ = records.unwrap(value, model.SCHEMA) if model.SCHEMA else (value, 1)
        assert model.check(payload) is None
        count += 1
    assert count > 5


@pytest.mark.parametrize("name", [name for name in FILES if name != "long"])
def test_every_recorded_call_comes_back(name):
    for model, value in handed(name):
        payload, _ = records.unwrap(value, model.SCHEMA) if model.SCHEMA else (value, 1)
        assert equal(model.from_json(value).to_json(), payload)


def test_every_live_record_is_accepted_and_comes_back():
    live = lines("stream.live")
    assert len(live) == 153
    for value in live:
        assert equal(AgentStreamRecord.from_json(value).to_json(), value)


@pytest.mark.parametrize("name", [name for name in FILES if name != "long"])
def test_evidence_built_from_the_state_is_the_runtimes_own(name):
    taken = [value for model, value in handed(name) if model is AgentCheckpoint]
    assert taken
    for value in taken:
        checkpoint = AgentCheckpoint.from_json(value)
        built = AgentResumeEvidence.from_state(checkpoint.node, checkpoint.state)
        assert built.cursor.stream_cursor is None
        at = checkpoint.resume.cursor.stream_cursor
        assert equal(built.with_stream_cursor(at).to_json(), value["resume"])
