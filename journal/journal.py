"""The journal: every stream record and every checkpoint of a run, as immutable events."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from journal import offers, times
from journal.feed import Feed, RunFeed
from journal.leases import LEASE_SECONDS, Leases
from journal.lineage import Forkable
from journal.metrics import Meter, Metrics
from journal.numbers import Numbers
from journal.offers import Offer, Source
from journal.openings import Openings
from journal.progress import Progress, unseen
from journal.reader import Reader
from journal.record_verbs import RecordVerbs
from journal.redact import Hook, Redactor
from journal.run import Run
from journal.run_offers import RunOffers
from journal.stores import Store, open_audit, open_store, open_views
from journal.subscription import Subscription
from journal.views import Views
from journal.writer import Writer

if TYPE_CHECKING:
    from journal.backup import BackupResult
    from journal.dropping import Dropping


class Journal(RecordVerbs):
    """An append-only journal of agent runs; safe to use from several threads.

    Open one with `Journal.open`; use it as a context manager or call `close`.
    """

    def __init__(
        self, store: Store, *, lease_seconds: float = LEASE_SECONDS, redact: Hook | None = None
    ) -> None:
        self._store = store
        self.redactor = None if redact is None else Redactor(redact)
        in_memory = store.location == "memory://"
        # A relative path, and the process may change its directory.
        self._place = store.location if in_memory else os.path.abspath(store.location)  # noqa: PTH100
        self.meter = Meter()
        """Counts what is written; `metrics` gives its numbers."""
        self._writer = Writer(store, self.meter, times.now)
        self._leases = Leases(store, self._writer, self.meter, times.now, lease_seconds)
        self.reader = Reader(store)
        """The read side: events and documents, for projections and audits."""
        self._openings = Openings(self.reader)
        self._numbers = Numbers(self.reader)
        self.views = Views(
            lambda revision, in_memory: open_views(store, revision, in_memory=in_memory),
            lambda revision, in_memory: open_audit(store, revision, in_memory=in_memory),
        )
        """Where projections keep what they derived, so that it need not be derived again."""

    @classmethod
    def open(
        cls,
        location: str | os.PathLike[str],
        *,
        create: bool = True,
        durability: str = "full",
        lease_seconds: float = LEASE_SECONDS,
        redact: Hook | None = None,
    ) -> Self:
        """Open a journal, creating it where it is missing.

        Args:
            location: a path, `sqlite:///path`, or `memory://`.
            create: False to refuse, with `JournalNotFound`, when there is none; then a file
                that cannot be written can still be read.
            durability: `full`: a receipt survives a power cut. `relaxed`: it survives the end
                of the process, but a power cut may take the last commits, always a clean
                suffix of the journal.
            lease_seconds: how long a run stays leased to an owner that gives no sign of life.
            redact: `hook(value, path, kind) -> value` sees every value before it is recorded
                and may replace it (see `journal.redact`); it may be called from several
                threads at once.

        Raises:
            JournalNotFound, InvalidLocation, NotAJournal, NewerFormat, GuardsMissing,
            StorageFailed, JournalBusy: see `journal.errors`.
        """
        store = open_store(location, create=create, durability=durability)
        return cls(store, lease_seconds=lease_seconds, redact=redact)

    @property
    def location(self) -> str:
        """Where the events are: a path or `memory://`."""
        return self._store.location

    def run(
        self,
        run_id: str,
        *,
        session_id: str | None = None,
        conversation_id: str | None = None,
        takeover: bool = False,
        checkpoint: Source | None = None,
    ) -> Run:
        """Open a new run for writing, or continue one.

        One owner writes a run at a time: this takes the run's lease. An owner that released
        the run, whose lease expired, or whose process is gone stands in nobody's way.

        Args:
            run_id: unique in this journal.
            session_id: the session it belongs to; needed for a new run.
            conversation_id: the conversation it belongs to, when known.
            takeover: take the run also from an owner that is alive, whose writes are refused
                from then on.
            checkpoint: recorded at once; a new run begins with it in the same transaction.

        Raises:
            RunIsLeased: another owner is writing the run.
            RunConflict: the run exists in another session or conversation.
            InvalidRecord: an id is empty, or a new run has no session.
        """
        return self._open(
            run_id,
            conversation_id,
            lambda: self._openings.offer(run_id, session_id, conversation_id),
            takeover=takeover,
            checkpoint=checkpoint,
        )

    def fork(
        self,
        point: Forkable,
        as_run: str,
        *,
        session_id: str | None = None,
        conversation_id: str | None = None,
        checkpoint: Source | None = None,
    ) -> Run:
        """Open a new run that begins with another one's events up to a point.

        They are not copied, and stay the same whatever the other run goes on with. The same
        fork again continues it. This takes the fork's lease, as `run` does.

        Args:
            point: a `projections.RunView` of the run to fork, from this journal.
            as_run: the fork's id, unique in this journal.
            session_id: the session it belongs to; that of the run by default.
            conversation_id: the conversation it belongs to; that of the run by default.
            checkpoint: its first own one, recorded in the same transaction.

        Raises:
            CannotFork: the run never was in the state that the point shows.
            RunConflict: the id is taken by a run that is not this fork.
            RunIsLeased: another owner is writing the fork.
            RunNotFound, InvalidRecord: the point is of another journal, or an id is empty.
        """
        lineage = point.lineage
        session = point.session_id if session_id is None else session_id
        conversation = point.conversation_id if conversation_id is None else conversation_id
        return self._open(
            as_run,
            conversation,
            lambda: self._openings.fork(lineage, as_run, session, conversation),
            checkpoint=checkpoint,
        )

    def subscribe(
        self, *, after: int = 0, run_id: str | None = None, must_exist: bool = True
    ) -> Subscription:
        """Follow the journal, or one run: what is recorded, in order, and then what comes.

        Args:
            after: begin after this position of the journal, such as that of a receipt, of
                another subscription, or `reader.last_position()`; 0 begins at the start.
            run_id: only this run's own events.
            must_exist: False to wait for a run of which nothing is recorded yet.

        Raises:
            PositionOutOfRange: the journal never reached that position.
            RunNotFound: nothing of this run was ever recorded.
        """
        if run_id is None:
            return Subscription(Feed(self._store, after))
        offers.check_id(run_id, "run id")
        return Subscription(RunFeed(self._store, after, run_id, must_exist=must_exist))

    def metrics(self) -> Metrics:
        """Tell how the writing goes: what waits, what was committed, how long that took."""
        return self.meter.snapshot()

    def backup(self, path: str | os.PathLike[str], progress: Progress = unseen) -> BackupResult:
        """Copy the journal, as it is at this moment, to a file that does not exist yet.

        Writers go on meanwhile. The copy is synced and verified before it gets its name; it
        holds no lease.

        Raises:
            TargetExists, DamagedFile, DiskFull, ...: see `journal.backup.back_up`.
        """
        from journal.backup import back_up  # noqa: PLC0415 - it needs the engine

        self._store.last_position()  # an error where it is closed, forked or moved
        return back_up(self._place, path, progress)

    def dropping(self, run_ids: Collection[str]) -> Dropping:
        """Begin to drop runs that are in an archive: see `journal.dropping`.

        `projections.archive.drop_archived` chooses the runs, and makes sure that the archive
        has them.

        Args:
            run_ids: all that may be dropped.
        """
        from journal.dropping import Dropping  # noqa: PLC0415 - hardly any process drops runs

        return Dropping(self._store, self._writer, self._leases, self.reader, run_ids)

    def close(self) -> None:
        """Write what waits, release every run and close the store; twice does nothing.

        Raises:
            NotWritten: some of what waited was refused; each caller has its own error, too.
        """
        try:
            self._writer.close()
        finally:
            try:
                self._leases.close()
            finally:
                self.meter.close()
                self.views.close()
                self._store.close()

    def _open(
        self,
        run_id: str,
        conversation_id: str | None,
        opening: Callable[[], list[Offer]],
        *,
        takeover: bool = False,
        checkpoint: Source | None = None,
    ) -> Run:
        made = RunOffers(run_id, "", conversation_id, self.redactor)
        first = [] if checkpoint is None else [made.checkpoint(checkpoint)]

        def begin() -> list[Offer]:
            opened = opening()
            return [*opened, *first] if opened else []

        held = self._leases.take(run_id, begin, takeover=takeover)
        try:
            opened = self._openings.known(run_id)
        except BaseException:
            self._leases.release(held)
            raise
        made = replace(
            made,
            session_id=opened["session_id"],
            conversation_id=opened.get("conversation_id") or conversation_id,
        )
        run = Run(self.reader, self._writer, self._leases, held, made)
        try:
            run.write(first)
        except BaseException:
            run.release()
            raise
        return run

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
