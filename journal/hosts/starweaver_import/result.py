"""What an import did, or would do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

MOST_REFUSED = 1000
"""Refused rows that are told one by one; the others are only counted."""


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row that the journal did not take."""

    table: str
    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class NotMapped:
    """Something that the journal has no place for."""

    what: str
    """A table, or a column or member of one."""
    count: int
    """Rows that have it."""
    reason: str


@dataclass(slots=True)
class ImportResult:
    """What an import did, or with `dry_run` would do."""

    source: str
    dry_run: bool
    recorded: Counter[str] = field(default_factory=Counter)
    """Records that became events, by kind."""
    repeated: Counter[str] = field(default_factory=Counter)
    """Records that were in the journal before, by kind."""
    refused: Counter[str] = field(default_factory=Counter)
    """Rows that the journal did not take, by table."""
    refused_rows: list[RefusedRow] = field(default_factory=list)
    """The first `MOST_REFUSED` of them."""
    not_mapped: list[NotMapped] = field(default_factory=list)

    def refuse(self, table: str, key: str, reason: str, rows: int = 1) -> None:
        """Count rows that are left out."""
        self.refused[table] += rows
        if len(self.refused_rows) < MOST_REFUSED:
            self.refused_rows.append(RefusedRow(table, key, reason))

    def leave_out(self, what: str, count: int, reason: str) -> None:
        """Count what has no place in the journal, where there is any."""
        if not count:
            return
        for at, one in enumerate(self.not_mapped):
            if (one.what, one.reason) == (what, reason):
                self.not_mapped[at] = NotMapped(what, one.count + count, reason)
                return
        self.not_mapped.append(NotMapped(what, count, reason))

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.import` object."""
        return {
            "schema": "runjournal.import",
            "schema_version": 1,
            "source": self.source,
            "dry_run": self.dry_run,
            "recorded": dict(self.recorded),
            "repeated": dict(self.repeated),
            "refused": dict(self.refused),
            "refused_rows": [
                {"table": each.table, "key": each.key, "reason": each.reason}
                for each in self.refused_rows
            ],
            "not_mapped": [
                {"what": each.what, "count": each.count, "reason": each.reason}
                for each in self.not_mapped
            ],
        }
