"""An executor takes the checkpoint first and decides afterwards."""

import pytest

from journal import (
    AgentExecutor,
    AgentExecutorError,
    AsyncJournal,
    Continue,
    Journal,
    JournalError,
    JournalExecutor,
    Suspend,
    suspend_requested,
)
from journal.errors import RecordConflict, StaleWriter
from journal.events import Operator
from journal.export import export_run
from journal.ingest import Ingest
from journal.json_door import dumps
from journal.records import AgentCheckpoint
from projections import resume
from tests import samples

NODES = ["run_start", "prepare_model_request", "model_response", "validate_output", "run_complete"]


def checkpoints():
    history = [samples.user("hi")]
    for n, node in enumerate(NODES):
        if node == "model_response":
            history.append(samples.answer("hello"))
        status = "completed" if node == "run_complete" else "running"
        yield AgentCheckpoint.from_json(
            samples.checkpoint(f"k{n}", stream_cursor=n, messages=history, node=node, status=status)
        )


async def drive(executor):
    """Walk a run's boundaries as a host does."""
    for checkpoint in checkpoints():
        decision = await executor.checkpoint(checkpoint)
        if isinstance(decision, Suspend):
            return decision
    return None


class NodeRecorder:
    """Records the nodes it saw."""

    def __init__(self):
        self.nodes = []

    async def checkpoint(self, checkpoint):
        self.nodes.append(checkpoint.node)
        return Continue()


class CheckpointCollector:
    """Keeps every checkpoint."""

    def __init__(self):
        self.checkpoints = []

    async def checkpoint(self, checkpoint):
        self.checkpoints.append(checkpoint)
        return Continue()


@pytest.fixture
def run(journal):
    return journal.run("r", session_id="s", conversation_id="c")


def names(journal):
    return [e.name.removesuffix(".v1") for e in journal.reader.run_events("r")][1:]


@pytest.mark.anyio
async def test_an_executor_that_records_nodes_sees_the_run_complete():
    executor = NodeRecorder()
    assert isinstance(executor, AgentExecutor)
    assert await drive(executor) is None
    assert "run_complete" in executor.nodes


@pytest.mark.anyio
async def test_a_collector_finds_the_last_message_cursor_equal_to_its_history(journal, run):
    collector = CheckpointCollector()
    assert await drive(JournalExecutor(run, collector)) is None
    last = collector.checkpoints[-1]
    assert last.resume.cursor.message_cursor == len(last.state.message_history) == 2
    assert names(journal) == ["checkpoint.taken"] * len(NODES)


@pytest.mark.anyio
async def test_the_checkpoint_is_durable_before_the_policy_is_asked(journal, run):
    seen = []

    def policy(checkpoint):
        seen.append(names(journal).count("checkpoint.taken"))
        return Continue()

    await drive(JournalExecutor(run, policy))
    assert seen == [1, 2, 3, 4, 5]


@pytest.mark.anyio
async def test_a_suspension_is_an_event_before_the_host_hears_of_it(journal, run):
    async def policy(checkpoint):
        return Suspend("budget") if checkpoint.node == "model_response" else Continue()

    decision = await drive(JournalExecutor(run, policy))
    assert decision == Suspend("budget")
    assert names(journal) == ["checkpoint.taken"] * 3 + ["run.suspended"]
    last = list(journal.reader.run_events("r"))[-1].event
    assert (last.reason, last.checkpoint_id) == ("budget", "k2")


@pytest.mark.anyio
async def test_without_a_policy_the_run_goes_on(journal, run):
    assert await drive(JournalExecutor(run)) is None


@pytest.mark.anyio
async def test_what_the_journal_refuses_stops_the_host(journal, run):
    run.checkpoint(samples.checkpoint("k0", messages=[samples.user("something else")]))
    asked = []
    with pytest.raises(AgentExecutorError, match="not recorded") as error:
        await drive(JournalExecutor(run, asked.append))
    assert isinstance(error.value, JournalError)
    assert isinstance(error.value.__cause__, RecordConflict)
    assert asked == []


