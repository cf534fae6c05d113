"""An agent that deploys, as a program of its own: each call of it is a process.

    python -m tests.runtime.deploying start JOURNAL LOG SCENARIO
    python -m tests.runtime.deploying resume JOURNAL LOG RUN [--accept-rerun] [--slow] [--dies]
        [--dies-before=METHOD]

It prints one JSON object. Every time the tool takes effect it adds a line to LOG.
"""

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

from starweaver import ApprovalRequired, CallDeferred, Tool, ToolContext, create_agent_runtime
from starweaver.errors import StarweaverError
from starweaver.testing import FunctionModel

from journal import Continue, Journal
from journal.errors import JournalError, Suspended
from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown, record, resume_run
from journal.hosts.starweaver.boundary_store import BoundaryStore
from journal.hosts.starweaver.continuation import Continuation


class Deploying:
    """The agent of both processes."""

    def __init__(self, log, scenario, *flags):
        self.log = Path(log)
        self.scenario = scenario
        self.flags = flags
        self.seen = []

    def deploy(self, ctx: ToolContext, env: str) -> str:
        if self.scenario == "approval" and ctx.approval is None:
            raise ApprovalRequired("deploy production", metadata={"risk": "high"})
        if self.scenario == "deferred":
            raise CallDeferred("a worker does it", metadata={"queue": "deployments"})
        by = (ctx.approval or {}).get("metadata", {}).get("decided_by")
        with self.log.open("a") as log:
            log.write(f"deployed {env} for {by}\n")
        if self.scenario == "killed_inside":
            os.kill(os.getpid(), signal.SIGKILL)
        if "--slow" in self.flags:
            time.sleep(1)
        return f"deployed {env}"

    def answer(self, messages, _):
        self.seen.append(returns(messages))
        if "--dies" in self.flags:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.seen[-1] and self.scenario != "looping":
            return "all done"
        call = {"id": f"call_{len(self.seen)}", "name": "deploy", "arguments": {"env": "prod"}}
        return {"tool_calls": [call]}

    def options(self):
        tool = Tool(self.deploy, description="Deploy to an environment.")
        return {"model": FunctionModel(self.answer), "tools": [tool]}

    async def start(self, journal):
        runtime = create_agent_runtime(
            **self.options(),
            session_store=JournalSessionStore(journal),
            durable_session_id="s1",
        )
        if "--unrecorded" in self.flags:
            return self.told(await runtime.run("deploy it"))
        run = runtime.stream("deploy it")
        policy = kill_before_the_tool if self.scenario == "killed_before" else None
        return await self.recorded(run, policy)

    async def resume(self, journal, run_id):
        accept = "--accept-rerun" in self.flags
        run = await resume_run(journal, run_id, accept_rerun=accept, **self.options())
        return await self.recorded(run, None)

    async def recorded(self, run, policy):
        async for _ in record(run, policy=policy):
            pass
        return self.told(await run.result())

    def told(self, result):
        return {"status": result.status, "output": result.output, "seen": self.seen}


def kill_before_the_tool(checkpoint):
    """Kill this process when a tool_call checkpoint is durable."""
    if checkpoint.node == "tool_call":
        os.kill(os.getpid(), signal.SIGKILL)
    return Continue()


def returns(messages):
    """What the tools returned, as the model sees it."""
    return [
        part["content"]
        for message in messages
        for part in message["parts"]
        if part["kind"] == "tool_return"
    ]


def die_before(method):
    """Kill this process in place of a step at which a run is recorded."""
    of = {"has_begun": Continuation, "commit_run_evidence": BoundaryStore}[method]
    setattr(of, method, lambda *_: os.kill(os.getpid(), signal.SIGKILL))


async def main(verb, db, log, what, *flags):
    for flag in flags:
        if flag.startswith("--dies-before="):
            die_before(flag.removeprefix("--dies-before="))
    async with graceful_shutdown():
        with Journal.open(db) as journal:
            try:
                if verb == "start":
                    return await Deploying(log, what, *flags).start(journal)
                scenario = "plain" if "--plain" in flags else "approval"
                return await Deploying(log, scenario, *flags).resume(journal, what)
            except Suspended as suspended:
                return {"suspended": suspended.reason, "run_id": suspended.run_id}
            except (JournalError, StarweaverError) as error:
                return {"error": type(error).__name__, "message": str(error)}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(*sys.argv[1:]))))
