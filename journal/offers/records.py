"""Offers of records that are kept as they were handed in."""

from __future__ import annotations

from journal.codec import encode, encode_record
from journal.errors import InvalidRecord
from journal.events import (
    ApprovalDecided,
    ApprovalRequested,
    CursorSaved,
    DeferredToolRequested,
    DeferredToolResolved,
    Event,
    RunCommitted,
    RunResumed,
    RunSaved,
    RunStatusChanged,
    RunSuspended,
    StreamRecorded,
)
from journal.ids import StreamId, run_stream
from journal.json_door import JSON
from journal.offers.offer import UNPARSED, Offer, large_values, redacted
from journal.offers.reading import Source, bare, read
from journal.records import (
    APPROVAL_RECORD,
    DEFERRED_TOOL_RECORD,
    RUN_RECORD,
    STREAM_RECORD,
    validate_approval,
    validate_deferred_tool,
    validate_run,
    validate_stream_cursor,
    validate_stream_record,
)
from journal.redact import Redactor

STATUS_FACTS = (
    RunSaved.NAME,
    RunCommitted.NAME,
    RunStatusChanged.NAME,
    RunSuspended.NAME,
    RunResumed.NAME,
)
"""Names of the events that say what status a run is in."""


def record(run_id: str, source: Source, redactor: Redactor | None = None) -> Offer:
    """Offer a stream record; its identity is its sequence."""
    value, raw = bare(source, "stream record", STREAM_RECORD)
    validate_stream_record(value)
    event = value["event"]
    made = Offer(
        run_stream(run_id),
        StreamRecorded.NAME,
        UNPARSED,
        encode_record(raw),
        value["sequence"],
        values=large_values(value, raw),
        is_delta=event["kind"] == "model_stream" and event["event"]["kind"] == "part_delta",
    )
    if redactor is None:
        return made
    return redacted(redactor, "stream_record", made, lambda value: record(run_id, value))


def approval(source: Source, redactor: Redactor | None = None) -> Offer:
    """Offer an approval record: a request while pending, a decision afterwards."""
    value, _ = bare(source, "approval", APPROVAL_RECORD)
    validate_approval(value)
    stream = run_stream(value["run_id"])
    made: Event
    if value["status"] == "pending":
        made, step = ApprovalRequested(record=value), "requested"
    else:
        made, step = ApprovalDecided(record=value), "decided"
    offer = _ready(stream, made, value, f"approval.{step}:{value['approval_id']}")
    return redacted(redactor, "approval", offer, approval)


def deferred_tool(source: Source, redactor: Redactor | None = None) -> Offer:
    """Offer a deferred tool record: a request until it ends, then its resolution."""
    value, _ = bare(source, "deferred tool", DEFERRED_TOOL_RECORD)
    validate_deferred_tool(value)
    stream = run_stream(value["run_id"])
    made: Event
    if value["status"] in {"pending", "running", "waiting"}:
        made, step = DeferredToolRequested(record=value), f"requested.{value['status']}"
    else:
        made, step = DeferredToolResolved(record=value), "resolved"
    offer = _ready(stream, made, value, f"deferred_tool.{step}:{value['deferred_id']}")
    return redacted(redactor, "deferred_tool", offer, deferred_tool)


def stream_cursor(run_id: str, source: Source, redactor: Redactor | None = None) -> Offer:
    """Offer a saved stream cursor, whose scope must be the run."""
    value, _ = read(source, "stream cursor")
    validate_stream_cursor(value)
    path, at = ("$.position", value["position"]) if "position" in value else ("$", value)
    if at["scope"] != f"run:{run_id}":
        reason = f"{at['scope']!r}, but the cursor was given to run {run_id!r}"
        raise InvalidRecord("stream cursor", f"{path}.scope", reason)
    identity = f"cursor:{at['family']}:{at['sequence']}"
    offer = _ready(run_stream(run_id), CursorSaved(cursor=value), value, identity)
    return redacted(redactor, "stream_cursor", offer, lambda value: stream_cursor(run_id, value))


def run(source: Source, redactor: Redactor | None = None) -> Offer:
    """Offer a run record."""
    value, _ = bare(source, "run", RUN_RECORD)
    validate_run(value)
    stream = run_stream(value["run_id"])
    offer = _ready(stream, RunSaved(run=value), value, None)._replace(last_of=STATUS_FACTS)
    return redacted(redactor, "run", offer, run)


def _ready(stream: StreamId, event: Event, value: JSON, identity: str | None) -> Offer:
    data = encode(event)
    return Offer(stream, event.NAME, value, data, identity, values=large_values(value, data))
