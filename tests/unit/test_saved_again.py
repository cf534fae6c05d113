"""What is saved again counts again as soon as something else was said in between."""

import pytest

from projections import run_record, session_record
from tests import samples

MINE, ITS = (samples.context(handoff_message=text) for text in ("mine", "its"))
REFERENCE = {"provider": "p", "reference": "mine"}
OTHER = {"provider": "p", "reference": "other"}
STATE = {"provider_id": "v", "files": {"a": "1"}}


def commit(journal, run_id="r", **run):
    made = samples.bundle(samples.run_record(run_id, **run), context_state=ITS)
    return journal.commit_run_evidence(made)


def save_another(journal):
    fields = {"state": ITS, "environment_state": OTHER, "revision": 9}
    return journal.save_session(samples.session_record(**fields))


def commit_another(journal):
    return commit(journal, environment_state=OTHER)


@pytest.mark.parametrize("another", [save_another, commit_another])
def test_a_state_that_is_saved_again_is_the_sessions_again(journal, another):
    journal.save_session(samples.session_record())
    journal.save_context("s", MINE)
    another(journal)
    assert session_record(journal, "s")["state"] == ITS
    assert not journal.save_context("s", MINE).repeated
    assert session_record(journal, "s")["state"] == MINE
    assert journal.save_context("s", MINE).repeated


@pytest.mark.parametrize("another", [save_another, commit_another])
def test_an_environment_that_is_saved_again_is_the_sessions_again(journal, another):
    journal.save_session(samples.session_record())
    journal.save_environment("s", REFERENCE)
    another(journal)
    assert session_record(journal, "s")["environment_state"] == OTHER
    assert not journal.save_environment("s", REFERENCE).repeated
    assert session_record(journal, "s")["environment_state"] == REFERENCE
    assert journal.save_environment("s", REFERENCE).repeated


def test_a_state_of_an_environment_saved_after_a_reference_counts_again(journal):
    journal.save_session(samples.session_record())
    repeated = [
        journal.save_environment("s", each).repeated
        for each in (STATE, STATE, REFERENCE, STATE, REFERENCE)
    ]
    assert repeated == [False, True, False, False, False]


def test_a_session_that_is_saved_again_takes_back_what_a_checkpoint_changed(journal):
    journal.commit_checkpoint("s", samples.checkpoint("k1", "r"))
    told = samples.session_record(revision=40)
    journal.save_session(told)
    assert journal.save_session(told).repeated
    journal.commit_checkpoint("s", samples.checkpoint("k2", "r", step=1))
    assert session_record(journal, "s")["head_run_id"] == "r"
    assert not journal.save_session(told).repeated
    assert "head_run_id" not in session_record(journal, "s")
    assert journal.save_session(told).repeated


def test_a_run_that_is_saved_again_after_another_is_the_head_again(journal):
    first, second = (samples.run_record(each, status="running") for each in ("r1", "r2"))
    journal.save_run(first)
    assert journal.save_run(first).repeated
    journal.save_run(second)
    assert not journal.save_run(first).repeated
    found = session_record(journal, "s")
    assert (found["head_run_id"], found["active_run_id"]) == ("r1", "r1")
    assert run_record(journal, "r1")["revision"] == 2
    assert journal.save_run(first).repeated
