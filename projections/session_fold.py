"""A session's own stream, folded: which runs it has, and what was said of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from journal.codec import RecordedEvent
from journal.errors import CorruptEvent, SessionNotFound
from journal.events import RUN_NOTES, DocumentCopied
from journal.ids import Position
from journal.numbers import SessionNumbers
from journal.reader import Reader
from projections.order import shaped, text, whole
from projections.past_damage import Damage, openings_of, session_past_damage


@dataclass(slots=True)
class RunNotes:
    """What a session's stream says of one of its runs."""

    opened: Position
    noted: Position
    """The last note: all that its status and its saves were by then."""
    status: str | None = None
    """None until something gave it one."""
    saves: int = 0
    """What it is known to have added to the session's revision."""
    exact: bool = False
    """Whether that was all of it when it was noted."""


class Touch(NamedTuple):
    """Somebody wrote what a run's record is made of."""

    position: Position
    run_id: str
    status: str
    """Of the run, after that."""


@dataclass(slots=True)
class Saved:
    """A session record that the host saved."""

    event: RecordedEvent
    first: bool
    """Whether it is the first one."""
    own: int
    """What the session's revision was with it, without its runs."""
    revision: int
    """The least that the session's revision was with it."""
    counted: int | None
    """What the session's revision was with it, where another store had counted it."""


@dataclass(slots=True)
class SessionFold:
    """What a session's events add up to, in order of arrival.

    It says of runs what the session's own stream does: they may have gone on since.
    """

    runs: dict[str, RunNotes] = field(default_factory=dict)
    """In the order in which they were opened."""
    numbers: SessionNumbers = field(default_factory=SessionNumbers)
    """The `sequence_no` of each run."""
    touches: list[Touch] = field(default_factory=list)
    saved: Saved | None = None
    """The last record that was saved."""
    counted: Saved | None = None
    """The last one of them that came from a store that had counted the session's revision."""
    status: str | None = None
    """Set since then."""
    context: RecordedEvent | None = None
    """The last context state of the session itself that was exported."""
    environments: list[RecordedEvent] = field(default_factory=list)
    """References to environment states of the session itself."""
    commits: list[tuple[Position, str]] = field(default_factory=list)
    """The runs whose evidence was committed."""
    begun_by_run: bool = False
    """Whether the first that was recorded of it is a run."""
    own: int = 0
    """What the session's revision is without its runs."""
    created_at: int = 0
    """Microseconds since the epoch at which the first event was recorded."""
    updated_at: int = 0
    """The same of the latest."""
    last: Position = Position(0)
    """Of the last event."""
    is_whole: bool = True
    """Whether all of its events could be read. Else its runs are those that there are."""
    damage: CorruptEvent | None = None
    """The first that could not, other than a note of a run."""
    _shift: int = 0

    @property
    def revision(self) -> int:
        """The least that the session's revision is; a run that was opened counts at least once."""
        return self._shift + self._least

    @property
    def _least(self) -> int:
        return self.own + sum(max(1, notes.saves) for notes in self.runs.values())

    def save(self, event: RecordedEvent) -> None:
        """Take in a session record that was saved."""
        self.own += 1
        counted = event.data.get("revision")
        if counted is not None:
            self._shift = whole(counted) - self._least
        self.saved = Saved(event, self.saved is None, self.own, self.revision, counted)
        if counted is not None:
            self.counted = self.saved
        self.status = None

    def miss(self, damage: Damage) -> None:
        """Pass over an event that cannot be read."""
        self.is_whole = False
        self.numbers.miss(damage.version)
        if not damage.is_note:
            self.damage = self.damage or damage.error
        elif damage.version == 1:
            self.begun_by_run = True

    def find_runs(self, reader: Reader, session_id: str, until: Position | None) -> None:
        """Find the runs of a session whose notes of them are damaged, and trust no note."""
        for opened in openings_of(reader, session_id):
            if until is not None and opened.position > until:
                continue
            note = Position(opened.position + 1)
            notes = self.runs.setdefault(str(opened.run_id), RunNotes(note, note))
            notes.opened = note
            if not self.last:
                self.last, self.created_at = opened.position, opened.recorded_at
                self.updated_at = opened.recorded_at
                self.own = int(self.begun_by_run)
        for notes in self.runs.values():
            notes.exact = False
        self.runs = dict(sorted(self.runs.items(), key=lambda each: each[1].opened))


def fold_session(reader: Reader, session_id: str, until: Position | None = None) -> SessionFold:
    """Fold a session's stream up to a position of the journal, inclusive.

    A note of a run stands right behind the event of which it is, and goes with it.

    What is damaged is passed over, and told (`SessionFold.damage`) where it is no note.

    Raises:
        SessionNotFound: nothing of this session was recorded by then.
    """
    fold = SessionFold()
    before: RecordedEvent | None = None
    for event in session_past_damage(reader, session_id):
        if isinstance(event, Damage):
            fold.miss(event)
            before = None
            continue
        of_run = event.name in RUN_NOTES
        goes_with = of_run and _goes_with(event, before)
        if until is not None and event.position - of_run > until and not goes_with:
            break
        try:
            with shaped(event):
                _evolve(fold, event)
        except CorruptEvent as error:
            fold.miss(Damage(event.version, error, of_run))
        before = event
    if not fold.is_whole:
        fold.find_runs(reader, session_id, until)
    if not fold.last and fold.damage is not None:
        raise fold.damage
    if not fold.last:
        raise SessionNotFound(session_id)
    return fold


def _goes_with(note: RecordedEvent, before: RecordedEvent | None) -> bool:
    """Tell whether a note is of the same event as the note right before it."""
    if before is None or before.name not in RUN_NOTES:
        return False
    return before.position == note.position - 1


def _evolve(fold: SessionFold, event: RecordedEvent) -> None:
    if event.name == DocumentCopied.NAME:
        fold.numbers.take(event)
        return  # it tells nothing new
    if not fold.last:
        fold.created_at = fold.updated_at = event.recorded_at
        # A session that a run began was saved for it.
        fold.begun_by_run = fold.begun_by_run or event.name in RUN_NOTES
        fold.own = int(fold.begun_by_run)
    fold.last = event.position
    fold.numbers.take(event)
    fold.updated_at = max(fold.updated_at, event.recorded_at)
    data = event.data
    match event.name:
        case "session.run_added.v1":
            fold.runs[text(data["run_id"])] = RunNotes(event.position, event.position)
        case "session.run_changed.v1":
            _run_changed(fold, event)
        case "session.saved.v1":
            fold.save(event)
        case "session.status_changed.v1":
            fold.own += 1
            fold.status = text(data["status"])
        case "context.exported.v1":
            fold.own += 1
            fold.context = event
        case "environment.referenced.v1":
            fold.own += 1
            fold.environments.append(event)
        case "environment.exported.v1":
            fold.own += 1
        case _:
            pass


def _run_changed(fold: SessionFold, event: RecordedEvent) -> None:
    data = event.data
    run_id, status = text(data["run_id"]), text(data["status"])
    notes = fold.runs.setdefault(run_id, RunNotes(event.position, event.position))
    saves = data.get("saves")
    notes.noted, notes.status = event.position, status
    notes.exact = saves is not None
    notes.saves = notes.saves + 1 if saves is None else whole(saves)
    fold.touches.append(Touch(event.position, run_id, status))
    if data.get("committed"):
        fold.commits.append((event.position, run_id))
