"""Lists of runs and sessions: newest first, and nothing damaged keeps the rest from view."""

import json
from itertools import pairwise

import pytest

from journal import Journal
from journal.codec import encode
from journal.events import SessionRunAdded
from journal.ids import Version, run_stream, session_stream
from journal.ingest import Ingest
from journal.stores.interface import NewEvent
from journal.times import format_time
from projections import list_runs, list_sessions
from tests import samples


def ids(runs):
    return [run.run_id for run in runs]


@pytest.fixture
def listed(journal):
    """Runs a and b of session s, then c of session t."""
    for run_id, session_id in [("a", "s"), ("b", "s"), ("c", "t")]:
        run = journal.run(run_id, session_id=session_id)
        run.append(samples.record(0))
    run.append(samples.record(1, "run_complete", run_id="c", output="done"))
    journal.run("a").checkpoint(
        samples.checkpoint("k", "a", stream_cursor=4, step=2, messages=[samples.user("hi")])
    )
    return journal


def test_runs_are_listed_newest_first(listed):
    assert ids(list_runs(listed)) == ["c", "b", "a"]
    opened = [run.opened_at for run in list_runs(listed)]
    assert all(newer >= older for newer, older in pairwise(opened))


def test_runs_can_be_chosen_by_session_status_and_number(listed):
    assert ids(list_runs(listed, session="s")) == ["b", "a"]
    assert ids(list_runs(listed, status="running")) == ["b", "a"]
    assert ids(list_runs(listed, status="completed")) == ["c"]
    assert ids(list_runs(listed, session="s", status="completed")) == []
    assert ids(list_runs(listed, limit=2)) == ["c", "b"]
    assert ids(list_runs(listed, session="s", limit=1)) == ["b"]
    assert ids(list_runs(listed, limit=0)) == []
    assert ids(list_runs(listed, session="no'such")) == []


def test_a_run_is_summed_up(listed):
    found = list(list_runs(listed))[-1]
    last = listed.reader.last_run_event("a", ["checkpoint.taken.v1"])
    assert found.updated_at == last.recorded_at
    assert found.to_json() == {
        "schema": "runjournal.run",
        "schema_version": 1,
        "run_id": "a",
        "session_id": "s",
        "conversation_id": "c",
        "status": "running",
        "opened_at": format_time(found.opened_at),
        "updated_at": format_time(last.recorded_at),
        "events": 3,
        "messages": 1,
        "step": 2,
        "checkpoint_id": "k",
        "error": None,
        "forked_from": None,
        "recorded_status": "running",
        "suspended": None,
        "archived": False,
    }


def test_sessions_are_listed_newest_first(listed):
    listed.save_session(samples.session_record("u", title="Tea", status="archived"))
    newest, middle, oldest = list_sessions(listed)
    assert (newest.session_id, newest.status, newest.title) == ("u", "archived", "Tea")
    assert newest.runs == ()
    assert (middle.session_id, middle.status, middle.runs) == ("t", None, ("c",))
    assert oldest.runs == ("a", "b")
    last = listed.reader.last_run_event("a", ["checkpoint.taken.v1"])
    assert oldest.updated_at == last.recorded_at
    assert oldest.to_json() == {
        "schema": "runjournal.session",
        "schema_version": 1,
        "session_id": "s",
        "status": None,
        "title": None,
        "runs": ["a", "b"],
        "created_at": format_time(oldest.created_at),
        "updated_at": format_time(last.recorded_at),
        "error": None,
    }


def test_the_session_record_saved_last_counts(listed):
    listed.save_session(samples.session_record("s", title="old"))
    listed.save_session(samples.session_record("s", title="new"))
    assert [session.title for session in list_sessions(listed)] == [None, "new"]


def test_a_session_may_name_a_run_that_is_not_here_yet(journal):
    added = encode(SessionRunAdded(run_id="later"))
    event = NewEvent(session_stream("s"), Version(1), SessionRunAdded.NAME, added)
    journal._store.append([event], now=7)
    [session] = list_sessions(journal)
    assert (session.runs, session.updated_at, session.error) == (("later",), 7, None)


def test_an_empty_journal_lists_nothing(journal):
    assert list(list_runs(journal)) == []
    assert list(list_sessions(journal)) == []


def test_damaged_runs_are_listed_with_their_errors(tmp_path, flip):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        for run_id in ("a", "b", "c"):
            journal.run(run_id, session_id="s").append(samples.record(0))
    flip(path, "run:a", 2)
    flip(path, "run:b", 1)
    with Journal.open(path) as journal:
        c, b, a = list_runs(journal)
        assert (c.status, c.error) == ("crashed", None)
        assert (a.session_id, a.events, a.status) == ("s", 2, None)
        assert "event 2 of 'run:a' is damaged" in a.error
        assert (b.session_id, b.opened_at) == (None, None)
        assert "event 1 of 'run:b' is damaged" in b.error
        assert ids(list_runs(journal, status="crashed")) == ["c"]
        [session] = list_sessions(journal)
        assert session.runs == ("a", "b", "c")


def test_a_run_of_a_newer_journal_is_listed_with_its_error(journal):
    journal.run("r", session_id="s")
    newer = NewEvent(run_stream("r"), Version(2), "run.teleported.v1", b"{}")
    journal._store.append([newer], now=0)
    [run] = list_runs(journal)
    assert (run.session_id, run.events) == ("s", 2)
    assert "'run.teleported.v1', which this runjournal does not know" in run.error


def test_a_damaged_session_is_listed_with_its_error(tmp_path, flip):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        journal.save_session(samples.session_record("s"))
        journal.save_session(samples.session_record("t"))
    flip(path, "session:s", 1)
    with Journal.open(path) as journal:
        t, s = list_sessions(journal)
        assert (t.status, t.error) == ("active", None)
        assert "event 1 of 'session:s' is damaged" in s.error


def test_a_session_of_long_ago_is_updated_when_its_last_run_was(journal):
    line = {
        "type": "stream_record",
        "session_id": "s",
        "run_id": "r",
        "recorded_at": "0966-05-04T03:02:01Z",
        "record": samples.record(0),
    }
    Ingest(journal).read([json.dumps(line).encode()])
    [run] = list_runs(journal)
    [session] = list_sessions(journal)
    assert run.updated_at < 0
    opened = next(journal.reader.session_events("s")).recorded_at
    assert session.updated_at == max(opened, run.updated_at)
    assert run.to_json()["updated_at"] == "0966-05-04T03:02:01.000000Z"
