"""A run of the runtime that is recorded stops at any boundary, and goes on as if it had not."""

import asyncio

import pytest
from starweaver import (
    ApprovalRequired,
    Tool,
    ToolContext,
    VirtualEnvironment,
    create_agent_runtime,
    environment_toolsets,
)
from starweaver.errors import AgentError
from starweaver.testing import FunctionModel

from journal import Continue, Suspend
from journal.errors import RunIsLeased, StateConflict, Suspended
from journal.events import CheckpointTaken, Operator, RunSuspended
from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown, record, resume_run
from journal.policies import AtNodes, HumanDecision
from projections import replay, run_record

ANN = Operator(user="ann", host="desk")


def run(work):
    async def main():
        async with graceful_shutdown():
            return await work

    return asyncio.run(main())


class Worker:
    """An agent that works twice in its first step, once in its second, and then answers."""

    def __init__(self, *tools):
        self.worked = []
        self.asked = []
        self.tools = [Tool(self.work, description="Do a piece of work."), *tools]

    def work(self, piece: int) -> str:
        self.worked.append(piece)
        return f"did {piece}"

    def answer(self, messages, _):
        self.asked.append(said(messages))
        done = sum(part["kind"] == "tool_return" for m in messages for part in m["parts"])
        pieces = {0: (1, 2), 2: (3,)}.get(done, ())
        if not pieces:
            return "all done"
        return {
            "tool_calls": [
                {"id": f"c{n}", "name": "work", "arguments": {"piece": n}} for n in pieces
            ]
        }

    @property
    def options(self):
        return {"model": FunctionModel(self.answer), "tools": self.tools}

    def start(self, journal, **more):
        runtime = create_agent_runtime(
            **self.options,
            session_store=JournalSessionStore(journal),
            durable_session_id="s",
            **more,
        )
        return runtime.stream("work")


def said(messages):
    """What messages say, without what the runtime makes up anew each time."""
    kept = []
    for message in messages:
        for part in message["parts"]:
            text = part.get("content", part.get("arguments", part.get("text")))
            if "<runtime-context>" not in str(text):
                kept.append((part["kind"], part.get("name"), str(text)))
    return kept


async def read(stream, **options):
    """Read a run to its end; give its id, and why it was suspended."""
    run_id = None
    try:
        async for event in record(stream, **options):
            run_id = run_id or event.run_id
    except Suspended as suspended:
        return suspended.run_id, suspended  # perhaps before the first record
    return run_id, None


def at(number):
    """A policy that stops a run at its checkpoint of this number, from 1."""
    seen = []

    def policy(checkpoint):
        seen.append(checkpoint.node)
        return Suspend(f"checkpoint {number}") if len(seen) == number else Continue()

    return policy


async def uninterrupted(journal):
    worker = Worker()
    run_id, _ = await read(worker.start(journal))
    nodes = [
        event.data["node"]
        for event in journal.reader.run_events(run_id, names=(CheckpointTaken.NAME,))
    ]
    return said(replay(journal, run_id).messages), nodes


def test_it_stops_at_every_boundary_and_every_tool_runs_once(journal):
    async def main():
        whole, nodes = await uninterrupted(journal)
        final = len(nodes) - 2  # the model's last answer: nothing is left to stop from here on
        assert nodes[final - 1 :] == ["model_response", "validate_output", "run_complete"]
        for number in range(1, len(nodes) + 1):
            worker = Worker()
            run_id, stopped = await read(worker.start(journal), policy=at(number))
            if number >= final:
                assert stopped is None
                continue
            view = replay(journal, run_id)
            assert stopped.checkpoint_id == view.checkpoint["checkpoint_id"]
            assert (view.live.status, view.live.suspended) == (
                "waiting",
                {"reason": f"checkpoint {number}"},
            )
            assert (view.checkpoint["node"], len(worker.worked)) == (
                nodes[number - 1],
                nodes[:number].count("tool_return"),
            )
            assert list(view.messages) == view.checkpoint["state"]["message_history"]
            stream = await resume_run(journal, run_id, **worker.options)
            again, stopped = await read(stream)
            assert stopped is None
            assert (await stream.result()).output == "all done"
            assert worker.worked == [1, 2, 3], nodes[number - 1]
            assert said(replay(journal, again).messages) == whole, nodes[number - 1]
            assert run_record(journal, again)["restore_from_run_id"] == run_id
            assert run_record(journal, run_id)["status"] == "completed"

    run(main())


def test_it_stops_several_times(journal):
    async def main():
        whole, _ = await uninterrupted(journal)
        worker = Worker()
        policy = AtNodes("tool_call", "tool_return")
        stream = worker.start(journal)
        runs = []
        while True:
            run_id, stopped = await read(stream, policy=policy)
            runs.append(run_id)
            if stopped is None:
                break
            stream = await resume_run(journal, run_id, **worker.options)
        assert len(runs) == 3
        assert worker.worked == [1, 2, 3]
        assert said(replay(journal, runs[-1]).messages) == whole
        records = [run_record(journal, run_id) for run_id in runs]
        assert [each.get("restore_from_run_id") for each in records] == [None, *runs[:-1]]
        assert {each["status"] for each in records} == {"completed"}

    run(main())