@pytest.mark.anyio
async def test_a_policy_that_fails_or_answers_nonsense_stops_the_host(journal, run):
    def broken(checkpoint):
        raise KeyError("nope")

    with pytest.raises(AgentExecutorError, match=r"k0.*nope"):
        await drive(JournalExecutor(run, broken))
    with pytest.raises(AgentExecutorError, match="neither Continue nor Suspend"):
        await drive(JournalExecutor(run, lambda _: None))
    assert names(journal) == ["checkpoint.taken"]


@pytest.mark.anyio
async def test_it_works_on_an_asynchronous_run(tmp_path):
    async with AsyncJournal.open(tmp_path / "j.db") as journal:
        run = await journal.run("r", session_id="s", conversation_id="c")
        assert await drive(JournalExecutor(run, lambda _: Suspend("wait"))) == Suspend("wait")
    with Journal.open(tmp_path / "j.db", create=False) as journal:
        assert names(journal) == ["checkpoint.taken", "run.suspended"]


ANN = Operator(user="ann", host="box", name="Ann")


def boundary(n, **fields):
    return samples.checkpoint(f"k{n}", stream_cursor=n, step=n, **fields)


@pytest.mark.anyio
async def test_what_an_operator_asked_for_stops_the_run_at_its_next_boundary(journal, run):
    executor = JournalExecutor(run)
    assert await executor.checkpoint(boundary(0)) == Continue()
    journal.request_suspend("r", "maintenance", ANN)
    reason = "operator Ann (ann@box) asked: maintenance"
    assert await executor.checkpoint(boundary(1)) == Suspend(reason)
    last = list(journal.reader.run_events("r"))[-1].event
    assert (last.reason, last.checkpoint_id) == (reason, "k1")


@pytest.mark.anyio
async def test_a_request_is_answered_once_also_when_it_was_made_twice(journal, run):
    executor = JournalExecutor(run)
    journal.request_suspend("r", "stop", ANN)
    journal.request_suspend("r", "stop now", Operator(user="bob", host="box"))
    assert await executor.checkpoint(boundary(0)) == Suspend("operator bob@box asked: stop now")
    run.resume()
    assert await executor.checkpoint(boundary(1)) == Continue()
    journal.request_suspend("r", "stop", ANN)
    assert isinstance(await executor.checkpoint(boundary(2)), Suspend)


@pytest.mark.anyio
async def test_a_request_made_between_a_checkpoint_and_its_decision_counts(journal, run):
    def asked_meanwhile(_):
        journal.request_suspend("r", "now", ANN)
        return Continue()

    executor = JournalExecutor(run, asked_meanwhile)
    assert await executor.checkpoint(boundary(0)) == Continue()
    assert isinstance(await executor.checkpoint(boundary(1)), Suspend)

    def asked_and_suspended(_):
        journal.request_suspend("r", "then", ANN)
        return Suspend("budget")

    run.resume()
    assert await JournalExecutor(run, asked_and_suspended).checkpoint(boundary(2)) == Suspend(
        "budget"
    )
    # The run stopped, as it was asked to; going on is somebody's later decision.
    assert run.suspend_requested() is None


@pytest.mark.anyio
async def test_a_request_to_a_run_that_waits_is_answered_by_resuming_it(journal, run):
    run.checkpoint(boundary(0))
    run.suspend("budget")
    journal.request_suspend("r", "stay", ANN)
    with resume(journal, "r").run as resumed:
        assert await JournalExecutor(resumed).checkpoint(boundary(1)) == Continue()


@pytest.mark.anyio
async def test_a_request_that_a_crash_left_unanswered_stands_after_it(journal, run):
    run.checkpoint(boundary(0))
    journal.request_suspend("r", "stop", ANN)
    run.release()
    with resume(journal, "r").run as resumed:
        assert isinstance(await JournalExecutor(resumed).checkpoint(boundary(1)), Suspend)


