"""The runs that rows belong to, looked up once: what they are, and which rows count."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from journal.archived import refusal
from journal.events import RunArchived
from journal.ids import Version
from journal.stores.audit import LARGEST, AuditReader, AuditRow, RunFacts
from projections.audit.chunked import chunked
from projections.audit.filters import AuditFilter
from projections.reading import HasReader
from projections.standing import derived_status

Answer = TypeVar("Answer")

REPEATED = "repeated"
"""Status of a response that was recorded before."""

HELD = 4096
"""Runs remembered; when there are more, all are looked up again."""

AT_ONCE = 2048
"""Rows that are looked at together where all are asked for."""


class KnownRuns:
    """What is known of runs, for one answer.

    Args:
        journal: who is at a run that is under way; None for an archive alone, whose runs stand
            as recorded.
    """

    def __init__(self, reader: AuditReader, journal: HasReader | None) -> None:
        self.reader = reader
        self._journal = journal
        self._facts: dict[str, RunFacts | None] = {}
        self._statuses: dict[str, str | None] = {}

    @property
    def has_journal(self) -> bool:
        """Tell whether it can be known who is at a run."""
        return self._journal is not None

    def look_up(self, run_ids: Collection[str]) -> None:
        """Look up runs at once that are going to be asked for."""
        missing = {run_id for run_id in run_ids if run_id not in self._facts}
        if not missing:
            return
        if len(self._facts) + len(missing) > HELD:
            self._facts.clear()
            self._statuses.clear()
            missing = set(run_ids)
        found = self.reader.facts(missing)
        self._facts.update((run_id, found.get(run_id)) for run_id in missing)

    def remember(self, found: Iterable[RunFacts]) -> None:
        """Take facts that were read already."""
        facts = {each.run_id: each for each in found}
        if len(self._facts) + len(facts) > HELD:
            self._facts.clear()
            self._statuses.clear()
        self._facts.update(facts)

    def facts(self, run_id: str) -> RunFacts | None:
        """Give the facts of a run; None where it is not known."""
        self.look_up([run_id])
        return self._facts[run_id]

    def must_be_here(self, facts: RunFacts) -> None:
        """Check that the rows of a run are here.

        Raises:
            RunIsArchived: they are in an archive only.
        """
        if facts.archived and self._journal is not None:
            event = self._journal.reader.last_run_event(facts.run_id, (RunArchived.NAME,))
            if event is not None:
                raise refusal(event)

    def status(self, run_id: str) -> str | None:
        """Tell how a run stands now (`projections.standing`); None where nothing tells it."""
        if run_id not in self._statuses:
            facts = self.facts(run_id)
            self._statuses[run_id] = None if facts is None else self._status(facts)
        return self._statuses[run_id]

    def _status(self, facts: RunFacts) -> str | None:
        if self._journal is None or facts.archived:
            return facts.status
        return derived_status(
            self._journal, facts.run_id, facts.status, version=Version(facts.version)
        )

    def counted(self, rows: Iterable[AuditRow], asked: AuditFilter) -> Iterator[list[AuditRow]]:
        """Yield the rows that count, some at a time: nothing that is told elsewhere, too.

        Neither what a child run has in its own stream, nor what a run that has stream records
        repeats in its checkpoints, nor a response that was recorded before; and of runs that
        stand as asked only.
        """
        found = chunked(rows) if asked.limit else chunked(rows, AT_ONCE, first=AT_ONCE)
        for some in found:
            self.look_up(ids_in(some))
            yield [row for row in some if self._counts(row) and self.is_asked(row.run_id, asked)]

    def _counts(self, row: AuditRow) -> bool:
        if row.status == REPEATED:
            return False
        return self.is_own(row.run_id, row.child_run_id, from_state=row.from_state)

    def is_own(self, run_id: str, child_run_id: str | None, *, from_state: bool) -> bool:
        """Tell whether something counts where it stands: nothing else tells it, too."""
        if child_run_id not in (None, run_id) and self.facts(child_run_id) is not None:
            return False
        if not from_state:
            return True
        facts = self.facts(run_id)
        return facts is None or facts.records == 0

    def is_asked(self, run_id: str, asked: AuditFilter) -> bool:
        """Tell whether a run stands as asked."""
        return asked.status is None or self.status(run_id) == asked.status


def ids_in(rows: Iterable[AuditRow]) -> set[str]:
    """List the runs, children too, that rows belong to."""
    found = set()
    for row in rows:
        found.add(row.run_id)
        if row.child_run_id is not None:
            found.add(row.child_run_id)
    return found


def limited(answers: Iterator[Answer], asked: AuditFilter) -> Iterator[Answer]:
    """Give as many answers as were asked for."""
    return answers if asked.limit is None else islice(answers, min(asked.limit, sys.maxsize))


def place(anchor: int | None, version: int) -> str:
    """Name the cursor to replay up to for an event: `stream:N`, or else `version:V`."""
    if anchor is None or not 0 <= anchor < LARGEST:
        return f"version:{version}"
    return f"stream:{anchor}"
