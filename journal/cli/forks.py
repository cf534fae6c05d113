"""A fork that was made: what it is of, and what it inherits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from journal.cli.messages import shown
from journal.cli.output import Output, Part
from journal.cli.page import field, show_open_calls, status

if TYPE_CHECKING:
    from journal.run import Run
    from projections import RunView


@dataclass(frozen=True, slots=True)
class Forked:
    """A fork, and the view that it begins with."""

    run: Run
    view: RunView

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.fork` object that `runjournal fork --json` prints."""
        view, lineage = self.view, self.view.lineage
        return {
            "schema": "runjournal.fork",
            "schema_version": 1,
            "run_id": self.run.run_id,
            "session_id": self.run.session_id,
            "conversation_id": self.run.conversation_id,
            "forked_from": {"run_id": lineage.forked, "cursor": lineage.cursor},
            "source": {"run_id": lineage.source, "version": lineage.version},
            "cursor": view.cursor.to_json(),
            "status": view.live.status,
            "messages": len(view.messages),
            "open_tool_calls": [call.id for call in view.live.open_tool_calls],
        }


def show_fork(output: Output, forked: Forked) -> None:
    """Print which run is the fork, what it is of, and what it inherits."""
    view, run = forked.view, forked.run
    live, cursor = view.live, view.cursor
    field(output, "run", shown(run.run_id))
    field(output, "session", shown(run.session_id))
    if run.conversation_id is not None:
        field(output, "conversation", shown(run.conversation_id))
    field(output, "forked from", shown(view.run_id), "  ", (cursor.requested, "bold"))
    field(output, "inherits", f"{len(view.messages)} messages, ", *_source(view))
    if cursor.checkpoint_id is not None:
        field(output, "checkpoint", shown(cursor.checkpoint_id))
    at = "" if live.node is None else f" at {live.node}, step {live.step}"
    field(output, "status", status(live.status), at)
    show_open_calls(output, live)


def _source(view: RunView) -> list[Part]:
    lineage = view.lineage
    return ["events of ", shown(lineage.source), f" up to version {lineage.version}"]
