"""The fold: a run's events, in logical order, to what they add up to.

It is pure: no clock and nothing read. It holds of records and documents where they stand;
`projections.view` looks them up, only where the fold ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, assert_never, cast

from journal.codec import RecordedEvent
from journal.errors import UnknownEvent
from journal.events import EVENTS
from journal.lineage import Bound
from journal.records.usage import add_usage
from projections.children import Children
from projections.messages import MessageCount, is_own
from projections.order import RECORD_RANK, Entry, Ref, misshapen, text, whole
from projections.progress import Progress
from projections.record_fold import RecordFold

EventName: TypeAlias = Literal[
    "approval.decided.v1",
    "approval.requested.v1",
    "checkpoint.taken.v1",
    "context.exported.v1",
    "cursor.saved.v1",
    "deferred_tool.requested.v1",
    "deferred_tool.resolved.v1",
    "document.copied.v1",
    "environment.exported.v1",
    "environment.referenced.v1",
    "publication.acknowledged.v1",
    "resume.allowed.v1",
    "resume.claimed.v1",
    "resume.released.v1",
    "resume.started.v1",
    "run.archived.v1",
    "run.committed.v1",
    "run.forked.v1",
    "run.lease_taken.v1",
    "run.opened.v1",
    "run.resumed.v1",
    "run.saved.v1",
    "run.sealed.v1",
    "run.status_changed.v1",
    "run.suspend_requested.v1",
    "run.suspended.v1",
    "session.run_added.v1",
    "session.run_changed.v1",
    "session.saved.v1",
    "session.status_changed.v1",
    "stream.recorded.v1",
]
"""Every name of `journal.events.EVENTS`; the fold decides about each of them."""


class RunFold:
    """What a run's events add up to; `evolve` takes them one by one, in logical order.

    It stays small however long the run is: of records and documents it holds where they are.
    """

    __slots__ = (
        "approvals",
        "calls",
        "checkpoint",
        "checkpoint_id",
        "children",
        "context",
        "conversation_id",
        "deferred_tools",
        "environment",
        "furthest",
        "history",
        "last",
        "last_sequence",
        "messages",
        "progress",
        "record",
        "redacted_tail",
        "responses",
        "returned",
        "session_id",
        "since",
        "tail_records",
        "trace",
        "usage",
    )

    def __init__(self) -> None:
        self.session_id: str | None = None
        self.conversation_id: str | None = None
        self.last: Bound | None = None
        """Place of the last event, in its own run."""
        self.last_sequence: int | None = None
        self.furthest = 0
        """The highest step of a checkpoint or an own model response."""
        self.progress = Progress()
        self.messages = MessageCount()
        self.children = Children()
        self.approvals: dict[str, Ref] = {}
        """The latest event of each approval, in the order of the requests."""
        self.deferred_tools: dict[str, Ref] = {}
        """The same of each deferred tool call."""
        self.context: Ref | None = None
        self.environment: Ref | None = None
        self.checkpoint: Ref | None = None
        self.checkpoint_id: str | None = None
        self.since: Bound | None = None
        """Place of the checkpoint, in the order of the run it was taken in."""
        self.history: Ref | None = None
        """The event that holds the latest complete message history."""
        self.responses: list[Ref] = []
        """Counted responses after `history`."""
        self.usage: dict[str, Any] | None = None
        """Sum of the counted responses after `checkpoint`; None when there are none."""
        self.tail_records = 0
        """Number of stream records after `checkpoint`, those of children too."""
        self.redacted_tail: list[Ref] = []
        """Those of them that were redacted."""
        self.calls: dict[str, Ref] = {}
        """Own tool calls after `checkpoint`, by id; the first of each."""
        self.returned: dict[str, None] = {}
        """Ids of the own tool calls that returned after `checkpoint`, in order."""
        self.trace: dict[str, Any] = {}
        """The latest trace context that was not empty, of a checkpoint or a run record."""
        self.record = RecordFold()


def evolve(fold: RunFold, entry: Entry) -> None:
    """Fold one entry, which must follow the last in logical order.

    Raises:
        UnknownEvent: its name is not known to this version.
        CorruptEvent: its JSON does not have the shape its name promises.
    """
    event = entry.event
    try:
        if entry.rank == RECORD_RANK:
            _record(fold, entry.anchor, event, event.data["record"])
        else:
            _fact(fold, entry)
    except (KeyError, TypeError, AttributeError) as error:
        raise misshapen(event, error) from error
    fold.last = entry[:3]


def _record(fold: RunFold, sequence: int, at: RecordedEvent, record: dict[str, Any]) -> None:
    fold.last_sequence = sequence
    fold.tail_records += 1
    if "redacted" in at.data:
        fold.redacted_tail.append(Ref.to(at))
    event = record["event"]
    if not is_own(record):
        fold.children.record(record["source"], event)
        return
    kind = event["kind"]
    fold.progress.record(kind, event)
    if kind == "model_response":
        ref = Ref.to(at)
        fold.progress.streamed.response = ref
        step = whole(event["step"])
        fold.furthest = max(fold.furthest, step)
        if fold.messages.response(step):
            fold.responses.append(ref)
            fold.usage = add_usage(event["response"]["usage"], fold.usage or {})
    elif kind == "tool_call":
        call = event["call"]
        text(call["name"])
        fold.calls.setdefault(text(call["id"]), Ref.to(at))
    elif kind == "tool_return":
        fold.returned[text(event["tool_return"]["tool_call_id"])] = None
    elif kind == "run_start" and fold.conversation_id is None:
        fold.conversation_id = event["conversation_id"]


def _fact(fold: RunFold, entry: Entry) -> None:  # noqa: C901, PLR0912 - a closed match
    event = entry.event
    if event.name not in EVENTS:
        raise UnknownEvent(event.name, event.stream, event.version)
    name = cast("EventName", event.name)
    data = event.data
    match name:
        case "checkpoint.taken.v1":
            _checkpoint(fold, entry)
        case "context.exported.v1":
            fold.context = Ref.to(event)
            if data.get("messages") is not None:
                fold.history = Ref.to(event)
                fold.responses = []
                fold.messages.history(data["messages"])
        case "environment.exported.v1":
            fold.environment = Ref.to(event)
        case "approval.requested.v1" | "approval.decided.v1":
            fold.approvals[text(data["record"]["approval_id"])] = Ref.to(event)
        case "deferred_tool.requested.v1" | "deferred_tool.resolved.v1":
            fold.deferred_tools[text(data["record"]["deferred_id"])] = Ref.to(event)
        case "run.opened.v1" | "run.forked.v1":
            fold.session_id = text(data["session_id"])
            fold.conversation_id = data.get("conversation_id") or fold.conversation_id
            fold.last_sequence = None  # a fork counts its own, and has a record of its own
            fold.record = RecordFold(event.recorded_at, data.get("status"))
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
            | "document.copied.v1"
            | "environment.referenced.v1"
            | "publication.acknowledged.v1"
            | "resume.allowed.v1"
            | "resume.claimed.v1"
            | "resume.released.v1"
            | "resume.started.v1"
            | "run.archived.v1"
            | "run.lease_taken.v1"
            | "run.sealed.v1"
            | "run.suspend_requested.v1"
            | "session.run_added.v1"
            | "session.run_changed.v1"
            | "session.saved.v1"
            | "session.status_changed.v1"
            | "stream.recorded.v1"
        ):
            pass
        case _:
            assert_never(name)
    fold.record.evolve(event)


def _checkpoint(fold: RunFold, entry: Entry) -> None:
    event = entry.event
    data = event.data
    fold.checkpoint = fold.history = Ref.to(event)
    fold.checkpoint_id = text(data["checkpoint_id"])
    fold.since = entry[:3]
    fold.responses = []
    fold.usage = None
    fold.tail_records = 0
    fold.redacted_tail = []
    fold.calls = {}
    fold.returned = {}
    fold.trace = data.get("trace_context") or fold.trace
    step = whole(data["step"])
    fold.furthest = max(fold.furthest, step)
    fold.messages.checkpoint(data["messages"], step)
    fold.progress.checkpoint(data["node"], data["status"], step)
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
