"""A damaged note of one run takes nothing from the others: the runs themselves tell."""

import shutil

import pytest

from journal import Journal
from journal.errors import CorruptEvent
from journal.hosts.session_store import SessionStore
from journal.json_door import equal
from projections import (
    list_run_records,
    pending_publications,
    resume_snapshot,
    run_page,
    run_record,
    session_page,
    session_record,
)
from tests import samples

RUNS = ("r1", "r2", "r3")
NOTES = 6
WANTED = {"archive": True, "replay": False}


def fill(journal):
    """Three runs, their notes the first events of the session's stream, the last not numbered."""
    journal.save_run(samples.run_record("r1", status="running"))
    run = samples.run_record("r2")
    journal.commit_run_evidence(samples.bundle(run, publication_targets=WANTED))
    with journal.run("r3", session_id="s") as opened:
        opened.checkpoint(samples.checkpoint("k", "r3"))
    journal.set_status("r3", "waiting")
    journal.save_environment("s", {"provider": "p", "reference": "r"})
    journal.set_session_status("s", "archived")


def answers(journal):
    return {
        "runs": [run_record(journal, run_id) for run_id in RUNS],
        "list": list_run_records(journal, "s"),
        "page": run_page(journal, "s", 2),
        "session": session_record(journal, "s"),
        "sessions": session_page(journal, 9),
        "snapshots": [resume_snapshot(journal, "s", run_id).to_json() for run_id in RUNS],
        "publications": pending_publications(journal, "s"),
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "runs.db"
    with Journal.open(path) as journal:
        fill(journal)
        names = [event.name for event in journal.reader.session_events("s")]
        assert [name.startswith("session.run_") for name in names] == [True] * NOTES + [False] * 2
        return path, answers(journal)


@pytest.fixture
def damaged(whole, tmp_path, request, flip):
    path, expected = whole
    copied = tmp_path / "runs.db"
    shutil.copy(path, copied)
    flip(copied, "session:s", request.param)
    with Journal.open(copied, create=False) as journal:
        yield journal, expected


@pytest.mark.parametrize("damaged", range(1, NOTES + 1), indirect=True)
def test_every_record_is_told_without_a_note(damaged):
    journal, expected = damaged
    assert equal(answers(journal), expected)


@pytest.mark.parametrize("damaged", range(1, NOTES + 3), indirect=True)
def test_new_runs_are_recorded_and_told(damaged):
    journal, expected = damaged
    store = SessionStore(journal)
    allocated = store.append_run_allocated(samples.run_record("new", status="running"))
    committed = store.commit_run_evidence(samples.bundle(samples.run_record("newer")))
    assert equal(allocated, run_record(journal, "new"))
    assert equal(committed, run_record(journal, "newer"))
    found = list_run_records(journal, "s")
    assert equal(found[:3], expected["list"])
    assert [each["run_id"] for each in found] == [*RUNS, "new", "newer"]
    assert len({each["sequence_no"] for each in found}) == 5


@pytest.mark.parametrize("damaged", [NOTES + 1, NOTES + 2], indirect=True)
def test_what_only_the_session_tells_is_missed(damaged):
    journal, expected = damaged
    with pytest.raises(CorruptEvent):
        session_record(journal, "s")
    assert equal(list_run_records(journal, "s"), expected["list"])
    assert equal(pending_publications(journal, "s"), expected["publications"])


def test_evidence_of_a_damaged_run_is_kept_and_told(tmp_path, flip):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        journal.commit_checkpoint("s", samples.checkpoint())
        journal.save_cursor("s", "r", samples_cursor())
    flip(path, "run:r", 3)
    with Journal.open(path, create=False) as journal:
        store = SessionStore(journal)
        record = samples.run_record(sequence_no=1)
        assert equal(store.commit_run_evidence(samples.bundle(record)), record)
        assert journal.is_committed("r")
        with pytest.raises(CorruptEvent):
            store.load_run("s", "r")


def samples_cursor():
    position = {"family": "display", "scope": "run:r", "sequence": 1}
    return {"position": position, "created_at": "2026-01-01T00:00:00Z"}
