"""What a host left unsettled that was killed is settled by the next one, and no run is stuck."""

import asyncio

import pytest

from journal import Continue
from journal.account import current_operator
from journal.errors import StateConflict, Suspended
from journal.hosts.starweaver import continuing, graceful_shutdown, resume_run
from projections import list_runs, request_suspend, resume, run_record

from .deploying import Deploying
from .machine import Machine

ANN = current_operator("ann")


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


@pytest.fixture
def approved(machine):
    """A run whose approved tool call is still to be made."""
    machine.run("start", "approval")
    return machine.approve()


def run(work):
    async def main():
        async with graceful_shutdown():
            return await work

    return asyncio.run(main())


def records(machine):
    """The records of the runs by their ids, newest first."""
    with machine.open() as journal:
        return {each.run_id: run_record(journal, each.run_id) for each in list_runs(journal)}


def others(machine, *known):
    return [each for each in machine.statuses() if each not in known]


@pytest.mark.parametrize("asked", ["source", "continuation"])
def test_a_host_killed_before_its_evidence_leaves_no_run_unsettled(machine, approved, asked):
    machine.run("resume", approved, "--dies-before=commit_run_evidence", killed=True)
    [second] = others(machine, approved)
    assert machine.statuses() == {second: "completed", approved: "crashed"}
    assert records(machine)[second]["status"] == "running"
    told = machine.run("resume", approved if asked == "source" else second)
    assert told["error"] == "StateConflict"
    assert "is completed" in told["message"]
    assert "fork it at a cursor" in told["message"]
    held = records(machine)
    assert [each["status"] for each in held.values()] == ["completed"] * 2
    assert held[second]["output_preview"] == "all done"
    assert held[second]["restore_from_run_id"] == approved
    assert held[approved]["output_preview"] == f"resumed in {second}"
    assert machine.deployed == ["deployed prod for ann"]


def test_a_first_run_killed_before_its_evidence_is_settled(machine):
    machine.run("start", "plain", "--dies-before=commit_run_evidence", killed=True)
    [run_id] = machine.statuses()
    assert records(machine)[run_id]["status"] == "running"
    assert machine.run("resume", run_id)["error"] == "StateConflict"
    assert records(machine)[run_id]["status"] == "completed"


def test_a_host_killed_after_its_first_checkpoint_leaves_the_lineage_whole(machine, approved):
    machine.run("resume", approved, "--dies-before=has_begun", killed=True)
    [second] = others(machine, approved)
    assert records(machine)[second].get("restore_from_run_id") is None
    assert machine.run("resume", second)["output"] == "all done"
    [third] = others(machine, approved, second)
    held = records(machine)
    assert {each: record.get("restore_from_run_id") for each, record in held.items()} == {
        third: second,
        second: approved,
        approved: None,
    }
    assert {record["status"] for record in held.values()} == {"completed"}
    assert machine.deployed == ["deployed prod for ann"]


def test_a_host_that_looked_before_another_one_began_and_died_does_not_go_on(
    machine, approved, monkeypatch
):
    def late(*args, **options):
        monkeypatch.setattr(continuing, "resume", resume)
        machine.run("resume", approved, "--dies", killed=True)
        return resume(*args, **options)

    async def main():
        with machine.open() as journal, pytest.raises(StateConflict, match="resume that one"):
            await Deploying(machine.log, "approval").resume(journal, approved)

    monkeypatch.setattr(continuing, "resume", late)
    run(main())
    [second] = others(machine, approved)
    assert machine.deployed == ["deployed prod for ann"]
    assert machine.run("resume", second)["output"] == "all done"
    assert {*machine.statuses().values()} == {"completed"}


def crashed(machine, run_id):
    """Let a host take a run and die."""
    with machine.open() as journal:
        resume(journal, run_id).run.release()


def test_a_request_on_a_crashed_run_stops_the_run_that_goes_on(machine, approved):
    crashed(machine, approved)
    machine.shell("suspend", approved, "--reason", "too expensive", "--by", "ann")
    stopped = machine.run("resume", approved)
    assert stopped["suspended"].endswith("asked: too expensive")
    second = stopped["run_id"]
    assert machine.statuses() == {second: "waiting", approved: "completed"}
    done = machine.run("resume", second)
    assert done["output"] == "all done"


def test_a_request_outlives_the_run_that_did_not_get_to_it(machine, approved):
    crashed(machine, approved)
    machine.shell("suspend", approved, "--reason", "too expensive")
    machine.run("resume", approved, "--dies-before=has_begun", killed=True)
    [second] = others(machine, approved)
    stopped = machine.run("resume", second)
    assert stopped["suspended"].endswith("asked: too expensive")
    assert machine.run("resume", stopped["run_id"])["output"] == "all done"


def test_a_request_that_was_answered_stops_nothing_once_more(machine, approved):
    crashed(machine, approved)
    machine.shell("suspend", approved, "--reason", "too expensive")
    machine.run("resume", approved, "--dies-before=commit_run_evidence", killed=True)
    [second] = others(machine, approved)
    assert machine.statuses()[second] == "waiting"
    assert machine.run("resume", second)["output"] == "all done"
    assert {record["status"] for record in records(machine).values()} == {"completed"}


@pytest.mark.parametrize("verb", ["projection", "journal"])
def test_a_request_on_the_source_stops_the_run_that_goes_on(machine, approved, verb):
    asked = []

    async def main():
        with machine.open() as journal:

            def policy(checkpoint):
                if not asked and verb == "projection":
                    asked.append(request_suspend(journal, approved, "stop it", ANN).run_id)
                elif not asked:
                    journal.request_suspend(approved, "stop it", ANN)
                    asked.append(checkpoint.run_id)
                return Continue()

            agent = Deploying(machine.log, "approval")
            stream = await resume_run(journal, approved, **agent.options())
            with pytest.raises(Suspended, match="asked: stop it") as suspended:
                await agent.recorded(stream, policy)
            assert asked == [suspended.value.run_id]
            with pytest.raises(StateConflict, match=f"went on in run '{asked[0]}': suspend that"):
                request_suspend(journal, approved, "once more", ANN)

    run(main())
