"""Stream cursor references: how far somebody has read a run's stream."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, ClassVar

from pydantic import Field, model_validator

from journal.json_door import JSON
from journal.records.base import Record
from journal.records.checks import Check
from journal.records.fields import Counter, JsonObject
from journal.records.vocabulary import CursorFamily


class StreamPosition(Record):
    """A place in a stream. A cursor never goes back and never changes family or scope."""

    NOUN: ClassVar[str] = "stream position"

    family: CursorFamily
    scope: str
    """`run:<run id>`."""
    sequence: Counter
    backend_cursor: str | None = None


class _FlatStreamCursorRef(Record):
    NOUN: ClassVar[str] = "stream cursor"

    family: CursorFamily
    scope: str
    sequence: Counter
    cursor: str | None = None
    created_at: str
    metadata: JsonObject = Field(default_factory=dict)


_FLAT = {"family": "family", "scope": "scope", "sequence": "sequence", "cursor": "backend_cursor"}
"""The keys of the flat form, and what each is called in a position."""


def _is_flat(keys: Container[str]) -> bool:
    return "family" in keys and "position" not in keys


def nested(cursor: JsonObject) -> JsonObject:
    """Give a valid cursor in the form that has a position; an old flat one is turned into it."""
    if not _is_flat(cursor):
        return cursor
    position = {name: cursor[key] for key, name in _FLAT.items() if key in cursor}
    rest = {key: item for key, item in cursor.items() if key not in _FLAT}
    return {"position": position, **rest}


def position_of(cursor: JsonObject) -> JsonObject:
    """Give the family, scope and sequence of a valid cursor, in either form."""
    position: JsonObject = nested(cursor)["position"]
    return position


class StreamCursorRef(Record):
    """A saved position. The old flat form is read too, and given back flat."""

    NOUN: ClassVar[str] = "stream cursor"

    position: StreamPosition
    created_at: str
    metadata: JsonObject = Field(default_factory=dict)

    @classmethod
    def compile_check(cls, decided: frozenset[str] = frozenset()) -> Check:
        """Compile the checks of both forms into one."""
        current = super().compile_check(decided)
        flat = _FlatStreamCursorRef.compile_check(decided)

        def check(value: JSON) -> None:
            (flat if type(value) is dict and _is_flat(value) else current)(value)

        return check

    @model_validator(mode="before")
    @classmethod
    def _from_flat(cls, value: Any) -> Any:
        return nested(value) if isinstance(value, dict) else value

    def to_json(self) -> JsonObject:
        """Give the reference as a JSON object, in the form it was read in."""
        found = super().to_json()
        if _is_flat(self._keys):
            position = found.pop("position")
            found.update({key: position[name] for key, name in _FLAT.items() if key in found})
        return found
