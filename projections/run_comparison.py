"""Comparing two runs, or one with itself, and finding where they part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, TypeAlias

from journal.errors import CursorOutOfRange
from journal.events import RunForked, StreamRecorded
from journal.ids import run_stream
from journal.json_door import JSON, equal
from journal.json_text import MAX_INT
from journal.lineage import Lineage
from projections.comparing import Compared
from projections.cursors import LATEST, Cursor, MessageCursor, StreamCursor, VersionCursor
from projections.diff import RunDiff, run_diff
from projections.divergence import Branch, Divergence, NextStep, next_message, same_course
from projections.message_changes import common
from projections.reading import HasReader
from projections.replaying import replay
from projections.run_log import log
from projections.view import RunView
from projections.volatile import Comparable

OPENING = 1
"""Version of the event that opened a run, or forked it."""

Point: TypeAlias = tuple[str, str]
"""A cursor in each run, in its text form."""

Steps: TypeAlias = tuple[NextStep | None, NextStep | None]
"""What each run does next."""

Told: TypeAlias = tuple[dict[str, Any], JSON]
"""A stream record, and what of it is compared."""


def diff_runs(
    journal: HasReader,
    run_a: str,
    run_b: str,
    at_a: Cursor | str = LATEST,
    at_b: Cursor | str = LATEST,
) -> RunDiff:
    """Compare a run at a cursor with another at a cursor of its own.

    The cursors of `RunDiff.divergence` are such that both runs, replayed to them, have equal
    messages and do the same. As runs that differ once seldom become equal again, of many
    epochs not every one is looked at.

    Args:
        at_a: a cursor of `run_a`, or its text form.
        at_b: a cursor of `run_b`, or its text form.

    Raises:
        as `replay`, of either run.
    """
    a, b = replay(journal, run_a, at_a), replay(journal, run_b, at_b)
    diff = run_diff(a, b)
    if run_a == run_b or diff.divergence is None:
        return diff
    return replace(diff, divergence=_Search(journal, a, b).divergence())


@dataclass(frozen=True, slots=True)
class _Search:
    """Looks for the last point at which two runs agree."""

    journal: HasReader
    a: RunView
    b: RunView

    def divergence(self) -> Divergence:
        """Find where the runs part."""
        for shorter, longer in ((self.a, self.b), (self.b, self.a)):
            begun = self._begun(shorter, longer)
            if begun is not None:
                return begun
        epoch, messages = self._parting()
        ends = self._end(self.a, epoch), self._end(self.b, epoch)
        steps = next_message(ends[0], messages), next_message(ends[1], messages)
        point = self._first(self._points(epoch, messages))
        if point is None:
            point = self._first(self._earlier(epoch, messages))
            point, records = self._closer(point)
            steps = steps[0] or records[0], steps[1] or records[1]
        cursors = point or (None, None)
        return Divergence(
            messages,
            Branch(self.a.run_id, cursors[0], steps[0]),
            Branch(self.b.run_id, cursors[1], steps[1]),
        )

    def _begun(self, shorter: RunView, longer: RunView) -> Divergence | None:
        """Tell what follows where a run did what the other had done by the same sequence."""
        end, further = shorter.cursor.stream, longer.cursor.stream
        if end is None or further is None or end >= further:
            return None
        cursor = str(StreamCursor(end))
        own = shorter.cursor.requested if shorter.cursor.requested != str(LATEST) else cursor
        turned = shorter is self.b
        if not self._agree((cursor, own) if turned else (own, cursor)):
            return None
        messages = len(shorter.messages)
        step = None
        if shorter.cursor.epoch == longer.cursor.epoch:
            step = next_message(longer, messages)
        if step is None:
            step = _step(next(self._records(longer, cursor), None))
        branches = Branch(shorter.run_id, own, None), Branch(longer.run_id, cursor, step)
        return Divergence(messages, *(reversed(branches) if turned else branches))

    def _parting(self) -> tuple[int, int]:
        """Find the epoch in which the runs part, and how many messages they agree in there."""
        low, high = 1, min(self.a.cursor.epoch, self.b.cursor.epoch)
        while low < high:
            epoch = (low + high) // 2
            ours, theirs = self._fingerprints(epoch)
            low, high = (epoch + 1, high) if ours == theirs else (low, epoch)
        return low, common(*self._fingerprints(low))

    def _fingerprints(self, epoch: int) -> tuple[list[bytes], list[bytes]]:
        ours, theirs = (
            Compared(self._end(view, epoch), across=True).fingerprints()
            for view in (self.a, self.b)
        )
        return ours, theirs

    def _end(self, view: RunView, epoch: int) -> RunView:
        """Give a view at the end of one of its epochs."""
        if view.cursor.epoch == epoch:
            return view
        try:
            return self._replay(view, str(MessageCursor(MAX_INT, epoch)))
        except CursorOutOfRange as beyond:
            return self._replay(view, beyond.largest)

    def _points(self, epoch: int, messages: int) -> Iterator[Point]:
        """Yield points with so many equal messages, the most telling first."""
        yield from self._forks(epoch, messages)
        cursor = str(MessageCursor(messages, epoch))
        yield self._own(self.a, epoch, messages), self._own(self.b, epoch, messages)
        yield cursor, cursor

    def _own(self, view: RunView, epoch: int, messages: int) -> str:
        """Give the cursor of a view itself, where it has no more messages than these."""
        reached = view.cursor
        whole = (reached.epoch, reached.message) == (epoch, messages)
        if whole and reached.requested != str(LATEST):
            return reached.requested
        return str(MessageCursor(messages, epoch))

    def _forks(self, epoch: int, messages: int) -> Iterator[Point]:
        """Yield the point at which one run was forked from the other, if it is no earlier."""
        for source, fork, turn in ((self.a, self.b, False), (self.b, self.a, True)):
            event = self.journal.reader.first_run_event(fork.run_id, (RunForked.NAME,))
            if event is None:
                continue
            lineage = Lineage.of(run_stream(fork.run_id), event.data)
            if source.run_id not in (lineage.forked, lineage.source):
                continue
            begun = str(VersionCursor(OPENING))
            reached = self._replay(fork, begun).cursor
            if (reached.epoch, reached.message) < (epoch, messages):
                continue
            for cursor in (lineage.cursor, str(VersionCursor(lineage.version))):
                yield (begun, cursor) if turn else (cursor, begun)

    def _earlier(self, epoch: int, messages: int) -> Iterator[Point]:
        """Yield points with fewer messages, at growing distances."""
        back = 1
        while back < messages:
            cursor = str(MessageCursor(messages - back, epoch))
            yield cursor, cursor
            back *= 2
        if messages:
            cursor = str(MessageCursor(0, epoch))
            yield cursor, cursor
        opened = str(VersionCursor(OPENING))
        yield opened, opened

    def _first(self, points: Iterator[Point]) -> Point | None:
        return next(filter(self._agree, points), None)

    def _agree(self, point: Point) -> bool:
        try:
            a, b = (
                Compared(self._replay(view, cursor), across=True)
                for view, cursor in zip((self.a, self.b), point, strict=True)
            )
        except CursorOutOfRange:
            return False
        if len(a.view.messages) != len(b.view.messages) or not same_course(a, b):
            return False
        return a.fingerprints() == b.fingerprints()

    def _replay(self, view: RunView, cursor: str) -> RunView:
        if cursor == view.cursor.requested:
            return view
        return replay(self.journal, view.run_id, cursor)

    def _closer(self, point: Point | None) -> tuple[Point | None, Steps]:
        """Find the first stream records after a point that differ, and the point before them."""
        ours, theirs = (
            self._records(view, None if point is None else point[at])
            for at, view in enumerate((self.a, self.b))
        )
        reached = point
        for one, other in zip_longest(ours, theirs):
            if one is None or other is None or not equal(one[1], other[1]):
                if reached is not None and self._agree(reached):
                    point = reached
                return point, (_step(one), _step(other))
            reached = str(StreamCursor(one[0]["sequence"])), str(StreamCursor(other[0]["sequence"]))
        return point, (None, None)

    def _records(self, view: RunView, after: str | None) -> Iterator[Told]:
        """Yield a run's own records after a cursor, and each as it compares with others."""
        comparable = Comparable((), view.children)
        begun = None if after is None else self._replay(view, after).cursor.stream
        to = view.cursor.stream
        if to is None:
            return
        frm = 0 if begun is None else begun + 1
        for entry in log(self.journal, view.run_id, frm, to, (StreamRecorded.NAME,)):
            record = entry.event.data["record"]
            told = comparable.record(record)
            if told is not None:
                yield record, told


def _step(found: Told | None) -> NextStep | None:
    return None if found is None else NextStep("record", found[0]["sequence"], found[0])
