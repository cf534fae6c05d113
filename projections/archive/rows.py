"""The audit rows of an archive, asked by DuckDB where the files are."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from journal.errors import JournalError
from journal.ids import is_text, run_stream
from journal.stores.audit import APART, LARGEST, AuditRow, RunFacts, UsagePart, Wanted
from journal.stores.audit_sql import (
    LAST_CHANGED_FIRST,
    LOGICAL_ORDER,
    NEWEST_FIRST,
    NONE,
    ROW_COLUMNS,
    Conditions,
    wanted_rows,
    wanted_runs,
)
from projections.archive.catalogue import Catalogue
from projections.archive.duck import KEPT
from projections.archive.files import SegmentFiles
from projections.archive.held import ROOM, SMALL, Held
from projections.archive.layout import ROWS, RUNS
from projections.archive.parts import Part
from projections.archive.run_facts import ArchivedFacts
from projections.archive.texts import pattern
from projections.archive.usage import (
    PARTS_AT_ONCE,
    SUMS,
    of_whole_days,
    sums_select,
    usage_select,
)

PAGE = 4096
"""Rows read at a time."""

RUNS_PAGE = 8192

_USED = f"{KEPT}.used"
_CALL = "tool_call"
_RETURN = "tool_return"
_ROW = ", ".join(ROW_COLUMNS)

_BEFORE = "recorded_at <= ? AND (recorded_at, position, part) < (?, ?, ?)"
_AFTER = "(anchor, rank, version, part) > (?, ?, ?, ?)"
_CHANGED_BEFORE = "updated_at <= ? AND (-updated_at, -position, run_id) > (?, ?, ?)"
_NO_RETURN = f"""
    NOT EXISTS (
        SELECT 1 FROM source AS b
        WHERE b.kind = '{_RETURN}' AND b.run_id = r.run_id AND b.call_id = r.call_id
            AND b.step IS NOT DISTINCT FROM r.step
            AND b.child_run_id IS NOT DISTINCT FROM r.child_run_id
            AND b.from_state = r.from_state
    )
"""
_TRACES = """
    SELECT DISTINCT unnest(from_json(trace_ids, '["VARCHAR"]')) AS trace_id, run_id FROM source
    WHERE trace_ids <> '[]'
