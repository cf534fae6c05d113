"""Reading the audit rows of the views file."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence

from journal.ids import Position, is_text
from journal.stores.audit import APART, AuditRow, RunFacts, UsagePart, Wanted
from journal.stores.audit_sql import Conditions, wanted_runs
from journal.stores.sqlite_audit_names import SharedNames, batches, listed
from journal.stores.sqlite_audit_newest import FIRST, PAGE, in_pages, newest_first
from journal.stores.sqlite_audit_pages import COLUMNS, Pages
from journal.stores.sqlite_audit_rows import row_key
from journal.stores.sqlite_audit_search import matching
from journal.stores.sqlite_audit_usage import usage
from journal.stores.sqlite_views_recorder import ViewRecorder

_CALL = "tool_call"
_RETURN = "tool_return"

_TIMELINE = """
    SELECT key FROM audit_rows INDEXED BY audit_rows_by_run
    WHERE run_id = ? AND key > ? AND key <= ? ORDER BY anchor, rank, version, key
"""
_OF_PAIRS = """
    WITH pairs (run, id) AS (VALUES {{}})
    SELECT {columns} FROM pairs CROSS JOIN audit_rows AS r INDEXED BY audit_rows_by_{index}
    WHERE r.run_id = run AND r.{index}_id = id AND r.key > ? AND r.key <= ?
"""
_NO_RETURN = """
    NOT EXISTS (
        SELECT 1 FROM audit_rows AS b INDEXED BY audit_rows_by_call
        WHERE b.run_id = r.run_id AND b.call_id = r.call_id AND b.kind = ?
            AND b.step IS r.step AND b.child_run_id IS r.child_run_id
            AND b.from_state = r.from_state
    )
"""
_RUNS = "SELECT run_id FROM audit_runs WHERE {} ORDER BY updated_at DESC, position DESC"
_ON_TRACE = "SELECT run_id FROM audit_traces WHERE trace_id = ? ORDER BY run_id"


class SQLiteAuditReader:
    """An `AuditReader` of one state of the rows."""

    def __init__(
        self, recorder: ViewRecorder, revision: int, after: Position, known: SharedNames
    ) -> None:
        self._pages = Pages(recorder, revision, after, known)

    def rows(self, wanted: Wanted, *, limit: int | None = None) -> Iterator[AuditRow]:
        """Yield rows, newest first."""
        return newest_first(self._pages, wanted, limit)

    def timeline(self, run_id: str) -> Iterator[AuditRow]:
        """Yield a run's rows in logical order."""
        pages = self._pages
        if pages.is_empty:
            return
        run = pages.keys([run_id])[run_id]
        found = pages.all(_TIMELINE, run, pages.after, pages.upto)
        yield from in_pages(pages, (key for (key,) in found))

    def calls(
        self, calls: Collection[tuple[str, str]], *, held: Collection[AuditRow] = ()
    ) -> Sequence[AuditRow]:
        """Give all rows with a call id; see `AuditReader.calls`."""
        return self._of_pairs("call", calls, held)

    def items(self, items: Collection[tuple[str, str]]) -> Sequence[AuditRow]:
        """Give the rows with an item id; see `AuditReader.items`."""
        return self._of_pairs("item", items)

    def open_calls(self, wanted: Wanted) -> Iterator[AuditRow]:
        """Yield calls without a return in the whole store, newest first."""
        if wanted.kinds is not None and _CALL not in wanted.kinds:
            return
        returned = self._pages.keys([_RETURN])[_RETURN]
        also = Conditions((_NO_RETURN,), (returned,))
        yield from newest_first(self._pages, wanted._replace(kinds={_CALL}), None, also)

    def usage(self, wanted: Wanted, *, apart: Collection[str] = APART) -> Iterator[UsagePart]:
        """Yield sums of model responses and costs, in any order."""
        return usage(self._pages, wanted, apart)

    def matching(self, phrase: str, wanted: Wanted) -> Iterator[AuditRow]:
        """Yield rows whose text may hold a phrase; see `AuditReader.matching`."""
        return matching(self._pages, phrase, wanted)

    def runs(
        self,
        *,
        statuses: Collection[str] | None = None,
        session_id: str | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> Iterator[RunFacts]:
        """Yield runs, the last changed first; see `AuditReader.runs`."""
        pages = self._pages
        if pages.is_empty:
            return
        asked = wanted_runs(statuses=statuses, session_id=session_id, since=since, until=until)
        keys = pages.keys([value for value in asked.values if isinstance(value, str)])
        values = (keys[each] if isinstance(each, str) else each for each in asked.values)
        found = array("q", (key for (key,) in pages.all(_RUNS.format(asked.sql), *values)))
        size, start = FIRST, 0
        while start < len(found):
            page = found[start : start + size]
            facts = pages.facts_of(page)
            yield from (facts[run] for run in page if run in facts)
            start += size
            size = min(size * 2, PAGE)

    def facts(self, run_ids: Collection[str]) -> Mapping[str, RunFacts]:
        """Give the facts of those of these runs that are known."""
        pages = self._pages
        if pages.is_empty or not run_ids:
            return {}
        keys = pages.keys(run_ids)
        found = pages.facts_of([key for key in keys.values() if key >= 0])
        return {each.run_id: each for each in found.values()}

    def on_trace(self, trace_id: str) -> Sequence[str]:
        """Give the ids of the runs that were ever on a trace."""
        pages = self._pages
        if pages.is_empty:
            return []
        trace = pages.keys([trace_id])[trace_id]
        with pages.page() as connection:
            runs = [run for (run,) in connection.execute(_ON_TRACE, (trace,)).fetchall()]
            names = pages.names.look_up(connection, runs)
        return [name for name in map(names.get, runs) if name is not None]

    def _of_pairs(
        self, index: str, pairs: Collection[tuple[str, str]], held: Collection[AuditRow] = ()
    ) -> list[AuditRow]:
        pages = self._pages
        if pages.is_empty or not pairs:
            return []
        keys = pages.keys({run for run, _ in pairs})
        known = [(keys[run], id_) for run, id_ in set(pairs) if keys[run] >= 0 and is_text(id_)]
        column = f"{index}_id"
        found = {
            row_key(row.position, row.part): row
            for row in held
            if (row.run_id, getattr(row, column)) in pairs
        }
        # Where some rows are held, to look for the others takes far less than to read them.
        select = _OF_PAIRS.format(columns="r.key" if found else COLUMNS, index=index)
        rows: dict[int, AuditRow] = {}
        missing: set[int] = set()
        for batch in batches(known):
            values = [value for pair in batch for value in pair]
            asked = (listed(select, len(batch), "(?, ?)"), *values, pages.after, pages.upto)
            if found:
                missing.update(key for (key,) in pages.all(*asked))
            else:
                rows.update((row_key(row.position, row.part), row) for row in pages.rows(*asked))
        rows.update(found)
        return [*rows.values(), *in_pages(pages, sorted(missing.difference(found)))]
