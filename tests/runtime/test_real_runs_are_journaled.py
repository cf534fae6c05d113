"""The journal holds what the real runtime did, and says of a run what the runtime says."""

import asyncio
import copy

import pytest
from starweaver import create_agent, create_agent_runtime
from starweaver.errors import AgentError, StateError
from starweaver.testing import TestModel as ScriptedModel

from journal import Journal
from journal.errors import RecordConflict, RunIsLeased, RunNotFound
from journal.events import (
    CheckpointTaken,
    ResumeClaimed,
    ResumeReleased,
    RunLeaseTaken,
    StreamRecorded,
)
from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown, record
from projections import replay

from .scenarios import SCENARIOS, parallel_tools, text, three_runs


class WatchedStore(JournalSessionStore):
    """A store that also keeps what the runtime handed it, in order."""

    def __init__(self, journal):
        super().__init__(journal)
        self.checkpoints = {}
        self.commits = {}
        self.sessions = []

    def save_session(self, session):
        self.sessions.append(copy.deepcopy(session))
        super().save_session(session)

    def commit_checkpoint(self, session_id, checkpoint):
        self.checkpoints.setdefault(checkpoint["run_id"], []).append(copy.deepcopy(checkpoint))
        super().commit_checkpoint(session_id, checkpoint)

    def commit_run_evidence(self, commit):
        self.commits[commit["run"]["run_id"]] = copy.deepcopy(commit)
        return super().commit_run_evidence(commit)


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
    store = WatchedStore(journal)
    for outcome in run(scenario(store, tap)):
        view = replay(journal, outcome.run_id).to_json()
        assert view["session_id"] == outcome.session_id
        assert view["live"]["status"] == outcome.status
        assert (view["live"]["output"] or None) == (outcome.output or None)
        assert view["messages"] == outcome.messages
        assert nonzero(view["live"]["usage"]) == nonzero(outcome.usage)

        commit = store.commits[outcome.run_id]
        held = sorted(records(journal, outcome.run_id), key=lambda item: item["sequence"])
        assert held == commit["stream_records"]
        assert held[: len(outcome.live)] == outcome.live
        assert checkpoints(journal, outcome.run_id) == store.checkpoints[outcome.run_id]
        assert view["context_state"] == commit["context_state"]
        assert view["environment_state"] == commit["environment_state"]
        assert view["approvals"] == commit["approvals"]
        assert view["deferred_tools"] == commit["deferred_tools"]
        kept = store.load_run(outcome.session_id, outcome.run_id)
        assert {**kept, "latest_checkpoint": None} == {**commit["run"], "latest_checkpoint": None}


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

    store = WatchedStore(journal)
    [outcome] = run(parallel_tools(store, first_ten))
    assert len(outcome.live) == 11
    assert records(journal, outcome.run_id) == store.commits[outcome.run_id]["stream_records"]


def test_a_run_that_no_store_journals_is_refused():
    async def main():
        async with graceful_shutdown():
            runtime = create_agent(model=ScriptedModel.text("unheard"))
            async for _ in record(runtime.run_stream("hello")):
                pass

    with pytest.raises(StateError, match="JournalSessionStore"):
        asyncio.run(main())


def test_runs_of_one_session_keep_together(journal):
    store = WatchedStore(journal)
    outcomes = run(three_runs(store))
    assert {outcome.session_id for outcome in outcomes} == {"session"}
    assert len({outcome.run_id for outcome in outcomes}) == 3
    assert store.load_session("session") == store.sessions[-1]


def test_checkpoints_are_unknown_until_the_evidence_is_committed(journal):
    class Asking(WatchedStore):
        def commit_run_evidence(self, commit):
            ids = commit["run"]["session_id"], commit["run"]["run_id"]
            for ask in (self.load_run, self.load_checkpoints):
                with pytest.raises(StateError, match=f"^unknown run: {ids[0]}:{ids[1]}$"):
                    ask(*ids)
            return super().commit_run_evidence(commit)

    store = Asking(journal)
    [outcome] = run(parallel_tools(store))
    commit = store.commits[outcome.run_id]
    assert commit["checkpoints"] == []
    taken = store.checkpoints[outcome.run_id]
    assert store.load_checkpoints(outcome.session_id, outcome.run_id) == taken
    latest = store.load_run(outcome.session_id, outcome.run_id)["latest_checkpoint"]
    assert latest["checkpoint_id"] == taken[-1]["checkpoint_id"]
    assert latest["node"] == "run_complete"


