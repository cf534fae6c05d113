"""Dropping runs whose events are in an archive.

First what builds on the run gets a copy of its own. Then `run.archived` is appended, under a
new generation of the run's lease: no writer goes on after it, and nothing that was planned
before builds on the run. What was recorded until then is looked through once more, and only
then are the events deleted, the newest first. Whenever this is stopped, the run can either be
read as before or says that it is archived, and dropping it again goes on.

Who calls it has made sure that the archive has the events, equal to those here.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from journal.archived import archived
from journal.codec import validate
from journal.copies import copy_offer
from journal.dependents import Dependents
from journal.documents import Documents, Place, identity_of_copy
from journal.errors import CorruptEvent, RunIsArchived, RunNotFound, StateConflict
from journal.events import ArchivedSegment, EventData, RunArchived, RunForked
from journal.ids import RUN_PREFIX, StreamId, Version, run_stream, session_stream
from journal.json_door import JSON, accept
from journal.leases import Leases, leased
from journal.offers import WRAPPED, Offer
from journal.openings import Openings
from journal.pending import Write
from journal.progress import Progress, unseen
from journal.reader import Reader
from journal.records import TERMINAL
from journal.stores.interface import Lease, Store
from journal.times import now
from journal.writer import Writer

PAUSE = 0.002, 0.05
"""Seconds between two pieces that are deleted, at least and at most, in which others write: as
long as the piece took."""


class InArchive(NamedTuple):
    """What an archive has of a run."""

    through: Version
    """The last version; it has all before it, too."""
    archive: str
    """Id of the journal that it is of."""
    segments: Sequence[ArchivedSegment]
    """Those that have events of the run, in order."""
    status: str
    """How it ended, by all that was recorded of it."""
    parent_run_id: str | None = None
    """The run that started it as a child, when known."""
    for_session: Mapping[str, JSON] | None = None
    """What the session's record takes from the run."""
    documents: Sequence[Place] = ()
    """Events whose documents the session's record shows, of this run or one that it was made
    of."""


class Dropped(NamedTuple):
    """What became of a run that was dropped."""

    events: int
    """Deleted just now."""
    copies: int
    """Documents of others that were copied just now."""


