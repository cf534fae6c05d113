"""A run that is under way and that nobody is writing any more is shown as crashed."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from journal import Journal, times
from journal.leases import LEASE_SECONDS, SKEW
from projections import derived_status, list_runs
from tests import samples


def statuses(journal, **chosen):
    return {run.run_id: run.status for run in list_runs(journal, **chosen)}


def test_a_run_that_somebody_is_writing_stands_as_recorded(journal):
    run = journal.run("r", session_id="s")
    run.append(samples.record(0))
    assert statuses(journal) == {"r": "running"}
    run.release()
    assert statuses(journal) == {"r": "crashed"}
    journal.run("r")
    assert statuses(journal) == {"r": "running"}


def test_a_queued_run_that_nobody_took_yet_is_queued(journal):
    with journal.run("r", session_id="s") as run:
        run.set_status("queued")
    assert statuses(journal) == {"r": "queued"}


@pytest.mark.parametrize("status", ["starting", "running"])
def test_a_run_under_way_that_nobody_ever_wrote_is_crashed(journal, status):
    journal.commit_checkpoint("s", samples.checkpoint(run_id="r"))
    assert derived_status(journal, "r", status) == "crashed"


@pytest.mark.parametrize("status", ["waiting", "completed", "failed", "cancelled"])
def test_a_run_that_waits_or_ended_needs_no_writer(journal, status):
    with journal.run("r", session_id="s") as run:
        run.append(samples.record(0))
        run.set_status(status)
    assert statuses(journal) == {"r": status}


def test_a_run_that_is_still_open_elsewhere_is_not_crashed(tmp_path):
    path = tmp_path / "runs.db"
    with Journal.open(path) as writing, Journal.open(path) as reading:
        writing.run("r", session_id="s").append(samples.record(0))
        assert statuses(reading) == {"r": "running"}
    with Journal.open(path) as reading:
        assert statuses(reading) == {"r": "crashed"}


def test_a_lease_is_over_when_the_clocks_cannot_make_up_for_it(journal, monkeypatch):
    journal.run("r", session_id="s").append(samples.record(0))
    began = journal.reader.lease("r").expires_at - int(LEASE_SECONDS * 1e6)
    left = int((LEASE_SECONDS + SKEW) * 1e6)
    monkeypatch.setattr(times, "now", lambda: began + left - 1)
    assert statuses(journal) == {"r": "running"}
    monkeypatch.setattr(times, "now", lambda: began + left)
    assert statuses(journal) == {"r": "crashed"}


DIES = """
import os
from journal import Journal
from tests import samples
opened = Journal.open("runs.db")
opened.run("told", session_id="s").append(samples.record(0))
opened.run("accepted", session_id="s")
opened.run("done", session_id="s").set_status("completed")
opened.run("given back", session_id="s").release()
os.kill(os.getpid(), 9)
"""


def test_the_runs_of_a_killed_process_are_crashed_at_once(tmp_path):
    path = os.pathsep.join(sys.path)
    subprocess.run(
        [sys.executable, "-c", DIES],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    with Journal.open(tmp_path / "runs.db", create=False) as journal:
        assert statuses(journal) == {
            "told": "crashed",
            "accepted": "crashed",  # nothing was recorded of it, and its owner is gone
            "done": "completed",
            "given back": None,
        }
        assert statuses(journal, unfinished=True) == {"told": "crashed", "accepted": "crashed"}


def test_a_run_that_went_on_meanwhile_is_not_called_crashed(journal):
    with journal.run("r", session_id="s") as run:
        run.append(samples.record(0))
        folded = journal.reader.head("r")
        run.set_status("completed")
    assert derived_status(journal, "r", "running", version=folded) == "running"
    assert derived_status(journal, "r", "running", version=folded + 1) == "crashed"


def test_the_list_of_what_is_unfinished_says_why_a_run_waits(journal):
    for run_id in ("waits", "crashed", "ended", "at work"):
        run = journal.run(run_id, session_id="s")
        run.append(samples.record(0))
        if run_id == "waits":
            run.suspend("a person must decide")
        if run_id == "ended":
            run.set_status("completed")
        if run_id != "at work":
            run.release()
    crashed, waits = list_runs(journal, unfinished=True)
    assert (crashed.run_id, crashed.recorded_status, crashed.suspended) == (
        "crashed",
        "running",
        None,
    )
    assert (waits.status, waits.suspended) == ("waiting", "a person must decide")
    assert waits.to_json()["suspended"] == {"reason": "a person must decide"}
    assert statuses(journal, status="crashed") == {"crashed": "crashed"}
    assert statuses(journal, status="running") == {"at work": "running"}
    assert statuses(journal, status="running", unfinished=True) == {}


def test_it_is_told_while_another_process_holds_the_write_lock(tmp_path):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        journal.run("r", session_id="s").append(samples.record(0))
    with Journal.open(path) as journal, closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert statuses(journal) == {"r": "crashed"}
