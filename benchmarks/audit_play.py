"""What happens in the runs of the audit's journal, and how often."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from audit_child import Child
from audit_run import FAILURES, Host, Talk, Wait, World
from audit_shapes import custom, identity, streamed, waits

JSON = dict[str, Any]

FAILED, CANCELLED, LOST, APPROVED, CHILDREN = 0.04, 0.01, 0.005, 0.02, 0.03
RETRIED, GAPS, TOOL_ERRORS, WHOLE, NO_TOOLS = 0.005, 0.003, 0.05, 0.1, 0.2
"""Parts of the runs to which these happen; `TOOL_ERRORS` of the calls."""

OWN = 0.5
"""Part of the children that are runs of their own, too."""

PEOPLE = ("ana@example.com", "bo@example.com", "chris@example.com", "dana@example.com")


class Play(Host):
    """A run from its beginning to its end."""

    def __init__(self, world: World, talk: Talk, deltas: int) -> None:
        self.whole = world.chance(WHOLE)
        super().__init__(world, talk, deltas, whole=self.whole)
        self.extra_runs = 0
        """Children that were recorded as runs of their own."""

    def play(self) -> Wait:
        """Hand in the run."""
        world, dice = self.world, self.world.dice
        self.begin()
        self.take("run_start")
        yield dice.uniform(0.2, 3)
        steps = 0 if world.chance(NO_TOOLS) else 1 + world.chance(0.2)
        for _ in range(steps):
            yield from self._tools()
        fate = dice.random()
        if fate < FAILED:
            self._fail()
        elif fate < FAILED + CANCELLED:
            self._cancel()
        elif fate < FAILED + CANCELLED + LOST and steps:
            self.ask_model()
            call = world.tools.call()
            self.respond([{"kind": "tool_call", **call}])
            self.say({"kind": "tool_call", "step": self.step, "call": call})
        else:
            yield from self._answer()
        self.end()

    def _tools(self) -> Wait:
        """Ask the model, which calls tools, and run them."""
        world, dice = self.world, self.world.dice
        self.ask_model()
        yield dice.uniform(2, 25)
        calls = self._calls()
        if self.whole:
            for index, call in enumerate(calls):
                self.stream_call(index, call)
        said = self.respond([{"kind": "tool_call", **call} for call in calls])
        self.node("tool_call")
        for call in calls:
            self.say({"kind": "tool_call", "step": self.step, "call": call})
        if world.chance(GAPS):
            self.skip(dice.randint(1, 3))
        if world.chance(RETRIED):
            yield from self._again(said, calls)
        parts = []
        for call in calls:
            returned = yield from self._returned(call)
            self.say({"kind": "tool_return", "step": self.step, "tool_return": returned})
            parts.append({"kind": "tool_return", **returned})
        self.usage = {**self.usage, "tool_calls": self.usage["tool_calls"] + len(calls)}
        self.hear(parts)
        self.node("tool_return")
        self.take("tool_return")
        yield dice.uniform(0.1, 1)

    def _calls(self) -> list[JSON]:
        """Draw what is called: a few tools, or one that needs an approval, or a child."""
        world = self.world
        if world.chance(APPROVED):
            return [world.tools.call("deploy")]
        if world.chance(CHILDREN):
            return [world.tools.call("delegate")]
        count = world.dice.choices((1, 2, 3, 4), (6, 3, 1, 1))[0]
        return [world.tools.call() for _ in range(count)]

    def _returned(self, call: JSON) -> Generator[float, None, JSON]:
        """Run a tool; gives what it returns."""
        world = self.world
        seconds = world.tools.duration()
        self.flush()
        yield seconds
        error = world.tools.error(call) if world.chance(TOOL_ERRORS) else None
        if call["name"] == "deploy" and (yield from self._wait(call, seconds)) == "denied":
            message = "the call was denied"
            error = {"error": message, "kind": "approval_denied", "message": message}
        if call["name"] == "delegate":
            yield from self._child(call)
        return world.tools.returned(call, seconds, error)

    def _answer(self) -> Wait:
        """Let the model answer, and end well."""
        world, dice = self.world, self.world.dice
        self.ask_model()
        yield dice.uniform(2, 25)
        text = world.prose.text(self._deltas * dice.randint(3, 5))
        yield from self.stream_text(text)
        part = {"kind": "text", "text": text}
        said = self.respond([part])
        if self.whole:
            self.say(streamed(self.step - 1, "final_result", **said["response"]))
        self.node("validate_output")
        self.take("model_response")
        self.node("run_complete", "completed")
        if self.whole:
            self.say(custom("run_complete", run_id=self.run_id))
        self.say({"kind": "run_complete", "run_id": self.run_id, "output": text})
        yield dice.uniform(0.01, 0.5)
        if world.chance(0.6):
            self.take("run_complete", "completed", output=text)
        self._finish("completed", output_preview=text[:500])

    def _finish(self, status: str, **fields: Any) -> None:
        """Record how the run ended, as evidence or as a record."""
        self.flush()
        record = self.record(status, **fields)
        if not self.whole:
            self.world.journal.save_run(record)
            return
        place = {"family": "raw_runtime", "scope": f"run:{self.run_id}"}
        last = self.kept[-1]["sequence"]
        names = {
            "starweaver.durable_session_id": self.talk.session_id,
            "starweaver.durable_run_id": self.run_id,
        }
        self.world.journal.commit_run_evidence(
            {
                "run": record,
                "context_state": {
                    "agent_id": self.talk.agent,
                    "conversation_id": self.talk.conversation_id,
                    "message_history": self.history,
                    "usage": self.usage,
                    "metadata": names,
                },
                "stream_records": self.kept,
                "checkpoints": self.checkpoints,
                "approvals": [],
                "deferred_tools": [],
                "stream_cursors": [
                    {"position": {**place, "sequence": last}, "created_at": self.world.stamp()}
                ],
                "display_messages": [],
                "replay_events": [],
                "publication_targets": {"archive": False, "replay": False},
                "related_run_updates": [],
            }
        )

    def _fail(self) -> None:
        kind = self.world.dice.choices(list(FAILURES), (5, 1, 2, 1, 2))[0]
        message = f"{FAILURES[kind]} ({self.world.prose.word()})"
        told = {"run_id": self.run_id, "error_kind": kind, "message": message}
        self.ask_model()
        self.say(custom("run_failed", **told))
        self.say({"kind": "run_failed", **told})
        self._finish("failed", terminal_error={"code": kind, "message": message})

    def _cancel(self) -> None:
        reason = "the user interrupted it"
        self.ask_model()
        self.say({"kind": "run_cancelled", "run_id": self.run_id, "reason": reason})
        error = {"code": "cancelled", "message": reason}
        self._finish("cancelled", terminal_error=error)

    def _again(self, said: JSON, calls: list[JSON]) -> Wait:
        """Let the host crash and go on: the same response and calls are recorded again."""
        self.flush()
        self.run.release()
        yield self.world.dice.uniform(5, 90)
        self._open_again()
        self.say(said)
        for call in calls:
            self.say({"kind": "tool_call", "step": self.step, "call": call})

    def _open_again(self) -> None:
        talk = self.talk
        self.run = self.world.journal.run(
            self.run_id, session_id=talk.session_id, conversation_id=talk.conversation_id
        )
        self.run.resume(attempt=2)

    def _wait(self, call: JSON, seconds: float) -> Generator[float, None, str]:
        """Wait for somebody's approval; gives how it was decided."""
        world, dice = self.world, self.world.dice
        asked = waits(call, seconds)
        self.say({"kind": "tool_return", "step": self.step, "tool_return": asked})
        self.say(custom("run_waiting", run_id=self.run_id, pending_approvals=1, deferred_tools=0))
        self.say({"kind": "suspended", "node": "tool_return", "reason": "hitl_control_flow"})
        self.take("tool_return", "waiting", pending_approval_tool_returns=[asked])
        request: JSON = {
            "approval_id": f"approval_{self.run_id}_{call['id']}",
            "revision": 1,
            "session_id": self.talk.session_id,
            "run_id": self.run_id,
            "action_id": call["id"],
            "action_name": call["name"],
            "request": asked["metadata"]["approval"],
            "reviewed_arguments": call["arguments"],
            "status": "pending",
            "created_at": world.stamp(),
            "updated_at": world.stamp(),
            "trace_context": self.trace,
        }
        self.run.approval(request)
        self.run.suspend("human decision: approvals 1")
        self.run.release()
        yield min(dice.lognormvariate(6, 1.3), 7200.0)
        status = dice.choices(("approved", "denied"), (4, 1))[0]
        decision = {
            "status": status,
            "decided_by": dice.choice(PEOPLE),
            "decided_at": world.stamp(),
            "reason": world.prose.text(6),
        }
        decided = {**request, "revision": 2, "status": status, "decision": decision}
        world.journal.approval({**decided, "updated_at": world.stamp()})
        yield dice.uniform(1, 20)
        self._open_again()
        return status

    def _child(self, call: JSON) -> Wait:
        """Delegate to a child, whose records are merged into this run's."""
        world, dice, talk = self.world, self.world.dice, self.talk
        own = world.chance(OWN)
        task = identity(dice, "task")
        child = Child(world, talk, self.run_id, call["arguments"]["prompt"], task, own=own)
        self.extra_runs += own
        source = {
            "kind": "subagent",
            "agent_id": f"worker-{task}",
            "agent_name": "worker",
            "task_id": task,
            "run_id": child.run_id,
            "parent_run_id": self.run_id,
        }
        for wait in child.play():
            for made in child.made:
                merged = {**source, "source_sequence": made["sequence"]}
                self.say(made["event"], source=merged)
            child.made = []
            self.flush()
            yield wait
        payload = {"name": "worker", "task_id": task, "run_id": child.run_id}
        self.say(custom("subagent_completed", kind="completed", **payload))
