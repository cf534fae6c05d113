"""A run that one process began goes on in another one, from what the journal holds."""

import json

import pytest

from projections import list_runs, replay, run_record

from .machine import Machine


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def calls_and_states(machine, run_id):
    [outlook] = machine.shell("resume", run_id)
    return [call["state"] for call in outlook["open_tool_calls"]]


def continuation_of(journal, run_id):
    """The one run that went on with another."""
    records = [run_record(journal, summary.run_id) for summary in list_runs(journal)]
    [found] = [each for each in records if each.get("restore_from_run_id") == run_id]
    return found


def test_a_person_approves_between_two_processes(machine):
    assert machine.run("start", "approval")["status"] == "waiting"
    run_id = machine.only_run()
    [asked] = machine.shell("approvals")
    assert (asked["run_id"], asked["action_name"], machine.deployed) == (run_id, "deploy", [])
    refused = machine.run("resume", run_id)
    assert refused["error"] == "StateConflict"
    assert "decide first" in refused["message"]
    machine.shell("approve", asked["approval_id"], "--by", "ann", "--reason", "fine")
    assert machine.deployed == []
    done = machine.run("resume", run_id)
    assert (done["status"], done["output"]) == ("completed", "all done")
    assert done["seen"] == [["deployed prod"]]
    assert machine.deployed == ["deployed prod for ann"]
    with machine.open() as journal:
        went_on = continuation_of(journal, run_id)
        assert went_on["status"] == "completed"
        source = run_record(journal, run_id)
        assert source["status"] == "completed"
        assert source["output_preview"] == f"resumed in {went_on['run_id']}"
        [approval] = replay(journal, run_id).approvals
        decision = approval["decision"]
        assert (decision["status"], decision["decided_by"], decision["reason"]) == (
            "approved",
            "ann",
            "fine",
        )
        assert set(decision["metadata"]) == {"runjournal.user", "runjournal.host"}
        history = replay(journal, went_on["run_id"]).messages
        assert [message["kind"] for message in history] == ["request", "response"] * 2
    assert machine.run("resume", run_id)["error"] == "StateConflict"
    assert machine.deployed == ["deployed prod for ann"]


def test_a_denied_call_does_not_run(machine):
    machine.run("start", "approval")
    done = machine.run("resume", machine.approve("denied", reason="not on a Friday"))
    assert done["status"] == "completed"
    assert "not on a Friday" in json.dumps(done["seen"])
    assert machine.deployed == []


def test_a_worker_answers_between_two_processes(machine):
    assert machine.run("start", "deferred")["status"] == "waiting"
    run_id = machine.only_run()
    [asked] = machine.shell("deferred")
    assert asked["tool_name"] == "deploy"
    machine.shell("deferred", "complete", asked["deferred_id"], "--response", '{"rows": 3}')
    done = machine.run("resume", run_id)
    assert (done["status"], done["seen"]) == ("completed", [[{"rows": 3}]])
    assert machine.deployed == []
    with machine.open() as journal:
        assert continuation_of(journal, run_id)["status"] == "completed"
        assert run_record(journal, run_id)["status"] == "completed"


@pytest.mark.parametrize(("killed", "ran"), [("killed_before", 0), ("killed_inside", 1)])
def test_a_call_that_may_have_run_runs_again_only_when_that_is_accepted(machine, killed, ran):
    machine.run("start", killed, killed=True)
    run_id = machine.only_run()
    assert [run["status"] for run in machine.shell("runs")] == ["crashed"]
    assert calls_and_states(machine, run_id) == ["unknown_after_crash"]
    assert len(machine.deployed) == ran
    done = machine.run("resume", run_id, "--plain")
    assert (done["status"], len(machine.deployed)) == ("completed", ran)
    [[told]] = done["seen"]
    assert told["kind"] == "unknown_after_crash"
    with machine.open() as journal:
        assert continuation_of(journal, run_id)["status"] == "completed"


def test_an_operator_accepts_that_it_runs_again(machine):
    machine.run("start", "killed_inside", killed=True)
    run_id = machine.only_run()
    machine.shell("resume", run_id, "--accept-rerun")
    done = machine.run("resume", run_id, "--plain")
    assert done["seen"] == [["deployed prod"]]
    assert len(machine.deployed) == 2


def test_a_host_accepts_that_it_runs_again(machine):
    machine.run("start", "killed_before", killed=True)
    done = machine.run("resume", machine.only_run(), "--plain", "--accept-rerun")
    assert done["seen"] == [["deployed prod"]]
    assert len(machine.deployed) == 1


def test_of_two_hosts_one_goes_on(machine):
    machine.run("start", "approval")
    run_id = machine.approve()
    both = [machine.agent("resume", run_id, "--slow") for _ in range(2)]
    answers = [machine.end(each) for each in both]
    [done] = [each for each in answers if "status" in each]
    [refused] = [each for each in answers if "error" in each]
    assert done["status"] == "completed"
    assert refused["error"] in ("RunIsLeased", "StateConflict")
    assert len(machine.deployed) == 1
    with machine.open() as journal:
        continuation_of(journal, run_id)


def test_an_approved_call_that_may_have_run_does_not_run_again(machine):
    machine.run("start", "approval")
    run_id = machine.approve()
    dying = machine.agent("resume", run_id, "--slow")
    while not machine.deployed:
        assert dying.poll() is None
    dying.kill()
    machine.end(dying, killed=True)
    assert calls_and_states(machine, run_id) == ["unknown_after_crash"]
    done = machine.run("resume", run_id)
    [[told]] = done["seen"]
    assert told["kind"] == "unknown_after_crash"
    assert len(machine.deployed) == 1


def test_a_continuation_that_dies_is_gone_on_with_itself(machine):
    machine.run("start", "approval")
    run_id = machine.approve()
    machine.run("resume", run_id, "--dies", killed=True)
    assert machine.deployed == ["deployed prod for ann"]
    with machine.open() as journal:
        second = continuation_of(journal, run_id)["run_id"]
    refused = machine.run("resume", run_id)
    assert f"goes on in run '{second}'; resume that one" in refused["message"]
    assert machine.statuses() == {second: "crashed", run_id: "crashed"}
    done = machine.run("resume", second)
    assert (done["output"], done["seen"]) == ("all done", [["deployed prod"]])
    assert machine.deployed == ["deployed prod for ann"]
    assert [*machine.statuses().values()] == ["completed"] * 3
    with machine.open() as journal:
        assert continuation_of(journal, second)["status"] == "completed"
