"""Events under examination: what they hold, and whether they agree with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

from journal.ancestry import source_opening
from journal.archived import archived, dropped
from journal.codec import RecordedEvent, decode
from journal.documents import DOCUMENTS, Walk
from journal.errors import BrokenBase, CorruptEvent, RunIsArchived, Stop
from journal.events import (
    OPENINGS,
    RunArchived,
    RunForked,
    RunLeaseTaken,
    SessionRunAdded,
)
from journal.findings import Findings
from journal.ids import (
    RUN_PREFIX,
    SESSION_PREFIX,
    Position,
    RunId,
    StreamId,
    Version,
    run_stream,
    session_stream,
)
from journal.leases import SKEW
from journal.lineage import Lineage
from journal.owner import is_gone, named
from journal.progress import Progress
from journal.reader import PAGE, Reader
from journal.stores.interface import Lease, Store, StoredEvent

NEAR = 64
"""Documents read at a time; each may be large."""

BROKEN = 100_000
"""Documents that cannot be rebuilt and are remembered, so that none is tried on top of them."""


class EventExamination:
    """Looks at the events of a store, any of which may be damaged.

    What cannot be read is passed over where another event is looked up: it is noted where
    it stands.
    """

    def __init__(self, store: Store, findings: Findings) -> None:
        self._store = store
        self._reader = Reader(store)
        self._findings = findings
        self.counts: Counter[str] = Counter(events=0, runs=0, sessions=0, documents=0)
        self._unknown: Counter[str] = Counter()
        self._broken: set[tuple[str, int]] = set()

    def look(self, stored: StoredEvent) -> None:
        """Look at one event, and at what it says of other streams."""
        self.counts["events"] += 1
        try:
            event = decode(stored)
            if event.known:
                _ = event.event
            else:
                self._unknown[event.name] += 1
        except CorruptEvent as error:
            self._wrong("event.damaged", error.reason, stored.stream, stored.version)
            return
        self.counts["documents"] += event.name in DOCUMENTS
        with suppress(Stop):
            if event.name == SessionRunAdded.NAME:
                self._look_at_run(run_stream(event.data["run_id"]))
            elif event.name == RunArchived.NAME:
                self._look_at_archived(event)
            elif event.version == 1 and event.run_id is not None:
                self._look_at_opening(event, event.run_id)

    def tell_unknown(self) -> None:
        """Note the names of events that only a newer version knows; after the last event."""
        for name, count in self._unknown.items():
            what = f"this runjournal does not know events named {name}, of which there are {count}"
            self._findings.notice("event.unknown", what, "read them with a newer runjournal")

    def count_streams(self) -> None:
        """Count the runs and sessions."""
        for stream in self._streams():
            self.counts["runs"] += stream.startswith(RUN_PREFIX)
            self.counts["sessions"] += stream.startswith(SESSION_PREFIX)

    def look_at_leases(self, now: int) -> Counter[str]:
        """Look at the leases that were not released; `now` in microseconds since the epoch."""
        counts = Counter(live=0, expired=0, orphaned=0)
        for lease in self._store.leases():
            if is_gone(lease):
                counts["orphaned"] += 1
                self._notice_lease("lease.orphaned", lease, "who is gone")
            elif lease.expires_at + SKEW * 1e6 <= now:
                counts["expired"] += 1
                self._notice_lease("lease.expired", lease, "and was neither renewed nor released")
            else:
                counts["live"] += 1
        return counts

    def rebuild_documents(self, progress: Progress) -> None:
        """Rebuild every checkpoint and exported state, stream by stream."""
        done = 0
        for stream in self._streams():
            if archived(self._store, stream) is not None:
                continue  # what is left of it is about to be deleted
            walk = Walk()
            first: tuple[Version, str] | None = None
            broken = 0
            for event in self._documents(stream):
                reason = self._rebuild(event, walk)
                if reason is not None:
                    broken += 1
                    first = first or (event.version, reason)
                done += 1
                progress("documents", done, self.counts["documents"])
            if first is not None:
                more = f" (and {broken - 1} after it)" if broken > 1 else ""
                what = f"its checkpoint or state cannot be rebuilt{more}: {first[1]}"
                self._wrong("document.broken", what, stream, first[0])

    def _look_at_archived(self, event: RecordedEvent) -> None:
        """Tell of a run whose dropping was cut short, and of what stands after its end."""
        if self._store.head(event.stream) != event.version:
            what = "it goes on after the event that says that it is archived"
            self._wrong("run.archived", what, event.stream, event.version)
        elif dropped(self._store, event.stream) is None or self._store.read_stream(
            event.stream, upto=Version(event.version - 1), limit=1
        ):
            what = "it is in an archive, and not all of its events are deleted here"
            advice = "`runjournal archive --before DATE --to PLACE --drop` goes on with that"
            self._findings.notice("run.half_dropped", what, advice, stream=event.stream)

    def _look_at_opening(self, event: RecordedEvent, run_id: RunId) -> None:
        if event.name not in OPENINGS or event.data["run_id"] != run_id:
            self._wrong("run.opening", "it does not open the run", event.stream, event.version)
            return
        session = session_stream(event.data["session_id"])
        if not self._is_noted(event, session, run_id):
            what = f"it lacks the event that names its run {run_id!r}: that was deleted"
            self._wrong("session.lacks_run", what, session)
        if event.name == RunForked.NAME:
            self._look_at_source(event)
        lease = self._store.lease(event.stream)
        if lease is None or lease.generation == 1 or archived(self._store, event.stream):
            return  # who archives it raises the generation
        taken = self._reader.last_run_event(run_id, (RunLeaseTaken.NAME,))
        known = 1 if taken is None else taken.data.get("generation")
        if type(known) is int and known < lease.generation:
            what = (
                f"its lease is of generation {lease.generation}, its events know {known}: "
                "the last events were deleted"
            )
            self._wrong("run.end", what, event.stream)

    def _is_noted(self, opening: RecordedEvent, session: StreamId, run_id: RunId) -> bool:
        """Tell whether the event after a run's opening is the session's note of the run."""
        after = [decode(row) for row in self._store.read_all(after=opening.position, limit=1)]
        return [(each.stream, each.name, each.data.get("run_id")) for each in after] == [
            (session, SessionRunAdded.NAME, run_id)
        ]

    def _look_at_source(self, fork: RecordedEvent) -> None:
        lineage = Lineage.of(fork.stream, fork.data)
        try:
            source_opening(self._reader, fork)
        except BrokenBase as error:
            what = f"it is a fork of run {lineage.source!r}, which cannot be read: {error.reason}"
            self._wrong("fork.source", what, fork.stream, fork.version)
        except RunIsArchived:
            if archived(self._store, fork.stream) is None:
                what = f"it is a fork of run {lineage.source!r}, which was dropped"
                self._wrong("fork.source", what, fork.stream, fork.version)

    def _look_at_run(self, stream: StreamId) -> None:
        if not self._store.head(stream):
            self._wrong("run.missing", "its session names it, but it has no event", stream)

    def _notice_lease(self, code: str, lease: Lease, why: str) -> None:
        what = f"it is leased to {named(lease)} (generation {lease.generation}), {why}"
        advice = "nothing: who opens the run next takes the lease over"
        self._findings.notice(code, what, advice, stream=lease.stream)

    def _streams(self) -> Iterator[StreamId]:
        before: Position | None = None
        while page := self._store.streams(prefix="", before=before, limit=PAGE):
            for name, position in page:
                if before is not None and position >= before:
                    self._wrong("file.damaged", f"stream {position} stands before {before}")
                    return
                before = position
                yield name

    def _documents(self, stream: StreamId) -> Iterator[RecordedEvent]:
        """Yield the events of a stream that hold a document and can be read."""
        after, head = Version(0), self._store.head(stream)
        while after < head:
            page: Iterable[StoredEvent]
            try:
                page = self._store.read_stream(stream, after=after, names=DOCUMENTS, limit=NEAR)
                upto = page[-1].version if page else head
            except Stop:
                upto = Version(min(after + NEAR, head))
                page = self._one_by_one(stream, after, upto)
            for stored in page:
                with suppress(CorruptEvent):
                    yield decode(stored)
            after = upto

    def _one_by_one(self, stream: StreamId, after: Version, upto: Version) -> Iterator[StoredEvent]:
        for version in range(after + 1, upto + 1):
            with suppress(Stop):
                yield from self._store.read_stream(
                    stream, after=Version(version - 1), upto=Version(version), names=DOCUMENTS
                )

    def _rebuild(self, event: RecordedEvent, walk: Walk) -> str | None:
        """Tell why the document of an event cannot be rebuilt; None where it can."""
        stream = str(event.data.get("base_stream", event.stream))
        version = event.data.get("base_version")
        if type(version) is int and (stream, version) in self._broken:
            reason = f"it builds on event {version} of {stream!r}"
        else:
            try:
                self._reader.document(event, walk)
            except BrokenBase as error:
                reason = f"it builds on {error.base_stream!r}: {error.reason}"
            except CorruptEvent as error:
                other = error.version != event.version
                reason = f"it builds on event {error.version}: " if other else ""
                reason += error.reason
            else:
                return None
        if len(self._broken) < BROKEN:
            self._broken.add((event.stream, event.version))
        return reason

    def _wrong(
        self, code: str, what: str, stream: str | None = None, version: int | None = None
    ) -> None:
        self._findings.damage(code, what, stream=stream, version=version)
