"""A run's record is what was saved last, with what came later laid over, at any cursor."""

import shutil
from pathlib import Path

import pytest

from journal import Journal
from journal.errors import CursorOutOfRange, RunNotFound
from journal.hosts.session_store import SessionStore
from journal.json_door import equal
from projections import approvals, checkpoints, deferred_tools, replay, run_record, stream_records
from tests import samples

OLD = Path(__file__).parents[1] / "fixtures" / "journals"
TIMES = ("created_at", "updated_at")


def cursor(sequence, family="raw_runtime", **fields):
    position = {"family": family, "scope": "run:r", "sequence": sequence}
    return {"position": position, "created_at": "2026-01-01T00:00:00Z", **fields}


def timeless(record):
    return {key: value for key, value in record.items() if key not in TIMES}


def test_a_run_that_nobody_saved_begins_as_its_first_checkpoint_says(journal):
    taken = samples.checkpoint(status="starting", parent_run_id="p", parent_task_id="t")
    taken["resume"]["trace_context"] = {"trace_id": "first"}
    journal.commit_checkpoint("s", taken)
    later = samples.checkpoint("k2", step=3, node="tool_return", stream_cursor=None)
    later["resume"]["trace_context"] = {"trace_id": "later"}
    journal.commit_checkpoint("s", later)
    found = run_record(journal, "r")
    created_at = found["latest_checkpoint"].pop("created_at")
    assert found["updated_at"] == created_at >= found["created_at"]
    assert timeless(found) == {
        "session_id": "s",
        "run_id": "r",
        "conversation_id": "c",
        "parent_run_id": "p",
        "parent_task_id": "t",
        "status": "running",
        "trace_context": {"trace_id": "first"},
        "latest_checkpoint": {
            "checkpoint_id": "k2",
            "run_id": "r",
            "sequence": 3,
            "node": "ToolReturn",
            "metadata": {"span_id": None},
        },
        "sequence_no": 1,
        "revision": 2,
    }


@pytest.mark.parametrize(
    ("status", "code"),
    [("failed", "checkpoint_run_failed"), ("cancelled", "checkpoint_run_cancelled")],
)
def test_a_run_that_begins_over_says_so(journal, status, code):
    journal.commit_checkpoint("s", samples.checkpoint(status=status))
    found = run_record(journal, "r")
    assert found["status"] == status
    assert found["terminal_error"]["code"] == code


def test_a_run_of_which_only_the_opening_is_known_is_running(journal):
    journal.run("r", session_id="s").release()
    found = run_record(journal, "r")
    assert timeless(found) == {
        "session_id": "s", "run_id": "r", "status": "running", "sequence_no": 1, "revision": 1,
    }  # fmt: skip


def test_what_was_saved_comes_back_with_what_came_later_laid_over(journal):
    saved = samples.run_record(status="running", revision=3, **{"x-host": 1.0}, profile=None)
    journal.save_run(saved)
    found = run_record(journal, "r")
    assert equal(found, saved | {"sequence_no": 1})
    journal.commit_checkpoint("s", samples.checkpoint(stream_cursor=4))
    journal.set_status("r", "waiting", output_preview="so far")
    found = run_record(journal, "r")
    assert found["latest_checkpoint"]["stream_cursor"] == 4
    assert (found["status"], found["output_preview"], found["revision"]) == ("waiting", "so far", 5)
    assert found["x-host"] == 1.0
    assert found["updated_at"] > saved["updated_at"]


def test_a_status_brings_its_output_and_its_diagnostic_or_takes_them_away(journal):
    error = {"code": "e", "message": "m"}
    journal.save_run(samples.run_record(status="failed", terminal_error=error, output_preview="o"))
    journal.set_status("r", "completed", output_preview="done")
    found = run_record(journal, "r")
    assert "terminal_error" not in found
    assert found["output_preview"] == "done"
    journal.set_status("r", "failed", output_preview="dropped")
    found = run_record(journal, "r")
    assert "output_preview" not in found
    assert found["terminal_error"] == {
        "code": "legacy_status_update_failed", "message": "run failed",
    }  # fmt: skip


def test_a_pause_changes_the_status_and_nothing_else(journal):
    journal.save_run(samples.run_record(status="running", output_preview="so far"))
    with journal.run("r") as run:
        run.suspend("a person must decide")
    found = run_record(journal, "r")
    assert (found["status"], found["output_preview"]) == ("waiting", "so far")
    with journal.run("r") as run:
        run.resume()
    assert run_record(journal, "r")["status"] == "running"


