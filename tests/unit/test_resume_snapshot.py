"""What a run is resumed from, and its traces, at every cursor."""

import pytest

from journal.errors import (
    CheckpointNotFound,
    CursorOutOfRange,
    RunNotInSession,
    SessionNotFound,
)
from journal.json_door import equal
from projections import (
    compact_run_trace,
    compact_session_trace,
    pending_publications,
    replay,
    resume_snapshot,
    run_record,
    session_record,
)
from tests import samples

PARTS = {
    "session", "run", "state", "environment_state", "latest_checkpoint", "stream_records",
    "approvals", "deferred_tools", "stream_cursors",
}  # fmt: skip


def cursor(sequence, run_id="r", family="raw_runtime"):
    position = {"family": family, "scope": f"run:{run_id}", "sequence": sequence}
    return {"position": position, "created_at": "2026-01-01T00:00:00Z"}


@pytest.fixture
def waiting(journal):
    """A run that waits for a person, with records on both sides of its last checkpoint."""
    journal.save_session(samples.session_record(state={"agent_id": "main", "run_id": "affinity"}))
    with journal.run("r", session_id="s", conversation_id="c") as run:
        run.append_many([samples.record(at) for at in range(3)])
        run.checkpoint(samples.checkpoint("k1", stream_cursor=2))
        run.append_many([samples.record(at) for at in range(3, 7)])
        run.checkpoint(samples.checkpoint("k0", stream_cursor=5, step=1, node="tool_return"))
        run.approval(samples.approval())
        run.deferred_tool(samples.deferred_tool())
    bundle = samples.bundle(
        samples.run_record(status="waiting", output_preview="o"),
        context_state=samples.context(user_prompts=[]),
        stream_cursors=[cursor(6)],
    )
    journal.commit_run_evidence(bundle)
    return journal


def test_a_snapshot_has_all_that_a_run_is_resumed_from(waiting):
    found = resume_snapshot(waiting, "s", "r")
    assert found.to_json().keys() == PARTS
    assert equal(found.session, session_record(waiting, "s"))
    assert equal(found.run, run_record(waiting, "r"))
    assert found.state == samples.context(user_prompts=[])
    assert found.environment_state is None
    assert found.latest_checkpoint["checkpoint_id"] == "k0"
    assert [one["sequence"] for one in found.stream_records] == [6]
    assert found.approvals == (samples.approval(),)
    assert found.deferred_tools == (samples.deferred_tool(),)
    assert found.stream_cursors == (cursor(6),)
    assert equal(found.to_json(), resume_snapshot(waiting, "s").to_json())


def test_a_snapshot_is_told_as_it_was_at_a_cursor(waiting):
    early = resume_snapshot(waiting, "s", "r", "stream:3")
    assert early.latest_checkpoint["checkpoint_id"] == "k1"
    assert [one["sequence"] for one in early.stream_records] == [3]
    assert early.approvals == early.deferred_tools == early.stream_cursors == ()
    assert early.run["status"] == "running"
    assert early.state == early.session["state"] == {"agent_id": "main", "run_id": "affinity"}
    assert early.session["active_run_id"] == "r"
    assert early.session["revision"] == 2
    at_k0 = resume_snapshot(waiting, "s", "r", "checkpoint:k0")
    assert (at_k0.run["revision"], len(at_k0.stream_records)) == (2, 0)
    head = waiting.reader.head("r")
    waiting.set_status("r", "cancelled")
    before = resume_snapshot(waiting, "s", "r", f"version:{head}")
    assert (before.run["status"], before.session["active_run_id"]) == ("waiting", "r")
    assert resume_snapshot(waiting, "s").session.get("active_run_id") is None
    with pytest.raises(CursorOutOfRange):
        resume_snapshot(waiting, "s", "r", "stream:99")
    with pytest.raises(CheckpointNotFound):
        resume_snapshot(waiting, "s", "r", "checkpoint:nobody")


def test_a_run_is_found_by_the_session_never_by_ids_of_the_provider(waiting):
    waiting.commit_checkpoint("s2", samples.checkpoint(run_id="affinity"))
    assert resume_snapshot(waiting, "s").run["run_id"] == "r"
    for run_id in ("affinity", "nobody"):
        with pytest.raises(RunNotInSession):
            resume_snapshot(waiting, "s", run_id)
        with pytest.raises(RunNotInSession):
            compact_run_trace(waiting, "s", run_id)
    with pytest.raises(SessionNotFound):
        resume_snapshot(waiting, "nobody")


def test_the_active_run_comes_before_the_one_written_to_last(journal):
    journal.commit_checkpoint("s", samples.checkpoint(run_id="r1"))
    journal.commit_run_evidence(samples.bundle(samples.run_record("r2")))
    assert resume_snapshot(journal, "s").run["run_id"] == "r1"
    journal.set_status("r1", "cancelled")
    journal.commit_run_evidence(samples.bundle(samples.run_record("r3")))
    assert resume_snapshot(journal, "s").run["run_id"] == "r3"


