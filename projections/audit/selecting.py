"""SQL of people over the audit rows: one SELECT, that can only read, and only so much."""

from __future__ import annotations

from journal.errors import StorageFailed
from journal.stores.audit import Selected
from journal.stores.views import ViewsUnusable
from projections.audit.catching_up import catch_up
from projections.audit.sources import Archived
from projections.reading import HasReader

ATTEMPTS = 5
"""Looks at rows that others change or damage meanwhile, before it is an error."""


def select(  # noqa: PLR0913 - where, what, and its limits
    journal: HasReader | None,
    archive: Archived | None,
    sql: str,
    *,
    rows: int,
    seconds: float,
    megabytes: int,
) -> Selected:
    """Run a SELECT over the rows of a journal, of an archive, or of both, in this process."""
    for _ in range(ATTEMPTS):
        try:
            if archive is not None:
                return archive.query(journal, sql, rows=rows, seconds=seconds, megabytes=megabytes)
            assert journal is not None  # noqa: S101 - one of the two is there
            store = catch_up(journal)
            return store.query(sql, rows=rows, seconds=seconds, megabytes=megabytes)
        except ViewsUnusable as problem:
            if journal is None:
                raise
            lasting = problem
            journal.views.distrust(problem)
    raise StorageFailed("what is derived from the journal", "look at", lasting.reason) from lasting
