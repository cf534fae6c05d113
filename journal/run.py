"""Writing to one run."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Self

from journal import offers
from journal.errors import InvalidRecord, JournalClosed
from journal.events import RunResumed, RunStatusChanged, RunSuspended
from journal.ids import run_stream
from journal.offers import Offer, Source
from journal.receipt import Receipt
from journal.writer import Writer


class Run:
    """One run of an agent, open for writing.

    Every verb returns when what it was given is durable. Offering the same thing again is
    safe: the first receipt comes back, with `repeated` true. Offering something else under
    the same sequence or id raises `RecordConflict` and changes nothing.

    Use it as a context manager, or call `release` when the run ends or waits.
    """

    def __init__(
        self, writer: Writer, run_id: str, session_id: str, conversation_id: str | None
    ) -> None:
        self._writer = writer
        self._released = False
        self.run_id = run_id
        self.session_id = session_id
        self.conversation_id = conversation_id

    def append(self, record: Source) -> Receipt:
        """Append one stream record (`AgentStreamRecord`, a mapping, or JSON bytes).

        Raises:
            InvalidJSON, InvalidRecord, InvalidEnvelope: it is refused, with the JSON path.
            RecordConflict: its sequence is recorded with different JSON.
        """
        return self._write([offers.record(self.run_id, record)])[0]

    def append_many(self, records: Iterable[Source]) -> list[Receipt]:
        """Append stream records in one transaction: all of them or none.

        Returns:
            A receipt a record, in order.
        """
        made = [offers.record(self.run_id, record) for record in records]
        return self._write(made) if made else []

    def checkpoint(self, checkpoint: Source) -> Receipt:
        """Record a checkpoint (`AgentCheckpoint`, a mapping, or JSON bytes)."""
        return self._write([offers.checkpoint(checkpoint, self.run_id)])[0]

    def export_context(self, state: Source) -> Receipt:
        """Record the exported context state; one equal to the last is the same."""
        return self._write([offers.context(self.session_id, self.run_id, state)])[0]

    def export_environment(self, state: Source) -> Receipt:
        """Record the exported environment state; one equal to the last is the same."""
        return self._write([offers.environment(self.session_id, self.run_id, state)])[0]

    def approval(self, record: Source) -> Receipt:
        """Record an approval: a request while it is pending, else a decision."""
        return self._write([self._own(offers.approval(record))])[0]

    def deferred_tool(self, record: Source) -> Receipt:
        """Record a deferred tool call: a request until it ends, else its resolution."""
        return self._write([self._own(offers.deferred_tool(record))])[0]

    def save_cursor(self, cursor: Source) -> Receipt:
        """Record how far a reader of the host's streams got."""
        return self._write([offers.stream_cursor(self.run_id, cursor)])[0]

    def set_status(self, status: str, *, reason: str | None = None) -> Receipt:
        """Record that somebody set the run's status.

        Args:
            status: queued, running, waiting, completed, failed or cancelled.
            reason: why, for people.
        """
        event = RunStatusChanged(status=offers.check_status(status), reason=reason)
        return self._write([offers.fact(run_stream(self.run_id), event)])[0]

    def suspend(self, reason: str, *, checkpoint_id: str | None = None) -> Receipt:
        """Record that the run stops at a boundary and waits."""
        event = RunSuspended(reason=offers.check_id(reason, "reason"), checkpoint_id=checkpoint_id)
        return self._write([offers.fact(run_stream(self.run_id), event)])[0]

    def resume(self) -> Receipt:
        """Record that a suspended run goes on."""
        return self._write([offers.fact(run_stream(self.run_id), RunResumed())])[0]

    def release(self) -> None:
        """Give the run back; its verbs raise `JournalClosed` afterwards."""
        self._released = True
        self._writer.forget(run_stream(self.run_id))

    def _own(self, offer: Offer) -> Offer:
        if offer.stream != run_stream(self.run_id):
            raise InvalidRecord(
                offer.what, "$.run_id", f"it is not of run {self.run_id!r}, which it was given to"
            )
        return offer

    def _write(self, made: list[Offer]) -> list[Receipt]:
        if self._released:
            raise JournalClosed(f"run {self.run_id!r}")
        return self._writer.write(made)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()
