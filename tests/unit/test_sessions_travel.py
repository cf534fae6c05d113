"""A session is the same in the journal that reads what another one exported."""

import pytest

from journal import Journal, times
from journal.errors import InvalidLine
from journal.export import export_all
from journal.ingest import Ingest
from journal.json_door import dumps, equal, loads
from projections import list_run_records, resume_snapshot, run_record, session_record
from tests import samples

EARLY = "2020-01-01T00:00:00Z"
STATES = {text: samples.context(handoff_message=text) for text in "ab"}


def lines(journal):
    return [dumps(line) for line in export_all(journal.reader)]


def same_elsewhere(journal):
    """The session's record, which another journal has, too, and its exported lines."""
    exported = lines(journal)
    with Journal.open("memory://") as other:
        Ingest(other).read(exported)
        assert not Ingest(other).read(exported).recorded
        assert lines(other) == exported
        assert equal(session_record(other, "s"), session_record(journal, "s"))
        assert equal(list_run_records(other, "s"), list_run_records(journal, "s"))
        snapshots = [resume_snapshot(each, "s").to_json() for each in (journal, other)]
        assert equal(*snapshots)
    assert not Ingest(journal).read(exported).recorded
    return session_record(journal, "s")


@pytest.fixture
def still(monkeypatch):
    """A clock that stands still."""
    monkeypatch.setattr(times, "now", lambda: 1_800_000_000_000_000)


def bundle(run_id, checkpoints, status="completed"):
    return samples.bundle(samples.run_record(run_id, status=status), checkpoints=checkpoints)


def test_a_run_stays_active_when_a_bundle_brings_another_as_a_whole(journal):
    journal.commit_checkpoint("s", samples.checkpoint("k", "r0"))
    journal.commit_run_evidence(bundle("r2", [samples.checkpoint("k", "r2")]))
    assert same_elsewhere(journal)["active_run_id"] == "r0"


@pytest.mark.parametrize("clock", ["runs", "still"])
@pytest.mark.parametrize("more", [0, 2])
def test_a_run_that_ends_frees_the_slot_it_had_whatever_the_clock(journal, request, clock, more):
    if clock == "still":
        request.getfixturevalue("still")
    for checkpoint_id, run_id in (("a", "r1"), ("b", "r2"), ("a", "r3")):
        journal.commit_checkpoint("s", samples.checkpoint(checkpoint_id, run_id))
    journal.commit_checkpoint("s", samples.checkpoint("b2", "r2", step=1))
    brought = [samples.checkpoint(f"c{at}", "r2", step=2 + at) for at in range(more)]
    assert session_record(journal, "s")["active_run_id"] == "r2"
    journal.commit_run_evidence(bundle("r2", brought))
    assert same_elsewhere(journal).get("active_run_id") is None


@pytest.mark.usefixtures("still")
def test_a_run_stays_active_when_a_bundle_brings_only_new_checkpoints_of_another(journal):
    for checkpoint_id in ("a", "b"):
        journal.commit_checkpoint("s", samples.checkpoint(checkpoint_id, "r2"))
    journal.commit_checkpoint("s", samples.checkpoint("k", "r1"))
    journal.set_status("r1", "waiting")
    journal.commit_run_evidence(bundle("r2", [samples.checkpoint("c", "r2", step=2)]))
    assert same_elsewhere(journal)["active_run_id"] == "r1"


def test_a_session_that_a_checkpoint_began_keeps_its_revision(journal):
    journal.commit_checkpoint("s", samples.checkpoint())
    journal.save_session(samples.session_record(created_at=EARLY, updated_at=EARLY))
    assert same_elsewhere(journal)["revision"] == 3


def test_a_session_that_was_saved_with_a_higher_revision_keeps_its_own(journal):
    for revision in (3, 20):
        journal.save_session(samples.session_record(revision=revision))
    assert same_elsewhere(journal)["revision"] == 21


@pytest.mark.usefixtures("still")
def test_no_event_of_a_session_is_lost_where_the_clock_stood_still(journal):
    journal.save_session(samples.session_record())
    for status in ("archived", "active", "archived"):
        journal.set_session_status("s", status)
    for text in "aba":
        journal.save_context("s", STATES[text])
    found = same_elsewhere(journal)
    assert (found["status"], found["state"], found["revision"]) == ("archived", STATES["a"], 7)


def test_no_environment_of_a_session_is_lost(journal):
    journal.save_session(samples.session_record())
    state, reference = {"provider_id": "v"}, {"provider": "p", "reference": "r"}
    for each in (state, reference, state, reference):
        journal.save_environment("s", each)
    assert same_elsewhere(journal)["revision"] == 5


def test_lines_with_a_version_but_no_time_add_nothing_again(journal):
    journal.save_session(samples.session_record())
    for status in ("archived", "active", "archived"):
        journal.set_session_status("s", status)
    told = [loads(line) for line in lines(journal)]
    raw = [dumps({k: v for k, v in line.items() if k != "recorded_at"}) for line in told]
    with Journal.open("memory://") as other:
        assert Ingest(other).read(raw).recorded.total() == 4
        assert not Ingest(other).read(raw).recorded
        assert session_record(other, "s")["status"] == "archived"


def test_a_revision_that_another_store_counted_is_told_and_goes_on(journal):
    told = {"type": "session", "session": samples.session_record(revision=7), "revision": 5}
    run = {"type": "run", "run": samples.run_record(status="waiting", revision=9), "revision": 4}
    checkpoints = [
        {"type": "checkpoint", "session_id": "s", "checkpoint": samples.checkpoint(each, step=at)}
        for at, each in enumerate(("k1", "k2", "k3"))
    ]
    Ingest(journal).read([dumps(line) for line in (*checkpoints, run, told)])
    assert run_record(journal, "r")["revision"] == 4
    assert same_elsewhere(journal)["revision"] == 5
    journal.commit_run_evidence(bundle("r", [samples.checkpoint("k4", step=4)]))
    assert run_record(journal, "r")["revision"] == 5
    assert same_elsewhere(journal)["revision"] == 6
    journal.save_session(samples.session_record(title="T"))
    assert same_elsewhere(journal)["revision"] == 7


@pytest.mark.parametrize("revision", [-1, 1.0, "1", True])
def test_a_revision_that_is_no_number_is_refused(journal, revision):
    for line in (
        {"type": "session", "session": samples.session_record()},
        {"type": "run", "run": samples.run_record()},
    ):
        with pytest.raises(InvalidLine, match=r"2\^64"):
            Ingest(journal).read([dumps(line | {"revision": revision})])
    assert journal.reader.last_position() == 0
