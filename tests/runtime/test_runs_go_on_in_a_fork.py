"""The real runtime goes on from a moment of an earlier run, in a fork of it."""

import asyncio

import pytest
from starweaver import create_agent_runtime
from starweaver.testing import TestModel as ScriptedModel

from journal import Journal
from journal.documents import DOCUMENTS
from journal.export import export_run
from journal.hosts.starweaver import (
    JournalSessionStore,
    graceful_shutdown,
    record,
    restored_state,
)
from journal.ingest import Ingest
from journal.json_door import dumps, equal
from projections import LATEST, MessageCursor, VersionCursor, list_runs, replay

from .scenarios import parallel_tools


def run(work):
    async def main():
        async with graceful_shutdown():
            return await work

    return asyncio.run(main())


async def go_on(journal, view, *prompts):
    """Give the ids of the runs that a runtime makes of these prompts."""
    runtime = create_agent_runtime(
        model=ScriptedModel.responses(["Paris it is."] * len(prompts)),
        session_store=JournalSessionStore(journal, fork_of=view),
        durable_session_id=view.session_id,
        state=restored_state(view),
    )
    ids = []
    for prompt in prompts:
        stream = runtime.stream(prompt)
        async for _ in record(stream):
            pass
        ids.append((await stream.result()).raw_state["run_id"])
    return ids


@pytest.fixture
def source(journal):
    """The id of a run whose third message holds the returns of two tools."""
    [outcome] = run(parallel_tools(JournalSessionStore(journal), record))
    return outcome.run_id


def test_the_fork_begins_with_what_the_run_had_and_ends_otherwise(journal, source):
    view = replay(journal, source, at=MessageCursor(3))
    before = [*export_run(journal.reader, source)]
    [run_id] = run(go_on(journal, view, "Tell me of Paris."))
    start = replay(journal, run_id, at=VersionCursor(1))
    assert equal(list(start.messages), list(view.messages))
    assert start.checkpoint == view.checkpoint
    end = replay(journal, run_id)
    assert equal(list(end.messages[:3]), list(view.messages))
    assert [message["kind"] for message in end.messages[3:]] == ["request", "response"]
    assert (end.live.status, end.live.output) == ("completed", "Paris it is.")
    assert (end.session_id, end.conversation_id) == (view.session_id, view.conversation_id)
    assert [*export_run(journal.reader, source)] == before
    [summary] = [each for each in list_runs(journal) if each.run_id == run_id]
    assert summary.forked_from == (source, "message:3")


def test_its_first_checkpoint_costs_what_is_new(journal, source):
    view = replay(journal, source, at=MessageCursor(3))
    [run_id] = run(go_on(journal, view, "Tell me of Paris."))
    first = next(journal.reader.run_events(run_id, names=DOCUMENTS))
    assert first.data["base_stream"] == f"run:{source}"
    assert len(dumps(first.data["delta"])) < len(dumps(journal.reader.document(first))) / 2


def test_only_the_first_run_of_the_store_is_the_fork(journal, source):
    view = replay(journal, source, at=LATEST)
    first, second = run(go_on(journal, view, "And Lyon?", "And Nice?"))
    origins = {each.run_id: each.forked_from for each in list_runs(journal)}
    assert origins == {source: None, first: (source, "latest"), second: None}


def test_a_fork_of_the_runtime_travels(journal, source):
    view = replay(journal, source, at=MessageCursor(3))
    [run_id] = run(go_on(journal, view, "Tell me of Paris."))
    with Journal.open("memory://") as copy:
        Ingest(copy).read(map(dumps, export_run(journal.reader, run_id)))
        assert replay(copy, run_id).to_json() == replay(journal, run_id).to_json()
