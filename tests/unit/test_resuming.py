"""A run that waits, was suspended or crashed goes on from what the journal holds."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from journal import AsyncJournal, Journal
from journal.errors import RunIsLeased, RunNotFound, StaleWriter, StateConflict
from journal.export import export_run
from journal.ingest import Ingest
from journal.json_door import dumps
from projections import aresume, replay, resume, resuming
from tests import samples
from tests.unit.resume_runs import (
    SESSION,
    call,
    calling,
    crashed,
    facts,
    waiting,
)


@pytest.fixture
def suspended(journal):
    with journal.run("r", **SESSION) as run:
        run.append_many([samples.record(n) for n in range(3)])
        run.checkpoint(samples.checkpoint(stream_cursor=2, messages=[samples.user("hi")]))
        run.suspend("maintenance", checkpoint_id="k1")


def test_a_suspended_run_goes_on_with_its_history(journal, suspended):
    before = replay(journal, "r")
    resumed = resume(journal, "r")
    assert (resumed.reason, resumed.crashed) == ("maintenance", False)
    assert (resumed.attempt, resumed.generation, resumed.next_sequence) == (2, 2, 3)
    assert resumed.messages == before.messages == (samples.user("hi"),)
    assert resumed.checkpoint["checkpoint_id"] == "k1"
    assert resumed.open_tool_calls == resumed.tool_returns == ()
    resumed.run.append(samples.record(resumed.next_sequence))
    view = replay(journal, "r")
    assert (view.live.status, view.live.suspended) == ("running", None)


def test_what_it_goes_on_with_is_an_event(journal, suspended):
    resume(journal, "r")
    last = list(journal.reader.run_events("r"))[-1]
    assert last.data == {"attempt": 2, "generation": 2}
    assert facts(journal)[-3:] == ["run.suspended", "run.lease_taken", "run.resumed"]


def test_each_attempt_and_each_lease_has_its_number(journal, suspended):
    for attempt in (2, 3, 4):
        with (resumed := resume(journal, "r")).run as run:
            assert (resumed.attempt, resumed.generation) == (attempt, attempt)
            run.suspend("again")
    with (resumed := resume(journal, "r")).run as run:
        run.suspend("still")
        again = resume(journal, "r")  # by the same owner, under the same lease
    assert (again.attempt, again.generation) == (6, resumed.generation)


def test_records_number_on_from_all_that_is_recorded(journal):
    with journal.run("r", **SESSION) as run:
        run.append(samples.record(7))
        run.append(samples.record(3))
    with resume(journal, "r").run:
        assert replay(journal, "r").live.last_sequence == 7
    # A host that hands its records in at the end lost those before its last checkpoint.
    with (again := resume(journal, "r")).run as run:
        assert again.next_sequence == 8
        run.checkpoint(samples.checkpoint(stream_cursor=20))
    assert resume(journal, "r").next_sequence == 21


def test_a_run_that_never_got_to_a_checkpoint_goes_on(journal):
    journal.run("r", **SESSION).release()
    resumed = resume(journal, "r")
    assert (resumed.checkpoint, resumed.messages, resumed.next_sequence) == (None, (), 0)
    assert resumed.attempt == 2


def test_a_fork_numbers_its_own_records(journal, suspended):
    journal.fork(replay(journal, "r"), "f").release()
    resumed = resume(journal, "f")
    assert (resumed.next_sequence, resumed.reason) == (0, "maintenance")
    assert resumed.messages == (samples.user("hi"),)


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_a_run_that_ended_does_not_go_on(journal, suspended, status):
    journal.set_status("r", status)
    head = journal.reader.head("r")
    with pytest.raises(StateConflict, match=rf"run 'r' is {status}; fork it"):
        resume(journal, "r", takeover=True)
    assert journal.reader.head("r") == head
    assert not journal.reader.lease("r").expires_at


def test_a_run_whose_own_records_end_it_does_not_go_on(journal):
    with journal.run("r", **SESSION) as run:
        run.append(samples.record(0, "run_complete", run_id="r", output="done"))
    with pytest.raises(StateConflict, match="is completed"):
        resume(journal, "r")


def test_a_run_that_ended_does_not_go_on_because_of_a_record_that_comes_late(journal, suspended):
    journal.set_status("r", "cancelled")
    with journal.run("r") as run:
        run.append(samples.record(9))
    assert replay(journal, "r").live.status == "running"
    with pytest.raises(StateConflict, match="is cancelled"):
        resume(journal, "r")


def test_a_run_that_was_resumed_in_another_journal_goes_on_in_this_one(journal):
    with Journal.open("memory://") as elsewhere:
        with elsewhere.run("r", **SESSION) as run:
            calling(run, call())
        for _ in range(3):
            resume(elsewhere, "r").run.release()
        lines = list(export_run(elsewhere.reader, "r"))
    left = [line for line in lines if line.get("name") != "run.lease_taken.v1"]
    assert len(left) < len(lines)
    for line in left:
        del line["version"]
    Ingest(journal).read(map(dumps, left))  # what they say of leases is not of this journal
    assert resume(journal, "r").attempt == 5


def test_an_unknown_run_is_not_made(journal):
    with pytest.raises(RunNotFound):
        resume(journal, "nope")
    assert list(journal.reader.run_ids()) == []


def test_a_run_that_is_being_written_is_left_alone(tmp_path):
    path = tmp_path / "runs.db"
    with Journal.open(path) as one, Journal.open(path) as two:
        run = one.run("r", **SESSION)
        calling(run, call())
        with pytest.raises(RunIsLeased):
            resume(two, "r")
        run.suspend("but not given back")
        with pytest.raises(RunIsLeased):
            resume(two, "r")
        assert "run.lease_taken" not in facts(two)
        taken = resume(two, "r", takeover=True)
        assert (taken.generation, taken.crashed) == (2, False)
        with pytest.raises(StaleWriter):
            run.suspend("too late")


def test_a_run_taken_over_from_a_live_owner_may_have_its_tools_running(tmp_path):
    path = tmp_path / "runs.db"
    with Journal.open(path) as one, Journal.open(path) as two:
        calling(one.run("r", **SESSION), call())
        [left] = resume(two, "r", takeover=True).open_tool_calls
        assert left.state == "unknown_after_crash"


def test_a_run_that_this_journal_is_writing_is_left_alone(journal):
    run = journal.run("r", **SESSION)
    calling(run, call())
    with pytest.raises(RunIsLeased):
        resume(journal, "r")
    assert facts(journal) == ["run.opened"]
    run.suspend("now it stands still")
    assert resume(journal, "r").generation == 1
    with pytest.raises(RunIsLeased):
        resume(journal, "r")  # it goes on already
    assert resume(journal, "r", takeover=True).generation == 2


@pytest.mark.parametrize("stands", ["crashed", "suspended"])
def test_of_many_who_resume_a_run_at_once_one_does(journal, stands):
    with journal.run("r", **SESSION) as run:
        calling(run, call())
        if stands == "suspended":
            run.suspend("stop")
    start = threading.Barrier(4)

    def one(_):
        start.wait(30)
        try:
            return resume(journal, "r")
        except RunIsLeased:
            return None

    with ThreadPoolExecutor(4) as pool:
        won = [resumed for resumed in pool.map(one, range(4)) if resumed is not None]
    assert len(won) == 1
    assert facts(journal).count("run.resumed") == 1
    assert won[0].attempt == 2


def after_looking(monkeypatch, what):
    """Do something once, after `resume` has looked at the run under its lease."""
    looks = []
    look = resuming.resume_state

    def look_and_do(*args, **kwargs):
        state = look(*args, **kwargs)
        looks.append(state)
        if len(looks) == 2:
            what()
        return state

    monkeypatch.setattr(resuming, "resume_state", look_and_do)
    return looks


def test_what_is_recorded_meanwhile_is_looked_at_before_the_run_goes_on(
    journal, suspended, monkeypatch
):
    looks = after_looking(monkeypatch, lambda: journal.set_status("r", "cancelled"))
    with pytest.raises(StateConflict, match="is cancelled"):
        resume(journal, "r")
    assert len(looks) == 2
    assert "run.resumed" not in facts(journal)
    assert not journal.reader.lease("r").expires_at


def test_a_fact_that_changes_nothing_delays_the_resume_only(journal, suspended, monkeypatch):
    looks = after_looking(monkeypatch, lambda: journal.set_status("r", "waiting", reason="still"))
    resumed = resume(journal, "r")
    assert len(looks) == 3
    assert resumed.attempt == 2
    assert facts(journal)[-1] == "run.resumed"


def test_a_run_that_somebody_claimed_is_resumed_by_whoever_holds_the_claim(journal):
    with journal.run("r", **SESSION) as run:
        waiting(run, call())
        run.set_status("waiting")
    journal.approval(samples.approval("approved"))
    journal.claim_resume(samples.resume_claim())
    head = journal.reader.head("r")
    with pytest.raises(StateConflict, match="active resume claim: 'x', preflight"):
        resume(journal, "r")
    with pytest.raises(StateConflict, match="active resume claim"):
        resume(journal, "r", claim_id="y")
    assert journal.reader.head("r") == head
    assert resume(journal, "r", claim_id="x").attempt == 2


def test_a_run_whose_lease_was_given_back_in_the_middle_has_crashed(journal):
    crashed(journal, call())
    resumed = resume(journal, "r")
    assert (resumed.crashed, resumed.reason) == (True, None)
    event = list(journal.reader.run_events("r"))[-1].data
    assert event == {"attempt": 2, "generation": 2, "crashed": True, "unknown": ["call-1"]}


def is_given_back(journal):
    return facts(journal)[-1] == "run.resumed" and not journal.reader.lease("r").expires_at


@pytest.mark.anyio
async def test_a_task_resumes_without_blocking_its_loop(tmp_path):
    async with AsyncJournal.open(tmp_path / "runs.db") as journal:
        async with await journal.run("r", **SESSION) as run:
            await run.checkpoint(samples.checkpoint())
            await run.suspend("stop")
        resumed = await aresume(journal, "r")
        assert (resumed.attempt, resumed.reason) == (2, "stop")
        async with resumed.run as run:
            await run.append(samples.record(resumed.next_sequence))
            with pytest.raises(RunIsLeased):
                await aresume(journal, "r")
        assert (await aresume(journal, "r", takeover=True)).crashed
        await journal.set_status("r", "completed")
        with pytest.raises(StateConflict):
            await aresume(journal, "r")


@pytest.mark.anyio
@pytest.mark.parametrize("times", [1, 2, 5])
async def test_a_task_that_is_cancelled_while_it_resumes_gives_the_run_back(
    tmp_path, monkeypatch, times
):
    began = threading.Event()

    def signalled(*args, **kwargs):
        began.set()
        return resume(*args, **kwargs)

    monkeypatch.setattr(resuming, "resume", signalled)
    async with AsyncJournal.open(tmp_path / "runs.db") as journal:
        async with await journal.run("r", **SESSION) as run:
            await run.suspend("stop")
        resuming_task = asyncio.create_task(aresume(journal, "r"))
        await asyncio.to_thread(began.wait, 20)
        for _ in range(times):
            resuming_task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await resuming_task
        async with asyncio.timeout(20):
            while not is_given_back(journal.sync):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.001)
        assert (await aresume(journal, "r")).attempt == 3


@pytest.mark.anyio
async def test_a_task_that_is_cancelled_while_it_is_refused_is_cancelled(tmp_path):
    async with AsyncJournal.open(tmp_path / "runs.db") as journal:
        async with await journal.run("r", **SESSION) as run:
            await run.set_status("completed")
        refused = asyncio.create_task(aresume(journal, "r"))
        await asyncio.sleep(0)
        refused.cancel()
        with pytest.raises(asyncio.CancelledError):
            await refused