"""


class ArchiveRows:
    """An `AuditReader` of an archive; safe for threads.

    Besides what an `AuditReader` raises, every method raises `DamagedArchive` or `NewerArchive`
    where a file that the answer needs cannot be read.
    """

    def __init__(self, files: SegmentFiles, catalogue: Catalogue) -> None:
        self._files = files
        self._catalogue = catalogue
        self._lock = threading.Lock()
        self._facts = ArchivedFacts(files, catalogue)
        self._calls = Held[tuple[str, str], list[AuditRow]](ROOM)
        self._has_traces = False
        self._has_sums: bool | None = None

    def rows(self, wanted: Wanted, *, limit: int | None = None) -> Iterator[AuditRow]:
        """Yield rows, newest first."""
        return self._newest(wanted, limit=limit)

    def timeline(self, run_id: str) -> Iterator[AuditRow]:
        """Yield a run's rows in logical order."""
        parts = [span.part for span in self._catalogue.spans(run_stream(run_id))]
        of_run = NONE.plus("run_id = ?", run_id)
        fitting = of_run
        while rows := self._page(parts, fitting, LOGICAL_ORDER, PAGE):
            yield from map(AuditRow._make, rows)
            if len(rows) < PAGE:
                return
            last = AuditRow._make(rows[-1])
            fitting = of_run.plus(_AFTER, last.anchor, last.rank, last.version, last.part)

    def calls(
        self, calls: Collection[tuple[str, str]], *, held: Collection[AuditRow] = ()
    ) -> Sequence[AuditRow]:
        """Give all rows with a call id; see `AuditReader.calls`."""
        found = self._calls.known(calls)
        missing = set(calls) - set(found)
        read: dict[tuple[str, str], list[AuditRow]] = {pair: [] for pair in missing}
        for row in self._related(missing, held):
            read[row.run_id, row.call_id or ""].append(row)
        rows = [row for rows in read.values() for row in rows]
        weight = sum(SMALL + len(row.text or "") for row in rows) + SMALL * len(read)
        self._calls.put(read, weight)
        return [*(row for rows in found.values() for row in rows), *rows]

    def items(self, items: Collection[tuple[str, str]]) -> Sequence[AuditRow]:
        """Give the rows with an item id; see `AuditReader.items`."""
        return self._of_pairs("item_id", items)

    def open_calls(self, wanted: Wanted) -> Iterator[AuditRow]:
        """Yield calls without a return in the archive, newest first."""
        if wanted.kinds is not None and _CALL not in wanted.kinds:
            return
        fitting = wanted_rows(wanted._replace(kinds={_CALL}), prefix="r.")
        fitting = fitting.plus(_NO_RETURN)
        parts = self._parts(wanted._replace(since=None, until=None))
        before = NONE
        while True:
            asked = Conditions(fitting.parts + before.parts, fitting.values + before.values)
            rows = self._page(parts, asked, NEWEST_FIRST, PAGE, alias="r")
            yield from map(AuditRow._make, rows)
            if len(rows) < PAGE:
                return
            before = _before(AuditRow._make(rows[-1]))

    def usage(self, wanted: Wanted, *, apart: Collection[str] = APART) -> Iterator[UsagePart]:
        """Yield sums of model responses and costs, in any order."""
        days = of_whole_days(wanted)
        parts = self._parts(wanted)
        if days is not None and self._make_sums(len(parts)):
            columns = self._files.look_columns(sums_select(_USED, days, apart), *days.values)
            yield from map(UsagePart._make, zip(*columns, strict=True))
            return
        fitting = wanted_rows(wanted)
        for at in range(0, len(parts), PARTS_AT_ONCE):
            some = parts[at : at + PARTS_AT_ONCE]
            select = usage_select(fitting, apart)
            columns = self._files.columns(ROWS, some, select, *fitting.values)
            yield from map(UsagePart._make, zip(*columns, strict=True))

    def matching(self, phrase: str, wanted: Wanted) -> Iterator[AuditRow]:
        """Yield rows whose text may hold a phrase; see `AuditReader.matching`."""
        expression = pattern(phrase)
        if expression is None:
            return iter(())
        return self._newest(wanted, NONE.plus("regexp_matches(text, ?)", expression))

    def runs(
        self,
        *,
        statuses: Collection[str] | None = None,
        session_id: str | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> Iterator[RunFacts]:
        """Yield runs, the last changed first; see `AuditReader.runs`."""
        self._catalogue.must_know_runs(since)
        asked = wanted_runs(statuses=statuses, session_id=session_id, since=since, until=until)
        asked = asked.plus(f"position IN ({self._catalogue.last_events()})")
        # The last event of a run was recorded after it ended.
        parts = [
            part
            for part in self._catalogue.parts
            if since is None or part.last_recorded_at >= since
        ]
        fitting = asked
        while True:
            # Few columns tell which: the others are remembered of runs that were read before.
            select = (
                f"SELECT run_id, updated_at, position FROM source WHERE {fitting.sql} "
                f"ORDER BY {LAST_CHANGED_FIRST} LIMIT ?"
            )
            found = self._files.ask(RUNS, parts, select, *fitting.values, RUNS_PAGE)
            yield from self._facts.at({run_id: position for run_id, _, position in found})
            if len(found) < RUNS_PAGE:
                return
            run_id, at, position = found[-1]
            fitting = asked.plus(_CHANGED_BEFORE, at, -at, -position, run_id)

    def facts(self, run_ids: Collection[str]) -> Mapping[str, RunFacts]:
        """Give the facts of those of these runs that are known."""
        return self._facts.of(run_ids)

    def on_trace(self, trace_id: str) -> Sequence[str]:
        """Give the ids of the runs that were ever on a trace."""
        self._make_traces()
        return [
            run_id
            for (run_id,) in self._files.look(
                f"SELECT run_id FROM {KEPT}.traces WHERE trace_id = ? ORDER BY run_id", trace_id
            )
        ]

    def _newest(
        self, wanted: Wanted, also: Conditions = NONE, limit: int | None = None
    ) -> Iterator[AuditRow]:
        """Yield rows newest first: those of the last segment, then of ever more at once."""
        left = LARGEST if limit is None else limit
        until = LARGEST if wanted.until is None else wanted.until
        parts = self._parts(wanted)
        before, together = NONE, 1
        while left > 0 and parts:
            since = _nth_begin(parts, together)
            asked = wanted_rows(wanted._replace(since=_later(since, wanted.since), until=until))
            asked = Conditions(
                asked.parts + also.parts + before.parts,
                asked.values + also.values + before.values,
            )
            size = min(PAGE, left)
            needed = [part for part in parts if part.last_recorded_at >= since]
            rows = self._page(needed, asked, NEWEST_FIRST, size)
            yield from map(AuditRow._make, rows)
            left -= len(rows)
            if len(rows) == size:
                last = AuditRow._make(rows[-1])
                before, until = _before(last), last.recorded_at + 1
            else:
                before, until = NONE, since
                together *= 2 if len(rows) < size // 4 else 1
            parts = [part for part in parts if part.first_recorded_at < until]

    def _parts(self, wanted: Wanted) -> list[Part]:
        """Give the segments that may have rows that are wanted."""
        parts: Sequence[Part] = self._catalogue.parts
        if wanted.run_id is not None:
            parts = [span.part for span in self._catalogue.spans(run_stream(wanted.run_id))]
        since = -LARGEST if wanted.since is None else wanted.since
        until = LARGEST if wanted.until is None else wanted.until
        return [
            part
            for part in parts
            if part.last_recorded_at >= since and part.first_recorded_at < until
        ]

    def _page(
        self,
        parts: Sequence[Part],
        fitting: Conditions,
        order: str,
        limit: int,
        alias: str = "source",
    ) -> list[tuple[Any, ...]]:
        select = (
            f"SELECT {_ROW} FROM source AS {alias} WHERE {fitting.sql} ORDER BY {order} LIMIT ?"
        )
        return self._files.ask(ROWS, parts, select, *fitting.values, limit)

    def _related(
        self, calls: Collection[tuple[str, str]], held: Collection[AuditRow]
    ) -> list[AuditRow]:
        """Give the rows of calls; only those that are not held are read."""
        at_hand = [row for row in held if (row.run_id, row.call_id) in calls]
        if not at_hand:
            return self._of_pairs("call_id", calls)
        there = {(row.position, row.part) for row in at_hand}
        # To look for them takes far less than to read them.
        keys = self._ask_pairs("run_id, call_id, position, part", "call_id", calls)
        left = {(run_id, id_) for run_id, id_, *key in keys if tuple(key) not in there}
        read = self._of_pairs("call_id", left)
        return at_hand + [row for row in read if (row.position, row.part) not in there]

    def _of_pairs(self, column: str, pairs: Collection[tuple[str, str]]) -> list[AuditRow]:
        return list(map(AuditRow._make, self._ask_pairs(_ROW, column, pairs)))

    def _ask_pairs(
        self, columns: str, column: str, pairs: Collection[tuple[str, str]]
    ) -> list[tuple[Any, ...]]:
        wanted = sorted(pair for pair in set(pairs) if all(map(is_text, pair)))
        if not wanted:
            return []
        run_ids = [run_id for run_id, _ in wanted]
        select = (
            f"SELECT {columns} FROM source SEMI JOIN (SELECT unnest(?) AS run, unnest(?) AS id) "
            f"AS pairs ON source.run_id = pairs.run AND source.{column} = pairs.id"
        )
        parts = self._catalogue.parts_of(set(run_ids))
        return self._files.ask(ROWS, parts, select, run_ids, [id_ for _, id_ in wanted])

    def _make_traces(self) -> None:
        with self._lock:
            if self._has_traces:
                return
            self._catalogue.must_know_runs(None)
            table = f"{KEPT}.traces"
            self._files.look(f"CREATE OR REPLACE TABLE {table} (trace_id VARCHAR, run_id VARCHAR)")
            self._files.keep_all(table, RUNS, self._catalogue.parts, f"{_TRACES} ORDER BY trace_id")
            self._has_traces = True

    def _make_sums(self, needed: int) -> bool:
        """Sum usage by run and day, once, when a question needs most of the segments.

        Returns:
            Whether that was done; it never is where one of them cannot be read.
        """
        parts = self._catalogue.parts
        with self._lock:
            if self._has_sums is not None or needed * 2 < len(parts):
                return self._has_sums is True
            self._files.look(f"CREATE OR REPLACE TABLE {_USED} ({SUMS})")
            select = f"{usage_select(NONE, APART)} ORDER BY run_id"
            try:
                for at in range(0, len(parts), PARTS_AT_ONCE):
                    self._files.keep_all(_USED, ROWS, parts[at : at + PARTS_AT_ONCE], select)
            except JournalError:
                self._has_sums = False  # a question that needs the segment is told
            else:
                self._has_sums = True
            return self._has_sums


def _before(row: AuditRow) -> Conditions:
    """Say which rows come after one, newest first."""
    return NONE.plus(_BEFORE, row.recorded_at, row.recorded_at, row.position, row.part)


def _nth_begin(parts: Sequence[Part], nth: int) -> int:
    """Tell when the last segments begin, so many of them."""
    begins = sorted({part.first_recorded_at for part in parts}, reverse=True)
    return begins[min(nth, len(begins)) - 1]


def _later(time: int, other: int | None) -> int:
    return time if other is None else max(time, other)
