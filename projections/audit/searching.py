"""Full text: where a phrase occurs in all that was said, asked and answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappush, heappushpop
from itertools import islice
from typing import Any

from journal.stores.audit import AuditRow
from journal.times import format_time
from projections.audit.excerpts import Excerpt
from projections.audit.filters import AuditFilter
from projections.audit.known_runs import KnownRuns, place
from projections.audit.phrase import Phrase

RANKED = 10_000
"""The newest so many texts that hold a phrase are ranked, and no others are shown."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A text that holds the phrase."""

    run_id: str
    session_id: str | None
    child_run_id: str | None
    """The child run that said it, where only this run's stream tells of it."""
    place: str
    """Cursor to replay the run to: `stream:N` or `version:V`."""
    version: int
    recorded_at: int
    """Microseconds since the epoch."""
    kind: str
    """Of the row, such as `tool_return`."""
    tool: str | None
    call_id: str | None
    excerpt: Excerpt
    """The first place in the text that holds it."""
    count: int
    """How often the text holds it."""
    length: int
    """Of the text, in code points."""

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.audit.hit` object."""
        return {
            "schema": "runjournal.audit.hit",
            "schema_version": 1,
            "run_id": self.run_id,
            "session_id": self.session_id,
            "child_run_id": self.child_run_id,
            "place": self.place,
            "version": self.version,
            "recorded_at": format_time(self.recorded_at),
            "kind": self.kind,
            "tool": self.tool,
            "call_id": self.call_id,
            "excerpt": self.excerpt.to_json(),
            "count": self.count,
            "length": self.length,
        }


Rank = tuple[int, int, int, int, int]


def find_phrase(known: KnownRuns, asked: AuditFilter, phrase: Phrase) -> Iterator[Hit]:
    """Yield the texts that hold a phrase, best first; see `Audit.search`."""
    most = RANKED if asked.limit is None else min(asked.limit, RANKED)
    best: list[tuple[Rank, Hit]] = []
    for rank, row in islice(_ranked(known, asked, phrase), RANKED):
        if len(best) < most:
            heappush(best, (rank, _hit(row, phrase, rank[0])))
        elif rank > best[0][0]:
            heappushpop(best, (rank, _hit(row, phrase, rank[0])))
    best.sort(reverse=True, key=lambda each: each[0])
    return (hit for _, hit in best)


def _ranked(
    known: KnownRuns, asked: AuditFilter, phrase: Phrase
) -> Iterator[tuple[Rank, AuditRow]]:
    """Yield the rows that hold it, newest first, each with its rank: the best has the highest."""
    for rows in known.counted(known.reader.matching(phrase.text, asked.wanted()), asked):
        for row in rows:
            text = row.text or ""
            count = phrase.count(text)
            if count:
                yield (count, -len(text), row.recorded_at, row.position, row.part), row


def _hit(row: AuditRow, phrase: Phrase, count: int) -> Hit:
    text = row.text or ""
    found = phrase.excerpt(text)
    assert found is not None  # noqa: S101 - it was counted
    return Hit(
        row.run_id,
        row.session_id,
        row.child_run_id,
        place(row.anchor, row.version),
        row.version,
        row.recorded_at,
        row.kind,
        row.tool,
        row.call_id,
        found,
        count,
        len(text),
    )
