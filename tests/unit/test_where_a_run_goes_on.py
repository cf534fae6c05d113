"""A run that another one goes on with is not resumed, and who tries is told what to do."""

import pytest

from journal.errors import StateConflict
from journal.events import Operator
from journal.facts import fact, noted
from journal.ids import run_stream
from projections import request_suspend, resume, resume_state
from tests import samples
from tests.unit.resume_runs import SESSION


@pytest.fixture
def suspended(journal):
    with journal.run("r", **SESSION) as run:
        run.checkpoint(samples.checkpoint(messages=[samples.user("hi")]))
        run.suspend("maintenance", checkpoint_id="k1")


def goes_on(journal, status, run_id="r2"):
    """Record in run r that another run goes on with it."""
    fields = {"status": status, "continued_by": run_id}
    change = fact(run_stream("r"), "run.status_changed.v1", fields)
    journal.write_offers(noted(change, "s"))


def test_a_run_whose_continuation_never_began_goes_on_anew(journal, suspended):
    goes_on(journal, "running")
    journal.run("r2", **SESSION).release()
    assert resume_state(journal, "r").attempt == 2
    with journal.run("r2") as run:
        run.checkpoint(samples.checkpoint("k2", "r2"))
    with pytest.raises(StateConflict, match="goes on in run 'r2'; resume that one: it is crashed"):
        resume(journal, "r")


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        ("running", "its host is at work on that one"),
        ("waiting", "resume that one: it is waiting"),
        ("completed", "that one is completed, too: fork it"),
    ],
)
@pytest.mark.parametrize("source", ["running", "completed"])
def test_who_is_refused_is_told_how_the_run_stands_that_goes_on(
    journal, suspended, status, remedy, source
):
    goes_on(journal, source)
    how = "goes on in" if source == "running" else "is completed: it went on in"
    with journal.run("r2", **SESSION) as run:
        run.checkpoint(samples.checkpoint("k2", "r2"))
        if status != "running":
            run.set_status(status)
        with pytest.raises(StateConflict, match=f"{how} run 'r2'; {remedy}"):
            resume(journal, "r")


def test_a_request_is_recorded_for_the_last_run_of_those_that_went_on(journal, suspended):
    goes_on(journal, "running")
    with journal.run("r2", **SESSION) as run:
        run.checkpoint(samples.checkpoint("k2", "r2"))
        ann = Operator(user="ann", host="box")
        asked = request_suspend(journal, "r", "stop it", ann)
        assert (asked.run_id, asked.run_status) == ("r2", "running")
        assert run.suspend_requested().reason == "stop it"
        run.set_status("completed")
        with pytest.raises(StateConflict, match="run 'r2' is completed and cannot be suspended"):
            request_suspend(journal, "r", "stop it", ann)
