"""Child runs whose records the host merged into the parent's stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from projections.progress import Progress

TEXT_PARTS = ("text", "provider_text")


@dataclass(frozen=True, slots=True)
class Child:
    """A child run, as far as the parent's stream tells."""

    run_id: str | None
    agent_id: str
    agent_name: str
    task_id: str | None
    status: str | None
    """From its records, by the rules of the parent's; None until one tells it."""
    text: str
    """What its last model request answered so far."""
    records: int
    """Number of its records."""

    def to_json(self) -> dict[str, Any]:
        """Give the object of `runjournal.view`."""
        return {
            "run_id": self.run_id,
            "agent_id": self.agent_id,
            "agent_name": self.agent_name,
            "task_id": self.task_id,
            "status": self.status,
            "text": self.text,
            "records": self.records,
        }


class ChildFold:
    """What is known of one child."""

    __slots__ = ("about", "answer", "progress", "records")

    def __init__(self) -> None:
        self.about: tuple[str | None, str, str, str | None] = (None, "", "", None)
        """Its run id, agent id, agent name and task id, as its last record gives them."""
        self.progress = Progress()
        self.answer = ""
        self.records = 0

    def child(self) -> Child:
        """Show it."""
        return Child(
            *self.about,
            self.progress.status,
            self.progress.streamed.text or self.answer,
            self.records,
        )


class Children:
    """The children of one run, folded in logical order."""

    __slots__ = ("_folds",)

    def __init__(self) -> None:
        self._folds: dict[tuple[str | None, str, str | None], ChildFold] = {}

    @property
    def folds(self) -> Iterable[ChildFold]:
        """The children in the order of their first records."""
        return self._folds.values()

    def put(self, fold: ChildFold) -> None:
        """Add a child that was folded before."""
        run_id, agent_id, _, task_id = fold.about
        self._folds[run_id, agent_id, task_id] = fold

    def record(self, source: dict[str, Any], event: dict[str, Any]) -> None:
        """Take a stream record that has a source."""
        run_id, agent_id, task_id = source.get("run_id"), source["agent_id"], source.get("task_id")
        key = (run_id, agent_id, task_id)
        fold = self._folds.get(key)
        if fold is None:
            fold = self._folds[key] = ChildFold()
        fold.about = (run_id, agent_id, source["agent_name"], task_id)
        fold.records += 1
        kind = event["kind"]
        fold.progress.record(kind, event)
        if kind == "model_response":
            fold.answer = response_text(event["response"])
        elif kind == "model_request":
            fold.answer = ""

    def listed(self) -> tuple[Child, ...]:
        """List the children in the order of their first records."""
        return tuple(fold.child() for fold in self._folds.values())


def response_text(response: dict[str, Any]) -> str:
    """Join the text parts of a model response; parts of other shapes have no text."""
    return "".join(
        part["text"]
        for part in response["parts"]
        if part["kind"] in TEXT_PARTS and isinstance(part.get("text"), str)
    )
