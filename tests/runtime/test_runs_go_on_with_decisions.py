"""What people decided is acted on once, and only where it may be."""

import asyncio

import pytest
from starweaver import (
    ApprovalRequired,
    CallDeferred,
    Tool,
    ToolContext,
    create_agent,
    create_agent_runtime,
)
from starweaver.errors import ModelError
from starweaver.testing import FunctionModel
from starweaver.testing import TestModel as ScriptedModel

from journal import Journal
from journal.account import current_operator
from journal.errors import StateConflict, Suspended
from journal.export import export_all
from journal.hosts.starweaver import (
    JournalSessionStore,
    decisions,
    graceful_shutdown,
    rebuild_session,
    record,
    resume_run,
)
from journal.ingest import Ingest
from journal.json_door import dumps
from journal.policies import AtNodes
from projections import (
    decide_approval,
    list_runs,
    pending_approvals,
    pending_deferred_tools,
    replay,
    resolve_deferred_tool,
    resume,
    resume_snapshot,
    run_record,
)


def run(work):
    async def main():
        async with graceful_shutdown():
            return await work

    return asyncio.run(main())


class Shop:
    """An agent that looks, asks a person and asks a worker, all at once; then it answers."""

    def __init__(self, *second):
        self.ran = []
        self.seen = []
        self.second = second

    def look(self) -> str:
        self.ran.append("look")
        return "looked"

    def pay(self, ctx: ToolContext, cents: int) -> str:
        if ctx.approval is None:
            raise ApprovalRequired("money")
        self.ran.append(f"pay {cents}")
        return f"paid {cents}"

    def pack(self) -> str:
        raise CallDeferred("by hand")

    def answer(self, messages, _):
        parts = [part for message in messages for part in message["parts"]]
        self.seen.append([part["content"] for part in parts if part["kind"] == "tool_return"])
        turn = sum(message["kind"] == "response" for message in messages)
        turns = [[("look", {}), ("pay", {"cents": 5}), ("pack", {})], *self.second]
        if turn >= len(turns):
            return "all done"
        calls = [
            {"id": f"c{turn}{at}", "name": name, "arguments": arguments}
            for at, (name, arguments) in enumerate(turns[turn])
        ]
        return {"tool_calls": calls}

    @property
    def options(self):
        tools = [Tool(each, description="A tool.") for each in (self.look, self.pay, self.pack)]
        return {"model": FunctionModel(self.answer), "tools": tools}

    async def start(self, journal, policy=None):
        runtime = create_agent_runtime(
            **self.options, session_store=JournalSessionStore(journal), durable_session_id="s"
        )
        stream = runtime.stream("buy it")
        return await read(stream, policy=policy)


async def read(stream, **options):
    run_id = None
    async for event in record(stream, **options):
        run_id = run_id or event.run_id
    return run_id


def decide(journal):
    ann = current_operator("ann")
    for each in pending_approvals(journal):
        decide_approval(journal, each.id, "approved", ann, reason="fine")
    for each in pending_deferred_tools(journal):
        resolve_deferred_tool(journal, each.id, "completed", ann, response={"parcel": 7})


def test_a_batch_of_which_one_tool_ran_is_answered_as_a_whole(journal):
    async def main():
        shop = Shop()
        run_id = await shop.start(journal)
        decide(journal)
        stream = await resume_run(journal, run_id, **shop.options)
        again = await read(stream)
        assert shop.ran == ["look", "pay 5"]
        assert shop.seen == [[], ["looked", "paid 5", {"parcel": 7}]]
        assert (await stream.result()).output == "all done"
        kinds = [message["kind"] for message in replay(journal, again).messages]
        assert kinds == ["request", "response"] * 2

    run(main())


def test_a_continuation_may_wait_again(journal):
    async def main():
        shop = Shop([("pay", {"cents": 6})])
        first = await shop.start(journal)
        decide(journal)
        second = await read(await resume_run(journal, first, **shop.options))
        statuses = [run_record(journal, each)["status"] for each in (first, second)]
        assert statuses == ["completed", "waiting"]
        decide(journal)
        third = await read(await resume_run(journal, second, **shop.options))
        assert shop.ran == ["look", "pay 5", "pay 6"]
        assert run_record(journal, third)["status"] == "completed"

    run(main())


def test_a_continuation_that_fails_fails_the_run_it_went_on_with(journal):
    async def main():
        shop = Shop()
        first = await shop.start(journal)
        decide(journal)

        def down(*_):
            raise RuntimeError("the model is down")

        options = {**shop.options, "model": FunctionModel(down)}
        stream = await resume_run(journal, first, **options)
        with pytest.raises(ModelError, match="the model is down"):
            await read(stream)
        record_of_first = run_record(journal, first)
        assert record_of_first["status"] == "failed"
        error = record_of_first["terminal_error"]
        [second] = [each.run_id for each in list_runs(journal) if each.run_id != first]
        assert error["code"] == "continuation_failed"
        assert second in error["message"]
        assert run_record(journal, second)["status"] == "failed"

    run(main())


