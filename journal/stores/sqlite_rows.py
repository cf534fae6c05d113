"""The rows of a journal file under examination, in pages, whatever is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from journal.errors import CorruptEvent, Stop
from journal.findings import Findings
from journal.ids import Position
from journal.progress import Progress
from journal.stores.interface import LETS_GO, StoredEvent
from journal.stores.recorder import EVERYTHING
from journal.stores.sqlite_recorder import SQLiteEventRecorder

PAGE = 1000

BARREN = 20 * PAGE
"""Positions in a row at which nothing can be read, after which no more are tried. A page of
the file that is destroyed hides fewer."""

_END = "SELECT coalesce(max(position), 0) FROM events"
_POSITIONS = "SELECT position FROM events WHERE position > ? ORDER BY position LIMIT ?"
_BY_STREAM = """
    SELECT stream, version, position, name FROM events INDEXED BY events_by_version
    WHERE (stream, version) > (?, ?) ORDER BY stream, version LIMIT ?
"""
_LETS_GO = "SELECT code FROM names WHERE name = ?"
_EMPTY_STREAMS = """
    SELECT key, name FROM streams
    WHERE key > ? AND NOT EXISTS (SELECT 1 FROM events WHERE stream = streams.key)
    ORDER BY key LIMIT ?
"""


class SQLiteRows:
    """Reads the events that the file held when this was made, and notes what is wrong.

    Raises:
        Stop: `check_streams` met damaged pages.
    """

    def __init__(
        self, recorder: SQLiteEventRecorder, findings: Findings, progress: Progress
    ) -> None:
        self._recorder = recorder
        self._findings = findings
        self._progress = progress
        self._found = 0
        """Rows whose position was found, damaged or not."""
        self._unreadable: list[tuple[int, int, str]] = []
        """First and last position, and why."""
        self._damaged = False
        self._missing: list[tuple[int, int]] = []
        """Positions without an event, first and last: those of dropped runs, and others."""
        self._dropped = 0
        """Events that were dropped, by the versions that are missing below what let them go."""
        self._lets_go = 0
        """The code of the name of what lets go; 0 where the file has none."""
        self._end, self._unused = self._look_at_end()

    def events(self) -> Iterator[StoredEvent]:
        """Yield the rows that can be read, by position."""
        recorded_at = -EVERYTHING
        for event in self._rows():
            if event.recorded_at < recorded_at:
                what = "it is recorded before the event at the position before"
                self._wrong("event.time", what, event.stream, event.version)
            recorded_at = event.recorded_at
            self._unused.discard(event.name)
            yield event
        for first, last, reason in self._unreadable:
            self._wrong("event.unreadable", f"{_span('position', first, last)}: {reason}")
        if not (self._damaged or self._unreadable or self._lets_go):
            for name in sorted(self._unused):
                what = f"no event is named {name}, though one was: events were deleted at the end"
                self._wrong("name.unused", what)

    def check_streams(self) -> None:
        """Look for gaps in streams, and for streams without events; after `events`.

        Below an event that lets the others of its stream go, a gap is right.
        """
        found, key, version, position = 0, -EVERYTHING, 0, 0
        while page := self._select(_BY_STREAM, key, version, PAGE):
            # What is not in order may lead in a circle.
            lowest = key, version + 1
            for row in page:
                if not all(type(value) is int for value in row) or row[:2] < lowest:
                    self._wrong("index.damaged", f"events_by_version holds {row!r}")
                    return
                lowest = row[:2]
                before = (version, position) if row[0] == key else (0, row[0] - 1)
                key, version, position, name = row
                found += position <= self._end
                if version > before[0] + 1 and name == self._lets_go and position > before[1]:
                    self._dropped += version - before[0] - 1
                elif version != before[0] + 1 or position <= before[1]:
                    self._note_gap(row[:3], before)
        if found != self._found and not self._unreadable:
            what = f"events_by_version holds {found} events, the table {self._found}"
            self._wrong("index.damaged", what)
        self._check_missing()
        self._check_empty_streams()

    def _look_at_end(self) -> tuple[int, set[str]]:
        """Give the last position and the names that events had by then.

        Where damage hides them, that is more than any position, and no name.
        """
        try:
            with self._recorder.datastore.reading() as connection:
                connection.execute("BEGIN")
                try:
                    end = connection.execute(_END).fetchone()[0]
                    names = connection.execute("SELECT name FROM names").fetchall()
                    for (code,) in connection.execute(_LETS_GO, (LETS_GO,)).fetchall():
                        self._lets_go = code
                finally:
                    connection.execute("COMMIT")
        except Stop:
            self._damaged = True
            return EVERYTHING, set()
        return end, {str(name) for (name,) in names}

    def _rows(self) -> Iterator[StoredEvent]:
        after = last = 0
        known = self._end < EVERYTHING
        while after < self._end:
            page, upto = self._page(after)
            for row in page:
                position = row if isinstance(row, int) else row.position
                if position <= after:
                    self._wrong("file.damaged", f"position {position} stands after {after}")
                    continue
                if position > after + 1:
                    self._missing.append((after + 1, position - 1))
                    if not self._lets_go:
                        self._tell_missing(after + 1, position - 1)
                after = position
                if not isinstance(row, int):
                    last = position
                    self._found += 1
                    yield row
            after = upto
            self._progress("events", after, self._end if known else None)
            if after - last >= (BARREN if known else PAGE):
                what = f"after position {last} nothing can be read, at {after} the search was ended"
                self._wrong("event.unreadable", what)
                return

    def _page(self, after: int) -> tuple[Iterable[StoredEvent | int], int]:
        """Read the rows after a position, and tell up to where."""
        try:
            page = self._recorder.read_positions(
                after=Position(after), upto=Position(self._end), limit=PAGE
            )
        except Stop:
            positions = self._positions(after)
            return self._one_by_one(positions), positions[-1]
        return page, max(page[-1].position, after + 1) if page else self._end

    def _positions(self, after: int) -> Sequence[int]:
        """Give the positions to try one by one; those that are listed may be damaged, too."""
        near = range(after + 1, min(after + PAGE, self._end) + 1)
        try:
            found = [row[0] for row in self._select(_POSITIONS, after or -EVERYTHING, PAGE)]
        except Stop:
            return near
        ahead = sorted({position for position in (*found, self._end) if position > after})
        return [position for position in ahead if position in near] or ahead[:1]

    def _one_by_one(self, positions: Iterable[int]) -> Iterator[StoredEvent | int]:
        """Yield each row that can be read, and the position of each that cannot."""
        for position in positions:
            try:
                yield from self._recorder.read_positions(
                    after=Position(position - 1), upto=Position(position), limit=1
                )
            except CorruptEvent as error:
                self._found += 1
                self._note_damaged(error)
                yield position
            except Stop as error:
                self._note_unreadable(position, getattr(error, "reason", error.message))
                yield position

    def _note_damaged(self, error: CorruptEvent) -> None:
        self._damaged = True
        stream = None if error.stream == "?" else error.stream
        self._wrong("event.damaged", error.reason, stream, error.version)

    def _note_unreadable(self, position: int, reason: str) -> None:
        if self._unreadable:
            first, last, why = self._unreadable[-1]
            if (last, why) == (position - 1, reason):
                self._unreadable[-1] = (first, position, reason)
                return
        self._unreadable.append((position, position, reason))

    def _check_missing(self) -> None:
        """See that no more events are missing than were dropped."""
        missing = sum(last - first + 1 for first, last in self._missing)
        if not self._lets_go or missing <= self._dropped or self._unreadable:
            return
        if not self._dropped:
            for first, last in self._missing:
                self._tell_missing(first, last)
            return
        what = f"{missing - self._dropped} events more are missing than were dropped: deleted"
        self._wrong("event.missing", what)

    def _tell_missing(self, first: int, last: int) -> None:
        what = f"{_span('position', first, last)}: no event, so it was deleted"
        self._wrong("event.missing", what)

    def _note_gap(self, row: tuple[int, int, int], before: tuple[int, int]) -> None:
        key, version, position = row
        names = self._select("SELECT name FROM streams WHERE key = ?", key)
        stream = str(names[0][0]) if names else None
        if version > before[0] + 1:
            upto = f" up to version {version - 1}" if version > before[0] + 2 else ""
            what = f"no event{upto}, so it was deleted"
            version = before[0] + 1
        elif version <= before[0]:
            what = "its version is there twice"
        elif version == 1:
            what = f"the stream does not begin at its first event's position, {key}, but {position}"
        else:
            what = "it stands at a lower position than the event before it"
        self._wrong("stream.gap", what, stream, version)

    def _check_empty_streams(self) -> None:
        key = -EVERYTHING
        while page := self._select(_EMPTY_STREAMS, key, PAGE):
            for found, name in page:
                if found <= key:
                    self._wrong("file.damaged", f"stream {found} stands after {key}")
                    return
                key = found
                self._wrong("stream.empty", "it has no event: all were deleted", str(name))

    def _select(self, statement: str, *values: int) -> list[Any]:
        with self._recorder.datastore.reading() as connection:
            return connection.execute(statement, values).fetchall()

    def _wrong(
        self, code: str, what: str, stream: str | None = None, version: int | None = None
    ) -> None:
        self._findings.damage(code, what, stream=stream, version=version)


def _span(what: str, first: int, last: int) -> str:
    return f"{what} {first}" if first == last else f"{what}s {first} to {last}"
