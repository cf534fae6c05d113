"""What people decided is handed to the attempt that goes on, and not acted on twice."""

import pytest

from journal import Journal
from journal.errors import StateConflict
from journal.export import export_run
from journal.ingest import Ingest
from journal.json_door import dumps
from projections import resume, resume_state
from tests import samples
from tests.unit.resume_runs import (
    OPERATOR,
    SESSION,
    answered,
    asking,
    call,
    calling,
    facts,
    response,
    tool_return,
    waiting,
)


def ids(decided):
    return [each["approval_id"] for each in decided.decisions.approvals]


@pytest.fixture
def approvable(journal):
    with journal.run("r", **SESSION) as run:
        waiting(run, call())
        run.approval(samples.approval())


@pytest.fixture
def approved(journal, approvable):
    journal.approval(samples.approval("approved"))


def test_a_host_that_sets_its_own_run_waiting_gets_the_decision(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call())
        run.approval(samples.approval())
        run.set_status("waiting")
    journal.approval(samples.approval("approved"))
    with (resumed := resume(journal, "r")).run:
        assert not resumed.crashed
        assert ids(resumed) == ["a1"]


def test_what_anybody_sets_is_no_word_of_the_host_until_the_host_says_the_same(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call())
        run.approval(samples.approval())
        journal.set_status("r", "waiting")
        journal.approval(samples.approval("approved"))
        assert not ids(resume_state(journal, "r"))
        run.set_status("waiting")
        assert ids(resume_state(journal, "r")) == ["a1"]


def attempt(journal, **accepted):
    """Resume, and die at once."""
    with (resumed := resume(journal, "r", **accepted)).run:
        return resumed


def test_a_run_that_waits_for_an_approval_does_not_go_on_without(journal, approvable):
    head = journal.reader.head("r")
    with pytest.raises(
        StateConflict, match=r"waits for approval 'a1' \(deploy\); decide first: runjournal approve"
    ):
        resume(journal, "r", takeover=True)
    assert journal.reader.head("r") == head
    assert not journal.reader.lease("r").expires_at


def test_a_tool_that_asked_is_waited_for_before_any_record_says_so(journal):
    with journal.run("r", **SESSION) as run:
        waiting(run, call())
    with pytest.raises(StateConflict, match=r"waits for approval 'approval_r_call-1' \(pay\)"):
        resume(journal, "r")


def test_a_run_that_waits_for_a_worker_does_not_go_on_without(journal):
    with journal.run("r", **SESSION) as run:
        waiting(run, call(), flow="call_deferred")
        run.deferred_tool(samples.deferred_tool())
    with pytest.raises(StateConflict, match=r"waits for deferred tool call 'd1' \(lookup\)"):
        resume(journal, "r")
    done = samples.deferred_tool("completed", response={"rows": 3})
    journal.deferred_tool(done)
    resumed = attempt(journal)
    assert resumed.decisions.deferred_tools == (done,)
    assert attempt(journal).decisions.deferred_tools == (done,)  # it runs nothing


def test_decisions_are_handed_over_and_recorded_with_the_attempt(journal, approved):
    resumed = resume(journal, "r")
    assert resumed.decisions.approvals == (samples.approval("approved"),)
    assert resumed.open_tool_calls == ()
    assert list(journal.reader.run_events("r"))[-1].data["decisions"] == ["a1"]


def test_an_approved_call_that_an_attempt_died_with_may_have_run(journal, approved):
    assert ids(attempt(journal)) == ["a1"]
    again = attempt(journal)
    assert ids(again) == []
    [left] = again.open_tool_calls
    assert (left.id, left.arguments, left.state) == ("call-1", {"n": 1}, "unknown_after_crash")
    assert ids(attempt(journal)) == []
    accepted = attempt(journal, accept_rerun=["call-1"])
    assert (ids(accepted), accepted.open_tool_calls) == (["a1"], ())
    assert list(journal.reader.run_events("r"))[-1].data["rerun"] == ["call-1"]
    assert ids(attempt(journal)) == []


