"""Files of every past format are still read, and go on where they were."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from journal import Journal
from journal.doctor import examine
from journal.errors import RecordConflict, RunIsArchived, StateConflict
from journal.events import RunLeaseTaken
from journal.export import export_all
from journal.json_door import equal
from projections import LATEST, replay
from tests import samples
from tests.dropped import drop

FOLDER = Path(__file__).parents[1] / "fixtures" / "journals"


@pytest.fixture(params=sorted(path.stem for path in FOLDER.glob("*.journal")))
def old(request, tmp_path):
    path = tmp_path / "old.db"
    shutil.copyfile(FOLDER / f"{request.param}.journal", path)
    expected = (FOLDER / f"{request.param}.jsonl").read_text().splitlines()
    return path, [json.loads(line) for line in expected]


def test_every_event_of_an_old_file_comes_back(old):
    path, expected = old
    with Journal.open(path, create=False) as journal:
        found = list(export_all(journal.reader))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert equal(one, other)


def test_an_old_file_is_written_on(old):
    path, _ = old
    with Journal.open(path) as journal:
        run = journal.run("r")
        assert run.append(samples.record(0)).repeated
        assert journal.commit_run_evidence(
            samples.bundle(samples.run_record(sequence_no=1), stream_records=[samples.record(9)])
        ).repeated
        history = [samples.user("hi " + "x" * 300), samples.answer("yes"), samples.user("more")]
        run.checkpoint(samples.checkpoint("k3", messages=history, stream_cursor=2**64 - 1, step=2))
        assert replay(journal, "r", LATEST).checkpoint["checkpoint_id"] == "k3"
        assert replay(journal, "r", LATEST).messages[-1] == samples.user("more")


def test_the_rules_of_a_session_store_hold_for_what_an_old_file_has(old):
    path, _ = old
    with Journal.open(path) as journal:
        runs = [*journal.reader.session_events("s", names=["session.run_added.v1"])]
        journal.save_run(samples.run_record("new", status="running"))
        with pytest.raises(StateConflict, match=f"'new' is number {len(runs) + 1}"):
            journal.save_run(samples.run_record("new", status="running", sequence_no=1))
        with pytest.raises(StateConflict, match="'r' is that"):
            journal.save_run(samples.run_record("newer", status="running", sequence_no=1))
        before = journal.reader.head("r")
        assert journal.approval(samples.approval("approved")).repeated
        with pytest.raises(RecordConflict):
            journal.approval(samples.approval("denied"))
        with pytest.raises(StateConflict, match="does not go back"):
            journal.save_cursor("s", "r", samples.stream_cursor(0))
        with pytest.raises(StateConflict, match="completed, not waiting"):
            journal.claim_resume(samples.resume_claim())
        assert journal.set_status("r", "completed").repeated
        assert journal.reader.head("r") == before
        journal.set_status("r", "waiting")
        assert not journal.claim_resume(samples.resume_claim()).repeated
    assert examine(path).is_sound


def test_a_lease_of_an_old_file_is_counted_on(tmp_path):
    path = tmp_path / "old.db"
    shutil.copyfile(FOLDER / "format-2.journal", path)
    with Journal.open(path) as journal:
        journal.run("r4").append(samples.record(31))
        taken = journal.reader.last_run_event("r4", {RunLeaseTaken.NAME})
        assert taken.data["generation"] == 2
        journal.run("r").append(samples.record(5))
        taken = journal.reader.last_run_event("r", {RunLeaseTaken.NAME})
        assert taken.data["generation"] == 1


@pytest.mark.parametrize("name", ["format-1", "format-2"])
def test_an_old_file_is_brought_to_format_3(tmp_path, name):
    path = tmp_path / "old.db"
    shutil.copyfile(FOLDER / f"{name}.journal", path)
    expected = (FOLDER / f"{name}.jsonl").read_text().splitlines()
    Journal.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
    with Journal.open(path, create=False) as journal:
        found = list(export_all(journal.reader))
    assert len(found) == len(expected)
    assert all(equal(one, json.loads(line)) for one, line in zip(found, expected, strict=True))


def test_a_run_of_an_old_file_can_be_dropped_once_it_is_upgraded(old):
    path, _ = old
    with Journal.open(path, create=False) as journal:
        others = [run for run in journal.reader.run_ids() if run != "r"]
        before = {run: replay(journal, run, LATEST).messages for run in others}
        forks = journal.dropping(["r"]).forks("r")
        for run in forks:
            journal.set_status(run, "completed")
        drop(journal, *forks, "r")
        for run in before.keys() - {*forks}:
            assert replay(journal, run, LATEST).messages == before[run]
        with pytest.raises(RunIsArchived):
            journal.run("r")
    assert examine(path).is_sound
