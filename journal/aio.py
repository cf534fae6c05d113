"""The journal for asyncio: the same verbs, awaitable."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar, Unpack

from journal.acquiring import acquired, carried_out, in_thread, spawn
from journal.arrival_watch import ArrivalWatch
from journal.async_run import AsyncRun
from journal.async_subscription import AsyncSubscription
from journal.commit import MAX_BUNDLE_BYTES
from journal.errors import JournalClosed, JournalForked
from journal.events import Operator
from journal.journal import Journal
from journal.json_door import accept
from journal.lineage import Forkable
from journal.metrics import Metrics
from journal.offers import WRAPPED, Source, plain
from journal.progress import Progress, unseen
from journal.receipt import Receipt
from journal.redact import Hook
from journal.run import Run

if TYPE_CHECKING:
    from journal.backup import BackupResult

__all__ = ["AsyncJournal", "AsyncRun", "Opening", "Options"]

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 4
"""Threads that read, and as many that write, so that neither waits for the other.

What a run's verbs write needs none of them: it goes into the queue from the event loop.
"""


def _frozen(source: Source) -> bytes:
    """Read what a host hands in before anything waits; another thread checks the rest."""
    return accept(plain(source), max_bytes=MAX_BUNDLE_BYTES, wrapped=WRAPPED)[1]


class AsyncJournal:
    """The journal for asyncio.

    `async with AsyncJournal.open("runs.db") as journal:` or
    `journal = await AsyncJournal.open("runs.db")` and `await journal.close()`.
    """

    def __init__(self, journal: Journal) -> None:
        self.sync = journal
        """The journal itself, for code that blocks."""
        self._closed = False
        self._process = os.getpid()
        self._writing = ThreadPoolExecutor(THREADS, thread_name_prefix="journal-write")
        self._reading = ThreadPoolExecutor(THREADS, thread_name_prefix="journal-read")
        self._watch = ArrivalWatch(journal.reader.wait_for)

    @classmethod
    def open(cls, location: str | os.PathLike[str], **options: Unpack[Options]) -> Opening:
        """Open a journal as `Journal.open` does; await it or enter it with `async with`."""
        return Opening(location, options)

    async def run(
        self,
        run_id: str,
        *,
        session_id: str | None = None,
        conversation_id: str | None = None,
        takeover: bool = False,
        checkpoint: Source | None = None,
    ) -> AsyncRun:
        """Open a new run for writing, or continue one."""
        return await self._opened(
            self.sync.run,
            run_id,
            session_id=session_id,
            conversation_id=conversation_id,
            takeover=takeover,
            checkpoint=None if checkpoint is None else _frozen(checkpoint),
        )

    async def fork(
        self,
        point: Forkable,
        as_run: str,
        *,
        session_id: str | None = None,
        conversation_id: str | None = None,
        checkpoint: Source | None = None,
    ) -> AsyncRun:
        """Open a new run that begins with another one's events up to a point."""
        return await self._opened(
            self.sync.fork,
            point,
            as_run,
            session_id=session_id,
            conversation_id=conversation_id,
            checkpoint=None if checkpoint is None else _frozen(checkpoint),
        )

    async def _opened(self, verb: Callable[P, Run], *args: P.args, **kwargs: P.kwargs) -> AsyncRun:
        return AsyncRun(self, await self.acquire(partial(verb, *args, **kwargs), Run.release))

    async def commit_checkpoint(
        self, session_id: str, checkpoint: Source, *, must_exist: bool = False
    ) -> Receipt:
        """Record a checkpoint, opening its run where it is new."""
        return await self.write(
            self.sync.commit_checkpoint, session_id, _frozen(checkpoint), must_exist=must_exist
        )

    async def append_records(
        self, session_id: str, run_id: str, records: Iterable[Source]
    ) -> list[Receipt]:
        """Append stream records of a run that exists, and the cursor at the last of them."""
        frozen = [_frozen(record) for record in records]
        return await self.write(self.sync.append_records, session_id, run_id, frozen)

    async def save_cursor(self, session_id: str, run_id: str, cursor: Source) -> Receipt:
        """Record how far a reader of a run's streams got, whoever is writing the run."""
        return await self.write(self.sync.save_cursor, session_id, run_id, _frozen(cursor))

    async def commit_run_evidence(self, bundle: Source, *, suspended: str | None = None) -> Receipt:
        """Record a run's evidence: all or nothing."""
        return await self.write(self.sync.commit_run_evidence, _frozen(bundle), suspended=suspended)

    async def save_session(self, record: Source) -> Receipt:
        """Record a session record."""
        return await self.write(self.sync.save_session, _frozen(record))

    async def set_session_status(self, session_id: str, status: str) -> Receipt:
        """Record that somebody set a session's status."""
        return await self.write(self.sync.set_session_status, session_id, status)

    async def save_context(self, session_id: str, state: Source) -> Receipt:
        """Record a session's exported context state."""
        return await self.write(self.sync.save_context, session_id, _frozen(state))

    async def save_environment(self, session_id: str, ref_or_state: Source) -> Receipt:
        """Record a session's environment state, or where it is."""
        return await self.write(self.sync.save_environment, session_id, _frozen(ref_or_state))

    async def save_run(self, record: Source) -> Receipt:
        """Record a run record, opening the run where it is new."""
        return await self.write(self.sync.save_run, _frozen(record))

    async def approval(self, record: Source) -> Receipt:
        """Record an approval's request or decision, whoever is writing the run."""
        return await self.write(self.sync.approval, _frozen(record))

    async def deferred_tool(self, record: Source) -> Receipt:
        """Record a deferred tool call, whoever is writing the run."""
        return await self.write(self.sync.deferred_tool, _frozen(record))

    async def set_status(
        self,
        run_id: str,
        status: str,
        *,
        reason: str | None = None,
        output_preview: str | None = None,
    ) -> Receipt:
        """Record that somebody set a run's status, whoever is writing the run."""
        return await self.write(
            self.sync.set_status, run_id, status, reason=reason, output_preview=output_preview
        )

    def subscribe(
        self, *, after: int = 0, run_id: str | None = None, must_exist: bool = True
    ) -> AsyncSubscription:
        """Follow the journal, or one run, with `async for`; see `Journal.subscribe`."""
        return AsyncSubscription(
            self, self._watch, after=after, run_id=run_id, must_exist=must_exist
        )

    def metrics(self) -> Metrics:
        """Tell how the writing goes: what waits, what was committed, how long that took."""
        return self.sync.metrics()

    async def backup(
        self, path: str | os.PathLike[str], progress: Progress = unseen
    ) -> BackupResult:
        """Copy the journal to a file that does not exist yet; `progress` is called elsewhere."""
        return await self.call(self.sync.backup, path, progress)

    async def claim_resume(self, claim: Source) -> Receipt:
        """Record a claim to resume a run."""
        return await self.write(self.sync.claim_resume, _frozen(claim))

    async def start_resume(self, run_id: str, claim_id: str) -> Receipt:
        """Record that the holder of a claim starts to resume the run."""
        return await self.write(self.sync.start_resume, run_id, claim_id)

    async def acknowledge_publication(self, run_id: str, target: str) -> Receipt | None:
        """Record that a target has what the run's evidence wanted published."""
        return await self.write(self.sync.acknowledge_publication, run_id, target)

    async def request_suspend(self, run_id: str, reason: str, operator: Operator) -> Receipt:
        """Record that an operator asks a run to stop at its next boundary."""
        return await self.write(self.sync.request_suspend, run_id, reason, operator)

    async def allow_resume(
        self,
        run_id: str,
        operator: Operator,
        *,
        rerun: Sequence[str] | None = None,
        trust_imported: bool | None = None,
        reason: str | None = None,
    ) -> Receipt:
        """Record that an operator allows what the next resume would otherwise refuse."""
        return await self.write(
            self.sync.allow_resume,
            run_id,
            operator,
            rerun=rerun,
            trust_imported=trust_imported,
            reason=reason,
        )

    async def release_resume(self, run_id: str, claim_id: str) -> Receipt | None:
        """Record that a claim to resume a run was given back."""
        return await self.write(self.sync.release_resume, run_id, claim_id)

    async def session_record(self, session_id: str) -> dict[str, Any] | None:
        """Give the session record saved last."""
        return await self.call(self.sync.session_record, session_id)

    async def run_record(self, run_id: str) -> dict[str, Any] | None:
        """Give the run record saved or committed last."""
        return await self.call(self.sync.run_record, run_id)

    async def write(self, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a writing function of the journal in the writing thread."""
        return await self._submit(self._writing, verb, *args, **kwargs)

    async def call(self, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a reading function of the journal in a reading thread."""
        return await self._submit(self._reading, verb, *args, **kwargs)

    async def acquire(self, make: Callable[[], T], give_back: Callable[[T], None]) -> T:
        """Make something in the writing thread; it is given back when nobody waits for it."""

        def begin_to_give_back(unwanted: T) -> None:
            with suppress(RuntimeError):  # the pool is shut down: closing releases every run
                self._writing.submit(give_back, unwanted)

        return await acquired(self._submitted(self._writing, make), begin_to_give_back)

    async def carry_out(self, do: Callable[[], None]) -> None:
        """Do in the writing thread what must be done, also where the task is cancelled."""
        await asyncio.shield(asyncio.wrap_future(self._submitted(self._writing, do)))

    async def close(self) -> None:
        """Wait for what was handed in, release every run and close the store.

        Where the task is cancelled meanwhile, it goes on in a thread; the process waits for that.
        """
        await carried_out(self._close)

    @property
    def closed(self) -> bool:
        """Tell whether the journal was closed."""
        return self._closed

    def _close(self) -> None:
        self._closed = True
        self._writing.shutdown(wait=True)
        self._reading.shutdown(wait=True)
        try:
            self.sync.close()
        finally:
            if os.getpid() == self._process:
                self._watch.close()

    def _must_be_open(self) -> None:
        if self._closed:
            raise JournalClosed(self.sync.location)
        if os.getpid() != self._process:
            raise JournalForked(self.sync.location, self._process)

    async def _submit(
        self, pool: ThreadPoolExecutor, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await asyncio.wrap_future(self._submitted(pool, partial(verb, *args, **kwargs)))

    def _submitted(self, pool: ThreadPoolExecutor, do: Callable[[], T]) -> Future[T]:
        self._must_be_open()
        try:
            return pool.submit(do)
        except RuntimeError:
            raise JournalClosed(self.sync.location) from None  # at this moment


class Options(TypedDict, total=False):
    """How to open a journal; see `Journal.open`."""

    create: bool
    durability: str
    lease_seconds: float
    redact: Hook | None


class Opening(Awaitable[AsyncJournal]):
    """A journal about to be opened: await it, or enter it with `async with`."""

    def __init__(self, location: str | os.PathLike[str], options: Options) -> None:
        self._location = location
        self._options = options
        self._journal: AsyncJournal | None = None

    async def _open(self) -> AsyncJournal:
        opening = in_thread(partial(Journal.open, self._location, **self._options))
        return AsyncJournal(await acquired(opening, lambda opened: spawn(opened.close)))

    def __await__(self) -> Generator[Any, None, AsyncJournal]:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncJournal:
        self._journal = await self._open()
        return self._journal

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._journal is not None:
            await self._journal.close()
