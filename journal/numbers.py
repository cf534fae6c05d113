"""The numbers of a session's runs (`sequence_no`), as the session's own stream tells them."""

from __future__ import annotations

from collections import OrderedDict

from journal.codec import RecordedEvent
from journal.errors import CorruptEvent, SessionNotFound, StateConflict
from journal.events import RUN_NOTES, RunCommitted, RunSaved, SessionRunAdded
from journal.ids import Version, session_stream
from journal.reader import Reader

SESSIONS = 64
"""Sessions whose numbers are remembered; the longest unused goes first."""


class SessionNumbers:
    """The numbers of the runs of one session, folded from the notes in its stream.

    A run has the first number that it was told: when it was opened, or by a record of it
    later. Until then it has the one above the highest of those before it, which it keeps when
    its first record leaves the choice to the journal.
    """

    def __init__(self) -> None:
        self.version = Version(0)
        """Of the last event taken in."""
        self.of: dict[str, int] = {}
        """By run id, in the order in which the runs were opened."""
        self._told: set[str] = set()
        self._highest = 0

    @property
    def following(self) -> int:
        """The number of the next run."""
        return self._highest + 1

    def take(self, event: RecordedEvent) -> None:
        """Take in the next event of the session's stream; only notes of runs count."""
        self.version = event.version
        if event.name not in RUN_NOTES:
            return
        run_id, number = event.data["run_id"], event.data.get("sequence_no")
        if number is None and event.name == SessionRunAdded.NAME:
            self.of.setdefault(run_id, self.following)
        elif number is not None and run_id not in self._told:
            self._told.add(run_id)
            self.of[run_id] = number
        self._highest = max(self._highest, self.of.get(run_id, 0))

    def miss(self, version: Version) -> None:
        """Pass over an event that cannot be read: it may be of a run, which had a number."""
        self.version = version
        self._highest += 1

    def is_fixed(self, run_id: str) -> bool:
        """Tell whether the run was told its number, which it keeps then."""
        return run_id in self._told


class Numbers:
    """The numbers of all sessions, each read on from where it was read last."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._sessions: OrderedDict[str, SessionNumbers] = OrderedDict()

    def choose(self, session_id: str, run_id: str, asked: int) -> int:
        """Tell what number a run has or gets; for deciders, which are called one at a time.

        Args:
            asked: by the host's record of the run; 0 leaves the choice to the journal.

        Raises:
            StateConflict: the run has another number, or another run has this one.
        """
        numbers = self._read(session_id)
        own = numbers.of.get(run_id)
        if asked in (0, own):
            return numbers.following if own is None else own
        if own is not None and (numbers.is_fixed(run_id) or self._has_record(run_id)):
            reason = f"is number {own} of session {session_id!r}, not {asked}"
            remedy = "a run keeps its number; leave sequence_no at 0, or give it that one"
            raise StateConflict(f"run {run_id!r}", reason, remedy)
        for other, number in numbers.of.items():
            if number == asked and other != run_id:
                reason = f"cannot be number {asked} of session {session_id!r}: {other!r} is that"
                remedy = f"leave sequence_no at 0 for the next one, {numbers.following}"
                raise StateConflict(f"run {run_id!r}", reason, remedy)
        return asked

    def _has_record(self, run_id: str) -> bool:
        """Tell whether a record of the run was saved, which left its number to the journal."""
        names = (RunCommitted.NAME, RunSaved.NAME)
        return self._reader.last_run_event(run_id, names) is not None

    def _read(self, session_id: str) -> SessionNumbers:
        numbers = self._sessions.setdefault(session_id, SessionNumbers())
        self._sessions.move_to_end(session_id)
        if len(self._sessions) > SESSIONS:
            self._sessions.popitem(last=False)
        try:
            for event in self._reader.session_events(
                session_id, after=numbers.version, names=RUN_NOTES
            ):
                numbers.take(event)
        except SessionNotFound:
            pass  # its first run is about to be opened
        except CorruptEvent:
            self._read_singly(session_id, numbers)
        return numbers

    def _read_singly(self, session_id: str, numbers: SessionNumbers) -> None:
        """Read past damage: new runs must not suffer from what a session's stream suffered."""
        stream = session_stream(session_id)
        while True:
            following = Version(numbers.version + 1)
            try:
                event = self._reader.event(stream, following)
            except CorruptEvent:
                numbers.miss(following)
                continue
            if event is None:
                return
            numbers.take(event)
