"""The fold: a run's events, in logical order, to what they add up to.

It is pure: no clock and nothing read. Documents (checkpoints, exported states) are held in
their events as differences and are rebuilt afterwards, by `projections.view`, only where
the fold ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, assert_never, cast

from journal.codec import RecordedEvent
from journal.errors import UnknownEvent
from journal.events import EVENTS
from journal.records.usage import add_usage
from projections.children import Children
from projections.messages import MessageCount, is_own
from projections.order import RECORD_RANK, Entry, misshapen, text
from projections.progress import Progress

EventName: TypeAlias = Literal[
    "approval.decided.v1",
    "approval.requested.v1",
    "checkpoint.taken.v1",
    "context.exported.v1",
    "cursor.saved.v1",
    "deferred_tool.requested.v1",
    "deferred_tool.resolved.v1",
    "environment.exported.v1",
    "resume.claimed.v1",
    "resume.released.v1",
    "resume.started.v1",
    "run.committed.v1",
    "run.forked.v1",
    "run.lease_taken.v1",
    "run.opened.v1",
    "run.resumed.v1",
    "run.saved.v1",
    "run.sealed.v1",
    "run.status_changed.v1",
    "run.suspended.v1",
    "session.run_added.v1",
    "session.saved.v1",
    "stream.recorded.v1",
]
"""Every name of `journal.events.EVENTS`; the fold decides about each of them."""


class RunFold:
    """What a run's events add up to; `evolve` takes them one by one, in logical order."""

    __slots__ = (
        "approvals",
        "checkpoint",
        "children",
        "context",
        "conversation_id",
        "deferred_tools",
        "environment",
        "history",
        "last",
        "last_sequence",
        "messages",
        "progress",
        "redacted_tail",
        "responses",
        "returned",
        "returned_before",
        "session_id",
        "tail",
        "tool_calls",
        "trace",
        "usages",
        "waits",
    )

    def __init__(self) -> None:
        self.session_id: str | None = None
        self.conversation_id: str | None = None
        self.last: Entry | None = None
        self.last_sequence: int | None = None
        self.progress = Progress()
        self.messages = MessageCount()
        self.children = Children()
        self.approvals: dict[str, dict[str, Any]] = {}
        self.deferred_tools: dict[str, dict[str, Any]] = {}
        self.context: RecordedEvent | None = None
        self.environment: RecordedEvent | None = None
        self.checkpoint: RecordedEvent | None = None
        self.history: RecordedEvent | None = None
        """The event that holds the latest complete message history."""
        self.responses: list[dict[str, Any]] = []
        """Counted responses after `history`."""
        self.usages: list[dict[str, Any]] = []
        """Usage of the counted responses after `checkpoint`."""
        self.tail: list[dict[str, Any]] = []
        """Stream records after `checkpoint`, those of children too."""
        self.redacted_tail: list[RecordedEvent] = []
        """The events of those that were redacted."""
        self.waits: dict[tuple[str, str], RecordedEvent] = {}
        """The latest event of each approval and of each deferred tool call."""
        self.tool_calls: list[dict[str, Any]] = []
        """Own tool calls after `checkpoint`."""
        self.returned: set[str] = set()
        """Ids of the own tool calls that returned after `checkpoint`."""
        self.returned_before: set[str] = set()
        """The same before it: a host does not clear its pending calls, and a compacted
        history no longer holds their returns."""
        self.trace: dict[str, Any] = {}
        """The latest trace context that was not empty, of a checkpoint or a run record."""


class RunOutline(RunFold):
    """A fold for lists, which look at no record: it keeps none."""

    __slots__ = ()

    @property
    def tail(self) -> list[Any]:
        """Nothing; what is put in is dropped."""
        return []

    @tail.setter
    def tail(self, _: list[Any]) -> None:
        pass

    redacted_tail = responses = usages = tool_calls = tail


def fold_run(read: Callable[[], Iterable[Entry]], new: Callable[[], RunFold] = RunFold) -> RunFold:
    """Fold a run's entries in logical order.

    Most runs arrive in their logical order and are never held in memory. At the first entry
    that came late, everything is read again and sorted.

    Args:
        read: starts reading the entries, in the order of arrival.
        new: makes the fold.
    """
    fold = new()
    for entry in read():
        if fold.last is not None and entry < fold.last:
            break
        evolve(fold, entry)
    else:
        return fold
    fold = new()
    for entry in sorted(read()):
        evolve(fold, entry)
    return fold


