"""A run of the audit's journal: what its host hands in, step by step, with the time between."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from audit_shapes import (
    MODELS,
    added,
    custom,
    identity,
    no_usage,
    node,
    prompt,
    request,
    response,
    snapshot,
    stamp,
    streamed,
    used,
)
from audit_text import Prose
from audit_tools import Tools

from journal import Journal

JSON = dict[str, Any]
Wait = Iterator[float]
"""Hands things in, and yields the seconds until the next ones."""

AGENTS = ("main", "researcher", "coder", "support", "analyst")
FAILURES = {
    "model_error": "model transport failed: 529 overloaded",
    "usage_limit": "usage limit of 40 requests reached",
    "timeout": "run gave no answer within 600 s",
    "output_validation": "output did not match the schema after 3 retries",
    "tool_error": "tool failed and may not be retried",
}
REMEMBERED = 6
"""Messages of earlier runs that a run of a session begins with."""

FLUSH = 8
"""Records that the host hands in together."""


@dataclass(frozen=True, slots=True)
class World:
    """What all runs share."""

    dice: random.Random
    prose: Prose
    tools: Tools
    journal: Journal
    now: Callable[[], int]
    until: int
    """When everything ends."""
    instructions: dict[str, str]
    """What each agent is told at the beginning of every run."""

    def chance(self, part: float) -> bool:
        """Tell whether something happens that happens to this part."""
        return self.dice.random() < part

    def stamp(self) -> str:
        """Write the time."""
        return stamp(self.now())


@dataclass(slots=True)
class Talk:
    """A session: what its runs have in common."""

    session_id: str
    conversation_id: str
    agent: str
    model: str
    history: list[JSON] = field(default_factory=list)
    trace_id: str = ""
    last_run: str | None = None


def new_talk(world: World) -> Talk:
    """Make a session."""
    dice = world.dice
    return Talk(
        identity(dice, "session"),
        identity(dice, "conv"),
        dice.choices(AGENTS, (8, 4, 4, 2, 1))[0],
        dice.choices(MODELS, (5, 4, 2, 1))[0],
    )


class Host:
    """Runs one agent, and hands in what it does: the parts that all kinds of runs have."""

    def __init__(self, world: World, talk: Talk, deltas: int, *, whole: bool) -> None:
        self.world, self.talk = world, talk
        self.run_id = identity(world.dice, "run")
        self.span_id = f"{world.dice.getrandbits(64):016x}"
        self.created = world.stamp()
        self.ask = world.prose.text(world.dice.randint(8, 45))
        self.step = 0
        self.usage = no_usage()
        self.history = list(talk.history)
        self.run = world.journal.run(
            self.run_id, session_id=talk.session_id, conversation_id=talk.conversation_id
        )
        self.kept: list[JSON] = []
        """What was handed in, of a run whose evidence is committed."""
        self.checkpoints: list[JSON] = []
        self._deltas = deltas
        self._whole = whole
        self._sequence = 0
        self._waiting: list[JSON] = []
        self._latest: JSON | None = None

    @property
    def trace(self) -> JSON:
        """Where the run is in its trace."""
        return {"trace_id": self.talk.trace_id, "span_id": self.span_id}

    def record(self, status: str, **fields: Any) -> JSON:
        """Make the run's record."""
        return {
            "session_id": self.talk.session_id,
            "run_id": self.run_id,
            "conversation_id": self.talk.conversation_id,
            "profile": self.talk.agent,
            "input": [{"kind": "text", "text": self.ask}],
            "status": status,
            "sequence_no": 0,
            "trace_context": self.trace,
            "created_at": self.created,
            "updated_at": self.world.stamp(),
            "revision": 1,
            "metadata": {"agent_id": self.talk.agent, "agent_name": self.talk.agent},
            **fields,
        }

    def say(self, *events: JSON, source: JSON | None = None) -> None:
        """Hold records back until the next `flush`."""
        for event in events:
            made: JSON = {"sequence": self._sequence, "event": event}
            if source is not None:
                made["source"] = source
            self._waiting.append(made)
            self._sequence += 1

    def node(self, name: str, status: str = "running") -> None:
        """Say that a node ran, as far as the host tells that."""
        if self._whole or name in ("model_response", "tool_return"):
            self.say(*node(name, self.step, status))

    def skip(self, count: int) -> None:
        """Lose records."""
        self._sequence += count

    def flush(self) -> None:
        """Hand in the records held back."""
        if self._waiting:
            self.run.append_many(self._waiting)
            if self._whole:
                self.kept += self._waiting
            self._waiting = []

    def take(self, name: str, status: str = "running", **state: Any) -> None:
        """Hand in what is held back, and a checkpoint."""
        self.flush()
        talk, cursor = self.talk, max(self._sequence - 1, 0)
        resume = {
            "node": name,
            "status": status,
            "run_step": self.step,
            "cursor": {
                "model_request_attempt": self.step,
                "output_validation_attempt": 0,
                "stream_cursor": cursor,
                "message_cursor": len(self.history),
            },
            "usage": self.usage,
            "pending_approval_count": len(state.get("pending_approval_tool_returns", ())),
            "deferred_tool_count": 0,
            "trace_context": self.trace,
        }
        full: JSON = {
            "run_id": self.run_id,
            "conversation_id": talk.conversation_id,
            "message_history": list(self.history),
            "usage": self.usage,
            "run_step": self.step,
            "status": status,
            "metadata": {"starweaver_original_request": self.ask},
            **state,
        }
        if self._latest is not None:
            full["latest_response"] = self._latest
        made = {
            "checkpoint_id": identity(self.world.dice, "ckpt"),
            "run_id": self.run_id,
            "conversation_id": talk.conversation_id,
            "node": name,
            "run_step": self.step,
            "resume": resume,
            "state": full,
            "metadata": self.trace,
        }
        self.run.checkpoint(made)
        if self._whole:
            self.checkpoints.append(made)

    def ask_model(self) -> None:
        """Say that the model is asked."""
        self.node("prepare_model_request")
        self.say({"kind": "model_request", "step": self.step})
        self.node("before_model_request")

    def stream_text(self, text: str) -> Wait:
        """Stream a text, a few words at a time."""
        self.say(streamed(self.step, "part_start", index=0, part_kind="text"))
        words = text.split(" ")
        each = max(1, -(-len(words) // self._deltas))
        for at in range(0, len(words), each):
            said = " ".join(words[at : at + each]) + " " * (at + each < len(words))
            self.say(streamed(self.step, "part_delta", index=0, delta_kind="text", text=said))
            if len(self._waiting) >= FLUSH:
                self.flush()
                yield self.world.dice.uniform(0.5, 6)
        self.say(streamed(self.step, "part_end", index=0, part_kind="text"))

    def stream_call(self, index: int, call: JSON) -> None:
        """Stream the name of a call and its arguments."""
        step, kind = self.step, "part_delta"
        given = str(call["arguments"])
        half = len(given) // 2
        name, more = "tool_call_name", "tool_call_arguments"
        self.say(streamed(step, "part_start", index=index, part_kind="tool_call"))
        self.say(streamed(step, kind, index=index, delta_kind=name, name=call["name"]))
        for part in (given[:half], given[half:]):
            self.say(streamed(step, kind, index=index, delta_kind=more, arguments_delta=part))
        self.say(streamed(step, "part_end", index=index, part_kind="tool_call"))

    def respond(self, parts: list[JSON]) -> JSON:
        """Say what the model responded, and what that used; gives the record of it."""
        talk = self.talk
        size = sum(len(str(message["parts"])) for message in self.history)
        latest = used(self.world.dice, size, len(str(parts)))
        self.step += 1
        self.usage = added(self.usage, latest)
        made = response(parts, latest, talk.model, self.run_id, self.world.stamp())
        said = {"kind": "model_response", "step": self.step, "response": made}
        self.say(said)
        self.say(snapshot(self.run_id, talk.agent, talk.model, latest, self.usage))
        self._latest = made
        self.history = [*self.history, {"kind": "response", **made}]
        self.node("model_response")
        return said

    def hear(self, parts: list[JSON]) -> None:
        """Add a request to the history."""
        self.history = [*self.history, request(parts, self.run_id, self.world.stamp())]

    def begin(self) -> None:
        """Say that the run begins, with what it was asked."""
        self.world.journal.save_run(self.record("running"))
        talk = self.talk.conversation_id
        self.say({"kind": "run_start", "run_id": self.run_id, "conversation_id": talk})
        if self._whole:
            self.say(custom("run_start", run_id=self.run_id))
            self.node("run_start")
        told = {"kind": "system_prompt", "text": self.world.instructions[self.talk.agent]}
        self.hear([told, prompt(self.ask)])

    def end(self) -> None:
        """Release the run, and let the session remember."""
        self.flush()
        self.run.release()
        self.talk.last_run = self.run_id
        self.talk.history = self.history[-REMEMBERED:]
