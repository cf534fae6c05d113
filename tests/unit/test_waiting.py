"""What waits for a person is listed, also before its run makes a record of it."""

import pytest

from journal import Journal
from journal.errors import (
    AmbiguousId,
    InvalidRecord,
    RunNotFound,
    StateConflict,
    WaitingNotFound,
)
from journal.events import Operator
from journal.export import export_run
from journal.ingest import Ingest
from journal.json_door import dumps
from projections import (
    decide_approval,
    pending_approvals,
    pending_deferred_tools,
    replay,
    resolve_deferred_tool,
)
from tests import samples
from tests.recorded import lines
from tests.unit.changed_rows import replaced

OPERATOR = Operator(user="ann", host="desk", name="Ann")
OTHER = Operator(user="bob", host="desk", name="Bob")

APPROVAL = {"approval": {"risk": "high"}, "control_flow": "approval_required"}
DEFERRED = {"deferred": {"queue": "default"}, "control_flow": "call_deferred"}


def tool_return(call_id="call-1", metadata=None, name="deploy"):
    return {
        "tool_call_id": call_id,
        "name": name,
        "content": "",
        "is_error": metadata is not None,
        "metadata": metadata or {},
    }


def asking(run, *, approvals=("call-1",), deferred=(), checkpoint_id="k1", **fields):
    """Let a run wait for people as its last checkpoint says."""
    calls = [{"id": one, "name": "deploy", "arguments": {"to": one}} for one in approvals]
    run.checkpoint(
        samples.checkpoint(
            checkpoint_id,
            run.run_id,
            stream_cursor=None,
            status="waiting",
            node="tool_return",
            pending_tool_calls=calls,
            pending_approval_tool_returns=[tool_return(one, APPROVAL) for one in approvals],
            deferred_tool_returns=[tool_return(one, DEFERRED, "collect") for one in deferred],
            **fields,
        )
    )


def ids(items):
    return [item.id for item in items]


@pytest.fixture
def waiting(journal):
    """A run that waits, and that nobody is writing."""
    with journal.run("r", session_id="s", conversation_id="c") as run:
        asking(run, deferred=("call-2",))
    return journal


@pytest.mark.parametrize(
    ("name", "pending", "key"),
    [
        ("approval", pending_approvals, "approvals"),
        ("deferred", pending_deferred_tools, "deferred_tools"),
    ],
)
def test_what_a_tool_asked_for_is_listed_as_the_runtime_will_record_it(journal, name, pending, key):
    """With what a real runtime handed over before its evidence, and then with that, too."""
    calls = [(line["op"], line["args"]) for line in lines(name)]
    for op, args in calls:
        if op == "commit_checkpoint":
            journal.commit_checkpoint(*args)
    [asked] = pending(journal)
    [[bundle]] = [args for op, args in calls if op == "commit_run_evidence"]
    [record] = bundle[key]
    times = {"created_at", "updated_at"}
    assert asked.record.keys() == record.keys()
    assert {k: v for k, v in asked.record.items() if k not in times} == {
        k: v for k, v in record.items() if k not in times
    }
    assert (asked.derived, asked.run_status, asked.is_open) == (True, "waiting", True)
    journal.commit_run_evidence(bundle)
    [item] = pending(journal)
    assert (item.record, item.derived) == (record, False)


def test_a_demand_is_known_from_the_stream_before_any_checkpoint_repeats_it(journal):
    run = journal.run("r", session_id="s")
    call = {"id": "call-1", "name": "deploy", "arguments": {"to": "prod"}}
    run.append(samples.record(0, "tool_call", step=1, call=call))
    run.append(
        samples.record(1, "tool_return", step=1, tool_return=tool_return("call-1", APPROVAL))
    )
    [item] = pending_approvals(journal)
    assert item.id == "approval_r_call-1"
    assert (item.record["request"], item.record["reviewed_arguments"]) == (
        {"risk": "high"},
        {"to": "prod"},
    )
    assert pending_deferred_tools(journal) == []
    run.append(samples.record(2, "tool_return", step=1, tool_return=tool_return("call-1")))
    assert pending_approvals(journal) == []


def test_the_demand_of_a_child_run_is_not_the_parents(journal):
    run = journal.run("r", session_id="s")
    source = {"kind": "subagent", "agent_id": "a", "agent_name": "a", "source_sequence": 0}
    event = {"kind": "tool_return", "step": 1, "tool_return": tool_return("call-1", APPROVAL)}
    run.append({"sequence": 0, "source": source, "event": event})
    assert pending_approvals(journal) == []


