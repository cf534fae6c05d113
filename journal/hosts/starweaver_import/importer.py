"""Importing a Starweaver session database into a journal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from journal.codec import RecordedEvent
from journal.errors import DamagedSource, FixInput, RunConflict
from journal.events import CheckpointTaken, RunCommitted, StreamRecorded
from journal.hosts.starweaver_import import mapping
from journal.hosts.starweaver_import.line_writer import LineWriter
from journal.hosts.starweaver_import.mapping import Item, RunMapping
from journal.hosts.starweaver_import.result import ImportResult
from journal.hosts.starweaver_import.source import Row, Source
from journal.hosts.starweaver_import.tables import (
    APPROVALS,
    CHECKPOINTS,
    CLAIMS,
    COMMITS,
    CONTEXTS,
    DEFERRED_TOOLS,
    DISPLAY,
    DISPLAY_SNAPSHOTS,
    ENVIRONMENTS,
    LEGACY,
    NOT_MAPPED,
    OF_RUNS,
    OF_SCOPES,
    OUTBOX,
    REPLAY,
    RUNS,
    SESSIONS,
    STREAM,
    Table,
)
from journal.ids import run_stream
from journal.journal import Journal
from journal.json_door import MAX_BYTES
from journal.progress import Progress, unseen

T = TypeVar("T")

MOST_REST = MAX_BYTES // 2
"""Bytes of display messages and replay events that a run's commit takes along."""

_HISTORY = (
    ("stream_record", STREAM, StreamRecorded.NAME),
    ("checkpoint", CHECKPOINTS, CheckpointTaken.NAME),
)
"""What is sealed with a run's evidence: what it is called, its table and its event."""

_OWNED = (*OF_RUNS, *OF_SCOPES)


def import_database(
    journal: Journal,
    path: str | os.PathLike[str],
    *,
    dry_run: bool = False,
    progress: Progress = unseen,
) -> ImportResult:
    """Record what a Starweaver session database holds.

    Rows are written in the order of their runs, many in one transaction, and marked as
    imported. What the journal holds already is not repeated: an import that was broken off
    goes on when it is called again, and one of a database that grew adds what is new. A row
    that the journal refuses is left out and told; the others are taken.

    Args:
        journal: where it goes. No lease is taken; runs that somebody is writing are refused.
        path: of the database, written by Starweaver's `SqliteSessionStore` 0.15.0; see
            `journal.hosts.starweaver_import.database` for what is done to it.
        dry_run: write nothing, only count. Each row is checked against the journal as it is:
            what two rows of the database contradict each other in, and that somebody is
            writing a run, or writes to it meanwhile, shows only when rows are written.
        progress: told the rows that were read.

    Raises:
        InvalidSource: it is no such database, or an older, newer or altered one.
        SourceBusy: it is locked, or was written to by somebody who did not use it before.
        DamagedSource: it is damaged.
        RunIsLeased, JournalBusy, ...: the journal cannot take it now; what was written stays.
    """
    result = ImportResult(os.fspath(path), dry_run=dry_run)
    with Source(path) as source:
        _Import(journal, source, result, progress).run()
    return result


