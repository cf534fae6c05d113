"""One run of an agent, written from the tasks of an event loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from journal.boundary import SuspendRequest
from journal.facts import noted
from journal.offers import Offer, Source
from journal.pending import Decide, may_linger
from journal.receipt import Receipt
from journal.run import Run

if TYPE_CHECKING:
    from journal.aio import AsyncJournal


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

    async def export_environment(
        self, state: Source, *, stream_cursor: int | None = None
    ) -> Receipt:
        """Record the exported environment state."""
        return await self._one(self.sync.offers.environment(state, stream_cursor))

    async def approval(self, record: Source) -> Receipt:
        """Record an approval's request or decision."""
        return await self._decided(self.sync.transition(self.sync.offers.approval(record)))

    async def deferred_tool(self, record: Source) -> Receipt:
        """Record a deferred tool call's request or resolution."""
        return await self._decided(self.sync.transition(self.sync.offers.deferred_tool(record)))

    async def save_cursor(self, cursor: Source) -> Receipt:
        """Record how far a reader of the host's streams got."""
        return await self._decided(self.sync.transition(self.sync.offers.cursor(cursor)))

    async def set_status(
        self, status: str, *, reason: str | None = None, output_preview: str | None = None
    ) -> Receipt:
        """Record that somebody set the run's status."""
        change = self.sync.offers.status(
            status, reason, output_preview, generation=self.sync.generation
        )
        return await self._decided(self.sync.status_change(change))

    async def suspend(self, reason: str, *, checkpoint_id: str | None = None) -> Receipt:
        """Record that the run stops at a boundary and waits."""
        return await self._change(self.sync.offers.suspended(reason, checkpoint_id))

    async def suspend_requested(self) -> SuspendRequest | None:
        """Tell whether an operator asked the run to stop at its next boundary, and why."""
        return await self._journal.call(self.sync.suspend_requested)

    async def resume(self, *, attempt: int | None = None, rerun: Sequence[str] = ()) -> Receipt:
        """Record that a suspended run goes on, under this lease."""
        return await self._journal.write(self.sync.resume, attempt=attempt, rerun=rerun)

    async def release(self) -> None:
        """Give the run back; after the journal was closed it does nothing."""
        if not self._journal.closed:
            await self._journal.carry_out(self.sync.release)

    async def _change(self, change: Offer) -> Receipt:
        return (await self.sync.write_soon(noted(change, self.sync.session_id)))[0]

    async def _decided(self, decide: Decide) -> Receipt:
        return await self.sync.write_decided_soon(decide)

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
