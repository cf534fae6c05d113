"""An operator stops a run of another process, which later goes on with the same history."""

import time

import pytest

from journal.events import CheckpointTaken, RunSuspended, RunSuspendRequested
from projections import list_runs, replay, run_record

from .machine import Machine

TAKEN = (CheckpointTaken.NAME,)


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def looping(machine, *flags):
    """An agent that works on and on, after it has worked twice."""
    process = machine.agent("start", "looping", *flags)
    while len(machine.deployed) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    return process


def test_it_stops_within_one_step_and_goes_on_with_the_same_history(machine):
    process = looping(machine)
    run_id = machine.only_run()
    machine.shell("suspend", run_id, "--reason", "too expensive", "--by", "ann")
    stopped = machine.end(process)
    assert stopped["run_id"] == run_id
    assert stopped["suspended"].startswith("operator ann ")
    assert stopped["suspended"].endswith(" asked: too expensive")
    with machine.open() as journal:
        view = replay(journal, run_id)
        assert (view.live.status, view.live.suspended) == (
            "waiting",
            {"reason": stopped["suspended"]},
        )
        asked = journal.reader.last_run_event(run_id, (RunSuspendRequested.NAME,))
        first = next(journal.reader.run_events(run_id, names=(RunSuspended.NAME,)))
        before, after = [
            [event.data["step"] for event in journal.reader.run_events(run_id, **part, names=TAKEN)]
            for part in ({"upto": asked.version}, {"after": asked.version})
        ]
        assert all(step <= before[-1] + 1 for step in after)
        assert asked.version < first.version
        history = list(view.messages)
    worked = machine.deployed
    [unfinished] = machine.shell("runs", "--unfinished")
    assert unfinished["run_id"] == run_id
    done = machine.run("resume", run_id, "--plain")
    assert done["output"] == "all done"
    assert machine.deployed == worked
    assert done["seen"] == [["deployed prod"] * len(worked)]
    with machine.open() as journal:
        [went_on] = [
            record
            for each in list_runs(journal)
            if (record := run_record(journal, each.run_id)).get("restore_from_run_id") == run_id
        ]
        messages = replay(journal, went_on["run_id"]).messages
        answered = max(at for at, each in enumerate(history) if each["kind"] == "response")
        assert list(messages[: answered + 1]) == history[: answered + 1]
        assert [each["kind"] for each in messages[answered + 1 :]] == ["request", "response"]


def test_a_run_that_nobody_records_goes_on(machine):
    process = looping(machine, "--unrecorded")
    run_id = machine.only_run()
    machine.shell("suspend", run_id, "--reason", "too expensive")
    worked = len(machine.deployed)
    while len(machine.deployed) < worked + 5:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    machine.end(process, killed=True)
    with machine.open() as journal:
        assert journal.reader.last_run_event(run_id, (RunSuspended.NAME,)) is None
