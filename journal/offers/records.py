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
    EnvironmentExported,
    EnvironmentReferenced,
    Event,
    RunCommitted,
    RunResumed,
    RunSaved,
    RunStatusChanged,
    RunSuspended,
    SessionRunChanged,
    SessionSaved,
    StreamRecorded,
)
from journal.ids import StreamId, run_stream, session_stream
from journal.json_door import JSON
from journal.offers.documents import environment
from journal.offers.offer import UNPARSED, Offer, large_values, redacted
from journal.offers.reading import Source, bare, check_revision, read
from journal.records import (
    APPROVAL_RECORD,
    DEFERRED_TOOL_RECORD,
    RUN_RECORD,
    STREAM_RECORD,
    validate_approval,
    validate_deferred_tool,
    validate_environment_ref,
    validate_run,
    validate_stream_cursor,
    validate_stream_record,
)
from journal.records.stream_cursor import position_of
from journal.redact import Redactor

STATUS_FACTS: tuple[str, ...] = (
    RunSaved.NAME,
    RunCommitted.NAME,
    RunStatusChanged.NAME,
    RunSuspended.NAME,
    RunResumed.NAME,
)
"""Names of the events that say what status a run is in."""


LAST_OF_ENVIRONMENT = (
    EnvironmentExported.NAME,
    EnvironmentReferenced.NAME,
    SessionSaved.NAME,
    SessionRunChanged.NAME,
)
"""Names of the events that say where a session's environment is."""


def approval_identity(step: str, approval_id: str) -> str:
    """Name the event of an approval: step is `requested` or `decided`."""
    return f"approval.{step}:{approval_id}"


def deferred_tool_identity(step: str, deferred_id: str) -> str:
    """Name the event of a deferred tool call: step is `requested.<status>` or `resolved`."""
    return f"deferred_tool.{step}:{deferred_id}"


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
    offer = _ready(stream, made, value, approval_identity(step, value["approval_id"]))
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
    offer = _ready(stream, made, value, deferred_tool_identity(step, value["deferred_id"]))
    return redacted(redactor, "deferred_tool", offer, deferred_tool)


def stream_cursor(run_id: str, source: Source, redactor: Redactor | None = None) -> Offer:
    """Offer a saved stream cursor, whose scope must be the run."""
    value, _ = read(source, "stream cursor")
    validate_stream_cursor(value)
    path, at = "$.position" if "position" in value else "$", position_of(value)
    if at["scope"] != f"run:{run_id}":
        reason = f"{at['scope']!r}, but the cursor was given to run {run_id!r}"
        raise InvalidRecord("stream cursor", f"{path}.scope", reason)
    identity = f"cursor:{at['family']}:{at['sequence']}"
    offer = _ready(run_stream(run_id), CursorSaved(cursor=value), value, identity)
    return redacted(redactor, "stream_cursor", offer, lambda value: stream_cursor(run_id, value))


def session_environment(session_id: str, source: Source, redactor: Redactor | None = None) -> Offer:
    """Offer a session's environment: a reference to its state, or the state itself."""
    value, _ = read(source, "session environment", wrapped=1)
    if "provider_id" in value or "schema" in value or "version" in value:
        made = environment(session_id, None, value, redactor=redactor)
    else:
        made = _environment_ref(session_id, value, redactor)
    return made._replace(last_of=LAST_OF_ENVIRONMENT)


def _environment_ref(session_id: str, value: JSON, redactor: Redactor | None) -> Offer:
    validate_environment_ref(value)
    event = EnvironmentReferenced(environment_state=value)
    offer = _ready(session_stream(session_id), event, {"environment_state": value}, None)
    return redacted(
        redactor,
        "environment_state",
        offer,
        lambda left: _environment_ref(session_id, left["environment_state"], None),
        below=("environment_state",),
    )


def run(source: Source, redactor: Redactor | None = None, *, revision: int | None = None) -> Offer:
    """Offer a run record.

    Args:
        revision: the run's with it, where another store counted that.
    """
    check_revision(revision, "run")
    value, _ = bare(source, "run", RUN_RECORD)
    validate_run(value)
    stream = run_stream(value["run_id"])
    event = RunSaved(run=value, revision=revision)
    offer = _ready(stream, event, value, None)._replace(last_of=STATUS_FACTS)
    return redacted(redactor, "run", offer, lambda value: run(value, revision=revision))


def _ready(stream: StreamId, event: Event, value: JSON, identity: str | None) -> Offer:
    data = encode(event)
    return Offer(stream, event.NAME, value, data, identity, values=large_values(value, data))
