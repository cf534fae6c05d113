"""The journal holds what the real runtime did, and says of a run what the runtime says."""

import asyncio
import copy

import pytest
from starweaver import _native, create_agent, create_agent_runtime
from starweaver.errors import AgentError, StateError
from starweaver.testing import TestModel as ScriptedModel

from journal import Journal
from journal.errors import RecordConflict, RunIsLeased
from journal.events import (
    CheckpointTaken,
    ResumeClaimed,
    ResumeReleased,
    RunLeaseTaken,
    StreamRecorded,
)
from journal.hosts.starweaver import JournalSessionStore, StoreBridge, graceful_shutdown, record
from projections import replay

from .scenarios import SCENARIOS, parallel_tools, text, three_runs


class WatchedBridge(StoreBridge):
    """What the runtime calls; it also keeps what it was handed, in order."""

    def __init__(self, store):
        super().__init__(store)
        self.checkpoints = {}
        self.commits = {}
        self.sessions = []

    def save_session(self, session):
        self.sessions.append(copy.deepcopy(session))
        super().save_session(session)

    def commit_checkpoint(self, session_id, checkpoint):
        self.checkpoints.setdefault(checkpoint["run_id"], []).append(copy.deepcopy(checkpoint))
        return super().commit_checkpoint(session_id, checkpoint)

    def commit_run_evidence(self, commit):
        self.commits[commit["run"]["run_id"]] = copy.deepcopy(commit)
        return super().commit_run_evidence(commit)


def watched(journal, bridge=WatchedBridge):
    """Make a store whose bridge is watched."""
    store = JournalSessionStore(journal)
    store.bridge = bridge(store.store)
    return store


def run(scenario):
    """Run a scenario in a loop of its own; leave no thread of the runtime behind."""

    async def main():
        async with graceful_shutdown():
            return await scenario

    return asyncio.run(main())


def records(journal, run_id):
    events = journal.reader.run_events(run_id, names=(StreamRecorded.NAME,))
    return [event.data["record"] for event in events]


def checkpoints(journal, run_id):
    events = journal.reader.run_events(run_id, names=(CheckpointTaken.NAME,))
    return [journal.reader.document(event) for event in events]


def nonzero(usage):
    return {name: count for name, count in usage.items() if count}


@pytest.mark.parametrize("tap", [None, record], ids=["collected", "live"])
@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_journal_and_runtime_agree(journal, scenario, tap):
    store = watched(journal)
    for outcome in run(scenario(store, tap)):
        view = replay(journal, outcome.run_id).to_json()
        assert view["session_id"] == outcome.session_id
        assert view["live"]["status"] == outcome.status
        assert (view["live"]["output"] or None) == (outcome.output or None)
        assert view["messages"] == outcome.messages
        assert nonzero(view["live"]["usage"]) == nonzero(outcome.usage)

        commit = store.bridge.commits[outcome.run_id]
        held = sorted(records(journal, outcome.run_id), key=lambda item: item["sequence"])
        assert held == commit["stream_records"]
        assert held[: len(outcome.live)] == outcome.live
        assert checkpoints(journal, outcome.run_id) == store.bridge.checkpoints[outcome.run_id]
        assert view["context_state"] == commit["context_state"]
        assert view["environment_state"] == commit["environment_state"]
        assert view["approvals"] == commit["approvals"]
        assert view["deferred_tools"] == commit["deferred_tools"]
        kept = store.bridge.load_run(outcome.session_id, outcome.run_id)
        latest = store.bridge.checkpoints[outcome.run_id][-1]
        assert kept.pop("latest_checkpoint")["checkpoint_id"] == latest["checkpoint_id"]
        changed = {
            "revision": commit["run"]["revision"] + 1,
            "stream_cursors": commit["stream_cursors"],
        }
        del commit["run"]["latest_checkpoint"]
        assert kept == {**commit["run"], **changed}


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_each_record_is_durable_before_it_is_passed_on(journal, scenario):
    late = []

    async def watch(agent_run):
        run_id = None
        async for event in record(agent_run):
            run_id = run_id or event.run_id
            if event.raw not in records(journal, run_id):
                late.append(event.raw)
            yield event

    outcomes = run(scenario(JournalSessionStore(journal), watch))
    assert all(outcome.live for outcome in outcomes)
    assert late == []


