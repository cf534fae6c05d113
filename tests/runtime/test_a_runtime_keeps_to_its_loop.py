"""A runtime that is used outside of the loop it was made in says so, and does not wait for ever."""

import asyncio

import pytest
from starweaver import create_agent_runtime
from starweaver.errors import AgentError
from starweaver.testing import TestModel as ScriptedModel

from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown


@pytest.mark.parametrize("closed", [False, True])
def test_a_runtime_in_another_loop_is_refused(journal, closed):
    async def make():
        return create_agent_runtime(
            model=ScriptedModel.text("Hello."),
            session_store=JournalSessionStore(journal),
            durable_session_id="s",
        )

    async def use(runtime):
        async with graceful_shutdown():
            run = runtime.stream("Hi")
            async for _ in run:
                pass
            await run.result()

    first = asyncio.new_event_loop()
    runtime = first.run_until_complete(make())
    if closed:
        first.close()
    with pytest.raises(AgentError, match="make one with create_agent_runtime"):
        asyncio.run(asyncio.wait_for(use(runtime), 20))
    first.close()
