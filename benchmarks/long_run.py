"""A very long run: what a host hands in, checkpoint by checkpoint, the same every time.

A step of the agent streams for many checkpoints (the host takes one about every 50 records,
and looks things up in tools that it keeps out of the history), then the model responds, a
tool answers, and the history grows by both. Three times in a run it is compacted to a summary
and what came last.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from texts import vocabulary

JSON = dict[str, Any]

COMPACTIONS = 3
KEPT = 6
"""Messages that a compaction leaves: the summary, and the last ones."""

STEPS = 360
"""Steps of a run with that many checkpoints or more; so its answers stay below 200 KB."""

FEWEST = 8
"""Records of a checkpoint without a single delta of text."""

FIRST_SECOND = 1_764_547_200
WORDS_OF_A_DELTA = (1, 1, 2, 3, 4, 6, 9, 16)


class Stretch(NamedTuple):
    """The records up to a checkpoint, and the checkpoint."""

    records: list[JSON]
    checkpoint: JSON
    messages: int
    """Length of its history."""
    compacts: bool


@dataclass(frozen=True, slots=True)
class Shape:
    """How long a run is: at least `FEWEST` records a checkpoint."""

    records: int
    checkpoints: int
    seed: int = 7

    @property
    def steps(self) -> int:
        """Count the steps of the agent."""
        return -(-self.checkpoints // self.checkpoints_per_step)

    @property
    def checkpoints_per_step(self) -> int:
        """Count the checkpoints in a step; the last step may have fewer."""
        return -(-self.checkpoints // STEPS)


class LongRun:
    """Makes the run `run` of the session `session`."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._dice = random.Random(shape.seed)
        self._words = vocabulary(self._dice)
        self._sequence = 0
        self._history: list[JSON] = [_request(0, "user_prompt", content=self._text(60))]
        self._usage = dict.fromkeys(
            ("requests", "input_tokens", "output_tokens", "total_tokens", "tool_calls"), 0
        )
        self._last_call: JSON | None = None
        self._last_response: JSON | None = None

    def stretches(self) -> Iterator[Stretch]:
        """Yield the whole run in order."""
        shape, each = self._shape, self._shape.checkpoints_per_step
        epochs = COMPACTIONS + 1
        compacting = {shape.steps * part // epochs for part in range(1, epochs)} - {0}
        for number in range(1, shape.checkpoints + 1):
            step = -(-number // each)
            ends = number % each == 0 or number == shape.checkpoints
            due = shape.records * number // shape.checkpoints - self._sequence
            begins = number % each == 1 or each == 1
            records = list(self._records(step, due, begins=begins, ends=ends))
            compacts = ends and step in compacting
            if compacts:
                summary = _request(step, "user_prompt", content="Summary: " + self._text(400))
                self._history = [summary, *self._history[1 - KEPT :]]
            made = self._checkpoint(number, step if ends else step - 1)
            yield Stretch(records, made, len(self._history), compacts)

    def _records(self, step: int, count: int, *, begins: bool, ends: bool) -> Iterator[JSON]:
        head = [{"kind": "node_start", "node": "model_response", "step": step, "status": "running"}]
        if begins:
            head.append({"kind": "model_request", "step": step})
        else:
            resumed = {"kind": "model_stream_resume", "payload": {"attempt": self._sequence}}
            head.append({"kind": "custom", "event": resumed})
        head.append(_streamed(step, kind="part_start", index=0, part_kind="text"))
        node = "tool_return" if ends else "model_response"
        tail = [_streamed(step, kind="part_end", index=0, part_kind="text")]
        tail += self._ending(step) if ends else self._look_up(step)
        tail.append({"kind": "node_complete", "node": node, "step": step, "status": "running"})
        deltas = [self._delta(step) for _ in range(count - len(head) - len(tail))]
        for event in (*head, *deltas, *tail):
            yield {"sequence": self._sequence, "event": event}
            self._sequence += 1

    def _delta(self, step: int) -> JSON:
        kind = "thinking" if self._dice.random() < 0.3 else "text"
        text = self._text(self._dice.choice(WORDS_OF_A_DELTA)) + " "
        return _streamed(step, kind="part_delta", index=0, delta_kind=kind, text=text)

    def _look_up(self, step: int) -> list[JSON]:
        return [self._call(step), self._return(step, 30)]

    def _ending(self, step: int) -> list[JSON]:
        """Give the events of a response and its tool, which go into the history."""
        call = self._call(step)
        words = 300 if self._dice.random() < 0.05 else 25
        returned = self._return(step, words)
        response = {
            "parts": [
                {"kind": "text", "text": self._text(self._dice.randint(5, 30))},
                {"kind": "tool_call", **call["call"]},
            ],
            "usage": self._used(),
            "model_name": "model-1",
            "finish_reason": "tool_calls",
        }
        self._last_response = response
        self._history = [
            *self._history,
            {"kind": "response", **response},
            _request(step, "tool_return", **returned["tool_return"]),
        ]
        return [{"kind": "model_response", "step": step, "response": response}, call, returned]

    def _call(self, step: int) -> JSON:
        arguments = {"query": self._text(4), "page": self._dice.randint(1, 99)}
        name = self._dice.choice(("search", "read_page", "recall"))
        self._last_call = {
            "id": f"call_{self._dice.getrandbits(64):016x}",
            "name": name,
            "arguments": arguments,
        }
        return {"kind": "tool_call", "step": step, "call": self._last_call}

    def _return(self, step: int, words: int) -> JSON:
        call = self._last_call
        returned = {
            "tool_call_id": call["id"],
            "name": call["name"],
            "content": self._text(words),
            "is_error": False,
        }
        return {"kind": "tool_return", "step": step, "tool_return": returned}

    def _used(self) -> JSON:
        tokens = 500 + 90 * len(self._history), self._dice.randint(50, 900)
        used = {
            "requests": 1,
            "input_tokens": tokens[0],
            "output_tokens": tokens[1],
            "total_tokens": sum(tokens),
            "tool_calls": 1,
        }
        self._usage = {name: count + used[name] for name, count in self._usage.items()}
        return used

    def _checkpoint(self, number: int, step: int) -> JSON:
        names = {"run_id": "run", "conversation_id": "conversation"}
        common = {"run_step": step, "usage": self._usage, "status": "running"}
        resume = {
            "node": "tool_return",
            "cursor": {
                "model_request_attempt": step,
                "output_validation_attempt": 0,
                "stream_cursor": self._sequence - 1,
                "message_cursor": len(self._history),
            },
            "pending_approval_count": 0,
            "deferred_tool_count": 0,
            **common,
        }
        state = {**names, "message_history": self._history, **common, "metadata": {"taken": number}}
        if self._last_response is not None:
            state["latest_response"] = self._last_response
        return {
            "checkpoint_id": f"checkpoint_{number}",
            **names,
            "node": "tool_return",
            "run_step": step,
            "resume": resume,
            "state": state,
        }

    def _text(self, words: int) -> str:
        return " ".join(self._dice.choices(self._words, k=words))


def _streamed(step: int, **event: Any) -> JSON:
    return {"kind": "model_stream", "step": step, "event": event}


def _request(step: int, kind: str, **part: Any) -> JSON:
    return {
        "kind": "request",
        "parts": [{"kind": kind, **part}],
        "metadata": {"second": FIRST_SECOND + step},
    }
