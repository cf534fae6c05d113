"""Writing to one run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self

from journal.boundary import Boundaries, SuspendRequest
from journal.errors import JournalClosed, LeaseMoved, StaleWriter
from journal.facts import noted
from journal.ids import run_stream, session_stream
from journal.leases import Held, Leases
from journal.offers import Offer, Source
from journal.pending import Decide, Write
from journal.reader import Reader
from journal.receipt import Receipt
from journal.run_offers import RunOffers
from journal.run_status import change_status
from journal.transitions import check_transition
from journal.writer import Writer


class Run:
    """One run of an agent, open for writing.

    Every verb returns when what it was given is durable. Offering the same thing again is
    safe: the first receipt comes back, with `repeated` true. Offering something else under
    the same sequence or id raises `RecordConflict` and changes nothing. When another owner
    took the run over, every verb raises `StaleWriter`.

    Use it as a context manager, or call `release` when the run ends or waits.
    """

    def __init__(
        self, reader: Reader, writer: Writer, leases: Leases, held: Held, run_offers: RunOffers
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._leases = leases
        self._held = held
        self._released = False
        self.offers = run_offers
        """What each verb offers; for writers of other kinds on the same run."""
        self._boundaries = Boundaries(reader, run_offers.run_id)

    @property
    def generation(self) -> int:
        """The generation of the lease this run is written under."""
        return self._held.lease.generation

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.offers.run_id

    @property
    def session_id(self) -> str:
        """The session the run belongs to."""
        return self.offers.session_id

    @property
    def conversation_id(self) -> str | None:
        """The conversation the run belongs to, when known."""
        return self.offers.conversation_id

    def append(self, record: Source) -> Receipt:
        """Append one stream record (`AgentStreamRecord`, a mapping, or JSON bytes).

        Raises:
            InvalidJSON, InvalidRecord, InvalidEnvelope: it is refused, with the JSON path.
            RecordConflict: its sequence is recorded with different JSON.
        """
        return self.write([self.offers.record(record)])[0]

    def append_many(self, records: Iterable[Source]) -> list[Receipt]:
        """Append stream records in one transaction: all of them or none.

        Returns:
            A receipt a record, in order.
        """
        return self.write(self.offers.records(records))

    def checkpoint(self, checkpoint: Source) -> Receipt:
        """Record a checkpoint (`AgentCheckpoint`, a mapping, or JSON bytes)."""
        return self.write([self.offers.checkpoint(checkpoint)])[0]

    def export_context(self, state: Source) -> Receipt:
        """Record the exported context state; one equal to the last is the same."""
        return self.write([self.offers.context(state)])[0]

    def export_environment(self, state: Source, *, stream_cursor: int | None = None) -> Receipt:
        """Record the exported environment state; one equal to the last is the same.

        Args:
            stream_cursor: sequence of the last stream record before the export, for a host
                whose records arrive later; without it the export comes after all that arrived.
        """
        return self.write([self.offers.environment(state, stream_cursor)])[0]

    def approval(self, record: Source) -> Receipt:
        """Record an approval: a request while it is pending, else a decision.

        Raises:
            StateConflict: it was decided before, or the request was another.
        """
        return self.write_decided(self.transition(self.offers.approval(record)))

    def deferred_tool(self, record: Source) -> Receipt:
        """Record a deferred tool call: a request until it ends, else its resolution.

        Raises:
            StateConflict: it has ended before, or the request was another.
        """
        return self.write_decided(self.transition(self.offers.deferred_tool(record)))

    def save_cursor(self, cursor: Source) -> Receipt:
        """Record how far a reader of the host's streams got.

        Raises:
            StateConflict: it would go back.
        """
        return self.write_decided(self.transition(self.offers.cursor(cursor)))

    def set_status(
        self, status: str, *, reason: str | None = None, output_preview: str | None = None
    ) -> Receipt:
        """Record that somebody set the run's status; one that says nothing new is the same.

        Args:
            status: queued, running, waiting, completed, failed or cancelled.
            reason: why, for people.
            output_preview: the beginning of what came out. A run that failed or was cancelled
                gets none, and a general diagnostic: the evidence of the run tells more.
        """
        return self.write_decided(
            self.status_change(
                self.offers.status(status, reason, output_preview, generation=self.generation)
            )
        )

    def suspend(self, reason: str, *, checkpoint_id: str | None = None) -> Receipt:
        """Record that the run stops at a boundary and waits."""
        return self._change(self.offers.suspended(reason, checkpoint_id))

    def suspend_requested(self) -> SuspendRequest | None:
        """Tell whether an operator asked the run to stop at its next boundary, and why.

        For hosts without a `JournalExecutor` to ask at each checkpoint: it looks only at what
        was recorded since the last time. The next `suspend` answers the request.
        """
        return self._boundaries.suspend_requested()

    def resume(self, *, attempt: int | None = None, rerun: Sequence[str] = ()) -> Receipt:
        """Record that a suspended run goes on, under this lease; see `projections.resume`.

        Args:
            attempt: counts the attempts at the run; the first one, which nothing resumed, is 1.
            rerun: ids of the tool calls that may have run before and are run again.
        """
        fields = {
            "attempt": attempt,
            "generation": self.generation,
            "rerun": [*rerun] or None,
        }
        return self._change(self.offers.resumed(fields))

    def release(self) -> None:
        """Give the run back; its verbs raise `JournalClosed` afterwards."""
        if self._released:
            return
        self._released = True
        self.offers.memory.forget()
        self._writer.forget(run_stream(self.run_id))
        self._leases.release(self._held)

    def _change(self, change: Offer) -> Receipt:
        return self.write(noted(change, self.session_id))[0]

    def transition(self, offer: Offer) -> Decide:
        """Decide on an approval, a deferred tool call or a cursor; see `write_decided`."""

        def decide() -> list[Offer]:
            check_transition(self._reader, offer)
            return [offer]

        return decide

    def status_change(self, change: Offer) -> Decide:
        """Decide on a status that somebody sets; see `write_decided`."""
        return lambda: change_status(self._reader, self.run_id, self.session_id, change)

    def write(self, made: list[Offer]) -> list[Receipt]:
        """Write prepared offers of this run in one transaction; a receipt each, in order.

        Raises:
            StaleWriter: another owner took the run over; nothing was written.
        """
        return self._write(self._request(made)) if made else []

    async def write_soon(self, made: list[Offer], *, lingers: bool = False) -> list[Receipt]:
        """Write from a task of an event loop; see `write`.

        Args:
            lingers: it may wait up to 50 ms for other writes to share a transaction.
        """
        return await self._write_soon(self._request(made, lingers=lingers)) if made else []

    def write_decided(self, decide: Decide) -> Receipt:
        """Write what a function decides from what this run holds; gives the first receipt.

        Raises:
            StaleWriter: another owner took the run over; nothing was written.
            StateConflict: it may not be, as things stand.
        """
        return self._write(self._request([], decide=decide))[0]

    async def write_decided_soon(self, decide: Decide) -> Receipt:
        """Write what a function decides from a task of an event loop; see `write_decided`."""
        return (await self._write_soon(self._request([], decide=decide)))[0]

    def _write(self, write: Write) -> list[Receipt]:
        try:
            return self._writer.write(write)
        except LeaseMoved as moved:
            raise self._stale(moved) from None
        finally:
            self._leases.check_renewal(self._held, write)

    async def _write_soon(self, write: Write) -> list[Receipt]:
        try:
            return await self._writer.write_soon(write)
        except LeaseMoved as moved:
            raise self._stale(moved) from None
        finally:
            self._leases.check_renewal(self._held, write)

    def _request(
        self, made: list[Offer], *, lingers: bool = False, decide: Decide | None = None
    ) -> Write:
        """Ask for offers to be written under this run's lease, renewing it where that is due."""
        if self._released:
            raise JournalClosed(f"run {self.run_id!r}")
        lease = self._held.lease
        renewal = self._leases.renewal(self._held)
        streams = () if decide is None else (lease.stream, session_stream(self.session_id))
        return Write(
            made,
            {lease.stream: lease.generation},
            renewal,
            lingers=lingers,
            decide=decide,
            streams=streams,
        )

    def _stale(self, moved: LeaseMoved) -> StaleWriter:
        return StaleWriter(self.run_id, moved.expected, moved.found)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()