def test_an_approved_call_is_handed_over_again_when_the_attempt_stopped_in_order(journal, approved):
    with resume(journal, "r").run as run:
        run.suspend("stop")
    assert ids(resume(journal, "r")) == ["a1"]


def test_a_denial_is_handed_over_again_as_it_runs_nothing(journal, approvable):
    journal.approval(samples.approval("denied"))
    assert ids(attempt(journal)) == ["a1"]
    again = attempt(journal)
    assert (ids(again), again.open_tool_calls) == (["a1"], ())


def test_a_decision_whose_call_was_answered_is_done(journal, approved):
    with resume(journal, "r").run as run:
        messages = [samples.user("go"), response(call()), answered(call())]
        run.checkpoint(samples.checkpoint("k2", stream_cursor=5, messages=messages))
        run.suspend("later")
    resumed = resume(journal, "r")
    assert (ids(resumed), resumed.open_tool_calls) == ([], ())


def test_a_decision_that_a_compacted_history_lost_is_not_handed_over_once_more(journal):
    with journal.run("r", **SESSION) as run:
        waiting(run, call())
        run.approval(samples.approval())
        run.approval(samples.approval("approved"))  # and the host went on by itself
        run.checkpoint(samples.checkpoint("k2", stream_cursor=9, messages=[samples.user("so far")]))
        run.suspend("later")
    assert ids(resume(journal, "r")) == []


def test_a_decision_about_something_else_than_a_tool_call_is_handed_over_once(journal):
    with journal.run("r", **SESSION) as run:
        calling(run)
        run.suspend("ask")
    other = {"action_id": "release-7", "action_name": "release"}
    journal.approval(samples.approval(**other))
    journal.approval(samples.approval("approved", **other))
    with (resumed := resume(journal, "r")).run as run:
        assert ids(resumed) == ["a1"]
        run.suspend("ask again")
    with (resumed := resume(journal, "r")).run:
        assert ids(resumed) == []
    assert ids(resume(journal, "r")) == []


def test_what_was_approved_besides_tool_calls_may_have_been_done_by_an_attempt_that_died(journal):
    with journal.run("r", **SESSION) as run:
        calling(run)
        run.suspend("ask")
    other = {"action_id": "release-7", "action_name": "release"}
    journal.approval(samples.approval("approved", **other))
    assert ids(attempt(journal)) == ["a1"]
    again = attempt(journal)
    assert ids(again) == []
    [left] = again.open_tool_calls
    assert (left.id, left.name, left.state) == ("release-7", "release", "unknown_after_crash")


def test_an_approved_call_stays_unknown_though_a_later_attempt_stopped_in_order(journal, approved):
    attempt(journal)
    with resume(journal, "r").run as run:
        run.suspend("stop")
    again = resume(journal, "r")
    assert ids(again) == []
    assert [each.state for each in again.open_tool_calls] == ["unknown_after_crash"]


def test_an_approved_call_whose_start_is_recorded_was_started(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call())
        run.approval(samples.approval())
        run.append(samples.record(2, "tool_call", step=1, call=call()))
        run.suspend("stop")
    journal.approval(samples.approval("approved"))
    resumed = resume(journal, "r")
    assert ids(resumed) == []
    assert [each.state for each in resumed.open_tool_calls] == ["unknown_after_crash"]


def test_an_approved_call_that_answered_before_its_attempt_died_is_done(journal, approved):
    with (resumed := resume(journal, "r")).run as run:
        answer = {"step": 1, "tool_return": tool_return(call())}
        run.append(samples.record(resumed.next_sequence, "tool_return", **answer))
    again = resume(journal, "r")
    assert (ids(again), again.open_tool_calls) == ([], ())
    assert again.tool_returns == (tool_return(call()),)


def test_what_a_tool_returned_to_ask_for_somebody_is_no_answer(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call())
        run.append(samples.record(2, "tool_return", step=1, tool_return=asking(call())))
    journal.approval(samples.approval("approved"))
    resumed = resume(journal, "r")
    assert (ids(resumed), resumed.tool_returns) == (["a1"], ())