class Dropping:
    """Drops some runs of one open journal, one after the other: the newest first is best.

    Args:
        run_ids: all that may be dropped.
    """

    def __init__(
        self, store: Store, writer: Writer, leases: Leases, reader: Reader, run_ids: Collection[str]
    ) -> None:
        self._store = store
        self._writer = writer
        self._leases = leases
        self._reader = reader
        self._documents = Documents(store)
        self._dependents = Dependents(store, [run_stream(each) for each in run_ids])

    def forks(self, run_id: str) -> list[str]:
        """List the forks of a run that are here: it cannot be dropped before them.

        Raises:
            CorruptEvent: an event that may tell of one cannot be read.
        """
        self._dependents.catch_up()
        return sorted(
            fork.removeprefix(RUN_PREFIX)
            for fork in self._dependents.forks(run_stream(run_id))
            if archived(self._store, fork) is None
        )

    def drop(self, run_id: str, held: InArchive, progress: Progress = unseen) -> Dropped:
        """Drop a run; one whose dropping was cut short is dropped to the end.

        Raises:
            RunNotFound: nothing of it was ever recorded.
            RunIsLeased: somebody may be writing it.
            StateConflict: it has not ended, has a fork that is here, or goes on after what
                the archive has.
            LeaseMoved, VersionConflict: somebody took it, or wrote it, just now.
            CorruptEvent, BrokenBase: a document that builds on the run, or another event that
                may, cannot be read.
        """
        stream = run_stream(run_id)
        if not self._store.head(stream):
            raise RunNotFound(run_id)
        self._dependents.catch_up(progress)
        self._must_have_no_fork(run_id)
        copies = 0
        told = archived(self._store, stream)
        if told is None:
            self._must_be_free(run_id, stream)
            self._must_be_whole(run_id, held)
            copies = self._copy_dependents(stream)
            copies += sum(self._copy_for_session(run_id, place) for place in held.documents)
            self._mark(run_id, stream, held)
            through = held.through
            # From here on nothing new builds on it; what came in between is in the journal.
            self._must_have_no_fork(run_id)
        else:
            through = Version(told.version - 1)
        copies += self._copy_dependents(stream)
        return Dropped(self._delete(run_id, stream, through, progress), copies)

    def _must_have_no_fork(self, run_id: str) -> None:
        forks = self.forks(run_id)
        if forks:
            reason = f"has a fork that is here, {forks[0]!r}"
            raise StateConflict(f"run {run_id!r}", reason, "archive and drop that one first")

    def _must_be_free(self, run_id: str, stream: StreamId) -> None:
        self._leases.fence(run_id)
        lease = self._store.lease(stream)
        if lease is not None and self._leases.holds(run_id):
            raise leased(run_id, lease, now())

    def _must_be_whole(self, run_id: str, held: InArchive) -> None:
        head = self._store.head(run_stream(run_id))
        if head != held.through:
            reason = f"has {head} events, and the archive {held.through}"
            raise StateConflict(f"run {run_id!r}", reason, "archive the others first")
        if held.status not in TERMINAL:
            raise StateConflict(f"run {run_id!r}", f"is {held.status}", "drop it when it has ended")

    def _mark(self, run_id: str, stream: StreamId, held: InArchive) -> None:
        """Append `run.archived`, and end every lease of the run in the same transaction."""
        fence = self._leases.fence(run_id)

        def decide() -> list[Offer]:
            self._must_be_whole(run_id, held)
            return [self._archived(run_id, stream, held)]

        lease = Lease(stream, fence[stream] + 1, "", "", 0, "", 0)
        self._writer.write(Write([], fence, (lease,), decide=decide, streams=(stream,)))

    def _archived(self, run_id: str, stream: StreamId, held: InArchive) -> Offer:
        first, last = self._reader.event(stream, Version(1)), self._reader.last_event(run_id)
        if first is None or last is None:
            raise CorruptEvent(stream, 1, "missing")
        opened = Openings(self._reader).known(run_id)
        forked = first.data.get("forked") or first.data.get("source")
        fields: EventData = {
            "run_id": run_id,
            "session_id": opened["session_id"],
            "conversation_id": opened.get("conversation_id"),
            "parent_run_id": held.parent_run_id,
            "forked_from": forked if first.name == RunForked.NAME else None,
            "cursor": first.data.get("cursor"),
            "status": held.status,
            "opened_at": first.recorded_at,
            "updated_at": last.recorded_at,
            "through_version": held.through,
            "archive": held.archive,
            "segments": [each.model_dump() for each in held.segments],
            "for_session": held.for_session,
        }
        value, raw = accept({k: v for k, v in fields.items() if v is not None}, wrapped=WRAPPED)
        validate(RunArchived.NAME, value)
        return Offer(stream, RunArchived.NAME, value, raw)

    def _copy_dependents(self, stream: StreamId) -> int:
        return sum(self._copy(place) for place in self._dependents.documents(stream))

    def _copy(self, place: Place) -> bool:
        """Copy a document, where its stream stays here and has no copy of it yet."""
        stream, version = place
        if archived(self._store, stream) is not None:
            return False
        if self._store.find(stream, identity_of_copy(version)) is not None:
            return False
        [event] = self._reader.events(stream, [version])
        offer = copy_offer(stream, version, self._documents.rebuild(event))
        try:
            return not self._writer.write(Write([offer]))[0].repeated
        except RunIsArchived:
            return False  # somebody else drops that one

    def _copy_for_session(self, run_id: str, place: Place) -> bool:
        session = session_stream(Openings(self._reader).known(run_id)["session_id"])
        stream, version = place
        if self._store.find(session, identity_of_copy(version, stream)) is not None:
            return False
        [event] = self._reader.events(stream, [version])
        offer = copy_offer(session, version, self._documents.rebuild(event), of_stream=stream)
        return not self._writer.write(Write([offer]))[0].repeated

    def _delete(self, run_id: str, stream: StreamId, through: Version, progress: Progress) -> int:
        deleted = 0
        least, most = PAUSE
        began = time.monotonic()
        while some := self._store.drop(stream, through):
            deleted += some
            progress(f"drop {run_id}", deleted, through)
            time.sleep(min(max(least, time.monotonic() - began), most))
            began = time.monotonic()
        return deleted
