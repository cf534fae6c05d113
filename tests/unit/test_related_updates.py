"""Evidence of a run that went on with another one ends that one in the same transaction."""

import pytest

from journal import Journal
from journal.claims import current_claim
from journal.errors import (
    InvalidRecord,
    RecordConflict,
    RunConflict,
    RunNotFound,
    StateConflict,
)
from journal.export import export_all
from journal.ingest import Ingest
from journal.json_door import dumps
from journal.records import APPROVAL_RECORD, RUN_RECORD, wrap
from journal.run_status import current_status
from tests import samples


@pytest.fixture
def waiting(journal):
    """A journal with run r, which waits for an approval and a deferred tool, and is claimed."""
    return prepared(journal)


def prepared(journal, *, start=True):
    journal.commit_run_evidence(
        samples.bundle(
            samples.run_record(status="waiting"),
            approvals=[samples.approval()],
            deferred_tools=[samples.deferred_tool()],
        )
    )
    journal.claim_resume(samples.resume_claim())
    if start:
        journal.start_resume("r", "x")
    return journal


def update(**fields):
    return {
        "run_id": "r",
        "expected_status": "waiting",
        "status": "completed",
        "resume_claim_id": "x",
        "output_preview": "all done",
        "approvals": [samples.approval("approved")],
        "deferred_tools": [samples.deferred_tool("completed", response={"n": 1})],
        **fields,
    }


def continuation(*updates, run_id="r2", restored="r", **items):
    run = samples.run_record(run_id, restore_from_run_id=restored)
    return samples.bundle(run, related_run_updates=list(updates), **items)


def names(journal, run_id="r"):
    return [event.name.removesuffix(".v1") for event in journal.reader.run_events(run_id)]


def refused(journal, bundle, error, match=None):
    before = journal.reader.last_position()
    with pytest.raises(error, match=match):
        journal.commit_run_evidence(bundle)
    assert journal.reader.last_position() == before


def test_all_of_it_is_recorded_with_the_evidence(waiting):
    receipt = waiting.commit_run_evidence(continuation(update()))
    [committed] = waiting.reader.run_events("r2", names=["run.committed.v1"])
    assert receipt.position == committed.position
    assert names(waiting)[-3:] == [
        "approval.decided",
        "deferred_tool.resolved",
        "run.status_changed",
    ]
    last = waiting.reader.last_run_event("r", ["run.status_changed.v1"])
    assert last.data == {
        "status": "completed",
        "output_preview": "all done",
        "continued_by": "r2",
        "claim_id": "x",
    }
    assert current_status(waiting.reader, "r") == "completed"
    assert current_claim(waiting.reader, "r") is None
    notes = [
        (event.data["run_id"], event.data["status"])
        for event in waiting.reader.session_events("s", names=["session.run_changed.v1"])
    ]
    assert notes == [("r", "waiting"), ("r", "completed"), ("r2", "completed")]


def test_the_same_bundle_again_is_a_no_op_though_its_claim_is_used_up(waiting, tmp_path):
    first = waiting.commit_run_evidence(continuation(update()))
    before = waiting.reader.last_position()
    waiting.set_status("r", "cancelled")
    again = waiting.commit_run_evidence(continuation(update()))
    assert (again.version, again.position, again.repeated) == (*first[:2], True)
    assert waiting.reader.last_position() == before + 2
    refused(waiting, continuation(update(output_preview="x")), RecordConflict)


def test_a_claim_that_was_not_started_does_not_do(journal):
    prepared(journal, start=False)
    refused(journal, continuation(update()), StateConflict, "claim 'x', not started")
    journal.release_resume("r", "x")
    refused(journal, continuation(update()), StateConflict, "is not claimed")
    journal.claim_resume(samples.resume_claim() | {"claim_id": "y"})
    journal.start_resume("r", "y")
    refused(journal, continuation(update()), StateConflict, "'y', started")


def test_the_run_must_be_in_the_status_that_was_expected(waiting):
    waiting.set_status("r", "running")
    refused(waiting, continuation(update()), StateConflict, "is running, but waiting was expected")
    accepted = continuation(update(expected_status="running"))
    assert not waiting.commit_run_evidence(accepted).repeated


def test_a_claim_is_used_once(waiting):
    waiting.commit_run_evidence(continuation(update()))
    other = continuation(update(expected_status="completed"), run_id="r3")
    refused(waiting, other, StateConflict, "is not claimed")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"approvals": [samples.approval("approved", action_name="x")]}, "action_name"),
        ({"deferred_tools": [samples.deferred_tool("failed", tool_name="x")]}, "tool_name"),
    ],
)
def test_its_records_keep_the_rules_of_their_kind(waiting, change, match):
    refused(waiting, continuation(update(**change)), StateConflict, match)