class _Import:
    def __init__(
        self, journal: Journal, source: Source, result: ImportResult, progress: Progress
    ) -> None:
        self._journal = journal
        self._source = source
        self._result = result
        self._writer = LineWriter(journal, result)
        self._progress = progress
        self._totals: dict[str, int] = {}
        self._seen: dict[str, int] = {}
        """By table, rows that were come across."""
        self._done = self._total = 0

    def run(self) -> None:
        """Import everything."""
        for table in (SESSIONS.name, RUNS.name, COMMITS, OUTBOX, *[one.name for one in _OWNED]):
            self._totals[table] = self._source.count(table)
            self._seen[table] = 0
        self._total = sum(self._totals.values())
        for row in self._rows(SESSIONS):
            if row.is_named:
                self._runs_of(row.identity)
            self._writer.looks_back = True
            self._put(row, mapping.session)
            self._writer.flush()
        for session_id in self._source.sessions_without_record():
            self._runs_of(session_id)
        self._tell_what_is_left()

    def _runs_of(self, session_id: str) -> None:
        for row in self._rows(RUNS, session_id):
            if not row.is_named:
                self._made(row, mapping.run_record)  # refused
                continue
            try:
                opening = self._journal.opening(row.identity, session_id)
            except (FixInput, RunConflict) as error:
                self._leave_run_out(row, str(error))
                continue
            self._one_run(row, is_new=bool(opening))
            self._writer.flush()

    def _one_run(self, row: Row, *, is_new: bool) -> None:
        session_id, run_id = row.owner[0], row.identity
        record = self._made(row, mapping.run_record)
        run = RunMapping(
            session_id,
            run_id,
            row,
            record,
            self._source.opened_at(session_id, run_id),
            self._source.seal(session_id, run_id),
        )
        self._writer.looks_back = not is_new
        if is_new:
            self._writer.put(run.opening())
        sealed = None if is_new else self._commit(run_id)
        if not self._has_history(run, sealed):
            self._history(run)
        for table, make in (
            (ENVIRONMENTS, run.environment_state),
            (CONTEXTS, run.context_state),
            (APPROVALS, run.approval),
            (DEFERRED_TOOLS, run.deferred_tool),
        ):
            for each in self._rows(table, session_id, run_id):
                self._put(each, make)
        for item in run.stream_cursors():
            self._writer.put(item)
        rest = self._rest(run)
        if record is not None:
            self._writer.put(run.end(rest, sealed=sealed is not None))
        for each in self._rows(CLAIMS, session_id, run_id):
            for item in self._made(each, run.claim) or ():
                self._writer.put(item)

    def _commit(self, run_id: str) -> RecordedEvent | None:
        return self._journal.reader.last_run_event(run_id, (RunCommitted.NAME,))

    def _has_history(self, run: RunMapping, sealed: RecordedEvent | None) -> bool:
        """Tell whether all records and checkpoints of a run were imported before.

        Sealed evidence does not change: the same seal and the same numbers are enough.
        Comparing each would take longer than importing it did.
        """
        if sealed is None or not sealed.imported or sealed.data["sha256"] != run.sha256:
            return False
        found = [
            (kind, table.name, self._source.count_of(table.name, run.session_id, run.run_id), name)
            for kind, table, name in _HISTORY
        ]
        count, stream = self._journal.reader.count, run_stream(run.run_id)
        if any(count(stream, (name,)) != rows for _, _, rows, name in found):
            return False
        for kind, table, rows, _ in found:
            self._seen[table] += rows
            self._done += rows
            self._result.repeated[kind] += rows
        return True

    def _history(self, run: RunMapping) -> None:
        """Write stream records and checkpoints as they happened: a checkpoint after its record."""
        records = self._rows(STREAM, run.session_id, run.run_id)
        following = next(records, None)
        for row in self._rows(CHECKPOINTS, run.session_id, run.run_id):
            checkpoint = self._made(row, run.checkpoint)
            if checkpoint is None:
                continue
            at = mapping.stream_cursor_of(checkpoint)
            while following and at is not None and mapping.sequence_of(following) <= at:
                self._put(following, run.stream_record)
                following = next(records, None)
            self._writer.put(checkpoint)
        while following:
            self._put(following, run.stream_record)
            following = next(records, None)

    def _rest(self, run: RunMapping) -> dict[str, Any]:
        """Gather what a run was committed with besides records of kinds of their own."""
        publication = self._source.publication(run.session_id, run.run_id)
        self._seen[OUTBOX] += publication is not None
        if run.seal is None or run.record is None:
            return {}
        self._seen[COMMITS] += 1
        scope = f"run:{run.run_id}"
        rest: dict[str, Any] = {}
        room = MOST_REST
        for key, table, make in (
            ("display_messages", DISPLAY, mapping.display_message),
            ("replay_events", REPLAY, mapping.replay_event),
            ("display_snapshot", DISPLAY_SNAPSHOTS, mapping.display_snapshot),
        ):
            room -= self._source.size_of(table, scope)
            found = []
            for row in self._rows(table, scope):
                if room < 0:
                    reason = f"with others of its run over {MOST_REST} bytes"
                    self._result.leave_out(table.name, 1, reason)
                    continue
                made = self._made(row, make)
                if made is not None:
                    found.append(made)
            if found:
                rest[key] = found[0] if key == "display_snapshot" else found
        if publication is not None:
            rest["publication_targets"] = publication
        return rest

    def _rows(self, table: Table, *owner: str) -> Iterator[Row]:
        for row in self._source.rows(table, *owner):
            self._seen[table.name] += 1
            self._done += 1
            self._progress("import", self._done, self._total)
            yield row

    def _put(self, row: Row, make: Callable[[Row], Item]) -> None:
        item = self._made(row, make)
        if item is not None:
            self._writer.put(item)

    def _made(self, row: Row, make: Callable[[Row], T]) -> T | None:
        """Map a row; None for one that is refused."""
        try:
            return make(row)
        except FixInput as error:
            self._result.refuse(row.table, row.key, str(error))
            return None

    def _leave_run_out(self, row: Row, reason: str) -> None:
        """Count a run whose id is taken, with all its rows."""
        self._result.refuse(row.table, row.key, reason)
        for table in (*[one.name for one in OF_RUNS], COMMITS, OUTBOX):
            rows = self._source.count_of(table, row.owner[0], row.identity)
            self._seen[table] += rows
            if rows:
                self._result.refuse(table, row.key, "its run was left out", rows)

    def _tell_what_is_left(self) -> None:
        for table, total in self._totals.items():
            left = total - self._seen[table]
            if left < 0:
                reason = f"{table} has {total} rows, and its index leads to {self._seen[table]}"
                raise DamagedSource(self._source.name, reason)
            scoped = table in [one.name for one in OF_SCOPES]
            reason = (
                "of no run whose evidence was committed, or of no run at all"
                if scoped
                else f"of no run that {RUNS.name} has"
            )
            self._result.leave_out(table, left, reason)
        for table, reason in NOT_MAPPED.items():
            self._result.leave_out(table, self._source.count(table), reason)
        for table, (new, keys) in LEGACY.items():
            left = self._source.count_not_copied(table, new, keys)
            reason = f"left by an older version and not in {new.name}, which Starweaver reads"
            self._result.leave_out(table, left, reason)
        self._result.leave_out(
            f"{COMMITS}.digest",
            self._seen[COMMITS],
            "of a bundle in Starweaver's own form: committing such a run again is refused, also "
            "with the same bundle",
        )
