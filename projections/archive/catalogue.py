"""Which segments hold events of a run or a session, kept in memory: a small part of an archive.

A segment whose catalogue cannot be read is asked for its events instead; where they cannot be
read either, the answers that may need it are errors, and the others come.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

import duckdb

from journal.errors import JournalError
from journal.ids import RUN_PREFIX, SESSION_PREFIX, Position, StreamId, is_text, run_stream
from projections.archive.duck import KEPT
from projections.archive.files import SegmentFiles
from projections.archive.layout import EVENTS, RUNS
from projections.archive.parts import Part

REMEMBERED = 256
"""Streams whose segments are remembered by Python, too."""

_RUN_SPANS = f"SELECT '{RUN_PREFIX}' || run_id, first_version, last_version, position FROM source"
_RUN_SPANS_OF_EVENTS = f"""
    SELECT '{RUN_PREFIX}' || run_id, min(version), max(version), max(position) FROM source
    WHERE run_id IS NOT NULL GROUP BY run_id
"""
_SESSION_SPANS = f"""
    SELECT '{SESSION_PREFIX}' || session_id, version, version, position
    FROM source WHERE run_id IS NULL
"""
_FIRSTS = f"""
    SELECT coalesce('{RUN_PREFIX}' || run_id, '{SESSION_PREFIX}' || session_id), position
    FROM source WHERE version = 1
