"""A tool that may have run is never presented as safe to run again."""

import pytest

from journal import Journal
from journal.errors import StateConflict
from journal.export import export_all
from journal.ingest import Ingest
from journal.json_door import dumps
from projections import replay, resume, resume_state, run_record
from tests import samples
from tests.unit.resume_runs import (
    OPERATOR,
    SESSION,
    answered,
    asking,
    call,
    calling,
    crashed,
    facts,
    response,
    tool_return,
)


def states(resumed):
    return {each.id: each.state for each in resumed.open_tool_calls}


def may_run(resumed):
    return [each.id for each in resumed.open_tool_calls if each.may_run]


def crash_again(journal, **accepted):
    with (resumed := resume(journal, "r", **accepted)).run:
        return resumed


def test_every_open_call_of_a_run_that_died_is_unknown_with_or_without_a_record(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call(1), call(2))
        run.append(samples.record(2, "tool_call", step=1, call=call(2)))
        run.append(samples.record(3, "tool_call", step=1, call=call(3)))
    resumed = resume(journal, "r")
    assert set(states(resumed)) == {"call-1", "call-2", "call-3"}
    assert set(states(resumed).values()) == {"unknown_after_crash"}
    assert may_run(resumed) == []
    first = resumed.open_tool_calls[0]
    assert first.to_json() == {**call(1), "state": "unknown_after_crash"}


def test_a_call_before_which_the_host_stopped_was_not_started(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call())
        run.suspend("stop", checkpoint_id="k1")
    resumed = resume(journal, "r")
    assert states(resumed) == {"call-1": "pending"}
    assert may_run(resumed) == ["call-1"]


def test_a_call_that_was_recorded_was_started_though_the_host_stopped_then(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call(1), call(2))
        run.append(samples.record(2, "tool_call", step=1, call=call(2)))
        run.suspend("stop")
    assert states(resume(journal, "r")) == {
        "call-1": "pending",
        "call-2": "unknown_after_crash",
    }


def test_that_somebody_else_says_it_waits_does_not_make_a_call_safe(journal):
    crashed(journal, call())
    journal.set_status("r", "waiting", reason="looked dead")
    resumed = resume(journal, "r")
    assert not resumed.crashed
    assert states(resumed) == {"call-1": "unknown_after_crash"}


def waits_by_status(journal, run_id):
    journal.set_status(run_id, "waiting")


def waits_by_record(journal, run_id):
    journal.save_run({**run_record(journal, run_id), "status": "waiting"})


def waits_by_event_line(journal, run_id):
    told = {"name": "run.suspended.v1", "data": {"reason": "elsewhere"}}
    Ingest(journal).read([dumps({"type": "event", "run_id": run_id, **told})])


def waits_by_checkpoint_line(journal, run_id):
    taken = samples.checkpoint(
        "foreign",
        run_id,
        stream_cursor=1,
        messages=[samples.user("go"), response(call())],
        status="waiting",
        pending_tool_calls=[call()],
    )
    Ingest(journal).read([dumps({"type": "checkpoint", "session_id": "s", "checkpoint": taken})])


SAID_SO = (waits_by_status, waits_by_record, waits_by_event_line, waits_by_checkpoint_line)


@pytest.mark.parametrize("say", SAID_SO)
@pytest.mark.parametrize("stopped", ["suspended", "waiting", "not"])
def test_whoever_says_that_a_resumed_run_waits_its_calls_stay_unknown(journal, say, stopped):
    with journal.run("r", **SESSION) as run:
        calling(run, call(), status="waiting" if stopped == "waiting" else "running")
        if stopped == "suspended":
            run.suspend("maintenance")
    if stopped != "not":
        assert states(resume_state(journal, "r")) == {"call-1": "pending"}
        resume(journal, "r").run.release()  # a host that died
    say(journal, "r")
    assert states(resume_state(journal, "r")) == {"call-1": "unknown_after_crash"}


@pytest.mark.parametrize("stopped", ["suspended", "waiting"])
def test_a_call_before_which_a_run_stopped_was_not_started_in_a_fork_of_it(journal, stopped):
    with journal.run("r", **SESSION) as run:
        calling(run, call(), status="waiting" if stopped == "waiting" else "running")
        if stopped == "suspended":
            run.suspend("maintenance")
    point = replay(journal, "r")
    resume(journal, "r").run.release()
    journal.fork(point, "waits").release()
    journal.fork(replay(journal, "r"), "crashed").release()
    assert states(resume_state(journal, "waits")) == {"call-1": "pending"}
    waits_by_status(journal, "crashed")
    assert states(resume_state(journal, "crashed")) == {"call-1": "unknown_after_crash"}
    resume(journal, "waits").run.release()
    waits_by_status(journal, "waits")
    assert states(resume_state(journal, "waits")) == {"call-1": "unknown_after_crash"}