def test_an_operator_stops_it_between_two_steps(journal):
    async def main():
        def ask(ctx: ToolContext):
            journal.request_suspend(ctx.run_id, "stop it", ANN)
            return "asked"

        class Asking(Worker):
            def answer(self, messages, params):
                if len(messages) == 1:
                    return {
                        "tool_calls": [
                            {"id": "a", "name": "ask", "arguments": {}},
                            {"id": "b", "name": "work", "arguments": {"piece": 0}},
                        ]
                    }
                return super().answer(messages, params)

        worker = Asking(Tool(ask, description="Ask for a stop."))
        run_id, stopped = await read(worker.start(journal))
        assert stopped.reason == "operator ann@desk asked: stop it"
        assert worker.worked == [0]  # what else the model had asked for in that step
        assert worker.asked == []
        view = replay(journal, run_id)
        assert view.live.status == "waiting"
        assert view.live.open_tool_calls == ()

    run(main())


def test_a_run_that_nobody_records_is_not_stopped(journal):
    async def main():
        def ask(ctx: ToolContext):
            journal.request_suspend(ctx.run_id, "stop it", ANN)
            return "asked"

        model = FunctionModel(
            lambda messages, _: (
                "went on"
                if len(messages) > 1
                else {"tool_calls": [{"id": "a", "name": "ask", "arguments": {}}]}
            )
        )
        runtime = create_agent_runtime(
            model=model,
            tools=[Tool(ask, description="Ask for a stop.")],
            session_store=JournalSessionStore(journal),
            durable_session_id="s",
        )
        result = await runtime.run("go")
        assert result.output == "went on"
        run_id = result.raw_state["run_id"]
        assert run_record(journal, run_id)["status"] == "completed"
        assert journal.reader.last_run_event(run_id, (RunSuspended.NAME,)) is None

    run(main())


def test_a_run_that_waits_for_a_person_is_not_cancelled(journal):
    async def main():
        def deploy():
            raise ApprovalRequired("production")

        runtime = create_agent_runtime(
            model=FunctionModel(
                lambda *_: {"tool_calls": [{"id": "a", "name": "deploy", "arguments": {}}]}
            ),
            tools=[Tool(deploy, description="Deploy.")],
            session_store=JournalSessionStore(journal),
            durable_session_id="s",
        )
        stream = runtime.stream("go")
        run_id, stopped = await read(stream, policy=HumanDecision())
        assert stopped is None
        assert (await stream.result()).status == "waiting"
        view = replay(journal, run_id)
        assert view.live.status == "waiting"
        assert [each["status"] for each in view.approvals] == ["pending"]
        suspended = journal.reader.last_run_event(run_id, (RunSuspended.NAME,))
        assert "human decision: approvals 1" in suspended.data["reason"]

    run(main())


def test_a_policy_that_fails_ends_the_run(journal):
    async def main():
        async def failing(_):
            raise ValueError("no idea")

        worker = Worker()
        with pytest.raises(AgentError, match=r"the policy failed at checkpoint .* no idea"):
            await read(worker.start(journal), policy=failing)
        assert worker.worked == []

    run(main())


def test_one_host_goes_on_with_it(journal):
    async def main():
        worker = Worker()
        run_id, _ = await read(worker.start(journal), policy=AtNodes("tool_call"))
        journal.claim_resume(
            {
                "claim_id": "other",
                "session_id": "s",
                "run_id": run_id,
                "state": "preflight",
                "created_at": "2026-01-01T00:00:00Z",
            }
        )
        with pytest.raises(StateConflict, match="claim: 'other'"):
            await resume_run(journal, run_id, **worker.options)
        journal.release_resume(run_id, "other")
        with pytest.raises(TypeError):
            await resume_run(journal, run_id, session_store=None, **worker.options)
        both = await asyncio.gather(
            *(resume_run(journal, run_id, **worker.options) for _ in range(2)),
            return_exceptions=True,
        )
        [stream] = [each for each in both if not isinstance(each, Exception)]
        [refused] = [each for each in both if isinstance(each, Exception)]
        assert isinstance(refused, RunIsLeased | StateConflict)
        again, _ = await read(stream)
        assert worker.worked == [1, 2, 3]
        with pytest.raises(StateConflict, match="completed"):
            await resume_run(journal, run_id, **worker.options)
        with pytest.raises(StateConflict, match="completed"):
            await resume_run(journal, again, **worker.options)
        assert worker.worked == [1, 2, 3]

    run(main())


def test_its_environment_is_recorded_at_each_boundary_and_used_again(journal):
    async def main():
        environment = VirtualEnvironment(id="ws", files={"a": "1"})
        calls = [{"id": "w", "name": "write", "arguments": {"file_path": "b", "content": "2"}}]

        def answer(messages, _):
            return "done" if len(messages) > 1 else {"tool_calls": calls}

        options = {
            "model": FunctionModel(answer),
            "environment": environment,
            "toolsets": environment_toolsets(),
        }
        runtime = create_agent_runtime(
            **options, session_store=JournalSessionStore(journal), durable_session_id="s"
        )
        policy = AtNodes("tool_call")
        run_id, stopped = await read(runtime.stream("go"), environment=environment, policy=policy)
        assert stopped.reason == "node: at tool_call, step 1"
        assert replay(journal, run_id).environment_state["payload"]["files"] == {"a": "1"}
        again, _ = await read(await resume_run(journal, run_id, **options), environment=environment)
        files = {"a": "1", "b": "2"}
        assert replay(journal, again, at="stream:4").environment_state["payload"]["files"] == files

    run(main())
