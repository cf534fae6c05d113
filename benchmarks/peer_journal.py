"""The same runs in a journal.

`record_agent` is the Starweaver agent, recorded live: about 25 events and 5 checkpoints a
step. `record_steps` is the run of the LangGraph graph: a checkpoint of all messages after
the model and after the tools, and the stream records of what happened, which LangGraph does
not keep. A state is read by `replay` at its checkpoint, the history by `history`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from disk import journal_run
from peer_starweaver import tool_returns

from journal import Journal, Run
from projections import CheckpointCursor, RunView, log, replay
from projections.run_history import HistoryEntry, history

RUN = {"run_id": "steps", "conversation_id": "steps"}
USAGE = {"requests": 0, "input_tokens": 0, "output_tokens": 0, "total_tokens": 0}


def record_agent(path: Path, texts: list[str]) -> None:
    """Run the agent and record it as it happens."""
    asyncio.run(journal_run(path, texts))


def record_steps(path: Path, texts: list[str]) -> None:
    """Record what each node of the graph does, and a checkpoint after it."""
    with Journal.open(path) as journal:
        host = _Host(journal.run(RUN["run_id"], session_id="steps", conversation_id="steps"))
        host.starts()
        for step, text in enumerate(texts, 1):
            call = {"id": f"call_{step}", "name": "read", "arguments": {"page": step}}
            host.answers(step, {"kind": "tool_call", **call})
            host.calls(step, call, text)
        host.answers(len(texts) + 1, {"kind": "text", "text": "done"})


class _Host:
    """Hands a run to the journal, node by node."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._sequence = 0
        self._messages: list[dict[str, Any]] = []

    def starts(self) -> None:
        prompt = {"kind": "user_prompt", "content": "read it all"}
        message = {"kind": "request", "parts": [prompt]}
        self._node("run_start", 0, [{"kind": "run_start", **RUN}], message)

    def answers(self, step: int, part: dict[str, Any]) -> None:
        response = {"parts": [part], "usage": USAGE}
        events = [
            {"kind": "model_request", "step": step - 1},
            {"kind": "model_response", "step": step, "response": response},
        ]
        self._node("model_response", step, events, {"kind": "response", **response})

    def calls(self, step: int, call: dict[str, Any], text: str) -> None:
        back = {"tool_call_id": call["id"], "name": call["name"], "content": text}
        back["is_error"] = False
        events = [
            {"kind": "tool_call", "step": step, "call": call},
            {"kind": "tool_return", "step": step, "tool_return": back},
        ]
        message = {"kind": "request", "parts": [{"kind": "tool_return", **back}]}
        self._node("tool_return", step, events, message)

    def _node(
        self, node: str, step: int, events: list[dict[str, Any]], message: dict[str, Any]
    ) -> None:
        self._run.append_many(
            [{"sequence": self._sequence + at, "event": event} for at, event in enumerate(events)]
        )
        self._sequence += len(events)
        self._messages = [*self._messages, message]
        self._run.checkpoint(self._checkpoint(node, step))

    def _checkpoint(self, node: str, step: int) -> dict[str, Any]:
        common = {"run_step": step, "usage": USAGE, "status": "running"}
        cursor = {
            "model_request_attempt": step,
            "output_validation_attempt": 0,
            "stream_cursor": self._sequence - 1,
            "message_cursor": len(self._messages),
        }
        counts = {"pending_approval_count": 0, "deferred_tool_count": 0}
        return {
            "checkpoint_id": f"{node}_{step}",
            **RUN,
            "node": node,
            "run_step": step,
            "resume": {"node": node, "cursor": cursor, **counts, **common},
            "state": {**RUN, "message_history": self._messages, **common},
        }


class JournalReader:
    """Reads the only run of a journal."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Self:
        """Open the file."""
        self._journal = Journal.open(self._path, create=False)
        [self._run_id] = self._journal.reader.run_ids()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._journal.close()

    def at(self, part: float) -> Callable[[], RunView]:
        """Look up the checkpoint's id."""
        taken = [
            entry.event.data["checkpoint_id"]
            for entry in log(self._journal, self._run_id, kinds=["checkpoint.taken"])
        ]
        cursor = CheckpointCursor(taken[int(part * len(taken))])
        return lambda: replay(self._journal, self._run_id, at=cursor)

    def history(self) -> Iterator[HistoryEntry]:
        """Read every checkpoint, first to last."""
        return history(self._journal, self._run_id)

    def answer(self, state: RunView) -> Any:
        """Give the view as JSON."""
        return state.to_json()

    def results(self, state: HistoryEntry) -> int:
        """Count the tool returns in the history of a checkpoint."""
        return tool_returns(state.checkpoint)