def test_a_session_without_a_run_has_its_own_part(journal):
    reference = {"provider": "p", "reference": "x"}
    journal.save_session(samples.session_record(environment_state=reference))
    found = resume_snapshot(journal, "s").to_json()
    assert found == {
        "session": session_record(journal, "s"),
        "run": None,
        "state": {"agent_id": "main"},
        "environment_state": reference,
        "latest_checkpoint": None,
        "stream_records": [],
        "approvals": [],
        "deferred_tools": [],
        "stream_cursors": [],
    }
    assert compact_session_trace(journal, "s")["runs"] == 0


def test_a_run_keeps_its_own_state_when_the_session_goes_on(waiting):
    later = samples.context(user_prompts=["later"])
    made = samples.bundle(samples.run_record("r2"), context_state=later)
    waiting.commit_run_evidence(made)
    found = resume_snapshot(waiting, "s", "r")
    assert found.state == samples.context(user_prompts=[])
    assert found.session["state"] == later


def test_a_fork_is_resumed_from_what_it_inherits(waiting):
    waiting.fork(replay(waiting, "r", "stream:4"), "f").release()
    found = resume_snapshot(waiting, "s", "f")
    assert (found.run["run_id"], found.run["status"]) == ("f", "running")
    assert found.latest_checkpoint["checkpoint_id"] == "k1"
    assert [one["sequence"] for one in found.stream_records] == [3, 4]
    early = resume_snapshot(waiting, "s", "f", "checkpoint:k1")
    assert (early.run["run_id"], list(early.stream_records)) == ("f", [])
    assert "checkpoints" not in compact_run_trace(waiting, "s", "f")


def test_the_trace_of_a_run_is_short_and_leaves_out_what_says_nothing(waiting):
    trace = compact_run_trace(waiting, "s", "r")
    assert trace.pop("updated_at") == run_record(waiting, "r")["updated_at"]
    assert trace == {
        "session_id": "s",
        "run_id": "r",
        "status": "waiting",
        "approvals": 1,
        "deferred_tools": 1,
        "checkpoints": ["k1", "k0"],
        "latest_checkpoint": "k0",
        "stream_cursor": 6,
        "output_preview": "o",
        "stream_cursors": [cursor(6)],
    }
    early = compact_run_trace(waiting, "s", "r", "stream:1")
    assert early.keys() == {
        "session_id", "run_id", "status", "approvals", "deferred_tools", "stream_cursor",
        "updated_at",
    }  # fmt: skip
    assert compact_run_trace(waiting, "s", "r", "stream:4")["checkpoints"] == ["k1"]


def test_the_trace_of_a_session_tells_its_last_run(waiting):
    trace = compact_session_trace(waiting, "s")
    assert (trace["runs"], trace["latest_run_id"], trace["last_output_preview"]) == (1, "r", "o")
    position = waiting.reader.last_position()
    made = samples.run_record("r2", output_preview="second", sequence_no=2)
    waiting.save_run(made)
    waiting.set_status("r", "cancelled")
    trace = compact_session_trace(waiting, "s")
    assert (trace["latest_run_id"], trace["last_output_preview"]) == ("r2", "second")
    before = compact_session_trace(waiting, "s", position)
    assert (before["runs"], before["latest_run_id"]) == (1, "r")


def test_a_publication_waits_until_each_target_has_it(journal):
    assert pending_publications(journal, "s") == []
    records = [samples.record(at) for at in (1, 0)]
    for run_id, targets in (("r", ("archive", "replay")), ("r2", ("replay",)), ("r3", ())):
        made = samples.bundle(
            samples.run_record(run_id),
            stream_records=records,
            display_messages=[{"m": run_id}],
            replay_events=[{"e": 1}],
            display_snapshot={"d": 1},
            publication_targets={name: name in targets for name in ("archive", "replay")},
        )
        journal.commit_run_evidence(made)
    both, replay_only = pending_publications(journal, "s")
    assert both["publication_id"] != replay_only["publication_id"]
    assert {key: both[key] for key in both if key != "publication_id"} == {
        "session_id": "s",
        "run_id": "r",
        "stream_records": records[::-1],
        "display_messages": [{"m": "r"}],
        "replay_events": [{"e": 1}],
        "display_snapshot": {"d": 1},
        "archive_pending": True,
        "replay_pending": True,
        "created_at": samples.run_record()["updated_at"],
    }
    assert (replay_only["run_id"], replay_only["archive_pending"]) == ("r2", False)
    journal.acknowledge_publication("r", "archive")
    journal.acknowledge_publication("r", "archive")
    waits = [(one["run_id"], one["archive_pending"]) for one in pending_publications(journal, "s")]
    assert waits == [("r", False), ("r2", False)]
    journal.acknowledge_publication("r", "replay")
    journal.acknowledge_publication("r2", "replay")
    assert pending_publications(journal, "s") == []