def test_an_answer_in_the_history_settles_a_demand(journal):
    run = journal.run("r", session_id="s")
    asking(run)
    part = {"kind": "tool_return", **tool_return("call-1")}
    asking(run, checkpoint_id="k2", messages=[{"kind": "request", "parts": [part]}])
    assert pending_approvals(journal) == []


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_a_run_that_ended_asks_for_nothing_any_more(waiting, status):
    waiting.set_status("r", status)
    assert pending_approvals(waiting) == []
    assert pending_approvals(waiting, everything=True) == []


def test_a_recorded_request_stays_pending_until_it_is_decided(journal):
    with journal.run("r", session_id="s") as run:
        run.approval(samples.approval())
        run.deferred_tool(samples.deferred_tool())
        run.set_status("completed")
    assert ids(pending_approvals(journal)) == ["a1"]
    assert ids(pending_deferred_tools(journal)) == ["d1"]


def test_they_are_listed_across_runs_newest_first_and_can_be_chosen(journal):
    for run_id, session_id in (("a", "s"), ("b", "t")):
        with journal.run(run_id, session_id=session_id) as run:
            asking(run)
    journal.run("c", session_id="t").approval(
        samples.approval(run_id="c", session_id="t", approval_id="a3")
    )
    newest = ["a3", "approval_b_call-1", "approval_a_call-1"]
    assert ids(pending_approvals(journal)) == newest
    assert ids(pending_approvals(journal, session="t")) == newest[:2]
    assert ids(pending_approvals(journal, run="a")) == newest[2:]
    assert ids(pending_approvals(journal, session="t", run="a")) == []
    decide_approval(journal, "a3", "denied", OPERATOR)
    assert ids(pending_approvals(journal)) == newest[1:]
    assert ids(pending_approvals(journal, everything=True)) == newest


def test_a_run_that_cannot_be_read_is_listed_with_its_error(tmp_path, flip):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        for run_id in ("a", "b"):
            with journal.run(run_id, session_id="s") as run:
                asking(run)
    flip(path, "run:b", 2)
    with Journal.open(path) as journal:
        fine, broken = pending_approvals(journal)
        assert (fine.run_id, fine.error) == ("a", None)
        assert broken.run_id == "b"
        assert "run:b" in broken.error
        assert broken.to_json()["error"] == broken.error
        assert pending_approvals(journal, session="t") == []


@pytest.mark.parametrize("member", ["decision", "metadata", "status", "approval_id", "action_name"])
def test_a_record_of_another_shape_is_an_error_of_its_run(member):
    with Journal.open("memory://") as journal:
        for run_id in ("a", "b"):
            with journal.run(run_id, session_id="s") as run:
                run.approval(samples.approval(run_id=run_id))
        made = decide_approval(journal, "a1", "approved", OPERATOR, run="b")
        record = dict(made.item.record)
        if member == "metadata":
            record["decision"] = {**record["decision"], "metadata": 7}
        else:
            record[member] = 7
        data = dumps({"record": record})
        replaced(journal, journal._store, "run:b", journal.reader.head("b"), data=data)
        fine, broken = pending_approvals(journal)
        assert (fine.run_id, fine.error) == ("a", None)
        assert "is damaged" in broken.error


def test_a_decision_says_who_when_and_why_and_changes_no_request(journal):
    with journal.run("r", session_id="s") as run:
        run.approval(samples.approval())
    made = decide_approval(journal, "a1", "approved", OPERATOR, reason="it is safe")
    record = made.item.record
    assert record["decision"] == {
        "status": "approved",
        "decided_by": "Ann",
        "decided_at": record["updated_at"],
        "metadata": {"runjournal.user": "ann", "runjournal.host": "desk"},
        "reason": "it is safe",
    }
    assert (record["request"], record["revision"]) == ({"risk": "high"}, 2)
    decision = made.item.decision
    assert (decision.by, decision.user, decision.host) == ("Ann", "ann", "desk")
    assert replay(journal, "r").approvals == (record,)
    assert [event.name for event in journal.reader.run_events("r")] == [
        "run.opened.v1",
        "approval.requested.v1",
        "approval.decided.v1",
    ]


