"""Finding events of an archive by their identities, which its files do not hold by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from journal.codec import decode
from journal.events import (
    ApprovalDecided,
    ApprovalRequested,
    CheckpointTaken,
    CursorSaved,
    DeferredToolRequested,
    DeferredToolResolved,
    StreamRecorded,
)
from journal.json_door import dumps
from journal.offers import approval_identity, deferred_tool_identity
from journal.records.stream_cursor import position_of
from journal.stores.interface import Identity, StoredEvent

_BEGINNINGS = {
    "checkpoint:": CheckpointTaken.NAME,
    approval_identity("requested", ""): ApprovalRequested.NAME,
    approval_identity("decided", ""): ApprovalDecided.NAME,
    deferred_tool_identity("resolved", ""): DeferredToolResolved.NAME,
    "deferred_tool.requested.": DeferredToolRequested.NAME,
    "cursor:": CursorSaved.NAME,
}


def name_of(identity: Identity) -> str | None:
    """Tell the stored name of the event that an identity is of; None where none has such."""
    if isinstance(identity, int):
        return StreamRecorded.NAME
    for beginning, name in _BEGINNINGS.items():
        if identity.startswith(beginning):
            return name
    return None


def text_of(identity: Identity) -> str:
    """Give a text that the JSON of the event holds."""
    if isinstance(identity, int):
        return str(identity)
    # What follows the first colon is an id that the JSON holds as a string; of a saved cursor
    # the number after the last one.
    end = identity.split(":", 1)[1] if not identity.startswith("cursor:") else ""
    return dumps(end).decode()[1:-1]


def holds(event: StoredEvent, identity: Identity) -> bool:
    """Tell whether an event has an identity.

    Raises:
        CorruptEvent: it does not decode.
    """
    make = _IDENTITIES.get(event.name)
    return make is not None and make(decode(event).data) == identity


def _deferred(data: dict[str, Any]) -> str:
    record = data["record"]
    return deferred_tool_identity(f"requested.{record['status']}", record["deferred_id"])


def _cursor(data: dict[str, Any]) -> str:
    at = position_of(data["cursor"])
    return f"cursor:{at['family']}:{at['sequence']}"


_IDENTITIES: dict[str, Callable[[dict[str, Any]], Identity]] = {
    StreamRecorded.NAME: lambda data: int(data["record"]["sequence"]),
    CheckpointTaken.NAME: lambda data: f"checkpoint:{data['checkpoint_id']}",
    ApprovalRequested.NAME: lambda data: approval_identity(
        "requested", data["record"]["approval_id"]
    ),
    ApprovalDecided.NAME: lambda data: approval_identity("decided", data["record"]["approval_id"]),
    DeferredToolRequested.NAME: _deferred,
    DeferredToolResolved.NAME: lambda data: deferred_tool_identity(
        "resolved", data["record"]["deferred_id"]
    ),
    CursorSaved.NAME: _cursor,
}
