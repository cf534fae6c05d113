"""A database of another program brought into the journal, and the page of what came of it."""

from __future__ import annotations

from collections import Counter

from journal.cli.app import Settings
from journal.cli.failures import complain
from journal.cli.messages import shown
from journal.cli.output import Output
from journal.cli.page import field, heading
from journal.cli.progress import phases
from journal.errors import JournalNotFound
from journal.hosts.starweaver_import import ImportResult, import_database
from journal.hosts.starweaver_import.source import Source
from journal.journal import Journal

SHOWN = 20
"""Refused rows that are named one by one."""


def import_file(settings: Settings, file: str, *, dry_run: bool) -> bool:
    """Import a Starweaver session database; tell whether every row was taken."""
    with Source(file):
        pass  # no journal is made for a file that cannot be imported
    with _opened(settings, dry_run=dry_run) as journal, phases() as progress:
        result = import_database(journal, file, dry_run=dry_run, progress=progress)
    settings.output().one(result, show_import)
    for row in result.refused_rows[:SHOWN]:
        complain(f"{row.table} {row.key}: {row.reason}")
    refused = result.refused.total()
    if refused > SHOWN:
        complain(f"{refused} rows were refused in all; --json names more of them")
    return not refused


def _opened(settings: Settings, *, dry_run: bool) -> Journal:
    """Open the journal; a dry run compares with the one that is there, and makes none."""
    try:
        return Journal.open(settings.db, create=not dry_run)
    except JournalNotFound:
        return Journal.open("memory://")


def show_import(output: Output, result: ImportResult) -> None:
    """Print what an import did."""
    field(output, "source", result.source)
    if result.dry_run:
        field(output, "dry run", "nothing was written; this is what an import would do")
    _counts(output, "recorded", result.recorded)
    _counts(output, "repeated", result.repeated)
    _counts(output, "refused", result.refused)
    for at, each in enumerate(result.not_mapped):
        if not at:
            heading(output, "not mapped")
        output.line(f"{each.count:>9} ", shown(each.what), (f"  {each.reason}", "dim"), whole=True)


def _counts(output: Output, name: str, counts: Counter[str]) -> None:
    each = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    field(output, name, f"{counts.total()}", (f"  ({each})" if each else "", "dim"))
