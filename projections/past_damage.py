"""A session's own stream, read past what is damaged in it.

The notes of runs in it repeat what the runs' own streams say, so that a damaged one is no loss:
the runs are read instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from journal.codec import RecordedEvent
from journal.errors import CorruptEvent, SessionNotFound
from journal.events import RUN_NOTES, RunArchived, RunCommitted, RunSaved
from journal.ids import Version, run_stream, session_stream
from journal.numbers import SessionNumbers
from journal.reader import Reader


class Damage(NamedTuple):
    """An event of a session's stream that cannot be read."""

    version: Version
    error: CorruptEvent
    is_note: bool
    """Whether it is a note of a run, as far as its name tells."""


def session_past_damage(reader: Reader, session_id: str) -> Iterator[RecordedEvent | Damage]:
    """Yield the events of a session's own stream in version order, and what is damaged.

    Raises:
        SessionNotFound: no event of this session was ever recorded.
    """
    version = Version(0)
    try:
        for event in reader.session_events(session_id):
            version = event.version
            yield event
    except CorruptEvent:
        yield from _singly(reader, session_id, version)


def _singly(reader: Reader, session_id: str, after: Version) -> Iterator[RecordedEvent | Damage]:
    """Yield events one by one, as a page may be unreadable for one of them."""
    stream, version = session_stream(session_id), after
    while True:
        before, version = version, Version(version + 1)
        try:
            event = reader.event(stream, version)
        except CorruptEvent as error:
            yield Damage(version, error, _is_note(reader, session_id, version))
            continue
        if event is not None:
            yield event
            continue
        try:
            next(reader.session_events(session_id, after=before), None)
        except CorruptEvent as error:
            yield Damage(version, error, is_note=False)  # it is missing
        else:
            return


def _is_note(reader: Reader, session_id: str, version: Version) -> bool:
    before = Version(version - 1)
    try:
        next(reader.session_events(session_id, after=before, names=RUN_NOTES), None)
    except CorruptEvent as error:
        return error.version == version
    return False


def openings_of(reader: Reader, session_id: str) -> Iterator[RecordedEvent]:
    """Yield the opening of each run of a session, the oldest first, by all runs there are.

    A run whose opening cannot be read is passed over: whoever reads that run is told. For a run
    that is in an archive only, the event that says so stands for its opening.
    """
    found = []
    for run_id in reader.run_ids():
        try:
            opened = reader.dropped(run_id) or reader.event(run_stream(run_id), Version(1))
        except CorruptEvent:
            continue
        if opened is not None and opened.data.get("session_id") == session_id:
            found.append(opened)
    yield from reversed(found)


def numbers_past_damage(reader: Reader, session_id: str) -> dict[str, int]:
    """Tell the `sequence_no` of each run of a session whose stream is damaged.

    It is what the run's opening, a note or its first record says; else the next one in the
    order in which the runs were opened.
    """
    notes = SessionNumbers()
    try:
        for event in session_past_damage(reader, session_id):
            if not isinstance(event, Damage) and "run_id" in event.data:
                notes.take(event)
    except SessionNotFound:
        pass  # its whole stream is lost
    found: dict[str, int] = {}
    for opened in openings_of(reader, session_id):
        run_id = str(opened.run_id)
        number = opened.data.get("sequence_no")
        if number is None and opened.name == RunArchived.NAME:
            number = (opened.data.get("for_session") or {}).get("sequence_no")
        if number is None and notes.is_fixed(run_id):
            number = notes.of[run_id]
        found[run_id] = number or _recorded(reader, run_id) or max(found.values(), default=0) + 1
    return found


def _recorded(reader: Reader, run_id: str) -> int | None:
    try:
        if reader.dropped(run_id) is not None:
            return None
        first = reader.first_run_event(run_id, (RunSaved.NAME, RunCommitted.NAME))
    except CorruptEvent:
        return None
    return None if first is None else first.data["run"].get("sequence_no")
