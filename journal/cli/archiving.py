"""Archives: the pages of what was written, and of a verification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from journal import times
from journal.cli.app import Settings
from journal.cli.care import STYLES
from journal.cli.failures import complain
from journal.cli.output import Output, Part
from journal.cli.page import field
from journal.cli.progress import phases
from journal.cli.quantities import counted, size
from journal.findings import Severity
from projections.archive.dropping import drop_archived
from projections.archive.verify import verify
from projections.archive.writing import write_archive
from projections.audit.times import parse_when

if TYPE_CHECKING:
    from projections.archive.dropped import ArchiveDropped
    from projections.archive.verification import ArchiveFinding, Verification
    from projections.archive.writing import ArchiveWritten


REASONS = {
    "changed": "changed meanwhile",
    "damaged": "damaged here or in the archive",
    "forked": "with a fork that stays",
    "leased": "being written",
    "not_archived": "not in the archive as a whole",
    "not_ended": "not ended",
    "waiting": "waited for",
}
"""Why runs stay, in words."""


class _Both:
    """What was archived, and what was dropped then."""

    def __init__(self, written: ArchiveWritten, dropped: ArchiveDropped) -> None:
        self.written = written
        self.dropped = dropped

    def to_json(self) -> dict[str, Any]:
        """Give it as a JSON object."""
        return {**self.written.to_json(), "dropped": self.dropped.to_json()}


def make_archive(settings: Settings, before: str, to: str, *, drop: bool = False) -> None:
    """Archive, with progress, and print what is new; then drop what may go, if asked to."""
    moment = parse_when(before, times.now())
    output = settings.output()
    with settings.journal() as journal:
        with phases() as progress:
            written = write_archive(journal, to, before=moment, progress=progress)
        if not drop or not written.last_position:
            output.one(written, show_written)
            return
        with phases() as progress:
            dropped = drop_archived(journal, to, progress)
    output.one(_Both(written, dropped), _show_both)


def _show_both(output: Output, both: _Both) -> None:
    show_written(output, both.written)
    show_dropped(output, both.dropped)


def show_written(output: Output, written: ArchiveWritten) -> None:
    """Print what was archived."""
    field(output, "archive", written.location)
    if not written.segments:
        until = times.format_time(written.before)
        field(output, "new", f"nothing: all that was stored before {until} is in it")
        return
    first, last = written.segments[0], written.segments[-1]
    numbers = f"{first.segment}" if first is last else f"{first.segment} to {last.segment}"
    field(output, "segments", numbers)
    field(
        output, "new", f"{counted(written.events, 'event')}, {counted(written.rows, 'audit row')}"
    )
    each = written.bytes / written.events
    field(output, "size", f"{size(written.bytes)}, {each:.0f} B an event")
    field(output, "days", first.day if first.day == last.day else f"{first.day} to {last.day}")
    field(output, "ends", f"with event {written.last_position} of the journal")


def show_dropped(output: Output, dropped: ArchiveDropped) -> None:
    """Print what was dropped, and why the other runs stay."""
    runs = counted(len(dropped.runs), "run")
    field(output, "dropped", f"{runs}, {counted(dropped.events, 'event')}")
    if dropped.copies:
        field(output, "copied", f"{counted(dropped.copies, 'document')} that built on them")
    reasons = Counter(each.reason for each in dropped.left)
    for reason, count in sorted(reasons.items()):
        example = next(each for each in dropped.left if each.reason == reason)
        words = f"{counted(count, 'run')} {REASONS[reason]}, such as {example.run_id}"
        field(output, "stay", words if count > 1 else f"{words}: {example.why}")


def make_verification(settings: Settings, archive: str, *, against_journal: bool) -> bool:
    """Verify, with progress, and print what was found; tell whether nothing is wrong."""
    if against_journal:
        with settings.journal() as journal, phases() as progress:
            found = verify(archive, journal=journal, progress=progress)
    else:
        with phases() as progress:
            found = verify(archive, progress=progress)
    settings.output().one(found, show_verification)
    wrong = sum(each.severity is Severity.WRONG for each in found.findings)
    if wrong:
        are = "is" if wrong == 1 else "are"
        complain(f"{found.location}: {counted(wrong, 'finding')} {are} wrong, see the report")
    return found.is_sound


def show_verification(output: Output, found: Verification) -> None:
    """Print a verification: what was examined, then each finding."""
    field(output, "archive", found.location)
    if found.journal is not None:
        field(output, "journal", found.journal)
    held = counted(found.segments, "segment"), counted(found.events, "event")
    field(output, "holds", ", ".join((*held, counted(found.rows, "audit row"), size(found.bytes))))
    if found.compared is not None:
        field(output, "compared", f"{counted(found.compared, 'event')} with the journal")
    if found.is_sound:
        field(output, "found", ("nothing wrong", "green"))
    if found.findings:
        output.line("")
    for finding in found.findings:
        output.line(*_place(finding), finding.what, whole=True)


def _place(finding: ArchiveFinding) -> Iterator[Part]:
    yield (f"{finding.severity.value:<7} ", STYLES[finding.severity])
    segment = "no segment" if finding.segment is None else f"segment {finding.segment}"
    yield (segment if finding.file is None else f"{segment}, {finding.file}", "bold")
    yield ": " if finding.file is None else " "