def test_what_an_operator_decided_before_is_the_same(waiting):
    waiting.approval(samples.approval("approved"))
    waiting.commit_run_evidence(continuation(update()))
    assert names(waiting).count("approval.decided") == 1


def test_what_an_operator_decided_otherwise_refuses_the_evidence(waiting):
    waiting.approval(samples.approval("denied"))
    refused(waiting, continuation(update()), (StateConflict, RecordConflict))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"status": "waiting"}, r"related_run_updates\[0\]\.status"),
        ({"status": "nope"}, r"related_run_updates\[0\]\.status"),
        ({"resume_claim_id": ""}, r"related_run_updates\[0\]\.resume_claim_id"),
        ({"terminal_error": {"code": "a", "message": "b"}}, "must not have one"),
        ({"approvals": [samples.approval("approved", run_id="r2")]}, r"approvals\[0\]\.run_id"),
        ({"deferred_tools": [{}]}, r"related_run_updates\[0\]\.deferred_tools\[0\]"),
    ],
)
def test_an_update_that_is_none_is_named(waiting, change, match):
    refused(waiting, continuation(update(**change)), InvalidRecord, match)


def test_there_is_at_most_one_of_the_run_that_was_restored(waiting):
    refused(waiting, continuation(update(), update()), InvalidRecord, "at most one")
    refused(waiting, continuation(update(), restored="other"), InvalidRecord, "restored from")
    refused(waiting, continuation(update(), restored=None), InvalidRecord, "restored from None")
    itself = continuation(update(run_id="r2"), restored="r2")
    refused(waiting, itself, InvalidRecord, "not go on with itself")


def test_the_run_must_be_known_and_of_the_same_session(waiting):
    stranger = continuation(update(run_id="nope", approvals=[], deferred_tools=[]), restored="nope")
    refused(waiting, stranger, RunNotFound)
    waiting.save_run(samples.run_record("far", "elsewhere", "waiting"))
    far = continuation(update(run_id="far", approvals=[], deferred_tools=[]), restored="far")
    refused(waiting, far, RunConflict)


def test_a_run_that_failed_gets_its_diagnostic(waiting):
    waiting.commit_run_evidence(continuation(update(status="failed")))
    last = waiting.reader.last_run_event("r", ["run.status_changed.v1"])
    assert last.data["terminal_error"] == {
        "code": "legacy_status_update_failed",
        "message": "run failed",
    }


def test_records_come_in_envelopes_too(waiting):
    enveloped = update(approvals=[wrap(samples.approval("approved"), APPROVAL_RECORD)])
    bundle = continuation(enveloped)
    bundle["run"] = wrap(bundle["run"], RUN_RECORD)
    waiting.commit_run_evidence(bundle)
    [decided] = waiting.reader.run_events("r", names=["approval.decided.v1"])
    assert decided.data["record"] == samples.approval("approved")


def test_the_source_may_be_written_by_somebody(tmp_path):
    with Journal.open(tmp_path / "j.db") as one, Journal.open(tmp_path / "j.db") as two:
        prepared(one)
        with one.run("r"):
            two.commit_run_evidence(continuation(update()))
        assert current_status(one.reader, "r") == "completed"


def test_it_travels(waiting):
    waiting.commit_run_evidence(continuation(update()))
    with Journal.open("memory://") as copy:
        lines = [dumps(line) for line in export_all(waiting.reader)]
        Ingest(copy).read(lines)
        assert [dumps(line) for line in export_all(copy.reader)] == lines
        assert copy.commit_run_evidence(continuation(update())).repeated


def test_a_hook_sees_its_records_as_what_they_are():
    def hook(value, path, kind):
        hidden = kind in ("approval", "deferred_tool") and value == "secret"
        return "gone" if hidden else value

    with Journal.open("memory://", redact=hook) as journal:
        asked = samples.approval(request={"command": "secret"})
        journal.commit_run_evidence(
            samples.bundle(samples.run_record(status="waiting"), approvals=[asked])
        )
        journal.claim_resume(samples.resume_claim())
        journal.start_resume("r", "x")
        decided = samples.approval("approved", request={"command": "secret"})
        journal.commit_run_evidence(continuation(update(approvals=[decided], deferred_tools=[])))
        everything = b"".join(dumps(event.data) for event in journal.reader.all_events())
        [committed] = journal.reader.run_events("r2", names=["run.committed.v1"])
    assert b"secret" not in everything
    assert committed.data["redacted"] == ["$.related_run_updates[0].approvals[0].request.command"]