def test_without_a_name_the_systems_user_decided(waiting):
    made = decide_approval(waiting, "approval_r_call-1", "denied", Operator(user="ann", host="h"))
    assert made.item.decision.by == "ann"


def test_a_decision_about_a_demand_records_the_request_with_it(waiting):
    made = decide_approval(waiting, "approval_r_call-1", "approved", OPERATOR)
    requested, decided = (
        event
        for event in waiting.reader.run_events("r")
        if event.name in ("approval.requested.v1", "approval.decided.v1")
    )
    assert requested.data["record"]["status"] == "pending"
    assert decided.data["record"] == made.item.record
    assert requested.recorded_at == decided.recorded_at
    assert not made.item.derived


@pytest.mark.parametrize(
    ("status", "given", "response"),
    [
        ("completed", {"response": {"rows": 3}}, {"rows": 3}),
        ("completed", {}, None),
        ("failed", {"reason": "no worker"}, {"error": "no worker"}),
        ("cancelled", {"reason": "no need"}, {"reason": "no need"}),
        ("cancelled", {}, None),
    ],
)
def test_a_deferred_tool_call_ends_with_a_response(waiting, status, given, response):
    made = resolve_deferred_tool(waiting, "deferred_r_call-2", status, OPERATOR, **given)
    assert (made.item.status, made.item.record.get("response")) == (status, response)
    decision = made.item.decision.to_json()
    assert decision.pop("decided_at") == made.item.record["updated_at"]
    assert decision == {
        "status": status,
        "decided_by": "Ann",
        "reason": given.get("reason"),
        "user": "ann",
        "host": "desk",
    }
    assert pending_deferred_tools(waiting) == []


def test_the_metadata_of_a_deferred_tool_call_is_kept(journal):
    with journal.run("r", session_id="s") as run:
        run.deferred_tool(samples.deferred_tool(metadata={"queue": "q"}))
    made = resolve_deferred_tool(journal, "d1", "completed", OPERATOR, response=1)
    assert made.item.record["metadata"] == {
        "queue": "q",
        "runjournal.user": "ann",
        "runjournal.host": "desk",
        "runjournal.name": "Ann",
    }


def test_nobodys_decision_is_overwritten(waiting, refused):
    decide_approval(waiting, "approval_r_call-1", "approved", OPERATOR, reason="safe")
    resolve_deferred_tool(waiting, "deferred_r_call-2", "completed", OPERATOR, response=1)
    before = waiting.reader.last_position()
    approval, call = (
        (decide_approval, "approval_r_call-1"),
        (resolve_deferred_tool, "deferred_r_call-2"),
    )
    for (decide, id_), status, who, given in [
        (approval, "denied", OPERATOR, {"reason": "safe"}),
        (approval, "approved", OTHER, {"reason": "safe"}),
        (approval, "approved", OPERATOR, {"reason": "another"}),
        (call, "completed", OPERATOR, {"response": 2}),
        (call, "completed", OPERATOR, {"response": 1.0}),
        (call, "failed", OPERATOR, {"reason": "late"}),
    ]:
        said = refused(decide, waiting, id_, status, who, **given)
        assert "already by Ann (ann@desk) at 20" in said
    assert waiting.reader.last_position() == before


def test_the_same_decision_by_the_same_person_is_the_same(waiting):
    for decide, id_, status, given in [
        (decide_approval, "approval_r_call-1", "denied", {"reason": "no"}),
        (resolve_deferred_tool, "deferred_r_call-2", "completed", {"response": {"a": 1}}),
    ]:
        first, again = (decide(waiting, id_, status, OPERATOR, **given) for _ in range(2))
        assert (first.repeated, again.repeated) == (False, True)
        assert first.item.record == again.item.record


@pytest.fixture
def refused():
    def call(function, *args, **given):
        with pytest.raises(StateConflict) as error:
            function(*args, **given)
        return error.value.message

    return call


def test_a_demand_of_a_run_that_is_being_written_is_decided_when_it_waits(tmp_path, refused):
    path = tmp_path / "runs.db"
    with Journal.open(path) as writing, Journal.open(path) as deciding:
        run = writing.run("r", session_id="s")
        asking(run)
        for journal in (writing, deciding):
            said = refused(decide_approval, journal, "approval_r_call-1", "approved", OPERATOR)
            assert "still writing" in said
            assert "wait until the run waits" in said
        run.approval(samples.approval(approval_id="approval_r_call-1"))
        decide_approval(deciding, "approval_r_call-1", "approved", OPERATOR)
        run.release()


