"""The doctor: examines a journal without changing it, and says what to do.

It looks at the file (format, schema, guards, pages, references), at every event (checksum,
packing, JSON, shape), at gaps in positions and in the versions of each stream, at what
streams say of each other, at the documents that are held as differences, and at what lies
beside the file (its snapshots, log, locks, leases, leftovers).

An event that was deleted is noticed when anything is left that shows it: a gap; a name, a
stream, a run of a session, a lease or a document that builds on it. The last events of the
whole journal, deleted together with everything that names them and with the guards put
back, leave no trace in the file: only a backup, or a receipt that a host kept, shows that.
"""

from __future__ import annotations

import os
from shlex import quote
from typing import Any

from journal import times
from journal.errors import InvalidLocation
from journal.examine_events import EventExamination
from journal.findings import Findings, Report
from journal.progress import Progress, unseen
from journal.stores.location import MemoryLocation, parse_location
from journal.stores.sqlite_examine import SQLiteExamination
from journal.stores.sqlite_recorder import SQLiteEventRecorder
from journal.stores.sqlite_rows import SQLiteRows
from journal.stores.sqlite_surroundings import SQLiteSurroundings
from journal.stores.sqlite_views_examine import ViewsExamination


def examine(
    location: str | os.PathLike[str], *, quick: bool = False, progress: Progress = unseen
) -> Report:
    """Examine a journal, also one that cannot be opened.

    Nothing is changed and no writer waits. What is written meanwhile may be looked at or not.

    Args:
        location: the journal, as for `Journal.open`.
        quick: leave out SQLite's integrity check and the rebuilding of documents.
        progress: told the events and documents that were looked at.

    Raises:
        InvalidLocation: a journal in memory, or no location of ours.
        JournalNotFound: there is nothing at the location.
        JournalBusy: somebody keeps the whole file locked.
    """
    parsed = parse_location(location)
    if isinstance(parsed, MemoryLocation):
        raise InvalidLocation(str(parsed), "it is in memory, and there is no file to examine")
    findings = Findings(f"runjournal --db {quote(str(parsed.path))}")
    counts: dict[str, int] = {}
    with SQLiteExamination(parsed.path, findings, progress) as file:
        surroundings = SQLiteSurroundings(file)
        if not quick:
            file.check_pages()
        if file.recorder is not None:
            counts = _examine_events(file, file.recorder, progress, quick=quick)
        file.facts |= _examine_views(file, progress, quick=quick)
        surroundings.look()
    return Report(str(location), quick, tuple(findings), counts, file.facts)


def _examine_views(file: SQLiteExamination, progress: Progress, *, quick: bool) -> dict[str, Any]:
    if file.file is None:
        return {}
    store = None if file.recorder is None else file.store(file.recorder)
    journal_id = file.facts.get("journal")
    views = ViewsExamination(
        file.file.path, journal_id, store, file.findings, progress, quick=quick
    )
    return views.look()


def _examine_events(
    file: SQLiteExamination, recorder: SQLiteEventRecorder, progress: Progress, *, quick: bool
) -> dict[str, int]:
    events = EventExamination(file.store(recorder), file.findings)
    with file.finding("file.damaged"):
        rows = SQLiteRows(recorder, file.findings, progress)
        for stored in rows.events():
            events.look(stored)
        events.tell_unknown()
        rows.check_streams()
    with file.finding("file.damaged"):
        events.count_streams()
        file.facts["leases"] = events.look_at_leases(times.now())
    if not quick:
        with file.finding("file.damaged"):
            events.rebuild_documents(progress)
    return dict(events.counts)