def test_a_commit_raises_the_revision_by_one_and_a_new_run_starts_at_one(journal):
    taken = [samples.checkpoint(), samples.checkpoint("k2", step=1, stream_cursor=1)]
    items = {"checkpoints": taken, "stream_cursors": [cursor(5), cursor(2, "display")]}
    journal.commit_run_evidence(samples.bundle(**items))
    found = run_record(journal, "r")
    assert (found["revision"], found["latest_checkpoint"]["checkpoint_id"]) == (1, "k2")
    assert found["stream_cursors"] == [cursor(5), cursor(2, "display")]
    assert found["updated_at"] == samples.run_record()["updated_at"]
    for one in taken:
        journal.commit_checkpoint(
            "s", {**one, "run_id": "r2", "state": one["state"] | {"run_id": "r2"}}
        )
    before = run_record(journal, "r2")["revision"]
    journal.commit_run_evidence(
        samples.bundle(samples.run_record("r2"), context_state=samples.context())
    )
    assert (before, run_record(journal, "r2")["revision"]) == (2, 3)


def test_the_latest_checkpoint_is_the_last_in_order_whatever_the_record_says(journal):
    named = {"checkpoint_id": "k9", "run_id": "r", "sequence": 1, "node": "ToolCall"}
    with journal.run("r", session_id="s", conversation_id="c") as run:
        run.checkpoint(samples.checkpoint("k9", step=1, stream_cursor=3))
        run.checkpoint(samples.checkpoint("k1", step=1, stream_cursor=8))
        run.checkpoint(samples.checkpoint("k5", step=1, stream_cursor=5))
    journal.save_run(samples.run_record(latest_checkpoint=named))
    assert run_record(journal, "r")["latest_checkpoint"]["checkpoint_id"] == "k1"
    assert [one["checkpoint_id"] for one in checkpoints(journal, "r")] == ["k9", "k5", "k1"]
    at_5 = run_record(journal, "r", "stream:5")
    assert at_5["latest_checkpoint"]["checkpoint_id"] == "k5"
    told = named | {"checkpoint_id": "k1", "x": "as told"}
    journal.save_run(samples.run_record(latest_checkpoint=told))
    assert run_record(journal, "r")["latest_checkpoint"] == told


def test_cursors_are_the_furthest_of_each_family_the_last_saved_at_the_end(journal):
    journal.save_run(samples.run_record(status="running"))
    for one in (cursor(5), cursor(1, "display"), cursor(7, metadata={"by": "ui"})):
        journal.save_cursor("s", "r", one)
    found = run_record(journal, "r")
    assert found["stream_cursors"] == [cursor(1, "display"), cursor(7, metadata={"by": "ui"})]
    assert found["revision"] == 4
    flat = {"family": "display", "scope": "run:r", "sequence": 3, "created_at": "x"}
    told = [cursor(6), flat]
    journal.save_run(samples.run_record(status="running", sequence_no=1, stream_cursors=told))
    assert run_record(journal, "r")["stream_cursors"] == [
        cursor(7, metadata={"by": "ui"}), flat,
    ]  # fmt: skip


def test_numbers_are_those_of_the_session(journal):
    for run_id in ("r1", "r2"):
        journal.commit_checkpoint("s", samples.checkpoint(run_id=run_id))
    journal.save_run(samples.run_record("r7", sequence_no=7))
    journal.commit_checkpoint("s", samples.checkpoint(run_id="r8"))
    journal.commit_checkpoint("s2", samples.checkpoint(run_id="other"))
    numbers = [run_record(journal, run)["sequence_no"] for run in ("r1", "r2", "r7", "r8", "other")]
    assert numbers == [1, 2, 7, 8, 1]