@pytest.mark.anyio
async def test_a_request_made_before_anybody_runs_it_stops_the_run_at_its_first_boundary(
    journal, run
):
    run.release()
    journal.request_suspend("r", "not yet", ANN)
    with journal.run("r") as opened:
        assert isinstance(await JournalExecutor(opened).checkpoint(boundary(0)), Suspend)


@pytest.mark.anyio
async def test_a_request_counts_only_for_its_run_and_not_for_one_that_has_ended(journal, run):
    other = journal.run("other", session_id="s")
    journal.request_suspend("r", "stop", ANN)
    taken = samples.checkpoint("k", run_id="other")
    assert await JournalExecutor(other).checkpoint(taken) == Continue()
    ended = boundary(1, node="run_complete", status="completed")
    assert await JournalExecutor(run).checkpoint(ended) == Continue()
    assert "run.suspended" not in names(journal)


@pytest.mark.anyio
async def test_a_request_that_came_in_with_another_journals_lines_counts_for_nothing():
    with Journal.open("memory://") as journal:
        with journal.run("r", session_id="s") as run:
            run.checkpoint(boundary(0))
            journal.request_suspend("r", "stop", ANN)
        lines = [dumps(line) for line in export_run(journal.reader, "r")]
    with Journal.open("memory://") as journal:
        Ingest(journal).read(lines)
        assert "run.suspend_requested" in names(journal)
        with journal.run("r") as run:
            assert await JournalExecutor(run).checkpoint(boundary(1)) == Continue()
            journal.request_suspend("r", "stop", ANN)  # the same, but of this journal
            assert isinstance(await JournalExecutor(run).checkpoint(boundary(2)), Suspend)


@pytest.mark.anyio
async def test_a_host_may_leave_operators_out(journal, run):
    journal.request_suspend("r", "stop", ANN)
    assert await JournalExecutor(run, on_request=False).checkpoint(boundary(0)) == Continue()


@pytest.mark.anyio
async def test_an_operator_reaches_an_asynchronous_run_from_another_journal(tmp_path):
    async with AsyncJournal.open(tmp_path / "j.db") as journal:
        run = await journal.run("r", session_id="s", conversation_id="c")
        executor = JournalExecutor(run)
        assert await executor.checkpoint(boundary(0)) == Continue()
        with Journal.open(tmp_path / "j.db") as elsewhere:
            elsewhere.request_suspend("r", "stop", ANN)
        assert (await run.suspend_requested()).reason == "stop"
        assert isinstance(await executor.checkpoint(boundary(1)), Suspend)
        assert await run.suspend_requested() is None


@pytest.mark.anyio
async def test_a_host_whose_run_was_taken_over_is_told_at_the_boundary(journal, run):
    journal.run("r", takeover=True)
    with pytest.raises(AgentExecutorError, match="not recorded") as error:
        await JournalExecutor(run).checkpoint(boundary(0))
    assert isinstance(error.value.__cause__, StaleWriter)


def test_a_host_without_an_executor_asks_with_a_function(journal, run):
    assert suspend_requested(journal.reader, "r") is None
    receipt = journal.request_suspend("r", "stop", ANN)
    asked = suspend_requested(journal.reader, "r", after=receipt.version - 1)
    assert (asked.version, asked.reason, asked.operator) == (receipt.version, "stop", ANN)
    assert suspend_requested(journal.reader, "r", after=receipt.version) is None


def test_a_boundary_reads_only_what_was_recorded_since_the_last(journal, run, monkeypatch):
    run.append_many([samples.record(n) for n in range(50)])
    assert run.suspend_requested() is None
    looked = []
    read = type(journal.reader).run_events

    def spy(reader, run_id, **bounds):
        looked.append((bounds["after"], bounds["upto"]))
        return read(reader, run_id, **bounds)

    monkeypatch.setattr(type(journal.reader), "run_events", spy)
    assert run.suspend_requested() is None
    assert looked == []
    run.checkpoint(boundary(60))
    assert run.suspend_requested() is None
    assert looked == [(51, 52)]
