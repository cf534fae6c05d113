"""What is set of a session, and what operators ask of runs, is recorded once."""

import pytest

from journal import Journal
from journal.errors import (
    InvalidRecord,
    RunNotFound,
    SessionNotFound,
    StateConflict,
)
from journal.events import Operator
from journal.export import export_all
from journal.ingest import Ingest
from journal.json_door import dumps
from tests import samples

ANN = Operator(user="ann", host="web1")


def test_the_verbs_of_a_session_need_the_session(journal):
    for write in (
        lambda: journal.set_session_status("s", "archived"),
        lambda: journal.save_context("s", samples.context()),
        lambda: journal.save_environment("s", {"provider": "p", "reference": "x"}),
    ):
        with pytest.raises(SessionNotFound):
            write()
    assert not journal.reader.has_session("s")


def test_what_is_set_of_a_session_is_recorded_once(journal):
    journal.save_session(samples.session_record())
    environments = (
        {"provider": "virtual", "reference": "ws-1"},
        {"provider_id": "virtual", "metadata": {"provider_kind": "virtual"}},
        {"schema": "starweaver.environment.state", "version": 1, "payload": {"provider_id": "v"}},
    )
    for write in (
        lambda: journal.set_session_status("s", "archived"),
        lambda: journal.save_context("s", samples.context(user_prompts=["u"])),
        *[lambda each=each: journal.save_environment("s", each) for each in environments],
    ):
        assert not write().repeated
        assert write().repeated
    assert not journal.save_environment("s", environments[0]).repeated
    names = [event.name for event in journal.reader.session_events("s")]
    assert names == [
        "session.saved.v1",
        "session.status_changed.v1",
        "context.exported.v1",
        "environment.referenced.v1",
        "environment.exported.v1",
        "environment.exported.v1",
        "environment.referenced.v1",
    ]


def test_a_session_is_not_set_to_what_there_is_not(journal):
    journal.save_session(samples.session_record())
    with pytest.raises(InvalidRecord, match="active"):
        journal.set_session_status("s", "asleep")
    with pytest.raises(InvalidRecord, match="reference"):
        journal.save_environment("s", {"provider": "p"})
    durable = {"starweaver.durable_session_id": "other"}
    with pytest.raises(InvalidRecord, match="durable_session_id"):
        journal.save_context("s", samples.context(metadata=durable))
    affinity = samples.context(session_id="provider-affinity", run_id="provider-affinity")
    assert not journal.save_context("s", affinity).repeated


def test_a_session_saved_as_before_counts_when_it_changed_meanwhile(journal):
    record = samples.session_record()
    journal.save_session(record)
    assert journal.save_session(record).repeated
    journal.set_session_status("s", "archived")
    assert not journal.save_session(record).repeated
    journal.save_run(samples.run_record(status="running"))
    assert not journal.save_session(record).repeated
    assert journal.save_session(record).repeated


def test_what_is_set_of_a_session_travels_once(journal):
    journal.save_session(samples.session_record())
    journal.set_session_status("s", "archived")
    journal.save_environment("s", {"provider": "virtual", "reference": "ws-1"})
    journal.save_context("s", samples.context())
    journal.set_session_status("s", "active")
    journal.set_session_status("s", "archived")
    lines = [dumps(line) for line in export_all(journal.reader)]
    with Journal.open("memory://") as copy:
        for _ in range(2):
            Ingest(copy).read(lines)
            assert [dumps(line) for line in export_all(copy.reader)] == lines
        assert [event.name for event in copy.reader.session_events("s")] == [
            event.name for event in journal.reader.session_events("s")
        ]


def test_a_run_is_asked_to_suspend_whoever_writes_it(journal):
    with journal.run("r", session_id="s") as run:
        first = journal.request_suspend("r", "over budget", ANN)
        assert journal.request_suspend("r", "over budget", ANN).version == first.version
        assert not journal.request_suspend("r", "lunch", ANN).repeated
        run.suspend("lunch")
        assert not journal.request_suspend("r", "lunch", ANN).repeated
    [*_, last] = journal.reader.run_events("r", names=["run.suspend_requested.v1"])
    assert last.data == {"reason": "lunch", "operator": {"user": "ann", "host": "web1"}}
    assert last.event.operator == ANN


def test_a_run_that_ended_is_not_asked_to_suspend(journal):
    journal.commit_run_evidence(samples.bundle())
    with pytest.raises(StateConflict, match="is completed and cannot be suspended"):
        journal.request_suspend("r", "why", ANN)
    with pytest.raises(RunNotFound):
        journal.request_suspend("nope", "why", ANN)
    with pytest.raises(InvalidRecord, match="reason"):
        journal.request_suspend("r", "", ANN)


def test_what_an_operator_allows_is_recorded_once_until_the_run_goes_on(journal):
    run = journal.run("r", session_id="s")
    given = {"rerun": ["call-1"], "trust_imported": True, "reason": "seen"}
    first = journal.allow_resume("r", ANN, **given)
    assert journal.allow_resume("r", ANN, **given).version == first.version
    run.resume()
    assert not journal.allow_resume("r", ANN, **given).repeated
    [*_, last] = journal.reader.run_events("r", names=["resume.allowed.v1"])
    assert last.data == {"operator": {"user": "ann", "host": "web1"}, **given}
    with pytest.raises(RunNotFound):
        journal.allow_resume("nope", ANN)
