"""The runtime's own way to resume a run by its id keeps to the claims of the journal.

It gets no further: its bridge does not hand on to Python stores what comes after the claim.
"""

import asyncio

import pytest
from starweaver import ApprovalRequired, Tool, create_agent_runtime
from starweaver.errors import StateError
from starweaver.testing import TestModel as ScriptedModel

from journal.events import ResumeClaimed, ResumeReleased
from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown

SESSION = "s"


def deploy():
    """Deploy to production."""
    raise ApprovalRequired("deploy production")


async def waiting(store):
    """Bring a run to an approval; gives its runtime and its id."""
    call = {"id": "call_deploy", "name": "deploy", "arguments": {}}
    runtime = create_agent_runtime(
        model=ScriptedModel.responses([ScriptedModel.tool_call_response([call]), "never said"]),
        session_store=store,
        durable_session_id=SESSION,
        tools=[Tool(deploy)],
    )
    result = await runtime.run("deploy it")
    return runtime, result.raw_state["run_id"]


async def resume(store, runtime, run_id):
    [approval] = await store.load_approvals(SESSION, run_id)
    decided = {approval.raw["action_id"]: True}
    return await runtime.resume_after_hitl_by_id(SESSION, run_id, approvals=decided)


def claims(journal, run_id):
    names = (ResumeClaimed.NAME, ResumeReleased.NAME)
    return [event.name for event in journal.reader.run_events(run_id, names=names)]


def test_the_runtime_claims_a_run_that_waits_and_gives_it_back(journal):
    async def main():
        async with graceful_shutdown():
            store = JournalSessionStore(journal)
            runtime, run_id = await waiting(store)
            for _ in range(2):
                with pytest.raises(StateError, match="does not support agent session management"):
                    await resume(store, runtime, run_id)
            return run_id

    run_id = asyncio.run(main())
    assert claims(journal, run_id) == [ResumeClaimed.NAME, ResumeReleased.NAME] * 2


def test_a_run_that_somebody_else_resumes_is_refused_to_the_runtime(journal):
    async def main():
        async with graceful_shutdown():
            store = JournalSessionStore(journal)
            runtime, run_id = await waiting(store)
            claim = {
                "claim_id": "another's",
                "session_id": SESSION,
                "run_id": run_id,
                "created_at": "2026-01-01T00:00:00Z",
            }
            await store.claim_hitl_resume(claim)
            with pytest.raises(StateError, match='has an active resume claim: "another\'s"'):
                await resume(store, runtime, run_id)
            return run_id

    run_id = asyncio.run(main())
    assert claims(journal, run_id) == [ResumeClaimed.NAME]