def test_a_call_that_was_denied_before_it_was_made_may_not_run(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call())  # a host that asks before it calls
        run.approval(samples.approval())
        run.suspend("ask")
    journal.approval(samples.approval("denied"))
    resumed = resume(journal, "r")
    assert (ids(resumed), resumed.open_tool_calls) == (["a1"], ())


def test_a_call_that_was_approved_before_it_was_made_may_run_once(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call())
        run.approval(samples.approval())
        run.suspend("ask")
    journal.approval(samples.approval("approved"))
    resumed = attempt(journal)
    assert (ids(resumed), resumed.open_tool_calls) == (["a1"], ())
    again = attempt(journal)
    assert ids(again) == []
    assert [each.state for each in again.open_tool_calls] == ["unknown_after_crash"]


def test_an_approval_that_a_host_saw_before_it_died_may_have_been_acted_on(journal):
    with journal.run("r", **SESSION) as run:
        waiting(run, call())
        run.approval(samples.approval())
        run.approval(samples.approval("approved"))
        run.append(samples.record(9))  # it goes on by itself, and dies
    resumed = attempt(journal)
    assert ids(resumed) == []
    assert [each.state for each in resumed.open_tool_calls] == ["unknown_after_crash"]


def test_an_approval_after_the_host_died_was_not_acted_on(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call(), pending_approval_tool_returns=[asking(call())])
        run.approval(samples.approval())
    journal.approval(samples.approval("approved"))
    resumed = resume(journal, "r")
    assert resumed.crashed
    assert (ids(resumed), resumed.open_tool_calls) == (["a1"], ())


def test_the_result_of_a_deferred_call_is_its_answer(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call())
        run.deferred_tool(samples.deferred_tool())
    journal.deferred_tool(samples.deferred_tool("completed", response={"rows": 3}))
    resumed = resume(journal, "r")
    assert len(resumed.decisions.deferred_tools) == 1
    assert resumed.open_tool_calls == ()
    assert "unknown" not in list(journal.reader.run_events("r"))[-1].data


@pytest.fixture
def foreign(journal):
    """A run that waited elsewhere, where somebody decided."""
    with Journal.open("memory://") as elsewhere:
        with elsewhere.run("r", **SESSION) as run:
            waiting(run, call())
            run.approval(samples.approval())
        elsewhere.approval(samples.approval("approved"))
        elsewhere.allow_resume("r", OPERATOR, trust_imported=True)
        lines = [dumps(line) for line in export_run(elsewhere.reader, "r")]
    Ingest(journal).read(lines)


def test_decisions_of_another_journal_resume_nothing_by_themselves(journal, foreign):
    head = journal.reader.head("r")
    assert facts(journal)[-1] == "resume.allowed"  # of the other journal, too
    with pytest.raises(StateConflict, match=r"came by ingest.*approval 'a1'; .*--trust-imported"):
        resume(journal, "r")
    assert journal.reader.head("r") == head
    resumed = resume(journal, "r", trust_imported=True)
    assert ids(resumed) == ["a1"]
    assert list(journal.reader.run_events("r"))[-1].data["trusted_imported"] is True


def test_an_operator_allows_imported_decisions_for_one_attempt(journal, foreign):
    journal.allow_resume("r", OPERATOR, trust_imported=True)
    with resume(journal, "r").run as run:
        run.suspend("stop")
    with pytest.raises(StateConflict, match="came by ingest"):
        resume(journal, "r")


def test_a_decision_made_here_about_an_imported_request_needs_no_trust(journal):
    with Journal.open("memory://") as elsewhere:
        with elsewhere.run("r", **SESSION) as run:
            calling(run, call(), pending_approval_tool_returns=[asking(call())])
            run.approval(samples.approval())
        lines = [dumps(line) for line in export_run(elsewhere.reader, "r")]
    Ingest(journal).read(lines)
    journal.approval(samples.approval("approved"))
    assert ids(resume(journal, "r")) == ["a1"]
