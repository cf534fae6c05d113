"""A small agent host: its model calls one tool a step, and its tool has an effect outside.

It takes a checkpoint at every boundary and stops where `JournalExecutor` says so. What it
knows it has from the journal: a second process goes on from there.
"""

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path

from journal import Journal, JournalExecutor, Suspend
from projections import resume
from tests import samples
from tests.crash.receipts import ReceiptFile
from tests.crash.writers import FOR_EVER, SESSION

RUN = "r"


class Suspended(Exception):
    """The run stops here."""


class Host:
    """Runs the agent; `note` tells whoever waits what it does."""

    def __init__(self, run, note, effects):
        self._executor = JournalExecutor(run)
        self._run = run
        self._note = note
        self._effects = effects
        self.messages = [samples.user("go on")]
        self.step = 0
        self.sequence = 0
        self.stop_at = None
        """Where to stand still until killed: `tool_call` or `tool`."""

    def record(self, kind, **fields):
        self._run.append(samples.record(self.sequence, kind, **fields))
        self.sequence += 1

    async def boundary(self, node, status="running", **state):
        """Take a checkpoint, and stop where the run is to stop."""
        taken = samples.checkpoint(
            f"{node}-{self.step}",
            RUN,
            stream_cursor=self.sequence - 1,
            messages=self.messages,
            step=self.step,
            node=node,
            status=status,
            **state,
        )
        decision = await self._executor.checkpoint(taken)
        if isinstance(decision, Suspend):
            self._note(["suspended", decision.reason, self.step])
            raise Suspended

    def stand_still(self, where):
        if self.stop_at == where:
            self._note(["stands", where])
            time.sleep(FOR_EVER)

    def use_tool(self, call):
        """Do what cannot be undone; whoever reads the effects sees how often."""
        with self._effects.open("ab", buffering=0) as file:
            file.write(f"{call['id']}\n".encode())
        self.stand_still("tool")
        self.record("tool_call", step=self.step, call=call)
        return f"{call['id']} done"

    def answer(self, call, content):
        given = {
            "tool_call_id": call["id"],
            "name": call["name"],
            "content": content,
            "is_error": False,
        }
        self.record("tool_return", step=self.step, tool_return=given)
        self.take(given)

    def take(self, given):
        part = {"kind": "tool_return", **given}
        self.messages = [*self.messages, {"kind": "request", "parts": [part]}]

    async def one_step(self):
        self.step += 1
        call = {"id": f"call-{self.step}", "name": "pay", "arguments": {"step": self.step}}
        answer = {"parts": [{"kind": "tool_call", **call}], "usage": samples.ZERO}
        self.record("model_response", step=self.step, response=answer)
        self.messages = [*self.messages, {"kind": "response", **answer}]
        await self.boundary("tool_call", pending_tool_calls=[call])
        self.stand_still("tool_call")
        self.answer(call, self.use_tool(call))
        await self.boundary("tool_return")

    async def go_on(self, steps):
        with suppress(Suspended):
            for _ in range(steps):
                await self.one_step()
                self._note(["step", self.step])
            await self.boundary("run_complete", status="completed")


def begin(path, notes, effects, stop_at=None, steps=100_000):
    """Begin the run."""
    with Journal.open(path) as journal, journal.run(RUN, **SESSION) as run:
        host = Host(run, ReceiptFile(notes).note, Path(effects))
        host.stop_at = stop_at
        asyncio.run(host.go_on(steps))


def go_on(path, notes, effects, accept_rerun=False, steps=1):
    """Go on with the run in a process of its own, as the journal says how."""
    note = ReceiptFile(notes).note
    with Journal.open(path) as journal:
        resumed = resume(journal, RUN, accept_rerun=accept_rerun)
        note(["resumed", os.getpid(), resumed.attempt, resumed.reason, len(resumed.messages)])
        with resumed.run as run:
            host = Host(run, note, Path(effects))
            host.messages = list(resumed.messages)
            host.step = resumed.view.live.step
            host.sequence = resumed.next_sequence
            for given in resumed.tool_returns:
                host.take(given)
            for call in resumed.open_tool_calls:
                note(["open", call.id, call.state])
                wanted = {"id": call.id, "name": call.name, "arguments": call.arguments}
                content = host.use_tool(wanted) if call.may_run else "nobody knows"
                host.answer(wanted, content)
            asyncio.run(host.go_on(steps))
