"""Going on with a run that waits, was suspended, or whose process died, in a new run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection
from functools import partial
from typing import Any, TypeAlias
from weakref import finalize

from starweaver import Agent, AgentRun, create_agent_runtime

from journal.acquiring import acquired, carried_out, in_thread, spawn
from journal.errors import StateConflict
from journal.hosts.starweaver.answers import (
    Options,
    StopBeforeModel,
    agent_for,
    answer_to,
    run_calls,
    run_decided,
    settled,
)
from journal.hosts.starweaver.continuation import Continuation
from journal.hosts.starweaver.resume_point import Part, resume_point
from journal.hosts.starweaver.sessions import decisions, portable, waiting_session
from journal.hosts.starweaver.settling import settle, settle_source
from journal.hosts.starweaver.store import JournalSessionStore
from journal.journal import Journal
from journal.records import CHECKPOINT, RESUMABLE_STATE, unwrap
from journal.run import Run
from projections import Decisions, Resumption, replay, resume

State: TypeAlias = dict[str, Any]

FIRST_RESUME = 2
"""The attempt of a run that was never resumed before."""


async def resume_run(
    journal: Journal,
    run_id: str,
    *,
    accept_rerun: bool | Collection[str] = False,
    trust_imported: bool = False,
    **agent: Any,
) -> AgentRun:
    """Go on with a run that waits, was suspended, or whose process died.

    The tools that were approved run first, and tool calls that certainly never began: once,
    with the answers recorded before the model is asked. A call that may have run before is not
    run again: the model is told that nobody knows. Then a new run goes on with the history;
    its record says from which (`restore_from_run_id`). It stops where an operator asks the run
    to. A run that is over, and whose host died before it recorded that, is recorded so, and
    refused.

        run = await resume_run(journal, run_id, model=model, tools=tools)
        async for event in record(run):
            ...

    Args:
        journal: has the run, and gets the one that goes on.
        run_id: the run to go on with.
        accept_rerun: ids of tool calls that may have run already and may run again; True for
            all.
        trust_imported: act on decisions that came by `ingest` from another journal, too.
        agent: what `create_agent_runtime` takes, except `session_store`, `durable_session_id`
            and `state`; the tools, toolsets and environment are used twice.

    Raises:
        StateConflict: the run ended, or waits for decisions; or another run or host goes on
            with it.
        RunIsLeased: somebody is writing the run.
        RunNotFound: nothing of this run was ever recorded.
        StarweaverError: the runtime could not run the tools; whether they ran is unknown.
    """
    options = settled(agent)
    stop = StopBeforeModel()
    session_agent = agent_for(stop.options(options))  # wrong arguments are refused here
    await asyncio.to_thread(settle, journal, run_id)
    await asyncio.to_thread(_must_have_checkpoint, journal, run_id)
    taking = partial(
        resume, journal, run_id, accept_rerun=accept_rerun, trust_imported=trust_imported
    )
    resumption = await acquired(in_thread(taking), lambda taken: spawn(taken.run.release))
    try:
        continuation = await asyncio.to_thread(Continuation, journal, resumption.run)
        await asyncio.to_thread(settle_source, journal, run_id)
        going = _GoingOn(resumption)
        answers: list[Part] = []
        if going.point.calls:
            accepted = accept_rerun is True
            answers = await going.answered(options, session_agent, stop, accepted=accepted)
            await asyncio.to_thread(resumption.run.export_context, going.with_answers(answers))
        runtime = create_agent_runtime(
            **options,
            session_store=JournalSessionStore(journal, continues=continuation),
            durable_session_id=resumption.view.session_id,
            state=going.state(answers),
        )
        run = runtime.stream(going.point.prompt)
    except BaseException:
        await carried_out(resumption.run.release)
        raise
    finalize(run, _drop, continuation).atexit = False
    return run


def _drop(continuation: Continuation) -> None:
    """Give back a run when nobody has the one any more that goes on with it.

    In a thread, as this is called wherever the last reference went, maybe inside the journal.
    """
    threading.Thread(target=continuation.drop, daemon=True).start()


def _must_have_checkpoint(journal: Journal, run_id: str) -> None:
    """Refuse, before anything is recorded, a run that cannot go on from anywhere."""
    if replay(journal, run_id).checkpoint is None:
        remedy = "start it anew"
        raise StateConflict(f"run {run_id!r}", "has no checkpoint to go on from", remedy)


class _GoingOn:
    """How an agent goes on with a run that was taken."""

    def __init__(self, resumption: Resumption[Run]) -> None:
        view = resumption.view
        checkpoint, _ = unwrap(view.checkpoint, CHECKPOINT)
        self._resumption = resumption
        self._run_state: Part = checkpoint["state"]
        self.point = resume_point(checkpoint, list(view.messages), resumption.tool_returns)
        context: State = {"agent_id": "main"}
        if view.context_state is not None:
            context, _ = unwrap(view.context_state, RESUMABLE_STATE)
        self._context = {
            key: value for key, value in context.items() if key != "pending_tool_returns"
        }
        if view.conversation_id is not None:
            self._context["conversation_id"] = view.conversation_id

    async def answered(
        self, options: Options, agent: Agent, stop: StopBeforeModel, *, accepted: bool
    ) -> list[Part]:
        """Answer the open tool calls: run those that may run.

        Args:
            options: of the agent, for the calls that nobody decided about.
            agent: for those that somebody did, with `stop` among its capabilities.
            accepted: whether every call that may have run may run again.
        """
        calls = {call["id"]: call for call in self.point.calls}
        given = self._resumption.decisions
        approvals = tuple(one for one in given.approvals if one["action_id"] in calls)
        deferred = tuple(one for one in given.deferred_tools if one["tool_call_id"] in calls)
        decided = {one["action_id"] for one in approvals} | {
            one["tool_call_id"] for one in deferred
        }
        answers: dict[str, Part] = {}
        if decided:
            known = Decisions(approvals, deferred)
            context = {**self._context, "message_history": list(self._resumption.messages)}
            session = waiting_session(agent, context, self._run_state, known)
            asked_by = self._run_state["run_id"]
            for answer in await run_decided(session, stop, *decisions(known, run_id=asked_by)):
                answers[answer["tool_call_id"]] = answer
        fresh = [
            call
            for call in self.point.calls
            if call["id"] not in decided and (accepted or self._may_run(call["id"]))
        ]
        if fresh:
            for answer in await run_calls(options, self.point.history, fresh):
                answers[answer["tool_call_id"]] = answer
        return [answer_to(call, answers.get(call_id)) for call_id, call in calls.items()]

    def with_answers(self, answers: list[Part]) -> State:
        """Make the context state of the run with its tool calls answered."""
        parts = [{"kind": "tool_return", **answer} for answer in (*self.point.returns, *answers)]
        request = {"kind": "request", "parts": parts}
        return {**portable(self._context), "message_history": [*self.point.history, request]}

    def state(self, answers: list[Part]) -> State:
        """Make the state that the new run goes on from."""
        returns = [*self.point.returns, *answers]
        state = {**portable(self._context), "message_history": self.point.history}
        return {**state, "pending_tool_returns": returns} if returns else state

    def _may_run(self, call_id: str) -> bool:
        """Tell whether a tool call certainly never began, or may run again all the same."""
        for call in self._resumption.open_tool_calls:
            if call.id == call_id:
                return call.may_run
        return not self._resumption.crashed and self._resumption.attempt == FIRST_RESUME
