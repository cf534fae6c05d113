"""The versioned envelope of durable records.

`{"schema": S, "version": V, "payload": {...}}`. A record without `schema` and `version` is
bare: version 0, whose payload is read as version 1. An object with either key is always an
envelope. Source: the record vocabulary of the Starweaver runtime, 0.15.
"""

from __future__ import annotations

from journal.errors import InvalidEnvelope
from journal.json_door import JSON
from journal.records.checks import MISSING, shown

CHECKPOINT = "starweaver.runtime.checkpoint"
STREAM_RECORD = "starweaver.runtime.stream_record"
RESUMABLE_STATE = "starweaver.context.resumable_state"
ENVIRONMENT_STATE = "starweaver.environment.state"
APPROVAL_RECORD = "starweaver.session.approval_record"
DEFERRED_TOOL_RECORD = "starweaver.session.deferred_tool_record"
SESSION_RECORD = "starweaver.session.session_record"
RUN_RECORD = "starweaver.session.run_record"

VERSIONS: dict[str, int] = {
    CHECKPOINT: 1,
    STREAM_RECORD: 1,
    RESUMABLE_STATE: 1,
    ENVIRONMENT_STATE: 1,
    APPROVAL_RECORD: 1,
    DEFERRED_TOOL_RECORD: 1,
    SESSION_RECORD: 2,
    RUN_RECORD: 2,
}
"""The version of each schema that is written; those from 1 up to it are read."""

_KEYS = ("schema", "version", "payload")


def unwrap(value: JSON, schema: str) -> tuple[JSON, int]:
    """Take a durable record out of its envelope; a bare one is returned as it is.

    Args:
        value: accepted JSON.
        schema: the schema the record must have, one of `VERSIONS`.

    Returns:
        The payload, and the version it must be read as.

    Raises:
        InvalidEnvelope: another schema, version 0, a newer or no version, no payload, or a
            key that no envelope has.
    """
    if type(value) is not dict or ("schema" not in value and "version" not in value):
        return value, 1
    newest = VERSIONS[schema]
    found = value.get("schema", MISSING)
    if found != schema:
        raise InvalidEnvelope(f"schema {schema!r}", f"schema {shown(found)}")
    version = value.get("version", MISSING)
    if type(version) is not int or not 1 <= version <= newest:
        known = "1" if newest == 1 else f"1 to {newest}"
        raise InvalidEnvelope(f"{schema} version {known}", f"version {shown(version)}")
    payload = value.get("payload", MISSING)
    if type(payload) is not dict:
        raise InvalidEnvelope(f"{schema} with an object as payload", f"payload {shown(payload)}")
    for key in value:
        if key not in _KEYS:
            raise InvalidEnvelope(f"{schema} with {', '.join(_KEYS)} only", f"key {key!r}")
    return payload, version


def wrap(payload: JSON, schema: str) -> dict[str, JSON]:
    """Put a durable record into an envelope of the version that is written."""
    return {"schema": schema, "version": VERSIONS[schema], "payload": payload}
