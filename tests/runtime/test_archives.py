"""Archives of the runtime's sessions are kept in a journal as in the runtime's own stores."""

import asyncio

import pytest
from starweaver import InMemorySessionStore, create_agent
from starweaver.errors import StateError
from starweaver.testing import TestModel as ScriptedModel

from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown


def run(work):
    async def main():
        async with graceful_shutdown():
            return await work

    return asyncio.run(main())


async def talked(*answers):
    """Give an agent, and a session of it in which it said something."""
    agent = create_agent(model=ScriptedModel.responses(list(answers)))
    session = agent.new_session()
    await session.run("Hello?")
    return agent, session


def test_a_session_is_kept_and_goes_on(journal):
    async def main():
        store = JournalSessionStore(journal)
        agent, session = await talked("Hello.", "Still here.")
        saved = await store.save_current_session(session)
        archive = await store.load_archive(saved.session_id)
        assert archive.state == session.export_full_state()
        again = agent.session_from_archive(archive)
        result = await again.run("Are you there?")
        assert result.output == "Still here."
        assert len(result.messages) == 4

    run(main())


def test_an_archive_comes_back_as_from_the_runtimes_own_store(journal):
    async def main():
        theirs, ours = InMemorySessionStore(), JournalSessionStore(journal)
        _, session = await talked("Hello.")
        archive = session.archive()
        for store in (theirs, ours):
            await store.save_archive(archive)
        name = archive.session_id
        mine = await ours.load_archive(name)
        assert mine.to_dict() == (await theirs.load_archive(name)).to_dict()

    run(main())


def test_an_archive_of_an_unknown_session_is_not_found(journal):
    with pytest.raises(StateError, match=r"^unknown session: nobody$"):
        run(JournalSessionStore(journal).load_archive("nobody"))
