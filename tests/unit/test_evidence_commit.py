"""An evidence commit is all or nothing; what was tapped live comes again as the same."""

import copy

import pytest

from journal.errors import InvalidRecord, RecordConflict, RunConflict, RunNotFound
from journal.events import RunCommitted
from tests import samples


def names(journal, run_id="r"):
    return [event.name.removesuffix(".v1") for event in journal.reader.run_events(run_id)]


@pytest.fixture
def full():
    return samples.bundle(
        stream_records=[samples.record(0), samples.record(1)],
        checkpoints=[samples.checkpoint("k1"), samples.checkpoint("k2", stream_cursor=1)],
        approvals=[samples.approval()],
        deferred_tools=[samples.deferred_tool()],
        stream_cursors=[samples.stream_cursor()],
        environment_state={"provider_id": "ws", "metadata": {"provider_kind": "virtual"}},
        display_messages=[{"text": "hello"}],
        surprise={"kept": [1, None]},
    )


ITEMS = [
    "run.opened",
    "stream.recorded",
    "stream.recorded",
    "checkpoint.taken",
    "checkpoint.taken",
    "approval.requested",
    "deferred_tool.requested",
    "cursor.saved",
    "environment.exported",
    "context.exported",
    "run.committed",
]


def test_a_commit_opens_the_run_and_gives_each_item_an_event(journal, full):
    receipt = journal.commit_run_evidence(full)
    assert names(journal) == ITEMS
    assert receipt.version == len(ITEMS)
    committed = journal.reader.last_run_event("r", (RunCommitted.NAME,)).event
    assert committed.run == full["run"]
    assert committed.rest["surprise"] == {"kept": [1, None]}
    assert committed.rest["display_messages"] == [{"text": "hello"}]
    assert set(committed.rest).isdisjoint({"stream_records", "checkpoints", "run"})
    assert journal.run_record("r") == full["run"]
    assert journal.is_committed("r")


def test_the_same_bundle_again_is_a_no_op_in_any_key_order(journal, full):
    first = journal.commit_run_evidence(full)
    again = journal.commit_run_evidence(dict(reversed(full.items())))
    assert again.repeated
    assert again.version == first.version
    assert names(journal) == ITEMS


def test_a_different_bundle_for_a_committed_run_is_refused_and_changes_nothing(journal, full):
    journal.commit_run_evidence(full)
    with pytest.raises(RecordConflict, match="evidence commit"):
        journal.commit_run_evidence(full | {"surprise": 1})
    assert names(journal) == ITEMS


def test_what_was_handed_in_before_is_not_recorded_twice(journal, full):
    run = journal.run("r", session_id="s", conversation_id="c")
    run.append(full["stream_records"][1])
    journal.commit_checkpoint("s", full["checkpoints"][0])
    journal.commit_run_evidence(full)
    assert names(journal) == [
        "run.opened",
        "stream.recorded",
        "checkpoint.taken",
        "stream.recorded",
        *ITEMS[4:],
    ]


def test_a_conflicting_item_refuses_the_whole_bundle(journal, full):
    run = journal.run("r", session_id="s", conversation_id="c")
    run.append(samples.delta(1, "something else"))
    with pytest.raises(RecordConflict, match="stream record 1"):
        journal.commit_run_evidence(full)
    assert names(journal) == ["run.opened", "stream.recorded"]
    assert not journal.is_committed("r")


def test_a_tapped_tool_return_stays_when_the_commit_lacks_its_content_parts(journal, full):
    tool_return = {
        "tool_call_id": "t",
        "name": "f",
        "content": "x",
        "is_error": False,
        "private_metadata": {"starweaver_tool_return_content_parts": [{"kind": "text"}], "k": 1},
    }
    tapped = samples.record(0, "tool_return", step=1, tool_return=tool_return)
    committed = copy.deepcopy(tapped)
    del committed["event"]["tool_return"]["private_metadata"][
        "starweaver_tool_return_content_parts"
    ]
    journal.run("r", session_id="s").append(tapped)
    full["stream_records"][0] = committed
    journal.commit_run_evidence(full)
    held = [e.data["record"] for e in journal.reader.run_events("r") if "record" in e.data]
    assert held[0] == tapped
    assert committed not in held


