"""What a session's record takes from its runs, also from those that are in an archive only.

What is needed of a run is noted in its `run.archived` event when it is dropped, and the context
state that is the session's is copied into the session's own stream.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from journal.archived import refusal
from journal.codec import RecordedEvent
from journal.documents import Place, identity_of_copy
from journal.errors import RunIsArchived
from journal.events import RunCommitted
from journal.ids import Position, StreamId, Version, session_stream
from journal.reader import Reader
from projections.order import Ref, shaped
from projections.records import cursor_of, record_of
from projections.run_at import RunAt


class Commit(NamedTuple):
    """The evidence of a run, as it was committed."""

    run_id: str
    position: Position
    context: RecordedEvent | None
    """The event whose document is the context state."""
    environment_state: dict[str, Any] | None
    """The reference in the run's record."""
    cursors: list[dict[str, Any]]
    """The run's stream cursors."""

    @classmethod
    def of(cls, position: Position, run: RunAt) -> Self:
        """Give what a run committed.

        Args:
            run: as it was then.
        """
        saved = run.looked_up.one(run.record.record)
        return cls(
            run.index.run_id,
            position,
            run.looked_up.one(run.fold.context),
            None if saved is None else saved.data["run"].get("environment_state"),
            [cursor_of(run, at) for at in run.record.cursors.values()],
        )


class ArchivedRun:
    """What is left of a run that is in an archive only.

    Args:
        told: its `run.archived` event.
    """

    def __init__(self, told: RecordedEvent) -> None:
        self.told = told
        with shaped(told):
            self.status: str = told.data["status"]
            self.updated_at: int = told.data["updated_at"]
            self._part: dict[str, Any] = told.data.get("for_session") or {}
            self.last: Position = self._part.get("last", told.position)
            """The position of its last event."""
            self.saves: int | None = self._part.get("saves")
            """What it added to the session's revision; None where that was not noted."""
            self.touched: Position | None = self._part.get("touched")
            """The position of the last change of its record."""
            self.active_before: dict[Position, Position] = {
                Position(end): Position(before) for end, before in self._part.get("ends", ())
            }
            """By where it is said that it ended: the position of the write before that."""
            self.number: int | None = self._part.get("sequence_no")
            committed = self._part.get("committed")
            self.committed: Position | None = None if committed is None else committed["position"]

    @property
    def refusal(self) -> RunIsArchived:
        """The error that says where the run is."""
        return refusal(self.told)

    @property
    def record(self) -> dict[str, Any]:
        """The run's durable record.

        Raises:
            RunIsArchived: it was not noted.
        """
        if "record" not in self._part:
            raise self.refusal
        found: dict[str, Any] = self._part["record"]
        return found

    def cursors_since(self, position: Position) -> list[tuple[Position, dict[str, Any]]]:
        """Give the stream cursors that were saved by themselves after a position."""
        with shaped(self.told):
            return [
                (each["position"], each["cursor"])
                for each in self._part.get("cursors", ())
                if each["position"] > position
            ]

    def commit(self, reader: Reader, session_id: str) -> Commit:
        """Give what the run committed, whose evidence was the session's last then.

        Raises:
            RunIsArchived: its context state was not the session's when it was dropped.
        """
        with shaped(self.told):
            held = self._part["committed"]
            context: RecordedEvent | None = None
            if "context" in held:
                place = (StreamId(held["context"][0]), Version(held["context"][1]))
                context = copied(reader, session_id, place)
                if context is None:
                    raise self.refusal
            return Commit(
                self.told.data["run_id"],
                held["position"],
                context,
                held.get("environment_state"),
                held["cursors"],
            )


def copied(reader: Reader, session_id: str, place: Place) -> RecordedEvent | None:
    """Find the copy, in a session's stream, of a document of one of its runs."""
    identity = identity_of_copy(place[1], place[0])
    return reader.find_in(session_stream(session_id), identity)


def part_for_session(run: RunAt, number: int, *, is_last: bool) -> dict[str, Any]:
    """Note what the session's record takes from a run that is about to be dropped.

    Args:
        run: to its end.
        number: its `sequence_no`.
        is_last: whether its evidence is what the session committed last.
    """
    record = run.record
    part: dict[str, Any] = {
        "last": run.newest.position,
        "saves": record.saves,
        "sequence_no": number,
        "record": record_of(run, number),
    }
    if record.touched:
        [touched] = run.looked_up.all([Ref(run.index.stream, Version(record.touched))])
        part["touched"] = touched.position
    saved = run.looked_up.one(record.record)
    if saved is not None and saved.name == RunCommitted.NAME:
        part["committed"] = _committed(saved.position, run, is_last=is_last)
    cursors = []
    for at in record.cursors.values():
        event = run.looked_up.one(at.saved)
        if event is not None:
            cursors.append({"position": event.position, "cursor": event.data["cursor"]})
    if cursors:
        part["cursors"] = cursors
    return part


def shown_documents(commit: Commit) -> list[Place]:
    """List the documents that the session's record shows of what was committed last."""
    context = commit.context
    return [] if context is None else [(context.stream, context.version)]


def _committed(position: Position, run: RunAt, *, is_last: bool) -> dict[str, Any]:
    commit = Commit.of(position, run)
    held: dict[str, Any] = {"position": position, "cursors": commit.cursors if is_last else []}
    if commit.environment_state is not None:
        held["environment_state"] = commit.environment_state
    if commit.context is not None:
        held["context"] = [commit.context.stream, commit.context.version]
    return held