def test_who_decides_second_at_the_same_time_hears_of_the_first(waiting, monkeypatch, refused):
    record = waiting.decide

    def overtaken(*args, **given):
        monkeypatch.undo()
        decide_approval(waiting, "approval_r_call-1", "denied", OTHER)
        return record(*args, **given)

    monkeypatch.setattr(waiting, "decide", overtaken)
    said = refused(decide_approval, waiting, "approval_r_call-1", "approved", OPERATOR)
    assert "denied already by Bob" in said
    [item] = pending_approvals(waiting, everything=True)
    assert item.decision.by == "Bob"


def test_an_unknown_id_and_one_of_several_runs_are_told_apart(waiting):
    with pytest.raises(WaitingNotFound, match="no approval 'zz' in this journal"):
        decide_approval(waiting, "zz", "approved", OPERATOR)
    with pytest.raises(WaitingNotFound, match="in run 'r'"):
        decide_approval(waiting, "zz", "approved", OPERATOR, run="r")
    with pytest.raises(RunNotFound):
        decide_approval(waiting, "zz", "approved", OPERATOR, run="nope")
    with waiting.run("other", session_id="s") as run:
        run.approval(samples.approval(run_id="other", approval_id="approval_r_call-1"))
    with pytest.raises(AmbiguousId, match="--run RUN"):
        decide_approval(waiting, "approval_r_call-1", "approved", OPERATOR)
    made = decide_approval(waiting, "approval_r_call-1", "approved", OPERATOR, run="other")
    assert made.item.run_id == "other"
    assert ids(pending_approvals(waiting)) == ["approval_r_call-1"]


def test_a_status_that_is_no_decision_is_refused(waiting):
    with pytest.raises(InvalidRecord, match="status"):
        decide_approval(waiting, "approval_r_call-1", "maybe", OPERATOR)
    assert ids(pending_approvals(waiting)) == ["approval_r_call-1"]


def test_a_fork_decides_for_itself(journal):
    with journal.run("r", session_id="s") as run:
        run.approval(samples.approval())
        asking(run, approvals=(), deferred=("call-2",))
    with journal.fork(replay(journal, "r"), "f", session_id="t"):
        pass
    decide_approval(journal, "a1", "denied", OPERATOR, run="r")
    [item] = pending_approvals(journal)
    assert (item.run_id, item.inherited) == ("f", True)
    made = decide_approval(journal, "a1", "approved", OPERATOR, run="f")
    assert (made.item.run_id, made.item.session_id, made.item.inherited) == ("f", "t", False)
    assert made.item.record["run_id"] == "f"
    assert {item.run_id: item.status for item in pending_approvals(journal, everything=True)} == {
        "r": "denied",
        "f": "approved",
    }
    assert set(ids(pending_deferred_tools(journal))) == {"deferred_r_call-2", "deferred_f_call-2"}


def test_a_fork_knows_what_its_source_returned_after_the_checkpoint(journal):
    with journal.run("r", session_id="s", conversation_id="c") as run:
        asking(run, approvals=("call-1", "call-2"))
        answer, demand = tool_return("call-1"), tool_return("call-3", APPROVAL)
        run.append(samples.record(0, "tool_return", step=1, tool_return=answer))
        run.append(samples.record(1, "tool_return", step=1, tool_return=demand))
    with journal.fork(replay(journal, "r", at="stream:0"), "f"):
        pass
    assert ids(pending_approvals(journal, run="r")) == ["approval_r_call-3", "approval_r_call-2"]
    assert ids(pending_approvals(journal, run="f")) == ["approval_f_call-2"]


def test_a_decision_that_came_from_another_journal_is_marked_and_not_repeated(waiting, refused):
    decide_approval(waiting, "approval_r_call-1", "approved", OPERATOR)
    exported = [dumps(line) for line in export_run(waiting.reader, "r")]
    with Journal.open("memory://") as copy:
        Ingest(copy).read(exported)
        [item] = pending_approvals(copy, everything=True)
        assert (item.imported, item.status) == (True, "approved")
        said = refused(decide_approval, copy, item.id, "approved", OPERATOR)
        assert "runjournal resume r --trust-imported" in said
        [call] = pending_deferred_tools(copy)
        made = resolve_deferred_tool(copy, call.id, "completed", OPERATOR, response=1)
        assert not made.item.imported
