"""What a host hands in, checked and ready to become events.

An offer is made outside every lock: parsing, checking and encoding happen here. The writer
gives it its version, turns documents into differences, and recognizes repeats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from journal.codec import encode, encode_record
from journal.errors import InvalidRecord
from journal.events import (
    ApprovalDecided,
    ApprovalRequested,
    CheckpointTaken,
    ContextExported,
    CursorSaved,
    DeferredToolRequested,
    DeferredToolResolved,
    EnvironmentExported,
    Event,
    EventData,
    Imported,
    RunCommitted,
    RunResumed,
    RunSaved,
    RunStatusChanged,
    RunSuspended,
    SessionSaved,
    StreamRecorded,
)
from journal.ids import StreamId, run_stream, session_stream
from journal.json_door import JSON, MAX_BYTES, accept, dumps
from journal.records import (
    APPROVAL_RECORD,
    CHECKPOINT,
    DEFERRED_TOOL_RECORD,
    ENVIRONMENT_STATE,
    RESUMABLE_STATE,
    RUN_RECORD,
    SESSION_RECORD,
    STREAM_RECORD,
    Record,
    RunStatus,
    durable_ids,
    unwrap,
    validate_approval,
    validate_checkpoint,
    validate_context_state,
    validate_deferred_tool,
    validate_environment_state,
    validate_run,
    validate_session,
    validate_stream_cursor,
    validate_stream_record,
)
from journal.stores.interface import Identity

Source = Record | Mapping[str, Any] | bytes
"""A record as a host may hand it in: a model, a mapping, or JSON text."""

WRAPPED = 3
"""Levels of JSON that an event or a bundle puts around a record."""

STATUS_FACTS = (
    RunSaved.NAME,
    RunCommitted.NAME,
    RunStatusChanged.NAME,
    RunSuspended.NAME,
    RunResumed.NAME,
)
"""Names of the events that say what status a run is in."""

STATE_CHAIN = "state"
ENVIRONMENT_CHAIN = "environment"


@dataclass(frozen=True, slots=True)
class Offer:
    """One event to be, without its version."""

    stream: StreamId
    name: str
    value: JSON
    """What the host handed in, for comparing with what is held."""
    data: bytes = b""
    """The event's bytes; empty for a document, whose bytes depend on its base."""
    identity: Identity | None = None
    chain: str | None = None
    """For a document: the chain of differences it joins."""
    fields: EventData = field(default_factory=dict)
    """For a document: the event's fields besides the difference."""
    size: int = 0
    """For a document: length of its compact encoding, in bytes."""
    last_of: tuple[str, ...] = ()
    """When the stream's last event of these names is of this name and equal, it is the same."""

    @property
    def what(self) -> str:
        """Say what it is, for messages."""
        if self.name == StreamRecorded.NAME:
            return f"stream record {self.identity}"
        kind = self.name.rsplit(".", 1)[0]
        return f"{kind} {self.identity}" if self.identity is not None else kind


def read(
    source: Source, what: str, *, max_bytes: int = MAX_BYTES, wrapped: int = 0
) -> tuple[dict[str, Any], bytes]:
    """Pass a record through the door.

    Raises:
        InvalidJSON: it holds something JSON or the journal does not allow.
        InvalidRecord: it is not an object.
    """
    plain = source.to_json() if isinstance(source, Record) else source
    value, raw = accept(plain, max_bytes=max_bytes, wrapped=wrapped)
    if type(value) is not dict:
        hint = "; hand in JSON text as bytes" if isinstance(value, str) else ""
        raise InvalidRecord(what, "$", f"expected an object, found {type(value).__name__}{hint}")
    return value, raw


def _bare(source: Source, what: str, schema: str) -> tuple[dict[str, Any], bytes]:
    value, raw = read(source, what, wrapped=1)
    payload, _ = unwrap(value, schema)
    return (value, raw) if payload is value else (payload, dumps(payload))


def check_id(value: object, what: str) -> str:
    """Check an id at the door: a non-empty string that UTF-8 can hold.

    Raises:
        InvalidRecord: it is not.
    """
    if not isinstance(value, str) or not value:
        raise InvalidRecord(what, "$", f"expected a non-empty string, found {value!r}")
    accept(value)
    return value


def check_status(status: object) -> str:
    """Check a run status at the door.

    Raises:
        InvalidRecord: it is not one.
    """
    if not isinstance(status, str) or status not in set(RunStatus):
        known = ", ".join(RunStatus)
        raise InvalidRecord("status", "$", f"{status!r} is none of {known}")
    return str(status)


def record(run_id: str, source: Source) -> Offer:
    """Offer a stream record; its identity is its sequence."""
    value, raw = _bare(source, "stream record", STREAM_RECORD)
    validate_stream_record(value)
    return Offer(
        run_stream(run_id), StreamRecorded.NAME, value, encode_record(raw), value["sequence"]
    )