def test_a_tool_return_that_lacks_more_is_a_conflict(journal, full):
    tool_return = {"tool_call_id": "t", "name": "f", "content": "x", "is_error": False}
    private = {"starweaver_tool_return_content_parts": [], "k": 1}
    tapped = samples.record(
        0, "tool_return", step=1, tool_return={**tool_return, "private_metadata": private}
    )
    journal.run("r", session_id="s").append(tapped)
    full["stream_records"][0] = samples.record(0, "tool_return", step=1, tool_return=tool_return)
    with pytest.raises(RecordConflict):
        journal.commit_run_evidence(full)
    alone = {"starweaver_tool_return_content_parts": []}
    other = journal.run("r2", session_id="s")
    other.append(
        samples.record(
            0, "tool_return", step=1, tool_return={**tool_return, "private_metadata": alone}
        )
    )
    bundle = samples.bundle(
        samples.run_record("r2"),
        stream_records=[samples.record(0, "tool_return", step=1, tool_return=tool_return)],
    )
    assert not journal.commit_run_evidence(bundle).repeated


def test_a_bad_item_is_named_and_nothing_is_kept(journal, full):
    full["checkpoints"][1]["state"]["run_step"] = 9
    with pytest.raises(InvalidRecord, match="run_step"):
        journal.commit_run_evidence(full)
    assert not journal.reader.has_run("r")


def test_a_checkpoint_opens_its_run_in_the_same_transaction(journal):
    receipt = journal.commit_checkpoint("s", samples.checkpoint("k"))
    assert receipt.version == 2
    assert names(journal) == ["run.opened", "checkpoint.taken"]
    assert journal.commit_checkpoint("s", samples.checkpoint("k")).repeated
    with pytest.raises(RunConflict):
        journal.commit_checkpoint("other", samples.checkpoint("k2"))
    with pytest.raises(InvalidRecord):
        journal.commit_checkpoint("s", samples.checkpoint("k", "r2", node="nowhere"))
    assert not journal.reader.has_run("r2")


def test_session_and_run_records_come_back_as_saved(journal):
    assert not journal.save_session(samples.session_record()).repeated
    assert journal.save_session(samples.session_record()).repeated
    newer = samples.session_record(status="archived", revision=2)
    journal.save_session(newer)
    assert journal.session_record("s") == newer
    journal.save_run(samples.run_record(status="running"))
    assert journal.save_run(samples.run_record(status="running")).repeated
    journal.save_run(samples.run_record())
    assert journal.run_record("r") == samples.run_record()
    with pytest.raises(RunNotFound):
        journal.run_record("nope")


def test_a_run_record_is_the_same_only_when_nothing_came_in_between(journal):
    running, waiting = (samples.run_record(status=status) for status in ("running", "waiting"))
    journal.save_run(running)
    assert journal.save_run(running).repeated
    journal.run("r").set_status("waiting")
    assert not journal.save_run(running).repeated
    journal.commit_run_evidence(samples.bundle(waiting))
    assert not journal.save_run(running).repeated
    assert journal.run_record("r") == running


def test_a_cursor_is_recorded_once_and_never_again_after_a_later_one(journal):
    run = journal.run("r", session_id="s", conversation_id="c")
    cursors = [samples.stream_cursor(10), samples.stream_cursor(52)]
    for cursor in cursors:
        assert not run.save_cursor(cursor).repeated
    later = samples.stream_cursor(52) | {"created_at": "2026-11-30T00:00:00Z"}
    assert run.save_cursor(later).repeated
    journal.commit_run_evidence(samples.bundle(stream_cursors=cursors))
    assert names(journal).count("cursor.saved") == 2
    with pytest.raises(RecordConflict, match="metadata"):
        run.save_cursor(samples.stream_cursor(52) | {"metadata": {"x": 1}})


def test_resume_claims_are_events_of_the_run(journal):
    journal.run("r", session_id="s").suspend("a person decides")
    claim = samples.resume_claim()
    assert not journal.claim_resume(claim).repeated
    assert journal.claim_resume(claim).repeated
    assert not journal.release_resume("r", "x").repeated
    assert names(journal)[2:] == ["resume.claimed", "resume.released"]
    with pytest.raises(RunNotFound):
        journal.claim_resume(claim | {"run_id": "nope"})
    with pytest.raises(InvalidRecord, match="claim_id"):
        journal.claim_resume({"run_id": "r", "session_id": "s"})
