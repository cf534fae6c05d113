"""Identifiers and numbers that must not be mixed up."""

from typing import NewType

from journal.errors import InvalidRecord, brief

RunId = NewType("RunId", str)
"""Opaque, non-empty id of a run; unique in a journal."""

SessionId = NewType("SessionId", str)
"""Opaque, non-empty id of a session."""

CheckpointId = NewType("CheckpointId", str)
"""Opaque, non-empty id of a checkpoint; unique in its run."""

StreamId = NewType("StreamId", str)
"""Name of an event stream in a store: `run:<run id>` or `session:<session id>`."""

Version = NewType("Version", int)
"""An event's place in its stream: 1, 2, 3, ... without gaps."""

Position = NewType("Position", int)
"""An event's place in the whole journal; rises, never reused."""

Sequence = NewType("Sequence", int)
"""The host's own number on a stream record, 0 to 2^64-1."""

Anchor = NewType("Anchor", int)
"""A place in a run's logical order, in sequences; -1 is before the first record."""

RUN_PREFIX = "run:"
SESSION_PREFIX = "session:"


def is_text(text: str) -> bool:
    """Tell whether UTF-8 can hold a text: half of a surrogate pair it cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def run_stream(run_id: str) -> StreamId:
    """Name the stream that holds one run's events.

    Raises:
        InvalidRecord: the id is no string.
    """
    if not isinstance(run_id, str):
        raise _no_id("run id", run_id)
    return StreamId(RUN_PREFIX + run_id)


def session_stream(session_id: str) -> StreamId:
    """Name the small stream that holds a session's own events.

    Raises:
        InvalidRecord: the id is no string.
    """
    if not isinstance(session_id, str):
        raise _no_id("session id", session_id)
    return StreamId(SESSION_PREFIX + session_id)


def _no_id(what: str, value: object) -> InvalidRecord:
    return InvalidRecord(what, "$", f"expected a non-empty string, found {brief(value)}")
