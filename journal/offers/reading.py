"""Reading what a host hands in: through the door, and out of its envelope."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from journal.errors import InvalidRecord, brief
from journal.json_door import JSON, MAX_BYTES, accept, dumps
from journal.json_text import MAX_INT
from journal.records import PublicationTarget, Record, RunStatus, SessionStatus, unwrap

Source = Record | Mapping[str, Any] | bytes
"""A record as a host may hand it in: a model, a mapping, or JSON text."""

_PLAIN = (dict, bytes)

WRAPPED = 3
"""Levels of JSON that an event or a bundle puts around a record."""


def read(
    source: Source, what: str, *, max_bytes: int = MAX_BYTES, wrapped: int = 0
) -> tuple[dict[str, Any], bytes]:
    """Pass a record through the door.

    Raises:
        InvalidJSON: it holds something JSON or the journal does not allow.
        InvalidRecord: it is not an object.
    """
    value, raw = accept(plain(source), max_bytes=max_bytes, wrapped=wrapped)
    return as_object(value, what), raw


def plain(source: Source) -> Any:
    """Give a record in the form that the door takes."""
    if type(source) is not dict and isinstance(source, Record):
        return source.to_json()
    return source


def as_object(value: JSON, what: str) -> dict[str, Any]:
    """Check that a record is a JSON object.

    Raises:
        InvalidRecord: it is not.
    """
    if type(value) is not dict:
        hint = "; hand in JSON text as bytes" if isinstance(value, str) else ""
        raise InvalidRecord(what, "$", f"expected an object, found {type(value).__name__}{hint}")
    return value


def bare(source: Source, what: str, schema: str) -> tuple[dict[str, Any], bytes]:
    """Pass a record through the door, and take it out of its envelope.

    Raises:
        InvalidJSON, InvalidRecord: as `read` does.
        InvalidEnvelope: its envelope is of another schema or version.
    """
    # A host's records mostly come bare, and this is on the way of each of them.
    value, raw = accept(source if type(source) in _PLAIN else plain(source), wrapped=1)
    if type(value) is dict and "schema" not in value and "version" not in value:
        return value, raw
    payload, _ = unwrap(as_object(value, what), schema)
    return payload, dumps(payload)


def check_id(value: object, what: str) -> str:
    """Check an id at the door: a non-empty string that UTF-8 can hold.

    Raises:
        InvalidRecord: it is not.
    """
    if not isinstance(value, str) or not value:
        raise InvalidRecord(what, "$", f"expected a non-empty string, found {value!r}")
    accept(value)
    return value


def check_revision(value: object, what: str) -> None:
    """Check a revision at the door; None stands for none.

    Raises:
        InvalidRecord: it is neither.
    """
    if value is not None and (type(value) is not int or not 0 <= value <= MAX_INT):
        reason = f"an integer from 0 to 2^64-1 is needed, found {brief(value)}"
        raise InvalidRecord(what, "$.revision", reason)


def check_status(status: object) -> str:
    """Check a run status at the door.

    Raises:
        InvalidRecord: it is not one.
    """
    return _check_word(status, "status", RunStatus)


def check_session_status(status: object) -> str:
    """Check a session status at the door.

    Raises:
        InvalidRecord: it is not one.
    """
    return _check_word(status, "session status", SessionStatus)


def check_target(target: object) -> str:
    """Check the target of a stream publication at the door.

    Raises:
        InvalidRecord: it is not one.
    """
    return _check_word(target, "publication target", PublicationTarget)


def _check_word(word: object, what: str, words: type[StrEnum]) -> str:
    if not isinstance(word, str) or word not in set(words):
        known = ", ".join(words)
        raise InvalidRecord(what, "$", f"{word!r} is none of {known}")
    return str(word)