def test_an_interrupted_reader_loses_nothing(journal):
    async def first_ten(agent_run):
        async for event in record(agent_run):
            yield event
            if event.raw["sequence"] == 10:
                return

    store = watched(journal)
    [outcome] = run(parallel_tools(store, first_ten))
    assert len(outcome.live) == 11
    assert (
        records(journal, outcome.run_id) == store.bridge.commits[outcome.run_id]["stream_records"]
    )


def test_a_run_that_no_store_journals_is_refused():
    async def main():
        async with graceful_shutdown():
            runtime = create_agent(model=ScriptedModel.text("unheard"))
            async for _ in record(runtime.run_stream("hello")):
                pass

    with pytest.raises(StateError, match="JournalSessionStore"):
        asyncio.run(main())


def test_runs_of_one_session_keep_together(journal):
    store = watched(journal)
    outcomes = run(three_runs(store))
    assert {outcome.session_id for outcome in outcomes} == {"session"}
    assert len({outcome.run_id for outcome in outcomes}) == 3
    listed = store.bridge.list_runs("session")
    numbers = [(each["run_id"], each["sequence_no"]) for each in listed]
    assert numbers == [(outcome.run_id, at) for at, outcome in enumerate(outcomes, 1)]
    session = store.bridge.load_session("session")
    assert session["head_run_id"] == session["head_success_run_id"] == outcomes[-1].run_id
    assert session.get("active_run_id") is None
    last = store.bridge.commits[outcomes[-1].run_id]
    assert session["state"] == last["context_state"]


def test_a_run_that_goes_on_is_known_and_hands_no_checkpoint_in_twice(journal):
    class Asking(WatchedBridge):
        def commit_run_evidence(self, commit):
            ids = commit["run"]["session_id"], commit["run"]["run_id"]
            going_on = self.load_run(*ids)
            assert (going_on["status"], going_on["sequence_no"]) == ("running", 1)
            assert going_on["revision"] == len(self.checkpoints[ids[1]])
            assert self.load_session(ids[0])["active_run_id"] == ids[1]
            assert self.load_checkpoints(*ids) == []
            return super().commit_run_evidence(commit)

    store = watched(journal, Asking)
    [outcome] = run(parallel_tools(store))
    commit = store.bridge.commits[outcome.run_id]
    assert commit["checkpoints"] == []
    assert commit["run"]["sequence_no"] == 1
    taken = store.bridge.checkpoints[outcome.run_id]
    assert store.bridge.load_checkpoints(outcome.session_id, outcome.run_id) == taken
    ended = store.bridge.load_run(outcome.session_id, outcome.run_id)
    assert ended["revision"] == len(taken) + 1
    assert ended["latest_checkpoint"]["checkpoint_id"] == taken[-1]["checkpoint_id"]
    assert ended["latest_checkpoint"]["node"] == "RunComplete"


def test_the_awaitable_store_serves_the_runtime_as_well(journal):
    async def main():
        async with graceful_shutdown():
            store = JournalSessionStore(journal)
            native = _native.PythonSessionStore(store, asyncio.get_running_loop())
            return await parallel_tools(native, record)

    [outcome] = asyncio.run(main())
    view = replay(journal, outcome.run_id).to_json()
    assert view["live"]["status"] == "completed"
    assert view["messages"] == outcome.messages
    assert len(checkpoints(journal, outcome.run_id)) == 13
    assert records(journal, outcome.run_id)[: len(outcome.live)] == outcome.live


def test_the_runtime_reads_the_answers(journal):
    async def main():
        async with graceful_shutdown():
            store = JournalSessionStore(journal)
            [outcome] = await text(store)
            native = store.to_native()
            ids = outcome.session_id, outcome.run_id
            assert (await native.load_session(ids[0]))["session_id"] == ids[0]
            assert (await native.load_run(*ids))["latest_checkpoint"]["node"] == "RunComplete"
            assert len(await native.load_checkpoints(*ids)) == 6
            for missing in (
                native.load_session("nobody"),
                native.load_run(ids[0], "nobody"),
                native.load_run("nobody", ids[1]),
            ):
                with pytest.raises(StateError, match=r"session record not found: .*unknown"):
                    await missing

    asyncio.run(main())


