"""The rows of checkpoints and exported contexts: of the events, and of what is new in them.

A host that streams nothing tells only by its checkpoints what was said: their new messages
give rows, which count in runs without stream records of it. Prompts are in no stream record, so
that theirs always count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from journal.codec import RecordedEvent
from journal.json_door import JSON
from projections.audit.cells import digest, host_time, text_or_json, told
from projections.audit.event_cells import NO_USAGE, EventCells, Usage, trace_of, usage_of
from projections.audit.new_messages import New, NewMessages, Path
from projections.audit.record_rows import put_return
from projections.audit.remembered import is_first
from projections.audit.run_record_rows import prompt
from projections.children import TEXT_PARTS
from projections.order import text, whole
from projections.summary import CALL_PARTS

IN_CHECKPOINT: Final[Path] = ("state", "message_history")
IN_CONTEXT: Final[Path] = ("message_history",)

DocumentOf = Callable[[RecordedEvent], JSON]
"""Rebuilds the document of an event; None where it cannot be."""


def checkpoint_taken(cells: EventCells, event: RecordedEvent, documents: DocumentOf) -> None:
    """Write the rows of a checkpoint.

    Raises:
        AttributeError, IndexError, KeyError, TypeError: it has another shape.
    """
    data, run = event.data, cells.run
    status, step = text(data["status"]), whole(data["step"])
    delta = data["delta"]
    trace = trace_of(data.get("trace_context")) or trace_of(_last_value(delta, "metadata"))
    run.tell_trace(trace)
    if run.conversation_id is None:
        run.conversation_id = told(data.get("conversation_id"))
    cells.put(
        "checkpoint.taken",
        node=data["node"],
        step=step,
        status=status,
        item_id=text(data["checkpoint_id"]),
    )
    _messages(cells, event, IN_CHECKPOINT, step, documents)
    run.messages = whole(data["messages"])
    run.set_status(status, cells.place, cells.recorded_at)


def context_exported(cells: EventCells, event: RecordedEvent, documents: DocumentOf) -> None:
    """Write the rows of an exported context, and take whose it says it is.

    Raises:
        AttributeError, IndexError, KeyError, TypeError: it has another shape.
    """
    data, run = event.data, cells.run
    delta = data["delta"]
    agent = _last_value(delta, "agent_id")
    known = _last_value(delta, "agent_registry")
    if type(agent) is str:
        entry = known.get(agent) if type(known) is dict else None
        run.agent = told(entry.get("agent_name")) if type(entry) is dict else None
        run.agent = cells.agent = run.agent or agent
    if run.parent_run_id is None:
        run.parent_run_id = told(_last_value(delta, "parent_run_id"))
    run.tell_trace(trace_of(_last_value(delta, "trace_snapshot")))
    cells.put("context.exported")
    _messages(cells, event, IN_CONTEXT, None, documents)
    if data.get("messages") is not None:
        run.messages = whole(data["messages"])


def _last_value(delta: list[Any], key: str) -> Any:
    """Give what a difference puts at a key of the document; None where it puts nothing."""
    found = None
    for operation in delta:
        if operation[0] == "=":
            path = operation[1]
            if path == [key]:
                found = operation[2]
            elif not path and type(operation[2]) is dict:
                found = operation[2].get(key)
    return found


def _messages(
    cells: EventCells, event: RecordedEvent, path: Path, step: int | None, documents: DocumentOf
) -> None:
    """Write the rows of the messages that are new in a document."""
    run, data = cells.run, event.data
    follow = NewMessages(path)
    found = follow.follow(data["delta"])
    if follow.replaced and data.get("base_version") is None:
        # A document held whole repeats the history; what others said before is not its own.
        found = [new for new in found if new.at >= run.messages and _is_own(cells, new)]
    streamed = run.records > 0
    history: Any = None
    if not streamed and not all(new.whole for new in found):
        document = documents(event)
        for key in path if document is not None else ():
            document = document.get(key)
        history = document
    for new in found:
        message, parts = new.message, new.parts
        if not new.whole and history is not None:
            message = history[new.at]
            if parts is not None:
                parts = {at: message["parts"][at] for at in parts}
        if message is None and parts is None:
            continue
        if parts is None:
            parts = dict(enumerate(message.get("parts") or ()))
        shown = {at: part for at, part in parts.items() if part is not None}
        mark = digest([message, list(shown.values())])
        made = message or {}
        appended = new.at >= run.messages and not follow.replaced and not made.get("timestamp")
        if streamed or is_first(run.seen, mark, new.at, appended=appended):
            _message(cells, made, shown, step, new.at, streamed=streamed, appended=appended)


def _is_own(cells: EventCells, new: New) -> bool:
    said = new.message.get("run_id") if type(new.message) is dict else None
    return said is None or said == cells.run.run_id


def _message(  # noqa: PLR0913 - what there is to know of a message
    cells: EventCells,
    message: Mapping[str, Any],
    parts: Mapping[int, Any],
    step: int | None,
    place: int,
    *,
    streamed: bool,
    appended: bool,
) -> None:
    """Write the rows of a message, or of some of its parts.

    Args:
        place: in the history.
        streamed: whether the run has stream records of it; then only prompts count.
        appended: see `projections.audit.remembered.is_first`.
    """
    at = host_time(message.get("timestamp"))
    for part in parts.values():
        kind = part["kind"]
        if kind == "user_prompt":
            prompt(cells, part.get("content"), at, place, appended=appended)
        elif kind == "tool_return" and not streamed:
            put_return(cells, part, step, host_at=at, from_state=True)
    if not streamed and message.get("kind") == "response":
        _response(cells, message, parts, step, at)


def _response(
    cells: EventCells,
    message: Mapping[str, Any],
    parts: Mapping[int, Any],
    step: int | None,
    at: int | None,
) -> None:
    said = [part.get("text") for part in parts.values() if part["kind"] in TEXT_PARTS]
    answer = "".join(one for one in said if type(one) is str) or None
    used: Usage = usage_of(message["usage"]) if message.get("usage") else NO_USAGE
    cells.put(
        "model_response",
        text=answer,
        host_at=at,
        step=step,
        model=message.get("model_name"),
        usage=used,
        from_state=True,
    )
    if answer is not None:
        cells.run.tell_text(answer, cells.place[0])
    for part in parts.values():
        if part["kind"] not in CALL_PARTS:
            continue
        inner = part.get("call")
        call = inner if type(inner) is dict else part
        if type(call.get("id")) is str and type(call.get("name")) is str:
            cells.put(
                "tool_call",
                text=text_or_json(call.get("arguments")),
                host_at=at,
                step=step,
                tool=call["name"],
                call_id=call["id"],
                from_state=True,
            )
            cells.run.tell_call(call["name"], call["id"], cells.place[0])
