"""Events of a session's own stream."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from journal.events.base import Document, Event


class SessionSaved(Document):
    """The host saved its session record; stands in the session's stream.

    The record repeats the history of the session's last run, so it is held as a difference
    from that run's last state.
    """

    NAME: ClassVar[str] = "session.saved.v1"
    revision: int | None = None
    """The session's revision with it, where another store had counted it; else it follows from
    what was recorded (see `projections.session_records`)."""


class SessionRunAdded(Event):
    """A run was opened in the session; stands in the session's stream."""

    NAME: ClassVar[str] = "session.run_added.v1"
    run_id: str
    sequence_no: Annotated[int, Field(ge=1)] | None = None
    """The run's number, where it was given one; else one above the highest so far (see
    `journal.numbers`)."""


class SessionRunChanged(Event):
    """A run of the session was saved, committed or given a status; in the session's stream.

    It repeats what the run's event says, with which it is written, so that a session's
    record follows from its own stream.
    """

    NAME: ClassVar[str] = "session.run_changed.v1"
    run_id: str
    status: str
    sequence_no: Annotated[int, Field(ge=1)] | None = None
    """Of the run record, where it has one."""
    committed: bool | None = None
    """Whether evidence was committed, whose context state is the session's from here on."""
    saves: int | None = None
    publishes: list[str] | None = None
    """Targets that the evidence is to be published to."""


class SessionStatusChanged(Event):
    """Somebody set the session's status; stands in the session's stream."""

    NAME: ClassVar[str] = "session.status_changed.v1"
    status: str


class EnvironmentReferenced(Event):
    """The host said where the session's environment state is; in the session's stream."""

    NAME: ClassVar[str] = "environment.referenced.v1"
    environment_state: dict[str, Any]
    """An `EnvironmentStateRef`, as handed in."""
