"""A store keeps nothing of a suspended run once its reader was told of the suspension."""

from starweaver import create_agent_runtime

from journal.hosts.starweaver import JournalSessionStore
from tests.runtime.test_runs_stop_at_any_boundary import Worker, at, read, run


def test_a_suspension_is_forgotten_when_its_reader_was_told(journal):
    async def main():
        store = JournalSessionStore(journal)
        runtime = create_agent_runtime(
            **Worker().options, session_store=store, durable_session_id="s"
        )
        run_id, stopped = await read(runtime.stream("work"), policy=at(3))
        assert stopped.run_id == run_id
        assert store.store.suspension(run_id) is None

    run(main())