def checkpoint(source: Source, run_id: str | None = None) -> Offer:
    """Offer a checkpoint of the run it names, which must be `run_id` where that is given."""
    value, raw = _bare(source, "checkpoint", CHECKPOINT)
    validate_checkpoint(value)
    if run_id not in (None, value["run_id"]):
        raise InvalidRecord(
            "checkpoint", "$.run_id", f"{value['run_id']!r}, but it was given to run {run_id!r}"
        )
    state, resume = value["state"], value["resume"]
    return Offer(
        run_stream(value["run_id"]),
        CheckpointTaken.NAME,
        value,
        identity=f"checkpoint:{value['checkpoint_id']}",
        chain=STATE_CHAIN,
        size=len(raw),
        fields={
            "checkpoint_id": value["checkpoint_id"],
            "conversation_id": value["conversation_id"],
            "node": value["node"],
            "status": state["status"],
            "step": value["run_step"],
            "messages": len(state["message_history"]),
            "stream_cursor": resume["cursor"].get("stream_cursor"),
            "trace_context": resume.get("trace_context") or None,
        },
    )


def context(session_id: str, run_id: str | None, source: Source) -> Offer:
    """Offer an exported context state, kept as it was handed in, enveloped or bare.

    The durable ids in its metadata, where it has them, must be those it is recorded under.
    """
    value, raw = read(source, "context state")
    state, _ = unwrap(value, RESUMABLE_STATE)
    validate_context_state(state)
    for what, claimed, owner in zip(
        ("session", "run"), durable_ids(state), (session_id, run_id), strict=True
    ):
        if claimed is not None and owner is not None and claimed != owner:
            path = f'$.metadata["starweaver.durable_{what}_id"]'
            reason = f"{claimed!r}, but the state was given to {what} {owner!r}"
            raise InvalidRecord("context state", path, reason)
    history = state.get("message_history")
    return Offer(
        _owned(session_id, run_id),
        ContextExported.NAME,
        value,
        chain=STATE_CHAIN,
        size=len(raw),
        fields={"messages": None if history is None else len(history)},
        last_of=(ContextExported.NAME,),
    )


def environment(session_id: str, run_id: str | None, source: Source) -> Offer:
    """Offer an exported environment state, kept as it was handed in, enveloped or bare."""
    value, raw = read(source, "environment state")
    validate_environment_state(unwrap(value, ENVIRONMENT_STATE)[0])
    return Offer(
        _owned(session_id, run_id),
        EnvironmentExported.NAME,
        value,
        chain=ENVIRONMENT_CHAIN,
        size=len(raw),
        last_of=(EnvironmentExported.NAME,),
    )


def approval(source: Source) -> Offer:
    """Offer an approval record: a request while pending, a decision afterwards."""
    value, _ = _bare(source, "approval", APPROVAL_RECORD)
    validate_approval(value)
    stream = run_stream(value["run_id"])
    made: Event
    if value["status"] == "pending":
        made, step = ApprovalRequested(record=value), "requested"
    else:
        made, step = ApprovalDecided(record=value), "decided"
    return _ready(stream, made, value, f"approval.{step}:{value['approval_id']}")


def deferred_tool(source: Source) -> Offer:
    """Offer a deferred tool record: a request until it ends, then its resolution."""
    value, _ = _bare(source, "deferred tool", DEFERRED_TOOL_RECORD)
    validate_deferred_tool(value)
    stream = run_stream(value["run_id"])
    made: Event
    if value["status"] in {"pending", "running", "waiting"}:
        made, step = DeferredToolRequested(record=value), f"requested.{value['status']}"
    else:
        made, step = DeferredToolResolved(record=value), "resolved"
    return _ready(stream, made, value, f"deferred_tool.{step}:{value['deferred_id']}")


def stream_cursor(run_id: str, source: Source) -> Offer:
    """Offer a saved stream cursor, whose scope must be the run."""
    value, _ = read(source, "stream cursor")
    validate_stream_cursor(value)
    path, at = ("$.position", value["position"]) if "position" in value else ("$", value)
    if at["scope"] != f"run:{run_id}":
        reason = f"{at['scope']!r}, but the cursor was given to run {run_id!r}"
        raise InvalidRecord("stream cursor", f"{path}.scope", reason)
    identity = f"cursor:{at['family']}:{at['sequence']}"
    return _ready(run_stream(run_id), CursorSaved(cursor=value), value, identity)


def session(source: Source) -> Offer:
    """Offer a session record."""
    value, raw = _bare(source, "session", SESSION_RECORD)
    validate_session(value)
    return Offer(
        session_stream(value["session_id"]),
        SessionSaved.NAME,
        value,
        chain=STATE_CHAIN,
        size=len(raw),
        last_of=(SessionSaved.NAME,),
    )


def run(source: Source) -> Offer:
    """Offer a run record."""
    value, _ = _bare(source, "run", RUN_RECORD)
    validate_run(value)
    stream = run_stream(value["run_id"])
    return replace(_ready(stream, RunSaved(run=value), value, None), last_of=STATUS_FACTS)


def imported(offer: Offer, recorded_at: int | None) -> Offer:
    """Mark an offer as coming from another journal, which recorded it at that time."""
    mark = Imported(recorded_at=recorded_at).model_dump(exclude_none=True)
    if offer.chain is not None:
        return replace(offer, fields={**offer.fields, "imported": mark})
    facts = offer.data[:-1] + b"," if offer.data != b"{}" else b"{"
    return replace(offer, data=facts + b'"imported":' + dumps(mark) + b"}")


def _owned(session_id: str, run_id: str | None) -> StreamId:
    return session_stream(session_id) if run_id is None else run_stream(run_id)


def _ready(stream: StreamId, event: Event, value: JSON, identity: str | None) -> Offer:
    return Offer(stream, event.NAME, value, encode(event), identity)