"""
_LAST_EVENTS = f"{KEPT}.last_events"

_SPAN = "stream VARCHAR, first_version BIGINT, last_version BIGINT, position BIGINT"


class Span(NamedTuple):
    """The events of a stream in a segment."""

    part: Part
    first_version: int
    last_version: int
    position: int
    """Of the last of them."""


class Dark(NamedTuple):
    """A segment that cannot tell which streams it has events of."""

    part: Part
    error: JournalError


class Catalogue:
    """Finds the segments of streams; safe for threads."""

    def __init__(self, files: SegmentFiles, parts: Sequence[Part]) -> None:
        """Read the catalogues of all segments.

        Raises:
            StorageFailed: the archive cannot be read.
        """
        self._files = files
        self.parts = list(parts)
        self._lock = threading.Lock()
        self._remembered: dict[StreamId, list[Span]] = {}
        self._ends = [part.last_position for part in parts]
        self._dark: dict[str, list[Dark]] = {}
        """By the beginning of a stream's name; missing until it is looked for."""
        self._has_firsts = False
        self._make(RUN_PREFIX)

    def spans(self, stream: StreamId) -> list[Span]:
        """Give the segments that have events of a stream, in order.

        Raises:
            DamagedArchive, NewerArchive: another segment may have some, and cannot tell.
        """
        with self._lock:
            known = self._remembered.get(stream)
        if known is not None:
            return known
        if not is_text(stream):
            return []
        prefix = RUN_PREFIX if stream.startswith(RUN_PREFIX) else SESSION_PREFIX
        self._make(prefix)
        found: list[Span] = []
        for first, last, position in self._files.look(
            f"SELECT first_version, last_version, position FROM {_table(prefix)} "
            "WHERE stream = ? ORDER BY position",
            stream,
        ):
            part = self._part(position)
            if found and found[-1].part is part:
                first = found.pop().first_version  # noqa: PLW2901 - it goes on
            found.append(Span(part, first, last, position))
        for part, error in self._dark[prefix]:
            if not _elsewhere(found, part.number):
                raise error
        with self._lock:
            while len(self._remembered) >= REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
            self._remembered[stream] = found
        return found

    def last(self, run_ids: Collection[str]) -> list[tuple[str, Part, int]]:
        """Give those of these runs that are known, and where their last events are.

        That is the segment and the position.

        Raises:
            DamagedArchive, NewerArchive: a segment cannot tell which runs it has events of.
        """
        self.must_know_runs(None)
        wanted = [RUN_PREFIX + run_id for run_id in sorted(filter(is_text, run_ids))]
        found = self._files.look(
            f"SELECT stream, max(position) FROM {_table(RUN_PREFIX)} "
            "WHERE stream IN (SELECT unnest(?)) GROUP BY stream",
            wanted,
        )
        return [
            (stream[len(RUN_PREFIX) :], self._part(position), position)
            for stream, position in found
        ]

    def last_events(self) -> str:
        """Give SQL for the position of the last event of each run."""
        return f"FROM {_LAST_EVENTS}"

    def parts_at(self, positions: Collection[int]) -> list[Part]:
        """Give the segments that have the events at some positions."""
        return [self.parts[at] for at in sorted({bisect_left(self._ends, p) for p in positions})]

    def parts_of(self, run_ids: Collection[str]) -> list[Part]:
        """Give the segments that have events of any of these runs.

        Raises:
            DamagedArchive, NewerArchive: as `spans`, of each of them.
        """
        if self._dark[RUN_PREFIX]:
            spans = [span for run_id in run_ids for span in self.spans(run_stream(run_id))]
            found = {span.part.number: span.part for span in spans}
            return [found[number] for number in sorted(found)]
        wanted = [RUN_PREFIX + run_id for run_id in sorted(filter(is_text, run_ids))]
        positions = self._files.look(
            f"SELECT DISTINCT position FROM {_table(RUN_PREFIX)} "
            "WHERE stream IN (SELECT unnest(?))",
            wanted,
        )
        return self.parts_at([position for (position,) in positions])

    def must_know_runs(self, since: int | None) -> None:
        """Check that the last facts of every run that changed since a time can be told.

        Raises:
            DamagedArchive, NewerArchive: a segment of that time cannot tell which it has.
        """
        for part, error in self._dark[RUN_PREFIX]:
            if since is None or part.last_recorded_at >= since:
                raise error

    def streams(
        self, prefix: str, before: Position | None, limit: int
    ) -> list[tuple[StreamId, Position]]:
        """List streams, newest first by their first events; see `Store.streams`.

        Raises:
            DamagedArchive, NewerArchive: a segment cannot tell which streams begin in it.
        """
        if not is_text(prefix):
            return []
        self._make_firsts()
        bound = "" if before is None else "AND position < ?"
        values: list[str | int] = [prefix, *([] if before is None else [before]), limit]
        rows = self._files.look(
            f"SELECT stream, position FROM {KEPT}.firsts WHERE starts_with(stream, ?) {bound} "
            "ORDER BY position DESC LIMIT ?",
            *values,
        )
        return [(StreamId(stream), Position(position)) for stream, position in rows]

    def _part(self, position: int) -> Part:
        return self.parts[bisect_left(self._ends, position)]

    def _make(self, prefix: str) -> None:
        """Read which segments hold what, once."""
        with self._lock:
            if prefix in self._dark:
                return
            table = _table(prefix)
            self._files.look(f"CREATE OR REPLACE TABLE {table}_ ({_SPAN})")
            dark = self._read_runs(table) if prefix == RUN_PREFIX else self._read_sessions(table)
            self._files.look(
                f"CREATE OR REPLACE TABLE {table} AS FROM {table}_ ORDER BY stream, position"
            )
            self._files.look(f"DROP TABLE {table}_")
            if prefix == RUN_PREFIX:
                self._files.look(
                    f"CREATE OR REPLACE TABLE {_LAST_EVENTS} AS "
                    f"SELECT max(position) AS position FROM {table} GROUP BY stream ORDER BY 1"
                )
                self._files.look(f"CHECKPOINT {KEPT}")  # that compresses it
            self._dark[prefix] = dark

    def _read_runs(self, table: str) -> list[Dark]:
        if self._keep_all(table, RUNS, _RUN_SPANS):
            return []
        return self._each(table, ((RUNS, _RUN_SPANS), (EVENTS, _RUN_SPANS_OF_EVENTS)))

    def _read_sessions(self, table: str) -> list[Dark]:
        if self._keep_all(table, EVENTS, _SESSION_SPANS):
            return []
        return self._each(table, ((EVENTS, _SESSION_SPANS),))

    def _keep_all(self, table: str, kind: str, select: str) -> bool:
        """Read all segments at once; False where that fails of any."""
        try:
            paths = [self._files.needed(part, kind) for part in self.parts]
            if paths:
                self._files.keep(f"{table}_", kind, paths, select)
        except (JournalError, duckdb.Error):
            return False  # each is read by itself then
        return True

    def _each(self, table: str, ways: Sequence[tuple[str, str]]) -> list[Dark]:
        """Read each segment in the first way that works, and list those that no way does of."""
        dark = []
        for part in self.parts:
            error = self._one(table, part, ways)
            if error is not None:
                dark.append(Dark(part, part.fault or error))
        return dark

    def _one(self, table: str, part: Part, ways: Sequence[tuple[str, str]]) -> JournalError | None:
        failed: JournalError | None = part.fault
        for kind, select in ways:
            try:
                # Where the manifest is at fault, a file still tells whose events there are.
                path = part.paths.get(kind) if part.fault else self._files.needed(part, kind)
                if path is not None:
                    self._files.keep(f"{table}_", kind, [path], select)
                    return None
            except JournalError as error:
                failed = failed or error
            except duckdb.Error as error:
                failed = failed or self._files.blamed(kind, [part], error)
        return failed

    def _make_firsts(self) -> None:
        with self._lock:
            if self._has_firsts:
                return
            table = f"{KEPT}.firsts"
            self._files.look(f"CREATE OR REPLACE TABLE {table} (stream VARCHAR, position BIGINT)")
            self._files.keep_all(table, EVENTS, self.parts, _FIRSTS)
            self._has_firsts = True


def _table(prefix: str) -> str:
    return f"{KEPT}.{'run' if prefix == RUN_PREFIX else 'session'}_spans"


def _elsewhere(spans: Sequence[Span], number: int) -> bool:
    """Tell whether the segments known of a stream show that another has no event of it."""
    if spans and spans[0].first_version == 1 and spans[0].part.number > number:
        return True
    return any(
        low.part.number < number < high.part.number and low.last_version + 1 == high.first_version
        for low, high in pairwise(spans)
    )
