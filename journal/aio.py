"""The journal for asyncio: the same verbs, awaitable."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypedDict, TypeVar, Unpack

from journal.arrival_watch import ArrivalWatch
from journal.async_subscription import AsyncSubscription
from journal.commit import MAX_BUNDLE_BYTES
from journal.errors import JournalClosed, JournalForked
from journal.facts import noted
from journal.journal import Journal
from journal.json_door import accept
from journal.lineage import Forkable
from journal.metrics import Metrics
from journal.offers import WRAPPED, Offer, Source, plain
from journal.pending import may_linger
from journal.progress import Progress, unseen
from journal.receipt import Receipt
from journal.redact import Hook
from journal.run import Run

if TYPE_CHECKING:
    from journal.backup import BackupResult

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 4
"""Threads that read, and as many that write, so that neither waits for the other.

What a run's verbs write needs none of them: it goes into the queue from the event loop.
"""


class AsyncRun:
    """One run of an agent, open for writing; the verbs of `journal.Run`, awaitable."""

    def __init__(self, journal: AsyncJournal, run: Run) -> None:
        self._journal = journal
        self.sync = run
        """The run itself, for code that blocks."""

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.sync.run_id

    async def append(self, record: Source) -> Receipt:
        """Append one stream record; many tasks may append at once.

        A delta of the model's stream may wait up to 50 ms for others, so that they share a
        transaction; anything else is written at once. A task that is cancelled here has
        written its record or not; offering it again tells which.
        """
        made = [self.sync.offers.record(record)]
        return (await self.sync.write_soon(made, lingers=may_linger(made)))[0]

    async def append_many(self, records: Iterable[Source]) -> list[Receipt]:
        """Append stream records in one transaction: all of them or none."""
        return await self.sync.write_soon(self.sync.offers.records(records))

    async def checkpoint(self, checkpoint: Source) -> Receipt:
        """Record a checkpoint."""
        return await self._one(self.sync.offers.checkpoint(checkpoint))

    async def export_context(self, state: Source) -> Receipt:
        """Record the exported context state."""
        return await self._one(self.sync.offers.context(state))

    async def export_environment(self, state: Source) -> Receipt:
        """Record the exported environment state."""
        return await self._one(self.sync.offers.environment(state))

    async def approval(self, record: Source) -> Receipt:
        """Record an approval's request or decision."""
        return await self._one(self.sync.offers.approval(record))

    async def deferred_tool(self, record: Source) -> Receipt:
        """Record a deferred tool call's request or resolution."""
        return await self._one(self.sync.offers.deferred_tool(record))

    async def save_cursor(self, cursor: Source) -> Receipt:
        """Record how far a reader of the host's streams got."""
        return await self._one(self.sync.offers.cursor(cursor))

    async def set_status(self, status: str, *, reason: str | None = None) -> Receipt:
        """Record that somebody set the run's status."""
        return await self._change(self.sync.offers.status(status, reason))

    async def suspend(self, reason: str, *, checkpoint_id: str | None = None) -> Receipt:
        """Record that the run stops at a boundary and waits."""
        return await self._change(self.sync.offers.suspended(reason, checkpoint_id))

    async def resume(self) -> Receipt:
        """Record that a suspended run goes on."""
        return await self._change(self.sync.offers.resumed())

    async def release(self) -> None:
        """Give the run back; after the journal was closed it does nothing."""
        if not self._journal.closed:
            await self._journal.write(self.sync.release)

    async def _change(self, change: Offer) -> Receipt:
        return (await self.sync.write_soon(noted(change, self.sync.session_id)))[0]

    async def _one(self, offer: Offer) -> Receipt:
        return (await self.sync.write_soon([offer]))[0]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.release()


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
    ) -> AsyncRun:
        """Open a new run for writing, or continue one."""
        return await self._opened(
            self.sync.run,
            run_id,
            session_id=session_id,
            conversation_id=conversation_id,
            takeover=takeover,
        )

    async def fork(
        self,
        point: Forkable,
        as_run: str,
        *,
        session_id: str | None = None,
        conversation_id: str | None = None,
    ) -> AsyncRun:
        """Open a new run that begins with another one's events up to a point."""
        return await self._opened(
            self.sync.fork, point, as_run, session_id=session_id, conversation_id=conversation_id
        )

    async def _opened(self, verb: Callable[P, Run], *args: P.args, **kwargs: P.kwargs) -> AsyncRun:
        self._must_be_open()
        taking = self._writing.submit(verb, *args, **kwargs)
        try:
            return AsyncRun(self, await asyncio.wrap_future(taking))
        except asyncio.CancelledError:
            taking.add_done_callback(self._give_back)
            raise

    async def commit_checkpoint(self, session_id: str, checkpoint: Source) -> Receipt:
        """Record a checkpoint, opening its run where it is new."""
        return await self.write(self.sync.commit_checkpoint, session_id, _frozen(checkpoint))

    async def commit_run_evidence(self, bundle: Source) -> Receipt:
        """Record a run's evidence: all or nothing."""
        return await self.write(self.sync.commit_run_evidence, _frozen(bundle))

    async def save_session(self, session: Source) -> Receipt:
        """Record a session record."""
        return await self.write(self.sync.save_session, _frozen(session))

    async def save_run(self, run: Source) -> Receipt:
        """Record a run record, opening the run where it is new."""
        return await self.write(self.sync.save_run, _frozen(run))

    async def approval(self, record: Source) -> Receipt:
        """Record an approval's request or decision, whoever is writing the run."""
        return await self.write(self.sync.approval, _frozen(record))

    async def deferred_tool(self, record: Source) -> Receipt:
        """Record a deferred tool call, whoever is writing the run."""
        return await self.write(self.sync.deferred_tool, _frozen(record))

    async def set_status(self, run_id: str, status: str, *, reason: str | None = None) -> Receipt:
        """Record that somebody set a run's status, whoever is writing the run."""
        return await self.write(self.sync.set_status, run_id, status, reason=reason)

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

    async def release_resume(self, run_id: str, claim_id: str) -> Receipt:
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

    async def close(self) -> None:
        """Wait for what was handed in, release every run and close the store."""
        await asyncio.to_thread(self._close)

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

    def _give_back(self, taken: Future[Run]) -> None:
        """Release a run whose caller was cancelled while it was being opened."""
        if taken.cancelled() or taken.exception() is not None:
            return
        with suppress(RuntimeError):  # the pool is shut down: closing releases every run
            self._writing.submit(taken.result().release)

    def _must_be_open(self) -> None:
        if self._closed:
            raise JournalClosed(self.sync.location)
        if os.getpid() != self._process:
            raise JournalForked(self.sync.location, self._process)

    async def _submit(
        self, pool: ThreadPoolExecutor, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        self._must_be_open()
        try:
            future = pool.submit(verb, *args, **kwargs)
        except RuntimeError:
            raise JournalClosed(self.sync.location) from None  # at this moment
        return await asyncio.wrap_future(future)


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
        journal = await asyncio.to_thread(Journal.open, self._location, **self._options)
        return AsyncJournal(journal)

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
