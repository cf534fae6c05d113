"""What evidence counts, when it is the same, and when it does not fit."""

import pytest

from journal import Journal
from journal.errors import (
    RecordConflict,
    StateConflict,
)
from journal.ingest import Ingest
from journal.json_door import dumps
from journal.run_status import current_status
from projections import run_record
from tests import samples


def events(journal, run_id="r"):
    return [event.name.removesuffix(".v1") for event in journal.reader.run_events(run_id)]


def notes(journal, session_id="s"):
    return [
        (event.data["run_id"], event.data["status"])
        for event in journal.reader.session_events(session_id, names=["session.run_changed.v1"])
    ]


def committed(journal, run_id="r"):
    return journal.reader.last_run_event(run_id, ["run.committed.v1"]).data


def test_a_new_run_starts_at_revision_one_and_a_commit_raises_it_by_one(journal):
    journal.commit_run_evidence(samples.bundle(stream_cursors=[samples.stream_cursor()]))
    assert {key: committed(journal)[key] for key in ("revision", "saves")} == {
        "revision": 1,
        "saves": 1,
    }
    full = samples.bundle(
        samples.run_record("r2"),
        checkpoints=[samples.checkpoint(name, "r2") for name in ("k1", "k2", "k3")],
        stream_records=[samples.record(0)],
        stream_cursors=[samples.stream_cursor(0, "r2"), samples.stream_cursor(9, "r2")],
    )
    journal.commit_checkpoint("s", samples.checkpoint("k1", "r2"))
    journal.append_records("s", "r2", [samples.record(0)])
    journal.set_status("r2", "waiting")
    before = run_record(journal, "r2")["revision"]
    journal.commit_run_evidence(full)
    assert (before, committed(journal, "r2")["revision"]) == (3, 4)
    assert committed(journal, "r2")["saves"] == 3
    assert run_record(journal, "r2")["revision"] == 4


def test_a_commit_raises_the_revision_that_the_host_told(journal):
    journal.commit_checkpoint("s", samples.checkpoint())
    journal.save_run(samples.run_record(status="running", revision=9))
    journal.set_status("r", "waiting")
    before = run_record(journal, "r")["revision"]
    journal.commit_run_evidence(samples.bundle())
    assert run_record(journal, "r")["revision"] == before + 1 == 11


def test_a_run_that_was_only_opened_is_at_revision_one(journal):
    journal.run("r", session_id="s", conversation_id="c").release()
    assert run_record(journal, "r")["revision"] == 1
    journal.commit_run_evidence(samples.bundle())
    assert committed(journal)["revision"] == 2


@pytest.fixture
def full():
    return samples.bundle(
        samples.run_record(status="waiting"),
        stream_records=[samples.record(0)],
        checkpoints=[samples.checkpoint()],
        approvals=[samples.approval()],
        deferred_tools=[samples.deferred_tool()],
        stream_cursors=[samples.stream_cursor(0)],
    )


def test_the_same_bundle_is_a_no_op_whatever_came_since_and_after_a_restart(tmp_path, full):
    with Journal.open(tmp_path / "j.db") as journal:
        first = journal.commit_run_evidence(full)
        journal.approval(samples.approval("approved"))
        journal.deferred_tool(samples.deferred_tool("completed"))
        journal.append_records("s", "r", [samples.record(7)])
        journal.set_status("r", "completed")
    with Journal.open(tmp_path / "j.db") as journal:
        before = journal.reader.last_position()
        again = journal.commit_run_evidence(full)
        assert (again.version, again.position, again.repeated) == (*first[:2], True)
        with pytest.raises(RecordConflict, match="evidence commit"):
            journal.commit_run_evidence(full | {"display_messages": [{}]})
        assert journal.reader.last_position() == before


def test_what_was_decided_before_the_evidence_came_stays(journal, full):
    journal.commit_checkpoint("s", samples.checkpoint())
    journal.approval(samples.approval())
    journal.approval(samples.approval("approved"))
    journal.commit_run_evidence(full)
    assert events(journal).count("approval.requested") == 1
    assert events(journal).count("approval.decided") == 1


@pytest.mark.parametrize(
    ("before", "error"),
    [
        (lambda j: j.save_cursor("s", "r", samples.stream_cursor(5)), StateConflict),
        (lambda j: j.approval(samples.approval("denied")), StateConflict),
        (lambda j: j.deferred_tool(samples.deferred_tool("failed")), StateConflict),
        (lambda j: j.approval(samples.approval(action_name="x")), RecordConflict),
        (lambda j: j.append_records("s", "r", [samples.delta(0, "x")]), RecordConflict),
    ],
)
def test_evidence_that_does_not_fit_is_refused_and_changes_nothing(journal, full, before, error):
    journal.commit_checkpoint("s", samples.checkpoint())
    before(journal)
    held = journal.reader.last_position()
    with pytest.raises(error):
        journal.commit_run_evidence(full)
    assert journal.reader.last_position() == held
    assert not journal.is_committed("r")


def test_evidence_of_a_run_that_is_suspended_leaves_it_waiting(journal):
    bundle = samples.bundle(
        samples.run_record(status="cancelled"),
        checkpoints=[samples.checkpoint("k1"), samples.checkpoint("k2", stream_cursor=4)],
    )
    first = journal.commit_run_evidence(bundle, suspended="over budget")
    assert events(journal)[-2:] == ["run.committed", "run.suspended"]
    last = journal.reader.last_run_event("r", ["run.suspended.v1"])
    assert last.data == {"reason": "over budget", "checkpoint_id": "k2"}
    assert last.version == first.version + 1
    assert current_status(journal.reader, "r") == "waiting"
    assert notes(journal) == [("r", "cancelled"), ("r", "waiting")]
    assert journal.commit_run_evidence(bundle, suspended="over budget").repeated


def test_evidence_that_came_by_ingest_is_marked(journal, full):
    full["approvals"] = [samples.approval("approved")]
    line = {"type": "run_evidence", "commit": full, "recorded_at": "2026-11-29T20:00:00Z"}
    counts = Ingest(journal).read([dumps(line)])
    assert counts.recorded == {"run_evidence": 1}
    assert all(event.imported for event in journal.reader.all_events())
    assert Ingest(journal).read([dumps(line)]).repeated == {"run_evidence": 1}
    assert journal.commit_run_evidence(full).repeated


def test_what_stands_together_in_a_bundle_follows_the_same_rules(journal):
    asked, decided = samples.approval(), samples.approval("approved")
    back = [samples.stream_cursor(9), samples.stream_cursor(5)]
    for items in (
        {"approvals": [asked, decided | {"action_name": "other"}]},
        {"approvals": [decided, asked]},
        {"stream_cursors": back},
    ):
        with pytest.raises(StateConflict):
            journal.commit_run_evidence(samples.bundle(**items))
    assert not journal.reader.has_run("r")
    journal.commit_run_evidence(
        samples.bundle(approvals=[asked, decided], stream_cursors=[*reversed(back)])
    )
    assert events(journal).count("cursor.saved") == 2
