"""One host at a time may resume a run that waits: by a claim, which is started or given back."""

import pytest

from journal import Journal, facts
from journal.claims import current_claim
from journal.errors import InvalidRecord, RunConflict, RunNotFound, StateConflict
from journal.export import export_all
from journal.ids import run_stream
from journal.ingest import Ingest
from journal.json_door import dumps
from tests import samples


@pytest.fixture
def waiting(journal):
    journal.save_run(samples.run_record(status="waiting"))
    return journal


def names(journal):
    names = [event.name for event in journal.reader.run_events("r")]
    return [name.removesuffix(".v1") for name in names if name.startswith("resume")]


def test_only_a_run_that_waits_is_claimed(journal):
    for status in ("queued", "running", "completed", "cancelled"):
        journal.save_run(samples.run_record(status=status))
        with pytest.raises(StateConflict, match=f"is {status}, not waiting"):
            journal.claim_resume(samples.resume_claim())
    journal.run("r").suspend("a person decides")
    assert not journal.claim_resume(samples.resume_claim()).repeated
    assert names(journal) == ["resume.claimed"]


def test_a_run_that_began_with_a_checkpoint_that_waits_is_claimed(journal):
    journal.commit_checkpoint("s", samples.checkpoint(status="waiting"))
    assert not journal.claim_resume(samples.resume_claim()).repeated


def test_a_claim_is_exclusive(waiting):
    waiting.claim_resume(samples.resume_claim())
    with pytest.raises(StateConflict, match="has an active resume claim: 'x', preflight"):
        waiting.claim_resume(samples.resume_claim() | {"claim_id": "y"})
    assert names(waiting) == ["resume.claimed"]


def test_the_same_claim_again_is_the_same_until_it_is_started(waiting):
    first = waiting.claim_resume(samples.resume_claim())
    again = waiting.claim_resume(samples.resume_claim() | {"created_at": "2026-11-30T00:00:00Z"})
    assert (again.version, again.repeated) == (first.version, True)
    with pytest.raises(StateConflict):
        waiting.claim_resume(samples.resume_claim() | {"note": "another"})
    waiting.start_resume("r", "x")
    with pytest.raises(StateConflict, match="'x', started"):
        waiting.claim_resume(samples.resume_claim())


@pytest.mark.parametrize("state", ["admitted", "started"])
def test_a_claim_begins_as_preflight(waiting, state):
    with pytest.raises(InvalidRecord, match="preflight"):
        waiting.claim_resume(samples.resume_claim() | {"state": state})


def test_only_its_holder_starts_a_claim_and_twice_is_once(waiting):
    with pytest.raises(StateConflict, match="not claimed"):
        waiting.start_resume("r", "x")
    waiting.claim_resume(samples.resume_claim())
    with pytest.raises(StateConflict):
        waiting.start_resume("r", "y")
    first = waiting.start_resume("r", "x")
    again = waiting.start_resume("r", "x")
    assert (again.version, again.repeated) == (first.version, True)
    assert names(waiting) == ["resume.claimed", "resume.started"]


def test_a_claim_is_given_back_by_its_holder_before_it_starts(waiting):
    waiting.claim_resume(samples.resume_claim())
    with pytest.raises(StateConflict):
        waiting.release_resume("r", "y")
    assert not waiting.release_resume("r", "x").repeated
    assert waiting.release_resume("r", "x") is None
    assert waiting.release_resume("r", "never there") is None
    with pytest.raises(StateConflict, match="not claimed"):
        waiting.start_resume("r", "x")
    waiting.claim_resume(samples.resume_claim())
    waiting.start_resume("r", "x")
    with pytest.raises(StateConflict, match="not given back"):
        waiting.release_resume("r", "x")
    assert names(waiting) == [
        "resume.claimed",
        "resume.released",
        "resume.claimed",
        "resume.started",
    ]


def test_a_run_that_is_free_again_is_claimed_by_another(waiting):
    waiting.claim_resume(samples.resume_claim())
    waiting.release_resume("r", "x")
    waiting.claim_resume(samples.resume_claim() | {"claim_id": "y"})
    assert current_claim(waiting.reader, "r").claim_id == "y"


def test_unknown_runs_and_other_sessions_are_told(waiting):
    for verb in (waiting.start_resume, waiting.release_resume):
        with pytest.raises(RunNotFound):
            verb("nope", "x")
    with pytest.raises(RunNotFound):
        waiting.claim_resume(samples.resume_claim("nope"))
    with pytest.raises(RunConflict, match="session"):
        waiting.claim_resume(samples.resume_claim() | {"session_id": "other"})


def test_a_claim_needs_no_lease(waiting):
    with waiting.run("r"):
        assert not waiting.claim_resume(samples.resume_claim()).repeated


def test_a_claim_holds_after_a_restart_and_in_a_copy(tmp_path):
    with Journal.open(tmp_path / "j.db") as journal:
        journal.save_run(samples.run_record(status="waiting"))
        journal.claim_resume(samples.resume_claim())
        journal.start_resume("r", "x")
    with Journal.open(tmp_path / "j.db") as journal, Journal.open("memory://") as copy:
        Ingest(copy).read(map(dumps, export_all(journal.reader)))
        for each in (journal, copy):
            with pytest.raises(StateConflict):
                each.claim_resume(samples.resume_claim() | {"claim_id": "y"})
            assert each.start_resume("r", "x").repeated


def test_of_two_journals_that_claim_at_once_one_gets_it(tmp_path):
    with Journal.open(tmp_path / "j.db") as one, Journal.open(tmp_path / "j.db") as two:
        one.save_run(samples.run_record(status="waiting"))
        two.reader.head("r")
        one.claim_resume(samples.resume_claim() | {"claim_id": "one"})
        with pytest.raises(StateConflict, match="'one'"):
            two.claim_resume(samples.resume_claim() | {"claim_id": "two"})


def test_claims_of_older_journals_count_as_they_were_recorded(journal):
    """Older versions recorded any claim, each state as an event, and any release."""
    journal.run("r", session_id="s").suspend("why")
    for made in (
        facts.claim(samples.resume_claim()),
        facts.claim(samples.resume_claim() | {"claim_id": "late"}),
        facts.fact(run_stream("r"), "resume.released.v1", {"claim_id": "late"}),
        facts.claim(samples.resume_claim() | {"state": "started"}),
    ):
        journal.write_offers([made])
    held = current_claim(journal.reader, "r")
    assert (held.claim_id, held.state, held.event.version) == ("x", "started", 6)
