"""The rows of a journal and of its archive as one: nothing twice, nothing left out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import merge

from journal.ids import Position
from journal.stores.audit import APART, AuditReader, AuditRow, RunFacts, UsagePart, Wanted
from projections.audit.chunked import chunked

Pair = tuple[str, str]


class Merged:
    """An `AuditReader` over two: what was recorded up to a position, and what came later.

    Args:
        live: the rows after that position; its facts are of the journal as it is now.
        archived: the rows up to it, with the facts as they were then.
    """

    def __init__(self, live: AuditReader, archived: AuditReader, upto: Position) -> None:
        self._live = live
        self._archived = archived
        self._upto = upto

    def rows(self, wanted: Wanted, *, limit: int | None = None) -> Iterator[AuditRow]:
        """Yield rows, newest first."""
        for given, row in enumerate(
            merge(
                self._live.rows(wanted, limit=limit),
                self._archived.rows(wanted, limit=limit),
                key=when,
                reverse=True,
            )
        ):
            if given == limit:
                return
            yield row

    def timeline(self, run_id: str) -> Iterator[AuditRow]:
        """Yield a run's rows in logical order."""
        return merge(
            self._archived.timeline(run_id), self._live.timeline(run_id), key=logical_place
        )

    def calls(
        self, calls: Collection[Pair], *, held: Collection[AuditRow] = ()
    ) -> Sequence[AuditRow]:
        """Give all rows with a `call_id`; those that are held are given again."""
        before = [row for row in held if row.position <= self._upto]
        after = [row for row in held if row.position > self._upto]
        return [
            *self._archived.calls(calls, held=before),
            *self._live.calls(calls, held=after),
        ]

    def items(self, items: Collection[Pair]) -> Sequence[AuditRow]:
        """Give the rows with an `item_id`."""
        return [*self._archived.items(items), *self._live.items(items)]

    def open_calls(self, wanted: Wanted) -> Iterator[AuditRow]:
        """Yield `tool_call` rows that have a `tool_return` row in neither, newest first."""
        found = merge(
            self._live.open_calls(wanted),
            self._archived.open_calls(wanted),
            key=when,
            reverse=True,
        )
        for rows in chunked(found):
            asked = {(row.run_id, row.call_id) for row in rows if row.call_id is not None}
            related = self.calls(asked, held=rows)
            returned = {_call(row) for row in related if row.kind == "tool_return"}
            yield from (row for row in rows if _call(row) not in returned)

    def usage(self, wanted: Wanted, *, apart: Collection[str] = APART) -> Iterator[UsagePart]:
        """Yield sums of model responses and costs, in any order."""
        yield from self._archived.usage(wanted, apart=apart)
        yield from self._live.usage(wanted, apart=apart)

    def matching(self, phrase: str, wanted: Wanted) -> Iterator[AuditRow]:
        """Yield rows whose text may hold a phrase, newest first."""
        return merge(
            self._live.matching(phrase, wanted),
            self._archived.matching(phrase, wanted),
            key=when,
            reverse=True,
        )

    def runs(
        self,
        *,
        statuses: Collection[str] | None = None,
        session_id: str | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> Iterator[RunFacts]:
        """Yield runs, the last changed first."""

        def of(reader: AuditReader) -> Iterator[RunFacts]:
            return reader.runs(statuses=statuses, session_id=session_id, since=since, until=until)

        return merge(
            self._live_ones(of(self._live)), self._archived_ones(of(self._archived)), key=changed
        )

    def facts(self, run_ids: Collection[str]) -> Mapping[str, RunFacts]:
        """Give the facts of those of these runs that are known."""
        found = dict(self._archived.facts(run_ids))
        for run_id, live in self._live.facts(run_ids).items():
            if run_id not in found or self._is_now(live):
                found[run_id] = live
        return found

    def on_trace(self, trace_id: str) -> Sequence[str]:
        """Give the ids of the runs that were ever on a trace."""
        return list(
            dict.fromkeys([*self._archived.on_trace(trace_id), *self._live.on_trace(trace_id)])
        )

    def _is_now(self, live: RunFacts) -> bool:
        """Tell whether the journal knows more of a run than the archive does."""
        return live.position > self._upto and not live.archived

    def _live_ones(self, found: Iterator[RunFacts]) -> Iterator[RunFacts]:
        for some in chunked(found):
            before = [facts.run_id for facts in some if not self._is_now(facts)]
            archived = self._archived.facts(before) if before else {}
            yield from (facts for facts in some if facts.run_id not in archived)

    def _archived_ones(self, found: Iterator[RunFacts]) -> Iterator[RunFacts]:
        for some in chunked(found):
            live = self._live.facts([facts.run_id for facts in some])
            for facts in some:
                now = live.get(facts.run_id)
                if now is None or not self._is_now(now):
                    yield facts


def _call(row: AuditRow) -> tuple[str, str | None, str | None, int | None, bool]:
    return row.run_id, row.child_run_id, row.call_id, row.step, row.from_state


def when(row: AuditRow) -> tuple[int, int, int]:
    """Give what rows are ordered by, newest first when falling."""
    return row.recorded_at, row.position, row.part


def logical_place(row: AuditRow) -> tuple[int, int, int, int]:
    """Give what the rows of a run are ordered by, in logical order."""
    return row.anchor, row.rank, row.version, row.part


def changed(facts: RunFacts) -> tuple[int, int, str]:
    """Give what runs are ordered by, the last changed first."""
    return -facts.updated_at, -facts.position, facts.run_id
