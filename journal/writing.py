"""How every verb of a journal writes: in one transaction, fenced by leases."""

from __future__ import annotations

from collections.abc import Collection

from journal.codec import RecordedEvent
from journal.fenced import write_fenced
from journal.ids import StreamId
from journal.leases import Leases
from journal.offers import Offer
from journal.openings import Openings
from journal.pending import Decide, Write
from journal.reader import Reader
from journal.receipt import Receipt
from journal.redact import Redactor
from journal.writer import Writer


class Writing:
    """The part of a `journal.Journal` that its verbs are made of."""

    reader: Reader
    redactor: Redactor | None
    """Runs the redaction hook, where there is one."""
    _writer: Writer
    _leases: Leases
    _openings: Openings

    def write_offers(self, made: list[Offer]) -> list[Receipt]:
        """Write prepared offers in one transaction, of runs that no other owner is writing.

        Raises:
            RunIsLeased: another owner is writing one of the runs.
            StaleWriter: another owner took one over that this journal was writing.
        """
        return write_fenced(self._writer, self._leases, made)

    def decide(
        self, streams: Collection[StreamId], decide: Decide, *, fenced: bool = True
    ) -> list[Receipt]:
        """Write what a function decides from what is recorded; for verbs with rules.

        Args:
            streams: what it reads, and all that it offers to.
            decide: gives the offers, perhaps several times. What it read of a stream still
                holds when something that it offers to this stream is stored.

            fenced: False to write also to a run that another owner is writing.

        Raises:
            RunIsLeased: another owner is writing one of the runs.
            JournalError: what `decide` raised; nothing was written.
        """
        if not fenced:
            return self._writer.write(Write([], decide=decide, streams=streams))
        return write_fenced(self._writer, self._leases, [], decide=decide, streams=streams)

    def session_of(self, run_id: str) -> str:
        """Tell the session of a run.

        Raises:
            RunNotFound: nothing of this run was ever recorded.
        """
        return str(self._openings.known(run_id)["session_id"])

    def held(self, offer: Offer) -> Receipt | None:
        """Tell the first receipt of an offer that is recorded; for `journal.commit`."""
        return self._writer.held(offer)

    def is_same(self, offer: Offer, event: RecordedEvent) -> bool:
        """Tell whether a recorded event is what is offered; for `journal.ingest`."""
        return self._writer.is_same(offer, event)

    def opening(self, run_id: str, session_id: str | None) -> list[Offer]:
        """Prepare the events that open a run; empty for one that exists."""
        return self._openings.offer(run_id, session_id, None)