def test_evidence_is_committed_once(journal):
    store = watched(journal)
    [outcome] = run(text(store))
    commit = store.bridge.commits[outcome.run_id]
    head = journal.reader.head(outcome.run_id)
    again = store.bridge.commit_run_evidence(copy.deepcopy(commit))
    assert again == store.bridge.load_run(outcome.session_id, outcome.run_id)
    changed = copy.deepcopy(commit)
    changed["run"]["output_preview"] = "something else"
    with pytest.raises(StateError, match="SHA-256") as error:
        store.bridge.commit_run_evidence(changed)
    assert isinstance(error.value.__cause__, RecordConflict)
    assert journal.reader.head(outcome.run_id) == head


def test_claims_to_resume_are_recorded(journal):
    store = JournalSessionStore(journal)
    [outcome] = run(SCENARIOS["approval"](store))
    claim = {
        "claim_id": "claim-1",
        "session_id": outcome.session_id,
        "run_id": outcome.run_id,
        "state": "preflight",
        "created_at": "2026-11-29T20:44:39.205969419Z",
    }
    store.bridge.claim_hitl_resume(claim)
    store.bridge.release_hitl_resume_claim(outcome.session_id, outcome.run_id, "claim-1")
    facts = list(
        journal.reader.run_events(outcome.run_id, names=(ResumeClaimed.NAME, ResumeReleased.NAME))
    )
    assert [event.name for event in facts] == [ResumeClaimed.NAME, ResumeReleased.NAME]
    assert facts[0].data["claim"] == claim


def test_a_journal_that_fails_stops_the_run(journal):
    class Full(StoreBridge):
        def commit_checkpoint(self, session_id, checkpoint):
            if checkpoint["node"] == "model_response":
                journal.close()
            return super().commit_checkpoint(session_id, checkpoint)

    async def main():
        async with graceful_shutdown():
            runtime = create_agent_runtime(
                model=ScriptedModel.text("never said"),
                session_store=watched(journal, Full),
                durable_session_id="s",
            )
            await runtime.run("hello")

    with pytest.raises(AgentError, match="is closed"):
        asyncio.run(main())


@pytest.mark.parametrize("tap", [None, record], ids=["collected", "live"])
def test_a_run_is_leased_while_it_goes_on_and_free_when_it_ended(tmp_path, tap):
    refused = []

    class AnotherOwnerTries(StoreBridge):
        async def commit_checkpoint(self, session_id, checkpoint):
            if (taking := super().commit_checkpoint(session_id, checkpoint)) is not None:
                await taking
            with pytest.raises(RunIsLeased) as error:
                other.run(checkpoint["run_id"])
            refused.append(error.value.generation)

    with Journal.open(tmp_path / "runs.db") as journal, Journal.open(tmp_path / "runs.db") as other:
        [outcome] = run(parallel_tools(watched(journal, AnotherOwnerTries), tap))
        assert set(refused) == {1}
        with other.run(outcome.run_id) as taken:
            assert taken.generation == 2
        [event] = journal.reader.run_events(outcome.run_id, names=(RunLeaseTaken.NAME,))
        assert event.data["taken"] == "released"


def test_a_store_that_was_taken_over_stops_its_run(tmp_path):
    class TakenOver(StoreBridge):
        async def commit_checkpoint(self, session_id, checkpoint):
            if (taking := super().commit_checkpoint(session_id, checkpoint)) is not None:
                await taking
            other.run(checkpoint["run_id"], takeover=True)

    async def main():
        async with graceful_shutdown():
            runtime = create_agent_runtime(
                model=ScriptedModel.text("unheard"),
                session_store=watched(journal, TakenOver),
                durable_session_id="s",
            )
            await runtime.run("hello")

    with (
        Journal.open(tmp_path / "runs.db") as journal,
        Journal.open(tmp_path / "runs.db") as other,
        pytest.raises(AgentError, match="is being written by"),
    ):
        asyncio.run(main())