def test_a_record_is_told_as_it_was_at_each_cursor(journal):
    with journal.run("r", session_id="s", conversation_id="c") as run:
        run.append_many([samples.record(at) for at in range(3)])
        run.checkpoint(samples.checkpoint("k1", stream_cursor=1))
        run.checkpoint(samples.checkpoint("k2", stream_cursor=2, step=1))
        run.suspend("why")
        journal.save_run(samples.run_record(status="waiting", output_preview="o"))
        journal.set_status("r", "completed", output_preview="done")
    head = journal.reader.head("r")
    told = [run_record(journal, "r", f"version:{at}") for at in range(1, head + 1)]
    assert [one["status"] for one in told[-4:]] == ["running", "waiting", "waiting", "completed"]
    assert [one["revision"] for one in told] == [1, 1, 1, 1, 1, 2, 3, 4, 5]
    assert [one.get("output_preview") for one in told[-3:]] == [None, "o", "done"]
    assert "latest_checkpoint" not in told[3]
    at_1 = run_record(journal, "r", "checkpoint:k1")
    assert (at_1["latest_checkpoint"]["checkpoint_id"], at_1["revision"]) == ("k1", 1)
    assert equal(told[-1], run_record(journal, "r"))
    with pytest.raises(CursorOutOfRange):
        run_record(journal, "r", "version:99")
    with pytest.raises(RunNotFound):
        run_record(journal, "nobody")


def test_a_fork_has_a_record_of_its_own(journal):
    with journal.run("r", session_id="s", conversation_id="c") as run:
        run.append(samples.record(0))
        run.checkpoint(samples.checkpoint("k1", stream_cursor=0))
    journal.save_run(samples.run_record(output_preview="of the source"))
    journal.save_cursor("s", "r", cursor(0))
    journal.fork(replay(journal, "r"), "f").release()
    found = run_record(journal, "f")
    assert found["latest_checkpoint"]["run_id"] == "r"
    assert (found["status"], found["sequence_no"], found["revision"]) == ("running", 2, 1)
    assert not found.keys() & {"output_preview", "stream_cursors", "input"}
    assert checkpoints(journal, "f") == stream_records(journal, "f") == []
    assert equal(timeless(run_record(journal, "f", "checkpoint:k1")), timeless(found))


def test_what_a_run_holds_is_listed_as_it_is_now(journal):
    journal.save_run(samples.run_record(status="waiting"))
    records = [samples.record(at) for at in (4, 0, 2)]
    journal.append_records("s", "r", records)
    assert [one["sequence"] for one in stream_records(journal, "r")] == [0, 2, 4]
    assert [one["sequence"] for one in stream_records(journal, "r", 0)] == [2, 4]
    assert stream_records(journal, "r", 4) == []
    journal.approval(samples.approval())
    journal.deferred_tool(samples.deferred_tool())
    journal.approval(samples.approval("approved"))
    assert approvals(journal, "r") == [samples.approval("approved")]
    assert deferred_tools(journal, "r") == [samples.deferred_tool()]


def test_checkpoints_without_a_cursor_stand_where_they_came(journal):
    with journal.run("r", session_id="s", conversation_id="c") as run:
        run.checkpoint(samples.checkpoint("k1", stream_cursor=None))
        run.append(samples.record(5))
        run.checkpoint(samples.checkpoint("k2", stream_cursor=None))
        run.checkpoint(samples.checkpoint("k3", stream_cursor=3))
    assert [one["checkpoint_id"] for one in checkpoints(journal, "r")] == ["k1", "k3", "k2"]
    assert run_record(journal, "r")["latest_checkpoint"]["checkpoint_id"] == "k2"


@pytest.mark.parametrize("name", ["format-1", "format-2"])
def test_runs_of_old_files_have_records(tmp_path, name):
    path = tmp_path / "old.db"
    shutil.copyfile(OLD / f"{name}.journal", path)
    with Journal.open(path, create=False) as journal:
        for run_id in journal.reader.run_ids():
            found = run_record(journal, run_id)
            saved = journal.run_record(run_id)
            assert found["revision"] >= 1
            assert found["sequence_no"] >= 1
            if saved is not None:
                assert found["input"] == saved["input"]
            else:
                assert found["status"] in ("running", "waiting", "completed")


def test_the_latest_checkpoint_alone_is_the_last_of_all(journal):
    store = SessionStore(journal)
    assert store.latest_checkpoint("s", "r") is None
    journal.run("r", session_id="s").release()
    assert store.latest_checkpoint("s", "r") is None
    for checkpoint_id, cursor in (("k5", 5), ("k9", 9), ("k2", 2)):
        journal.commit_checkpoint("s", samples.checkpoint(checkpoint_id, stream_cursor=cursor))
        latest = store.latest_checkpoint("s", "r")
        assert latest == store.load_checkpoints("s", "r")[-1]
    assert latest["checkpoint_id"] == "k9"
    assert store.latest_checkpoint("elsewhere", "r") is None
