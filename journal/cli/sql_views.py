"""The views that SQL of people reads, and what each column means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from journal.cli.output import Output

_COMMON = {
    "run_id": "id of the run",
    "session_id": "id of its session",
    "conversation_id": "id of its conversation",
    "parent_run_id": "id of the run that started it",
    "agent": "name of the agent; of a child where child_run_id is set",
    "child_run_id": "child run that the record belongs to; its own rows tell the same",
    "version": "of the event in its run",
    "position": "of the event in the journal",
    "anchor": "place in the run: what stream:N replays to",
    "step": "step of the run",
    "tool": "name of the tool, or of the action that waits for approval",
    "call_id": "id of the tool call",
    "trace_id": "id of the trace",
    "span_id": "id of the span",
    "error_kind": "what kind of error",
}

_ROWS = {
    "part": "counts the rows of one event from 0",
    "rank": "0 for a stream record, 1 for anything else; the order of a run is "
    "anchor, rank, version, part",
    "recorded_at": "when it was first recorded, microseconds since 1970 (UTC), as all times",
    "host_at": "the time the host gave",
    "kind": "such as tool_call, tool_return, model_response, approval.decided, prompt",
    "node": "node of the run",
    "item_id": "id of the approval, deferred tool, checkpoint or claim",
    "status": "of a return ok, error, approval_required or deferred; of a decision or a change "
    "of the run what it says; repeated for a response recorded before",
    "actor": "who decided",
    "model": "name of the model",
    "requests": "requests to the model; this and the tokens are NULL where it is no response",
    "input_tokens": "tokens read by the model",
    "output_tokens": "tokens written by it",
    "cache_read_tokens": "of the input, read from a cache",
    "cache_write_tokens": "written to a cache",
    "total_tokens": "as the host gave it",
    "cost_micros": "estimate of the host, micro-dollars",
    "duration_ms": "of a tool's return, where the host gave it",
    "from_state": "1: made from a checkpoint; counts where `records` of the run is 0",
    "text": "prompt, answer, arguments, result, error or reason",
}

_RUNS = {
    "forked_from": "id of the run it was forked from",
    "status": "as recorded last",
    "opened_at": "when its first event was recorded, microseconds since 1970 (UTC)",
    "updated_at": "its last event",
    "ended_at": "when it ended",
    "version": "how many events it has",
    "position": "of its last event",
    "anchor": "its largest",
    "records": "own stream records of responses, tool calls and returns",
    "sequences": "sequences of all stream records, as ranges: 0-52 54",
    "error": "why it failed or was cancelled",
    "last_tool": "the tool it called last",
    "last_call_id": "id of that call",
    "last_call_anchor": "place of that call",
    "last_text": "the start of what the model said last",
    "last_text_anchor": "place of that text",
    "trace_ids": "every trace it was on, a JSON array",
    "archived": "1: its events are in an archive only",
}

_CALLS = {
    "called_at": "when the call was recorded last, microseconds since 1970 (UTC)",
    "returned_at": "when its return was; NULL without one",
    "outcome": "ok, error, approval_required, deferred, or missing: no return was recorded",
    "duration_ms": "as its return says, else between the two times",
    "arguments": "of the call, JSON",
    "result": "what it returned",
}

_VIEWS = {
    "rows": (
        "one thing that happened",
        """position part version run_id session_id conversation_id parent_run_id agent child_run_id
        anchor rank recorded_at host_at kind node step tool call_id item_id status error_kind actor
        trace_id span_id model requests input_tokens output_tokens cache_read_tokens
        cache_write_tokens total_tokens cost_micros duration_ms from_state text""",
        _ROWS,
    ),
    "runs": (
        "a run as it stands",
        """run_id session_id conversation_id parent_run_id agent forked_from status opened_at
        updated_at ended_at version position anchor records sequences error_kind error last_tool
        last_call_id last_call_anchor last_text last_text_anchor trace_ids archived""",
        _RUNS,
    ),
    "calls": (
        "a tool call with its return, however often either was recorded",
        """position version run_id session_id agent child_run_id anchor step tool call_id called_at
        returned_at outcome duration_ms error_kind arguments result trace_id span_id""",
        _CALLS,
    ),
}


_ENGINES = (
    "SQLite answers; with --archive DuckDB does, and differs in these:",
    "  LIKE heeds case: lower(text) LIKE 'x%' is the same in both",
    "  types are strict: tool >= 1 is an error, 1 = '1' is true",
    "  functions: a statement that calls one that is not there is told which are",
)


@dataclass(frozen=True, slots=True)
class SQLView:
    """A view that SQL of people reads."""

    name: str
    about: str
    """What a row of it is."""
    columns: Mapping[str, str]
    """What each means, in order."""

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.sql_view` object."""
        return {
            "schema": "runjournal.sql_view",
            "schema_version": 1,
            "view": self.name,
            "about": self.about,
            "columns": [{"name": name, "about": about} for name, about in self.columns.items()],
        }


def sql_views() -> list[SQLView]:
    """Describe the views."""
    return [
        SQLView(
            name, about, {column: own.get(column) or _COMMON[column] for column in names.split()}
        )
        for name, (about, names, own) in _VIEWS.items()
    ]


def show_views(output: Output, views: Iterable[SQLView]) -> None:
    """Print the views, one below the other, a column a line; then in what the engines differ."""
    for at, view in enumerate(views):
        if at:
            output.line()
        output.line((view.name, "bold"), (f"  {view.about}", "dim"))
        for name, about in view.columns.items():
            output.line(f"  {name:<19}", (about, "dim"), whole=True)
    output.line()
    for line in _ENGINES:
        output.line((line, "dim"), whole=True)
