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
)
from journal.errors import RecordConflict
from journal.records import AgentCheckpoint
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
