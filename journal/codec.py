"""Events to bytes and back.

An event's bytes are one JSON object, its model's fields. Reading does not validate again
what writing validated: it parses, migrates old shapes, and hands out the object; a typed
event is built on request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel, ValidationError

from journal.errors import CorruptEvent, InvalidRecord, UnknownEvent
from journal.events import EVENTS, Event, EventData, StreamRecorded
from journal.ids import (
    RUN_PREFIX,
    SESSION_PREFIX,
    Position,
    RunId,
    SessionId,
    StreamId,
    Version,
)
from journal.json_door import dumps, loads
from journal.stores.interface import StoredEvent
from journal.times import EARLIEST, LATEST

_NO_TIME = "the time it was recorded is not in the years 1 to 9999"

Upcaster = Callable[[EventData], EventData]
"""A migration of an old event's JSON by exactly one step; must not change its argument."""


class Upcasters:
    """The one-step migrations from stored names of the past to those of today."""

    def __init__(self) -> None:
        self._steps: dict[str, tuple[str, Upcaster]] = {}

    def register(self, old: str, new: str, step: Upcaster) -> None:
        """Migrate events named `old` to the shape named `new`.

        Raises:
            ValueError: `old` has a step already, is the name of a current event, or the
                steps would go in a circle.
        """
        if old in self._steps or old in EVENTS:
            raise ValueError(f"{old} cannot get a migration (a second one)")
        follow: str | None = new
        while follow in self._steps:
            follow = self._steps[follow][0]
            if follow == old:
                raise ValueError(f"{old} would be migrated in a circle")
        self._steps[old] = (new, step)

    def apply(self, name: str, data: EventData) -> tuple[str, EventData]:
        """Bring an event to the shape of today, step by step, before anything looks at it."""
        while name in self._steps:
            name, step = self._steps[name]
            data = step(data)
        return name, data


UPCASTERS = Upcasters()
"""The migrations of this version. None yet: every event is at its first version."""


class RecordedEvent(NamedTuple):
    """An event as read from the journal."""

    position: Position
    stream: StreamId
    version: Version
    name: str
    """Stored name after migration, for example `checkpoint.taken.v1`."""
    stored_at: int
    """Microseconds since the epoch at which this journal stored it; rises with position."""
    data: EventData
    """The event's JSON. Treat it as frozen."""

    @property
    def recorded_at(self) -> int:
        """Microseconds since the epoch at which it was first recorded.

        For an imported event that is the time the other journal gave.
        """
        imported = self.data.get("imported")
        if imported is None:
            return self.stored_at
        first: int | None = imported.get("recorded_at")
        return self.stored_at if first is None else first

    @property
    def imported(self) -> bool:
        """Tell whether it came in by `ingest`."""
        return self.data.get("imported") is not None

    @property
    def known(self) -> bool:
        """Tell whether this version of the journal knows the name."""
        return self.name in EVENTS

    @property
    def run_id(self) -> RunId | None:
        """The run it belongs to; None for an event of a session's own stream."""
        if not self.stream.startswith(RUN_PREFIX):
            return None
        return RunId(self.stream[len(RUN_PREFIX) :])

    @property
    def session_id(self) -> SessionId | None:
        """The session whose own stream it stands in; None for an event of a run."""
        if not self.stream.startswith(SESSION_PREFIX):
            return None
        return SessionId(self.stream[len(SESSION_PREFIX) :])

    @property
    def event(self) -> Event:
        """The typed event.

        Raises:
            UnknownEvent: the name is not known to this version.
            CorruptEvent: the JSON does not fit its name.
        """
        model = EVENTS.get(self.name)
        if model is None:
            raise UnknownEvent(self.name, self.stream, self.version)
        try:
            return model.model_validate(self.data)
        except ValidationError as error:
            fault = "{}: {}".format(*first_fault(error))
            raise CorruptEvent(self.stream, self.version, fault) from error


def encode(event: Event) -> bytes:
    """Encode an event as compact UTF-8 JSON; absent optional fields are left out."""
    return dumps({key: _plain(value) for key, value in event if value is not None})


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.model_dump(exclude_none=True) if isinstance(value, BaseModel) else value


def encode_record(raw: bytes) -> bytes:
    """Encode a stream record that is already compact JSON; equal to the general way."""
    return b'{"record":' + raw + b"}"


def decode(stored: StoredEvent, upcasters: Upcasters = UPCASTERS) -> RecordedEvent:
    """Decode a stored row.

    Raises:
        CorruptEvent: its bytes are not a JSON object, or the time it was recorded is none.
    """
    try:
        data = loads(stored.data)
    except orjson.JSONDecodeError as error:
        raise CorruptEvent(stored.stream, stored.version, f"not JSON: {error}") from error
    if type(data) is not dict:
        raise CorruptEvent(stored.stream, stored.version, "not a JSON object")
    name = stored.name
    if name not in EVENTS:
        name, data = upcasters.apply(name, data)
    elif name == StreamRecorded.NAME and "record" not in data:
        raise CorruptEvent(stored.stream, stored.version, "no record in it")
    if not EARLIEST <= stored.recorded_at <= LATEST:
        raise CorruptEvent(stored.stream, stored.version, _NO_TIME)
    if "imported" in data:
        _check_imported(stored, data["imported"])
    return RecordedEvent(
        stored.position, stored.stream, stored.version, name, stored.recorded_at, data
    )


def _check_imported(stored: StoredEvent, imported: Any) -> None:
    if type(imported) is not dict:
        raise CorruptEvent(stored.stream, stored.version, "its mark of import is no object")
    first = imported.get("recorded_at")
    if first is not None and not (type(first) is int and EARLIEST <= first <= LATEST):
        raise CorruptEvent(stored.stream, stored.version, _NO_TIME)


def validate(name: str, data: EventData) -> Event:
    """Build an event from JSON that somebody else wrote.

    Raises:
        InvalidRecord: the name is unknown, or a field is wrong.
    """
    model = EVENTS.get(name)
    if model is None:
        raise InvalidRecord("event", "$.name", f"{name!r} is not an event of this runjournal")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        path, reason = first_fault(error)
        raise InvalidRecord(f"event {name}", path, reason) from error


def first_fault(error: ValidationError) -> tuple[str, str]:
    """Tell the JSON path and the reason of the first fault pydantic found."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = "$" + "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault["loc"]
    )
    return path, fault["msg"]
