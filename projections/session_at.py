"""A session at a point of the journal: its own stream, and what its runs did since."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from journal.codec import RecordedEvent
from journal.documents import Walk
from journal.errors import BrokenBase, CorruptEvent, RunIsArchived, UnknownEvent
from journal.events import OPENINGS, RunCommitted
from journal.ids import Position, Version
from journal.records import TERMINAL
from projections.documents import Documents
from projections.order import Ref, whole
from projections.past_damage import numbers_past_damage
from projections.reading import HasReader
from projections.records import record_of, status_of
from projections.run_at import RunAt, documents_of
from projections.run_index import RunIndex
from projections.session_fold import SessionFold, Touch, fold_session
from projections.session_parts import ArchivedRun, Commit
from projections.touches import touched_before

UNREADABLE = (BrokenBase, CorruptEvent, UnknownEvent)
"""What is raised for a run that is damaged, or of a newer journal."""


class Heads(NamedTuple):
    """The runs that a session's record names, by their ids."""

    head: str | None = None
    """Written to last."""
    success: str | None = None
    """Completed last."""
    active: str | None = None
    """Of those written to that were not over, the last; None from when that one is."""


class SessionAt:
    """A session, up to a position of the journal.

    Its stream is read as a whole, but of its runs only those that went on since it heard of
    them. What is damaged in a run is passed over: whoever reads that run is told.
    """

    def __init__(self, journal: HasReader, session_id: str, until: Position | None = None) -> None:
        """Read a session's own stream.

        Args:
            until: the position, inclusive; None for all there is.

        Raises:
            SessionNotFound: nothing of this session was recorded by then.
        """
        self.journal = journal
        self.session_id = session_id
        self.until = until
        self._walk = Walk()
        self.fold: SessionFold = fold_session(journal.reader, session_id, until)

    @cached_property
    def documents(self) -> Documents:
        """Rebuilds documents, each once."""
        return documents_of(self.journal, self._walk)

    @cached_property
    def archived(self) -> dict[str, ArchivedRun]:
        """The runs that are in an archive only."""
        found = {}
        for run_id in self.fold.runs:
            told = self.journal.reader.dropped(run_id)
            if told is not None:
                found[run_id] = ArchivedRun(told)
        return found

    def _ended(self, run_id: str, until: Position | None) -> ArchivedRun:
        """Give an archived run that had got to its end by a position.

        Raises:
            RunIsArchived: it had not, so that only the archive tells how it was then.
        """
        run = self.archived[run_id]
        if until is not None and run.last > until:
            raise run.refusal
        return run

    @cached_property
    def _ends(self) -> dict[str, RecordedEvent]:
        """The last event of each run, also of one that went on after the point."""
        reader = self.journal.reader
        found = {}
        for run_id in self.fold.runs:
            if run_id in self.archived:
                continue
            try:
                last = reader.last_event(run_id)
            except CorruptEvent:
                continue
            if last is not None:
                found[run_id] = last
        return found

    @cached_property
    def news(self) -> dict[str, RunAt]:
        """The runs that the session's stream does not tell all of, as they are at the point."""
        found = {}
        for run_id, last in self._ends.items():
            notes = self.fold.runs[run_id]
            if notes.exact and last.position <= notes.noted:
                continue
            try:
                found[run_id] = self.run(run_id, self.until)
            except UNREADABLE:
                continue
        return found

    def run(self, run_id: str, until: Position | None) -> RunAt:
        """Fold a run up to a position; None for all there is."""
        return RunAt.upto(RunIndex(self.journal, run_id), until, self._walk)

    def record(self, run_id: str) -> dict[str, Any]:
        """Give the durable record of one of the runs.

        Raises:
            CorruptEvent, BrokenBase, UnknownEvent: it cannot be read.
            RunIsArchived: it is in an archive only, and was not at its end at the point.
        """
        if run_id in self.archived:
            return self._ended(run_id, self.until).record
        run = self.news.get(run_id) or self.run(run_id, self.until)
        return record_of(run, self.numbers[run_id])

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The `sequence_no` of each run."""
        if not self.fold.is_whole:
            told = numbers_past_damage(self.journal.reader, self.session_id)
            return {run_id: told.get(run_id, 1) for run_id in self.fold.runs}
        found = {run_id: self.fold.numbers.of.get(run_id, 1) for run_id in self.fold.runs}
        for run_id, run in self.news.items():
            saved = run.looked_up.one(run.record.record)
            if saved is not None and self.fold.runs[run_id].status is None:
                found[run_id] = saved.data["run"].get("sequence_no") or found[run_id]
        for run_id, past in self.archived.items():
            found[run_id] = past.number or found[run_id]
        return found

    @cached_property
    def saved(self) -> dict[str, Any]:
        """The session record saved last, bare; empty where none was."""
        saved = self.fold.saved
        return {} if saved is None else self.documents.of(saved.event) or {}

    @property
    def saved_at(self) -> Position:
        """Where the record saved last stands; 0 where there is none."""
        return Position(0) if self.fold.saved is None else self.fold.saved.event.position

    @cached_property
    def is_current(self) -> bool:
        """Whether the host knew how the session stood when it saved the record.

        Else what the record does not tell, and the runs that it names, are those of before.
        """
        saved = self.fold.saved
        if saved is None:
            return False
        return saved.counted is not None or self.told_revision >= saved.revision - 1

    @property
    def told_revision(self) -> int:
        """The revision that the record saved last came with."""
        told = self.saved.get("revision")
        return 0 if told is None else whole(told)

    @cached_property
    def touches(self) -> list[Touch]:
        """What was written of the runs' records, the last of each at least, in order."""
        found = list(self.fold.touches)
        for run_id, run in self.news.items():
            notes = self.fold.runs[run_id]
            version = run.record.touched
            position = notes.opened
            if version:
                [event] = run.looked_up.all([Ref(run.index.stream, Version(version))])
                position = event.position
            if notes.status is None or position > notes.noted:
                found.append(Touch(position, run_id, status_of(run)))
        for run_id in self.archived:
            past, notes = self._ended(run_id, self.until), self.fold.runs[run_id]
            position = notes.opened if past.touched is None else past.touched
            if notes.status is None or position > notes.noted:
                found.append(Touch(position, run_id, past.status))
        return sorted(found)

    @cached_property
    def heads(self) -> Heads:
        """The runs that the session's record names."""
        since = self.saved_at if self.is_current else Position(0)
        told = self.saved if self.is_current else {}
        head = told.get("head_run_id")
        success = told.get("head_success_run_id")
        active = told.get("active_run_id")
        statuses = {}
        ends: list[Touch] = []
        for touch in self.touches:
            statuses[touch.run_id] = touch.status
            if touch.position <= since:
                continue
            head = touch.run_id
            if touch.status not in TERMINAL:
                active, ends = touch.run_id, []
            elif active == touch.run_id:
                active = None
            else:
                ends.append(touch)
            if touch.status == "completed":
                success = touch.run_id
        # A record saved late may name one that was over by then.
        if active is not None and statuses.get(active) in TERMINAL:
            active = None
        if active is not None and any(self._was_active(end, active) for end in ends):
            active = None
        return Heads(head, success, active)

    def _was_active(self, end: Touch, active: str) -> bool:
        """Tell whether a run that ended was written to after the one that is active.

        The session's stream does not hear of the checkpoints by which it came to be.
        """
        last = max(touch.position for touch in self.touches if touch.run_id == active)
        before = self.active_before(end)
        return before is not None and before > last

    def active_before(self, end: Touch) -> Position | None:
        """Find where a run was written to last before it ended; None where it was over by then."""
        if end.run_id in self.archived:
            return self.archived[end.run_id].active_before.get(end.position)
        try:
            ended = self.run(end.run_id, end.position).newest
            if ended.name in OPENINGS:
                return None
            before = self.run(end.run_id, Position(ended.position - 1))
            return None if status_of(before) in TERMINAL else touched_before(before, ended)
        except UNREADABLE:
            return None

    @cached_property
    def commit(self) -> Commit | None:
        """What the run committed whose evidence was committed last."""
        commits = list(self.fold.commits)
        for run_id, run in self.news.items():
            saved = run.looked_up.one(run.record.record)
            if saved is not None and saved.name == RunCommitted.NAME:
                commits.append((saved.position, run_id))
        for run_id, past in self.archived.items():
            if past.committed is not None and (self.until is None or past.committed <= self.until):
                commits.append((past.committed, run_id))
        if not commits:
            return None
        position, run_id = max(commits)
        if run_id in self.archived:
            return self._ended(run_id, self.until).commit(self.journal.reader, self.session_id)
        return Commit.of(position, self.run(run_id, position))

    def cursors_since(self, position: Position) -> list[dict[str, Any]]:
        """Give the stream cursors that runs saved by themselves after a position, in order."""
        found = []
        for run in self.news.values():
            for at in run.record.cursors.values():
                event = run.looked_up.one(at.saved)
                if event is not None and event.position > position:
                    found.append((event.position, event.data["cursor"]))
        for run_id in self.archived:
            found += self._ended(run_id, self.until).cursors_since(position)
        return [cursor for _, cursor in sorted(found, key=lambda each: each[0])]

    def run_saves(self, until: Position | None) -> int:
        """Tell what the runs added to the session's revision up to a position."""
        total = 0
        for run_id, notes in self.fold.runs.items():
            past = self.archived.get(run_id)
            if past is not None and (until is None or past.last <= until):
                total += notes.saves if past.saves is None else past.saves
            elif until == self.until:
                run = self.news.get(run_id)
                total += notes.saves if run is None else run.record.saves
            elif until is None or notes.opened - 1 <= until:
                known = run_id not in self.news and notes.exact
                if known and (until is None or notes.noted - 1 <= until):
                    total += notes.saves
                else:
                    total += self._saves(run_id, until)
        return total

    def _saves(self, run_id: str, until: Position | None) -> int:
        try:
            return self.run(run_id, until).record.saves
        except (*UNREADABLE, RunIsArchived):
            return self.fold.runs[run_id].saves

    @property
    def last(self) -> tuple[Position, int] | None:
        """Where the last event of a run up to the point stands, and when it was recorded.

        None where the session has no readable run.
        """
        ends = []
        for run_id, last in self._ends.items():
            if self.until is None or last.position <= self.until:
                ends.append((last.position, last.recorded_at))
            elif run_id in self.news:
                newest = self.news[run_id].newest
                ends.append((newest.position, newest.recorded_at))
        ends += [
            (past.last, past.updated_at)
            for past in self.archived.values()
            if self.until is None or past.last <= self.until
        ]
        return max(ends, default=None)