def test_the_runtime_reads_the_answers(journal):
    async def main():
        async with graceful_shutdown():
            store = JournalSessionStore(journal)
            [outcome] = await text(store)
            native = store.to_native()
            ids = outcome.session_id, outcome.run_id
            assert (await native.load_session(ids[0]))["session_id"] == ids[0]
            assert (await native.load_run(*ids))["latest_checkpoint"]["node"] == "run_complete"
            assert len(await native.load_checkpoints(*ids)) == 6
            for missing in (
                native.load_session("nobody"),
                native.load_run(ids[0], "nobody"),
                native.load_run("nobody", ids[1]),
                native.load_checkpoints(ids[0], "nobody"),
            ):
                with pytest.raises(StateError, match=r"session record not found: .*unknown"):
                    await missing

    asyncio.run(main())


def test_evidence_is_committed_once(journal):
    store = WatchedStore(journal)
    [outcome] = run(text(store))
    commit = store.commits[outcome.run_id]
    head = journal.reader.head(outcome.run_id)
    again = store.commit_run_evidence(copy.deepcopy(commit))
    assert again == store.load_run(outcome.session_id, outcome.run_id)
    changed = copy.deepcopy(commit)
    changed["run"]["output_preview"] = "something else"
    with pytest.raises(RecordConflict):
        store.commit_run_evidence(changed)
    assert journal.reader.head(outcome.run_id) == head


def test_evidence_that_wants_to_be_published_is_refused(journal):
    store = WatchedStore(journal)
    [outcome] = run(text(store))
    commit = copy.deepcopy(store.commits[outcome.run_id])
    commit["run"]["run_id"] = "another"
    commit["publication_targets"]["archive"] = True
    with pytest.raises(StateError, match="stream_archive"):
        store.commit_run_evidence(commit)
    with pytest.raises(RunNotFound):
        journal.run_record("another")


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
    store.claim_hitl_resume(claim)
    store.release_hitl_resume_claim(outcome.session_id, outcome.run_id, "claim-1")
    facts = list(
        journal.reader.run_events(outcome.run_id, names=(ResumeClaimed.NAME, ResumeReleased.NAME))
    )
    assert [event.name for event in facts] == [ResumeClaimed.NAME, ResumeReleased.NAME]
    assert facts[0].data["claim"] == claim


def test_a_journal_that_fails_stops_the_run(journal):
    class Full(JournalSessionStore):
        def commit_checkpoint(self, session_id, checkpoint):
            if checkpoint["node"] == "model_response":
                journal.close()
            super().commit_checkpoint(session_id, checkpoint)

    async def main():
        async with graceful_shutdown():
            runtime = create_agent_runtime(
                model=ScriptedModel.text("never said"),
                session_store=Full(journal),
                durable_session_id="s",
            )
            await runtime.run("hello")

    with pytest.raises(AgentError, match="is closed"):
        asyncio.run(main())


@pytest.mark.parametrize("tap", [None, record], ids=["collected", "live"])
def test_a_run_is_leased_while_it_goes_on_and_free_when_it_ended(tmp_path, tap):
    refused = []

    class AnotherOwnerTries(WatchedStore):
        def commit_checkpoint(self, session_id, checkpoint):
            super().commit_checkpoint(session_id, checkpoint)
            with pytest.raises(RunIsLeased) as error:
                other.run(checkpoint["run_id"])
            refused.append(error.value.generation)

    with Journal.open(tmp_path / "runs.db") as journal, Journal.open(tmp_path / "runs.db") as other:
        [outcome] = run(parallel_tools(AnotherOwnerTries(journal), tap))
        assert set(refused) == {1}
        with other.run(outcome.run_id) as taken:
            assert taken.generation == 2
        [event] = journal.reader.run_events(outcome.run_id, names=(RunLeaseTaken.NAME,))
        assert event.data["taken"] == "released"


def test_a_store_that_was_taken_over_stops_its_run(tmp_path):
    class TakenOver(WatchedStore):
        def commit_checkpoint(self, session_id, checkpoint):
            super().commit_checkpoint(session_id, checkpoint)
            other.run(checkpoint["run_id"], takeover=True)

    async def main():
        async with graceful_shutdown():
            runtime = create_agent_runtime(
                model=ScriptedModel.text("unheard"),
                session_store=TakenOver(journal),
                durable_session_id="s",
            )
            await runtime.run("hello")

    with (
        Journal.open(tmp_path / "runs.db") as journal,
        Journal.open(tmp_path / "runs.db") as other,
        pytest.raises(AgentError, match="is being written by"),
    ):
        asyncio.run(main())
