"""A run that another one of the audit's journal delegates to."""

from __future__ import annotations

from typing import Any

from audit_run import Talk, Wait, World
from audit_shapes import identity, no_usage, response, streamed, used

JSON = dict[str, Any]


class Child:
    """A run that another one delegates to; on its own in the journal only when `own`."""

    def __init__(  # noqa: PLR0913 - what a child is told
        self, world: World, talk: Talk, parent: str, ask: str, task: str, *, own: bool
    ) -> None:
        self.made: list[JSON] = []
        """What it streamed since somebody took it."""
        self._world, self._talk, self._parent, self._task = world, talk, parent, task
        self._ask = ask
        self.run_id = identity(world.dice, "run")
        self._sequence = 0
        self._new: list[JSON] = []
        self._usage = no_usage()
        self._run = None
        if own:
            self._run = world.journal.run(
                self.run_id, session_id=talk.session_id, conversation_id=talk.conversation_id
            )
            self._save("running")

    def play(self) -> Wait:
        """Call one tool, and answer."""
        world, dice = self._world, self._world.dice
        conversation = self._talk.conversation_id
        self._say(
            {"kind": "run_start", "run_id": self.run_id, "conversation_id": conversation},
            {"kind": "model_request", "step": 0},
        )
        call = world.tools.call()
        self._respond(1, {"kind": "tool_call", **call})
        self._say({"kind": "tool_call", "step": 1, "call": call})
        self._flush()
        seconds = world.tools.duration()
        yield seconds
        returned = world.tools.returned(call, seconds)
        self._say(
            {"kind": "tool_return", "step": 1, "tool_return": returned},
            {"kind": "model_request", "step": 1},
        )
        text = world.prose.text(dice.randint(15, 40))
        for word in (text[: len(text) // 2], text[len(text) // 2 :]):
            self._say(streamed(1, "part_delta", index=0, delta_kind="text", text=word))
        self._respond(2, {"kind": "text", "text": text})
        self._say({"kind": "run_complete", "run_id": self.run_id, "output": text})
        self._flush()
        yield dice.uniform(0.1, 2)
        if self._run is not None:
            self._save("completed", output_preview=text)
            self._run.release()

    def _say(self, *events: JSON) -> None:
        for event in events:
            self._new.append({"sequence": self._sequence, "event": event})
            self._sequence += 1

    def _respond(self, step: int, part: JSON) -> None:
        usage = used(self._world.dice, len(self._ask), len(str(part)))
        at = self._world.stamp()
        made = response([part], usage, "model-small-2", self.run_id, at)
        self._say({"kind": "model_response", "step": step, "response": made})

    def _flush(self) -> None:
        if self._run is not None:
            self._run.append_many(self._new)
        self.made, self._new = self._new, []

    def _save(self, status: str, **fields: Any) -> None:
        world, talk = self._world, self._talk
        world.journal.save_run(
            {
                "session_id": talk.session_id,
                "run_id": self.run_id,
                "conversation_id": talk.conversation_id,
                "parent_run_id": self._parent,
                "parent_task_id": self._task,
                "profile": "worker",
                "input": [{"kind": "text", "text": self._ask}],
                "status": status,
                "sequence_no": 0,
                "trace_context": {"trace_id": talk.trace_id},
                "created_at": world.stamp(),
                "updated_at": world.stamp(),
                "revision": 1,
                "metadata": {"agent_id": "worker", "agent_name": "worker"},
                **fields,
            }
        )
