"""Runs that checkpoints begin, records that come by themselves, and statuses without evidence."""

import pytest

from journal import Journal
from journal.doctor import examine
from journal.errors import (
    InvalidRecord,
    RecordConflict,
    RunConflict,
    RunNotFound,
)
from journal.export import export_all
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


def last_change(journal):
    return journal.reader.last_run_event("r", ["run.status_changed.v1"]).data


@pytest.mark.parametrize(
    ("status", "begins"),
    [
        ("starting", "running"),
        ("running", "running"),
        ("waiting", "waiting"),
        ("completed", "completed"),
        ("failed", "failed"),
        ("cancelled", "cancelled"),
    ],
)
def test_a_run_that_a_checkpoint_begins_has_its_status(journal, status, begins):
    journal.commit_checkpoint("s", samples.checkpoint(status=status))
    assert events(journal) == ["run.opened", "checkpoint.taken"]
    assert current_status(journal.reader, "r") == begins
    assert notes(journal) == ([] if begins == "running" else [("r", begins)])
    record = run_record(journal, "r")
    assert (record["status"], record["revision"]) == (begins, 1)
    code = record.get("terminal_error", {}).get("code")
    assert code == {
        "failed": "checkpoint_run_failed",
        "cancelled": "checkpoint_run_cancelled",
    }.get(begins)


def test_a_checkpoint_of_a_run_that_must_exist_opens_none(journal):
    with pytest.raises(RunNotFound):
        journal.commit_checkpoint("s", samples.checkpoint(), must_exist=True)
    assert not journal.reader.has_run("r")
    journal.commit_checkpoint("s", samples.checkpoint())
    journal.commit_checkpoint("s", samples.checkpoint("k2"), must_exist=True)
    with pytest.raises(RunConflict, match="session"):
        journal.commit_checkpoint("other", samples.checkpoint("k3"), must_exist=True)


def test_a_bootstrap_travels(journal):
    journal.commit_checkpoint("s", samples.checkpoint(status="failed"))
    with Journal.open("memory://") as copy:
        lines = [dumps(line) for line in export_all(journal.reader)]
        Ingest(copy).read(lines)
        assert [dumps(line) for line in export_all(copy.reader)] == lines
        assert notes(copy) == notes(journal) == [("r", "failed")]
        before = copy.reader.last_position()
        Ingest(copy).read(lines)
        assert copy.reader.last_position() == before


def test_records_of_a_run_bring_its_cursor_along(journal):
    journal.commit_checkpoint("s", samples.checkpoint())
    receipts = journal.append_records("s", "r", [samples.record(3), samples.record(1)])
    assert [receipt.version for receipt in receipts] == [3, 4]
    assert events(journal)[2:] == ["stream.recorded", "stream.recorded", "cursor.saved"]
    [cursor] = journal.reader.run_events("r", names=["cursor.saved.v1"])
    assert cursor.data["cursor"]["position"] == {
        "family": "raw_runtime",
        "scope": "run:r",
        "sequence": 3,
    }


def test_records_that_come_late_or_again_leave_the_cursor(journal):
    journal.commit_checkpoint("s", samples.checkpoint())
    journal.append_records("s", "r", [samples.record(3)])
    assert [each.repeated for each in journal.append_records("s", "r", [samples.record(3)])] == [
        True
    ]
    assert not journal.append_records("s", "r", [samples.record(2)])[0].repeated
    assert events(journal).count("cursor.saved") == 1
    assert journal.append_records("s", "r", []) == []


def test_records_are_taken_all_or_none(journal):
    journal.commit_checkpoint("s", samples.checkpoint())
    journal.append_records("s", "r", [samples.record(1)])
    before = events(journal)
    with pytest.raises(RecordConflict, match="stream record 1"):
        journal.append_records("s", "r", [samples.record(2), samples.delta(1, "other")])
    with pytest.raises(InvalidRecord, match=r"\$\[1\]"):
        journal.append_records("s", "r", [samples.record(2), {"sequence": -1}])
    assert events(journal) == before


