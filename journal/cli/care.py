"""Taking care of a journal: the pages of a backup, an examination, and of snapshots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from journal.backup import back_up
from journal.cli.failures import complain
from journal.cli.output import Output, Part, joined
from journal.cli.page import field
from journal.cli.progress import phases
from journal.cli.quantities import size
from journal.doctor import examine
from journal.findings import Severity

if TYPE_CHECKING:
    from journal.backup import BackupResult
    from journal.findings import Finding, Report
    from journal.snapshots import SnapshotsDropped, SnapshotsStatus

STYLES = {Severity.WRONG: "red", Severity.NOTICE: "yellow"}


def make_backup(location: str, file: str, output: Output) -> None:
    """Copy the journal to a file, with progress, and print what the copy holds."""
    with phases() as progress:
        result = back_up(location, file, progress)
    output.one(result, show_backup)


def show_backup(output: Output, result: BackupResult) -> None:
    """Print what a backup holds."""
    field(output, "backup", result.target)
    field(output, "holds", f"{_count(result.events, 'event')} of {_count(result.runs, 'run')}")
    field(output, "size", size(result.bytes))
    field(output, "verified", ("schema, pages and every event", "green"))


def make_examination(location: str, output: Output, *, quick: bool) -> bool:
    """Examine the journal, with progress, and print the report; tell whether nothing is wrong."""
    with phases() as progress:
        report = examine(location, quick=quick, progress=progress)
    output.one(report, show_report)
    wrong = sum(each.severity is Severity.WRONG for each in report.findings)
    if wrong:
        are = "is" if wrong == 1 else "are"
        complain(f"{report.location}: {_count(wrong, 'finding')} {are} wrong, see the report")
    return report.is_sound


def show_report(output: Output, report: Report) -> None:
    """Print a report: what was looked at, then each finding and what to do."""
    field(output, "journal", report.location)
    facts = report.facts
    if "format" in facts:
        field(output, "format", f"{facts['format']} (newest {facts['newest_format']})")
    if "file_bytes" in facts:
        log = f", log {size(facts['wal_bytes'])}" if facts["wal_bytes"] else ""
        field(output, "size", f"{size(facts['file_bytes'])}{log}")
    if report.counts:
        counts = (_count(count, what[:-1]) for what, count in report.counts.items())
        field(output, "holds", ", ".join(counts))
    leases = [f"{count} {what}" for what, count in facts.get("leases", {}).items() if count]
    if leases:
        field(output, "leases", ", ".join(leases))
    if report.quick:
        field(output, "left out", "integrity check, rebuilding of documents (--quick)")
    field(output, "found", *_found(report))
    for finding in report.findings:
        output.line("")
        output.line(*_place(finding), finding.what, whole=True)
        output.line(("        do: ", "dim"), finding.advice, whole=True)


def _found(report: Report) -> Iterable[Part]:
    if not report.findings:
        return [("nothing wrong", "green")]
    counts = Counter(each.severity for each in report.findings)
    words = {Severity.WRONG: "{} wrong", Severity.NOTICE: _count(counts[Severity.NOTICE], "notice")}
    each = [(words[one].format(counts[one]), STYLES[one]) for one in Severity if counts[one]]
    return joined(each, ", ")


def _place(finding: Finding) -> Iterator[Part]:
    yield (f"{finding.severity.value:<7} ", STYLES[finding.severity])
    place = [
        f"{what} {id_}"
        for what, id_ in (
            ("run", finding.run_id),
            ("session", finding.session_id),
            ("version", finding.version),
        )
        if id_ is not None
    ]
    if place:
        yield (", ".join(place) + ": ", "bold")


def show_snapshots(output: Output, status: SnapshotsStatus) -> None:
    """Print what is in the file of snapshots."""
    field(output, "snapshots", status.file)
    field(output, "size", size(status.bytes) if status.bytes else "no file")
    if status.problem is not None:
        field(output, "not used", (status.problem, "yellow"))
    counts = (
        (status.streams, "stream"),
        (status.pages, "page"),
        (status.chunks, "chunk"),
        (status.documents, "document"),
    )
    known = [_count(count, what) for count, what in counts if count is not None]
    if known:
        field(output, "holds", ", ".join(known))


def show_dropped(output: Output, dropped: SnapshotsDropped) -> None:
    """Print what was removed."""
    field(output, "dropped", dropped.file if dropped.bytes else f"nothing, no {dropped.file}")
    field(output, "size", size(dropped.bytes))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
