"""Verifying an archive: that it is whole, as it was written, and the journal's."""

from __future__ import annotations

import os
from collections.abc import Iterator

from journal.errors import JournalError, NewerArchive
from journal.findings import Severity
from journal.progress import Progress, unseen
from projections.archive.against import against_journal
from projections.archive.chain import Chain, read_chain
from projections.archive.examine_file import examine_file
from projections.archive.filesystem import Place, find_place
from projections.archive.layout import KINDS, MANIFESTS, data_file, manifest_number, manifest_path
from projections.archive.verification import ArchiveFinding, Verification
from projections.reading import HasReader


def verify(
    location: str | os.PathLike[str],
    *,
    journal: HasReader | None = None,
    progress: Progress = unseen,
) -> Verification:
    """Examine every manifest and read every file of an archive; nothing is changed.

    It finds segments and files that are missing, changed or newer, and lists files that no
    manifest names. That the last segments of all are missing can be told only by a journal
    whose runs were dropped into them.

    Args:
        location: of the archive.
        journal: the journal it is of; every event is compared with it, but for those that were
            dropped from it.
        progress: told the bytes that were read, and the events compared.

    Raises:
        InvalidArchiveLocation: it names no place.
        ArchiveNotFound: there is no manifest.
        ArchiveOfAnotherJournal: the archive is of another journal than the one given.
        StorageFailed: the archive cannot be listed, or a manifest cannot be read.
    """
    place = find_place(location)
    chain = read_chain(place)
    findings = [*_faults(chain), *_files(place, chain, progress), *_left(place, chain)]
    compared = None
    if journal is not None:
        comparison = against_journal(place, chain, journal, progress)
        findings += comparison.findings
        compared = comparison.events
    segments = chain.segments
    return Verification(
        location=place.location,
        journal=chain.journal,
        segments=len(segments),
        events=sum(each.events for each in segments),
        rows=sum(each.rows for each in segments),
        bytes=sum(file.bytes for each in segments for file in each.files),
        last_position=chain.last_position,
        compared=compared,
        findings=tuple(sorted(findings, key=_order)),
    )


def _order(finding: ArchiveFinding) -> tuple[bool, int, str]:
    return finding.segment is None, finding.segment or 0, finding.file or ""


def _faults(chain: Chain) -> Iterator[ArchiveFinding]:
    for fault in chain.faults:
        newer = isinstance(fault, NewerArchive)
        yield ArchiveFinding(
            Severity.WRONG,
            "segment.newer" if newer else "manifest.damaged",
            fault.segment,
            manifest_path(fault.segment),
            _newer(fault) if isinstance(fault, NewerArchive) else fault.reason,
        )


def _newer(fault: NewerArchive) -> str:
    return (
        f"has schema version {fault.found}, this runjournal reads up to {fault.known}: upgrade it"
    )


def _files(place: Place, chain: Chain, progress: Progress) -> Iterator[ArchiveFinding]:
    total = sum(file.bytes for each in chain.segments for file in each.files)
    done = 0
    for segment in chain.segments:
        for kind in KINDS:
            file = segment.file(kind)
            try:
                fault = examine_file(place, segment, kind)
            except JournalError as error:  # of the system: the other files still count
                fault = "file.unreadable", error.message
            if fault is not None:
                code, what = fault
                yield ArchiveFinding(Severity.WRONG, code, segment.segment, file.path, what)
            done += file.bytes
            progress("verify", done, total)


def _left(place: Place, chain: Chain) -> Iterator[ArchiveFinding]:
    """List files that no manifest names; those of a manifest that cannot be read may be its."""
    named = {file.path for each in chain.segments for file in each.files}
    read = {each.segment for each in chain.segments}
    for folder in (*KINDS, MANIFESTS):
        for path in place.names(folder):
            if path in named or manifest_number(path):
                continue
            file = data_file(path)
            if file is not None and file.segment <= chain.last_number and file.segment not in read:
                continue
            number = None if file is None else file.segment
            what = "no manifest names it: it counts for nothing"
            if file is not None and file.segment > chain.last_number:
                what += ", and archiving on removes it"
            yield ArchiveFinding(Severity.NOTICE, "file.left", number, path, what)