def test_records_need_their_run(journal):
    with pytest.raises(RunNotFound):
        journal.append_records("s", "r", [samples.record(0)])
    journal.commit_checkpoint("s", samples.checkpoint())
    with pytest.raises(RunConflict, match="session"):
        journal.append_records("other", "r", [samples.record(0)])


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_run_that_is_said_to_have_ended_badly_has_a_general_diagnostic(journal, status):
    run = journal.run("r", session_id="s")
    for verb in (lambda **more: journal.set_status("r", status, **more), run.set_status):
        arguments = {"output_preview": "the caller's text"}
        if verb == run.set_status:
            run.set_status("running")
            arguments["status"] = status
        verb(**arguments)
        said = "run failed" if status == "failed" else "run cancelled"
        assert last_change(journal) == {
            "status": status,
            "terminal_error": {"code": f"legacy_status_update_{status}", "message": said},
        }


def test_the_same_status_with_nothing_new_is_the_same(journal):
    journal.run("r", session_id="s")
    first = journal.set_status("r", "running", output_preview="a", reason="x")
    for again in (
        journal.set_status("r", "running", output_preview="a"),
        journal.run("r").set_status("running", output_preview="a", reason="x"),
    ):
        assert (again.version, again.repeated) == (first.version, True)
    assert not journal.set_status("r", "running", output_preview="b").repeated
    assert not journal.set_status("r", "running").repeated
    assert not journal.set_status("r", "waiting").repeated
    assert not journal.set_status("r", "waiting", reason="why").repeated
    assert not journal.set_status("r", "failed").repeated
    assert journal.set_status("r", "failed", output_preview="dropped").repeated


def test_a_status_that_the_record_has_already_is_the_same(journal):
    journal.save_run(samples.run_record(status="waiting", output_preview="p"))
    assert journal.set_status("r", "waiting", output_preview="p").repeated
    journal.commit_run_evidence(samples.bundle())
    assert journal.set_status("r", "completed").repeated
    assert not journal.set_status("r", "failed").repeated


def test_a_status_after_something_happened_is_another(journal):
    run = journal.run("r", session_id="s", conversation_id="c")
    run.set_status("running")
    run.checkpoint(samples.checkpoint(status="waiting"))
    assert not run.set_status("running").repeated
    run.append(samples.record(0, "run_failed", run_id="r", error_kind="x", message="y"))
    assert not run.set_status("running").repeated
    run.suspend("tea")
    assert not run.set_status("waiting").repeated


def test_every_status_fact_is_noted_in_the_session(journal):
    run = journal.run("r", session_id="s", conversation_id="c")
    run.set_status("running")
    run.suspend("tea")
    run.resume()
    journal.set_status("r", "waiting")
    journal.save_run(samples.run_record(status="running"))
    journal.commit_run_evidence(samples.bundle())
    statuses = ["running", "waiting", "running", "waiting", "running", "completed"]
    assert notes(journal) == [("r", status) for status in statuses]


@pytest.mark.parametrize("status", ["queued", "starting", "running", "waiting", "completed"])
def test_only_a_run_that_ended_badly_has_a_diagnostic(journal, status):
    diagnosed = samples.run_record(status=status, terminal_error={"code": "a", "message": "b"})
    for write in (journal.save_run, lambda run: journal.commit_run_evidence(samples.bundle(run))):
        with pytest.raises(InvalidRecord, match="terminal_error"):
            write(diagnosed)
    with pytest.raises(InvalidRecord, match="terminal_error"):
        journal.save_run(samples.run_record(status="failed"))
    journal.save_run(samples.run_record(status="cancelled", terminal_error=None))
    journal.save_run(diagnosed | {"status": "cancelled"})
    journal.save_run(diagnosed | {"status": "failed"})


def test_a_run_that_a_line_begins_has_the_status_of_its_checkpoint(journal):
    line = {
        "type": "checkpoint",
        "session_id": "s",
        "checkpoint": samples.checkpoint(status="completed"),
    }
    Ingest(journal).read([dumps(line)])
    assert current_status(journal.reader, "r") == "completed"
    assert notes(journal) == [("r", "completed")]


def test_the_doctor_finds_nothing_wrong_with_what_begins_otherwise(tmp_path):
    with Journal.open(tmp_path / "j.db") as journal:
        journal.commit_checkpoint("s", samples.checkpoint(status="failed"))
        journal.save_run(samples.run_record("r2", sequence_no=7))
    assert examine(tmp_path / "j.db").findings == ()