def test_a_call_of_a_fork_that_its_own_host_went_on_with_is_unknown(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call(), status="waiting")
    with journal.fork(replay(journal, "r"), "f") as fork:
        calling(fork, call(), checkpoint_id="k2", stream_cursor=2)
    waits_by_status(journal, "f")
    assert states(resume_state(journal, "f")) == {"call-1": "unknown_after_crash"}


def test_a_run_that_another_journal_stopped_in_order_goes_on_in_this_one(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call())
        run.suspend("maintenance")
    with Journal.open("memory://") as other:
        Ingest(other).read(map(dumps, export_all(journal.reader)))
        assert states(resume_state(other, "r")) == {"call-1": "pending"}


def test_only_what_is_accepted_may_run_again(journal):
    crashed(journal, call(1), call(2))
    resumed = crash_again(journal, accept_rerun=["call-2"])
    assert states(resumed) == {"call-1": "unknown_after_crash", "call-2": "accepted_rerun"}
    assert may_run(resumed) == ["call-2"]
    event = list(journal.reader.run_events("r"))[-1].data
    assert (event["unknown"], event["rerun"]) == (["call-1", "call-2"], ["call-2"])
    assert may_run(crash_again(journal)) == []  # it was accepted for one attempt
    assert may_run(crash_again(journal, accept_rerun=True)) == ["call-1", "call-2"]
    assert may_run(crash_again(journal, accept_rerun="call-1")) == ["call-1"]


def test_accepting_a_call_that_is_not_open_is_refused_and_writes_nothing(journal):
    crashed(journal, call())
    head = journal.reader.head("r")
    with pytest.raises(StateConflict, match=r"no open tool call 'call-7'; .*'call-1'"):
        resume(journal, "r", accept_rerun=["call-1", "call-7"])
    assert journal.reader.head("r") == head
    assert not journal.reader.lease("r").expires_at


def test_what_is_unknown_stays_so_until_its_answer_is_recorded(journal):
    crashed(journal, call())
    with resume(journal, "r").run as run:
        run.suspend("stop")
    with (resumed := resume(journal, "r")).run as run:
        assert not resumed.crashed
        assert states(resumed) == {"call-1": "unknown_after_crash"}
        messages = [samples.user("go"), response(call()), answered(call())]
        run.checkpoint(samples.checkpoint("k2", stream_cursor=5, messages=messages))
    assert resume(journal, "r").open_tool_calls == ()


def test_a_tool_that_answered_after_the_last_checkpoint_has_run(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call(1), call(2))
        run.append(samples.record(2, "tool_return", step=1, tool_return=tool_return(call(2))))
    resumed = resume(journal, "r")
    assert states(resumed) == {"call-1": "unknown_after_crash"}
    assert resumed.tool_returns == (tool_return(call(2)),)


def test_an_answer_that_an_exported_history_has_is_not_given_twice(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call())
        run.append(samples.record(2, "tool_return", step=1, tool_return=tool_return(call())))
        messages = [samples.user("go"), response(call()), answered(call())]
        run.export_context(samples.context(messages))
    resumed = resume(journal, "r")
    assert (len(resumed.messages), resumed.tool_returns) == (3, ())


def test_an_operator_allows_a_rerun_beforehand_for_one_attempt(journal):
    crashed(journal, call(1), call(2))
    journal.allow_resume("r", OPERATOR, rerun=["call-1", "gone-by-now"])
    assert may_run(crash_again(journal)) == ["call-1"]
    event = list(journal.reader.run_events("r"))[-1].data
    assert event["rerun"] == ["call-1"]
    assert may_run(crash_again(journal)) == []
    assert facts(journal).count("resume.allowed") == 1


def test_a_fork_of_a_run_that_crashed_inherits_what_is_unknown(journal):
    crashed(journal, call())
    with resume(journal, "r").run as run:
        run.suspend("stop")
    journal.fork(replay(journal, "r"), "f").release()
    resumed = resume(journal, "f")
    assert (resumed.attempt, resumed.crashed) == (2, False)
    assert states(resumed) == {"call-1": "unknown_after_crash"}


def test_how_a_run_would_be_resumed_can_be_asked_without_doing_so(journal):
    crashed(journal, call())
    head = journal.reader.head("r")
    state = resume_state(journal, "r", accept_rerun=True)
    assert (state.attempt, state.crashed, state.unknown) == (2, True, ("call-1",))
    assert states(state) == {"call-1": "accepted_rerun"}
    assert journal.reader.head("r") == head


def test_a_call_that_asked_for_somebody_did_not_run_and_is_not_open(journal):
    with journal.run("r", **SESSION) as run:
        calling(run, call(1), call(2), pending_approval_tool_returns=[asking(call(1))])
    journal.approval(samples.approval("denied"))
    resumed = resume(journal, "r")
    assert states(resumed) == {"call-2": "unknown_after_crash"}
    assert [each["status"] for each in resumed.decisions.approvals] == ["denied"]
