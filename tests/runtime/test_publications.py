"""What a run is to publish outside the journal is published by the runtime, and then forgotten."""

import asyncio

import pytest
from starweaver import SqliteReplayEventLog, SqliteStreamArchive, create_agent_runtime
from starweaver.testing import TestModel as ScriptedModel

from journal import Journal
from journal.hosts.starweaver import JournalSessionStore, StoreBridge, graceful_shutdown, record

SESSION = "session"


class Acknowledged(StoreBridge):
    """What the runtime calls; it also keeps which targets were acknowledged."""

    def __init__(self, store):
        super().__init__(store)
        self.targets = []

    def acknowledge_stream_publication(self, publication_id, target):
        self.targets.append(target)
        super().acknowledge_stream_publication(publication_id, target)


class Unacknowledged(StoreBridge):
    """What the runtime calls, of a process that ends before an acknowledgement comes."""

    def acknowledge_stream_publication(self, _publication_id, _target):
        raise ConnectionError("the process ends here")


async def converse(store, **sinks):
    """Run one prompt to its end; gives the run's id."""
    runtime = create_agent_runtime(
        model=ScriptedModel.text("Hello there."),
        session_store=store,
        durable_session_id=SESSION,
        **sinks,
    )
    stream = runtime.stream("Hi")
    async for _ in record(stream):
        pass
    return (await stream.result()).raw_state["run_id"]


def over(journal, bridge):
    store = JournalSessionStore(journal)
    store.bridge = bridge(store.store)
    return store


SINKS = {
    "archive": lambda: {"stream_archive": SqliteStreamArchive.in_memory()},
    "replay": lambda: {"replay_event_log": SqliteReplayEventLog.in_memory()},
}


@pytest.mark.parametrize("targets", [["archive"], ["replay"], ["archive", "replay"]])
def test_what_is_published_leaves_the_outbox(journal, targets):
    async def main():
        async with graceful_shutdown():
            sinks = {key: sink for target in targets for key, sink in SINKS[target]().items()}
            store = over(journal, Acknowledged)
            run_id = await converse(store, **sinks)
            assert sorted(store.bridge.targets) == targets
            assert await store.pending_stream_publications(SESSION) == []
            scope = f"run:{run_id}"
            if "archive" in targets:
                archive = sinks["stream_archive"]
                archived = await archive.replay_raw_after(SESSION, run_id)
                held = await store.replay_stream_records(SESSION, run_id)
                assert [each.raw for each in archived] == [each.raw for each in held]
                assert await archive.replay_display_after(scope) != []
            if "replay" in targets:
                assert await sinks["replay_event_log"].replay_after(scope) != []

    asyncio.run(main())


def test_what_was_not_acknowledged_is_listed_after_a_restart_and_published_then(tmp_path):
    async def first():
        async with graceful_shutdown():
            with Journal.open(tmp_path / "runs.db") as journal:
                archive = SqliteStreamArchive.in_memory()
                return await converse(over(journal, Unacknowledged), stream_archive=archive)

    async def second(first_id):
        async with graceful_shutdown():
            with Journal.open(tmp_path / "runs.db") as journal:
                store = JournalSessionStore(journal)
                [waiting] = await store.pending_stream_publications(SESSION)
                assert (waiting["run_id"], waiting["archive_pending"]) == (first_id, True)
                assert waiting["replay_pending"] is False
                archive = SqliteStreamArchive.in_memory()
                second_id = await converse(store, stream_archive=archive)
                assert await store.pending_stream_publications(SESSION) == []
                for run_id in (first_id, second_id):
                    archived = await archive.replay_raw_after(SESSION, run_id)
                    held = await store.replay_stream_records(SESSION, run_id)
                    assert [each.raw for each in archived] == [each.raw for each in held] != []

    asyncio.run(second(asyncio.run(first())))
