"""What every event has."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field


class Imported(BaseModel):
    """Marks an event that came in by `ingest` from another journal."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    recorded_at: int | None = None
    """Microseconds since the epoch at which the other journal recorded it, when it said."""


class Event(BaseModel):
    """Base of all events."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    NAME: ClassVar[str]
    imported: Imported | None = None
    redacted: list[str] | None = None
    """Paths, in the record, of what the journal's hook replaced before this was written;
    sorted. Of much that was replaced, the paths of what contains it."""


class Document(Event):
    """An event whose JSON document is held as a difference from an earlier one."""

    delta: list[Any]
    """The difference; applied to JSON null where there is no base."""
    base_stream: str | None = None
    """The stream of the base, when it is not the event's own."""
    base_version: int | None = None
    """The version of the base event; absent for a document held whole."""
    chain_bytes: int
    """Encoded size of the deltas from the nearest whole document up to this one, in bytes."""
    chain_runs: int = 0
    """How many other runs a rebuild of this document reads."""


class DocumentCopied(Event):
    """A document held whole once more: what it is a difference from is dropped.

    It stands in the stream of the event whose document it is. `journal.documents` takes it
    in place of a base that is no longer there; it tells nothing new. In a session's stream it
    may also be of a run that is dropped, whose context state is the session's.
    """

    NAME: ClassVar[str] = "document.copied.v1"
    version: Annotated[int, Field(ge=1)]
    """Of the event whose document it is."""
    of_stream: str | None = None
    """The stream of that event, where it is another one."""
    delta: list[Any]
    """The document, as the difference from JSON null."""
    chain_bytes: Annotated[int, Field(ge=0, le=0)]
    """Always 0, as of every document held whole."""


class Operator(BaseModel):
    """Who asked for something at a command line."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    user: str
    """The operating system's name of the user."""
    host: str
    """The name of the machine."""
    name: str | None = None
    """The name that was given, when one was."""
