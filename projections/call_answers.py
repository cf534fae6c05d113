"""What became of the tool calls of a run: which were made, started, and answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from typing import Any

from journal.codec import RecordedEvent
from journal.events import CheckpointTaken, StreamRecorded
from projections.blame import blamed_on
from projections.control_flow import control_flow
from projections.levels import last_return
from projections.looked_up import LookedUp
from projections.order import shaped
from projections.reading import HasReader
from projections.run_index import RunIndex
from projections.view import RunView
from projections.volatile import called, parts_of
from projections.waiting_item import WaitingItem


class CallAnswers:
    """The tool calls of a run, and their answers, as far as they are known."""

    def __init__(self, journal: HasReader, view: RunView) -> None:
        index = RunIndex(journal, view.run_id)
        with blamed_on(index.stream):
            fold = index.fold_to(index.whole)
            levels = index.levels(index.whole)
            returned = [last_return(levels, fold, call_id) for call_id in fold.returned]
            taken = LookedUp(journal.reader).one(fold.checkpoint)
        self._checkpointed_at = _time_of(taken)
        host_said = (CheckpointTaken.NAME, StreamRecorded.NAME)
        self._last_said_at = _time_of(journal.reader.last_run_event(view.run_id, host_said))
        self._started = fold.calls.keys()
        self._made: dict[str, dict[str, Any]] = {}
        self.answered: set[str] = set()
        with shaped(taken) if taken is not None else nullcontext():
            self._read((view.checkpoint or {}).get("state", {}), view.messages)
        self.returns: list[dict[str, Any]] = []
        for event in returned:
            if event is None:
                continue
            with shaped(event):
                part = event.data["record"]["event"]["tool_return"]
                if control_flow(part) is None and part["tool_call_id"] not in self.answered:
                    self.returns.append(part)
        self.answered |= {part["tool_call_id"] for part in self.returns}

    def _read(self, state: Mapping[str, Any], messages: Iterable[Any]) -> None:
        for call in state.get("pending_tool_calls") or ():
            self._made[call["id"]] = call
        parts = [part for message in messages for part in parts_of(message)]
        for made in map(called, parts):
            if made is not None and "id" in made:
                self._made[made["id"]] = made
        for part in (*parts, *(state.get("pending_tool_returns") or ())):
            if _is_answer(part):
                self.answered.add(part["tool_call_id"])

    def knows(self, call_id: str) -> bool:
        """Tell whether the run made a tool call of this id."""
        return call_id in self._made or call_id in self._started

    def was_started(self, call_id: str) -> bool:
        """Tell whether a call was recorded after the checkpoint that was to start it."""
        return call_id in self._started

    def checkpointed_since(self, item: WaitingItem) -> bool:
        """Tell whether the run took a checkpoint after something was decided."""
        return _is_before(item, self._checkpointed_at)

    def host_lived_after(self, item: WaitingItem) -> bool:
        """Tell whether the run's host recorded anything after something was decided."""
        return _is_before(item, self._last_said_at)

    def arguments(self, call_id: str, item: WaitingItem) -> Any:
        """Give the arguments of an approved call."""
        if call_id in self._made:
            return self._made[call_id].get("arguments")
        return item.record.get("reviewed_arguments")


def _time_of(event: RecordedEvent | None) -> int | None:
    return None if event is None else event.recorded_at


def _is_before(item: WaitingItem, moment: int | None) -> bool:
    return moment is not None and item.recorded_at is not None and item.recorded_at < moment


def _is_answer(part: Any) -> bool:
    if not isinstance(part, dict) or "tool_call_id" not in part:
        return False
    return part.get("kind", "tool_return") == "tool_return" and control_flow(part) is None
