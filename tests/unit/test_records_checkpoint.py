"""Checkpoints agree with themselves, and evidence is built from a state by rule."""

import copy

import pytest

from journal import records
from journal.errors import InvalidRecord
from journal.json_door import equal
from journal.records import (
    AgentCheckpoint,
    AgentResumeEvidence,
    AgentRunState,
    TraceContext,
    validate_checkpoint,
)
from tests.unit.record_state_samples import (
    CALL,
    CHECKPOINT,
    EVIDENCE,
    MESSAGES,
    RETURN,
    STATE,
    USAGE,
)


@pytest.mark.parametrize(
    ("steps", "value", "path", "reason"),
    [
        (("node",), "run_start", "$.node", "'run_start' differs from 'tool_return'"),
        (("resume", "node"), "run_start", "$.node", "'tool_return' differs from 'run_start'"),
        (("resume", "run_step"), 4, "$.run_step", "3 differs from 4 at $.resume.run_step"),
        (("state", "run_step"), 4, "$.run_step", "3 differs from 4 at $.state.run_step"),
        (("state", "run_id"), "r2", "$.run_id", "'r' differs from 'r2' at $.state.run_id"),
        (
            ("state", "conversation_id"),
            "c2",
            "$.conversation_id",
            "'c' differs from 'c2' at $.state.conversation_id",
        ),
    ],
)
def test_a_checkpoint_that_disagrees_with_itself_is_refused(steps, value, path, reason):
    checkpoint = copy.deepcopy(CHECKPOINT)
    inner = checkpoint
    for step in steps[:-1]:
        inner = inner[step]
    inner[steps[-1]] = value
    for refuse in (validate_checkpoint, AgentCheckpoint.from_json):
        with pytest.raises(InvalidRecord) as refused:
            refuse(checkpoint)
        assert refused.value.path == path
        assert refused.value.reason.startswith(reason)


def test_a_checkpoint_built_by_keyword_must_agree_too():
    read = AgentCheckpoint.from_json(CHECKPOINT)
    with pytest.raises(InvalidRecord, match=r"'other' differs from 'r' at \$\.state\.run_id"):
        AgentCheckpoint(
            checkpoint_id="k",
            run_id="other",
            conversation_id="c",
            node="tool_return",
            run_step=3,
            resume=read.resume,
            state=read.state,
        )


def test_the_status_of_the_evidence_may_differ_from_the_states():
    checkpoint = copy.deepcopy(CHECKPOINT)
    checkpoint["resume"]["status"] = "running"
    assert validate_checkpoint(checkpoint) is None


def test_unknown_nodes_are_refused():
    with pytest.raises(InvalidRecord, match=r"one of run_start, .* is needed, found 'weird'"):
        validate_checkpoint({**CHECKPOINT, "node": "weird"})


def state(**changes):
    fields = {
        "run_id": "r",
        "conversation_id": "c",
        "message_history": MESSAGES,
        "usage": USAGE,
        "run_step": 7,
        "status": "waiting",
    }
    return AgentRunState.from_json({**fields, **changes})


def test_evidence_of_a_plain_state_leaves_out_what_it_does_not_say():
    assert AgentResumeEvidence.from_state("tool_call", state()).to_json() == {
        "node": "tool_call",
        "status": "waiting",
        "run_step": 7,
        "cursor": {
            "model_request_attempt": 7,
            "output_validation_attempt": 0,
            "message_cursor": 3,
        },
        "usage": USAGE,
        "pending_approval_count": 0,
        "deferred_tool_count": 0,
    }


def test_evidence_counts_and_names_what_is_open():
    evidence = AgentResumeEvidence.from_state(
        records.ExecutionNode.TOOL_RETURN,
        state(
            pending_tool_calls=[CALL],
            pending_tool_returns=[RETURN, RETURN, RETURN],
            pending_approval_tool_returns=[RETURN, RETURN],
            deferred_tool_returns=[RETURN],
        ),
    )
    assert evidence.cursor.tool_call_batch_id == "tool_batch_7"
    assert evidence.pending_approval_count == 2
    assert evidence.deferred_tool_count == 1
    assert evidence.status == "waiting"


@pytest.mark.parametrize("name", ["context_revision", "environment_ref"])
@pytest.mark.parametrize(("value", "told"), [("7", "7"), ("", ""), (7, None), (None, None)])
def test_evidence_takes_from_metadata_only_strings(name, value, told):
    evidence = AgentResumeEvidence.from_state("run_start", state(metadata={name: value}))
    assert getattr(evidence, name) == told
    assert (name in evidence.to_json()) == (told is not None)


def test_evidence_at_an_unknown_node_is_refused():
    with pytest.raises(InvalidRecord, match=r"\$\.node: one of"):
        AgentResumeEvidence.from_state("weird", state())


def test_what_is_attached_makes_another_evidence():
    plain = AgentResumeEvidence.from_state("tool_call", state())
    before = plain.to_json()
    full = (
        plain.with_stream_cursor(2**64 - 1)
        .with_trace_context(TraceContext(trace_id="t"))
        .with_metadata({"a": None})
    )
    assert full.to_json() == {
        **before,
        "cursor": {**before["cursor"], "stream_cursor": 2**64 - 1},
        "trace_context": {"trace_id": "t"},
        "metadata": {"a": None},
    }
    assert plain.to_json() == before


def test_what_is_attached_takes_the_place_of_what_was_there():
    full = AgentResumeEvidence.from_json({**EVIDENCE, "more": 1.0})
    changed = full.with_stream_cursor(0).with_metadata({}).to_json()
    expected = {**EVIDENCE, "more": 1.0, "metadata": {}}
    expected["cursor"] = {**EVIDENCE["cursor"], "stream_cursor": 0}
    assert equal(changed, expected)


def test_an_empty_trace_context_is_left_out():
    full = AgentResumeEvidence.from_json(EVIDENCE)
    assert "trace_context" not in full.with_trace_context(TraceContext()).to_json()


@pytest.mark.parametrize("sequence", [-1, True, 1.0, "1"])
def test_a_stream_cursor_that_is_no_counter_is_refused(sequence):
    plain = AgentResumeEvidence.from_state("tool_call", state())
    with pytest.raises(InvalidRecord) as refused:
        plain.with_stream_cursor(sequence)
    assert refused.value.path == "$.cursor.stream_cursor"


def test_a_checkpoint_built_from_a_state_is_whole():
    run_state = AgentRunState.from_json(STATE)
    checkpoint = AgentCheckpoint.from_state("k", "tool_return", run_state, {"a": 1})
    assert checkpoint.to_json() == {
        "checkpoint_id": "k",
        "run_id": "r",
        "conversation_id": "c",
        "node": "tool_return",
        "run_step": 3,
        "resume": AgentResumeEvidence.from_state("tool_return", run_state).to_json(),
        "state": STATE,
        "metadata": {"a": 1},
    }
    assert validate_checkpoint(checkpoint.to_json()) is None
    assert "metadata" not in AgentCheckpoint.from_state("k", "tool_return", run_state).to_json()


def test_a_checkpoint_without_an_id_is_refused():
    with pytest.raises(InvalidRecord, match=r"invalid checkpoint at \$\.checkpoint_id"):
        AgentCheckpoint.from_state("", "tool_return", AgentRunState.from_json(STATE))