def evolve(fold: RunFold, entry: Entry) -> None:
    """Fold one entry, which must follow the last in logical order.

    Raises:
        UnknownEvent: its name is not known to this version.
        CorruptEvent: its JSON does not have the shape its name promises.
    """
    event = entry.event
    try:
        if entry.rank == RECORD_RANK:
            _record(fold, entry.anchor, event.data["record"])
            if "redacted" in event.data:
                fold.redacted_tail.append(event)
        else:
            _fact(fold, event)
    except (KeyError, TypeError, AttributeError) as error:
        raise misshapen(event, error) from error
    fold.last = entry


def _record(fold: RunFold, sequence: int, record: dict[str, Any]) -> None:
    fold.last_sequence = sequence
    fold.tail.append(record)
    event = record["event"]
    if not is_own(record):
        fold.children.record(record["source"], event)
        return
    kind = event["kind"]
    fold.progress.record(kind, event)
    if kind == "model_response":
        if fold.messages.response(event["step"]):
            fold.responses.append(event["response"])
            fold.usages.append(add_usage(event["response"]["usage"], {}))
    elif kind == "tool_call":
        call = event["call"]
        text(call["id"])
        text(call["name"])
        fold.tool_calls.append(call)
    elif kind == "tool_return":
        fold.returned.add(text(event["tool_return"]["tool_call_id"]))
    elif kind == "run_start" and fold.conversation_id is None:
        fold.conversation_id = event["conversation_id"]


def _fact(fold: RunFold, event: RecordedEvent) -> None:  # noqa: C901, PLR0912 - a closed match
    if event.name not in EVENTS:
        raise UnknownEvent(event.name, event.stream, event.version)
    name = cast("EventName", event.name)
    data = event.data
    match name:
        case "checkpoint.taken.v1":
            _checkpoint(fold, event)
        case "context.exported.v1":
            fold.context = event
            if data.get("messages") is not None:
                fold.history = event
                fold.responses = []
                fold.messages.history(data["messages"])
        case "environment.exported.v1":
            fold.environment = event
        case "approval.requested.v1" | "approval.decided.v1":
            fold.approvals[data["record"]["approval_id"]] = data["record"]
            fold.waits["approval", data["record"]["approval_id"]] = event
        case "deferred_tool.requested.v1" | "deferred_tool.resolved.v1":
            fold.deferred_tools[data["record"]["deferred_id"]] = data["record"]
            fold.waits["deferred tool", data["record"]["deferred_id"]] = event
        case "run.opened.v1" | "run.forked.v1":
            fold.session_id = data["session_id"]
            fold.conversation_id = data.get("conversation_id")
        case "run.status_changed.v1":
            fold.progress.set_status(data["status"])
        case "run.suspended.v1":
            fold.progress.suspend(data["reason"])
        case "run.resumed.v1":
            fold.progress.set_status("running")
        case "run.saved.v1" | "run.committed.v1":
            _run_record(fold, data["run"])
        case (
            "cursor.saved.v1"
            | "resume.claimed.v1"
            | "resume.released.v1"
            | "resume.started.v1"
            | "run.lease_taken.v1"
            | "run.sealed.v1"
            | "session.run_added.v1"
            | "session.saved.v1"
            | "stream.recorded.v1"
        ):
            pass
        case _:
            assert_never(name)


def _checkpoint(fold: RunFold, event: RecordedEvent) -> None:
    data = event.data
    fold.checkpoint = fold.history = event
    fold.responses = []
    fold.usages = []
    fold.tail = []
    fold.redacted_tail = []
    fold.tool_calls = []
    fold.returned_before |= fold.returned
    fold.returned = set()
    fold.trace = data.get("trace_context") or fold.trace
    fold.messages.checkpoint(data["messages"], data["step"])
    fold.progress.checkpoint(data["node"], data["status"], data["step"])
    if fold.conversation_id is None:
        fold.conversation_id = data["conversation_id"]


def _run_record(fold: RunFold, run: Mapping[str, Any]) -> None:
    progress = fold.progress
    progress.set_status(run["status"])
    if fold.conversation_id is None:
        fold.conversation_id = run.get("conversation_id")
    error = run.get("terminal_error")
    if error is not None and progress.error is None:
        progress.error = {"error_kind": error["code"], "message": error["message"]}
    fold.trace = run.get("trace_context") or fold.trace