def test_answers_outlive_a_continuation_that_never_began(journal):
    async def main():
        shop = Shop()
        run_id = await shop.start(journal)
        decide(journal)
        with pytest.raises(ValueError, match="stream_archive"):
            await resume_run(journal, run_id, **shop.options, stream_archive="none")
        assert shop.ran == ["look", "pay 5"]
        await read(await resume_run(journal, run_id, **shop.options))
        assert shop.ran == ["look", "pay 5"]
        assert shop.seen[-1] == ["looked", "paid 5", {"parcel": 7}]

    run(main())


def test_decisions_from_another_journal_are_acted_on_when_they_are_trusted(journal):
    async def main():
        shop = Shop()
        run_id = await shop.start(journal)
        decide(journal)
        with Journal.open("memory://") as other:
            Ingest(other).read(map(dumps, export_all(journal.reader)))
            with pytest.raises(StateConflict, match="came by ingest from another journal"):
                await resume_run(other, run_id, **shop.options)
            assert shop.ran == ["look"]
            await read(await resume_run(other, run_id, **shop.options, trust_imported=True))
            assert shop.ran == ["look", "pay 5"]

    run(main())


def test_a_run_stops_before_a_tool_whatever_was_asked_before(journal):
    async def main():
        shop = Shop()
        stops = []

        def before_pack(checkpoint):
            policy = AtNodes("tool_call")
            stops.append(checkpoint.node)
            return policy(checkpoint) if stops.count("tool_call") == 3 else AtNodes()(checkpoint)

        with pytest.raises(Suspended, match="node: at tool_call"):
            await shop.start(journal, policy=before_pack)
        [asked] = pending_approvals(journal)
        assert pending_deferred_tools(journal) == []
        decide(journal)
        await read(await resume_run(journal, asked.run_id, **shop.options))
        looked, paid, packed = shop.seen[-1]
        assert (looked, paid, packed["kind"]) == ("looked", "paid 5", "asked_outside_of_a_run")
        assert shop.ran == ["look", "pay 5"]

    run(main())


def test_a_tool_that_asks_again_is_called_again(journal):
    async def main():
        class Careful(Shop):
            def pay(self, ctx: ToolContext, cents: int) -> str:
                raise ApprovalRequired("once more" if ctx.approval else "money")

        shop = Careful()
        run_id = await shop.start(journal)
        decide(journal)
        await read(await resume_run(journal, run_id, **shop.options))
        assert shop.seen[-1][1]["kind"] == "asked_outside_of_a_run"

    run(main())


def test_a_session_is_rebuilt_and_goes_on_with_what_was_decided(journal):
    async def main():
        shop = Shop()
        run_id = await shop.start(journal)
        decide(journal)
        snapshot = resume_snapshot(journal, "s", run_id)
        session = rebuild_session(create_agent(**shop.options), snapshot)
        waiting = await session.hitl.snapshot()
        assert [each.tool_name for each in (*waiting.approvals, *waiting.deferred)] == [
            "pay",
            "pack",
        ]
        approvals, results = decisions(snapshot)
        result = await session.hitl.resume(approvals=approvals, deferred_results=results)
        assert (result.output, shop.ran) == ("all done", ["look", "pay 5"])

    run(main())


def test_a_session_that_does_not_wait_is_rebuilt_with_its_history(journal):
    async def main():
        runtime = create_agent_runtime(
            model=ScriptedModel.text("Hello."),
            session_store=JournalSessionStore(journal),
            durable_session_id="s",
        )
        await read(runtime.stream("Hi."))
        seen = []

        def answer(messages, _):
            seen.append([message["kind"] for message in messages])
            return "Bye."

        session = rebuild_session(
            create_agent(model=FunctionModel(answer)), resume_snapshot(journal, "s")
        )
        assert (await session.run("Bye?")).output == "Bye."
        assert seen == [["request", "response", "request"]]

    run(main())


def test_a_fork_of_a_run_that_waits_goes_on_with_its_own_decisions(journal):
    async def main():
        shop = Shop()
        run_id = await shop.start(journal)
        journal.fork(replay(journal, run_id), "forked").release()
        for each in pending_approvals(journal, run="forked"):
            decide_approval(journal, each.id, "approved", current_operator("ann"), run="forked")
        for each in pending_deferred_tools(journal, run="forked"):
            ann = current_operator("ann")
            resolve_deferred_tool(
                journal, each.id, "completed", ann, response={"parcel": 7}, run="forked"
            )
        await read(await resume_run(journal, "forked", **shop.options))
        assert shop.ran == ["look", "pay 5"]
        assert shop.seen[-1] == ["looked", "paid 5", {"parcel": 7}]

    run(main())


@pytest.mark.parametrize("told", ["set_status", "ingest"])
def test_a_status_that_somebody_else_set_makes_no_call_safe_to_run_again(journal, told):
    async def main():
        shop = Shop()
        run_id = await shop.start(journal)
        decide(journal)
        resume(journal, run_id).run.release()  # a host that died with the approved call in hand
        if told == "set_status":
            journal.set_status(run_id, "waiting")
        else:
            fact = {"name": "run.suspended.v1", "data": {"reason": "elsewhere"}}
            Ingest(journal).read([dumps({"type": "event", "run_id": run_id, **fact})])
        await read(await resume_run(journal, run_id, **shop.options))
        assert shop.ran == ["look"]
        assert shop.seen[-1][1]["kind"] == "unknown_after_crash"

    run(main())
