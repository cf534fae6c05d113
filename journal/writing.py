"""How every verb of a journal writes: in one transaction, fenced by leases."""

from __future__ import annotations

from collections.abc import Collection

from journal import facts
from journal.codec import RecordedEvent
from journal.fenced import write_fenced
from journal.ids import StreamId
from journal.leases import Leases
from journal.numbers import Numbers
from journal.offers import Offer
from journal.openings import Openings
from journal.pending import Decide, Write
from journal.reader import Reader
from journal.receipt import Receipt
from journal.redact import Redactor
from journal.writer import Writer

BEGINNING = ("starting", "running")
"""Statuses of a run that its opening need not tell."""


class Writing:
    """The part of a `journal.Journal` that its verbs are made of."""

    reader: Reader
    redactor: Redactor | None
    """Runs the redaction hook, where there is one."""
    _writer: Writer
    _leases: Leases
    _openings: Openings
    _numbers: Numbers

    def write_offers(self, made: list[Offer]) -> list[Receipt]:
        """Write prepared offers in one transaction, of runs that no other owner is writing.

        Raises:
            RunIsLeased: another owner is writing one of the runs.
            StaleWriter: another owner took one over that this journal was writing.
        """
        return write_fenced(self._writer, self._leases, made)

    def decide(
        self,
        streams: Collection[StreamId],
        decide: Decide,
        *,
        fenced: bool = True,
        free: Collection[StreamId] = (),
    ) -> list[Receipt]:
        """Write what a function decides from what is recorded; for verbs with rules.

        Args:
            streams: what it reads, and all that it offers to.
            decide: gives the offers, perhaps several times. What it read of a stream still
                holds when something that it offers to this stream is stored.
            fenced: False to write also to a run that another owner is writing.
            free: streams of runs that are written all the same, whoever is writing them.

        Returns:
            A receipt an offer, or the one of what `decide` said is recorded already.

        Raises:
            RunIsLeased: another owner is writing one of the runs.
            JournalError: what `decide` raised; nothing was written.
        """
        if not fenced:
            return self._writer.write(Write([], decide=decide, streams=streams))
        return write_fenced(
            self._writer, self._leases, [], decide=decide, streams=streams, free=free
        )

    def session_of(self, run_id: str) -> str:
        """Tell the session of a run.

        Raises:
            RunNotFound: nothing of this run was ever recorded.
        """
        return str(self._openings.known(run_id)["session_id"])

    def held(self, offer: Offer) -> Receipt | None:
        """Tell the first receipt of an offer that is recorded; None for a new one."""
        return self._writer.held(offer)

    def is_same(self, offer: Offer, event: RecordedEvent) -> bool:
        """Tell whether a recorded event is what is offered; for `journal.ingest`."""
        return self._writer.is_same(offer, event)

    def numbered(
        self,
        run_id: str,
        session_id: str,
        conversation_id: str | None,
        asked: int = 0,
        *,
        status: str = "running",
    ) -> list[Offer]:
        """Prepare the events that open a run with a number; for deciders.

        Args:
            asked: the number in the host's record of it; 0 leaves the choice to the journal.
            status: what a new run begins as.

        Returns:
            The events; none for a run that exists.

        Raises:
            RunConflict: it exists in another session or conversation.
            StateConflict: it has another number, or another run has this one.
        """
        begins = None if status in BEGINNING else status
        made = self._openings.offer(run_id, session_id, conversation_id)
        number = self._numbers.choose(session_id, run_id, asked)
        if made:
            made = facts.opening(
                run_id, session_id, conversation_id, sequence_no=number, status=begins
            )
        return made

    def opening(self, run_id: str, session_id: str | None, status: str = "running") -> list[Offer]:
        """Prepare the events that open a run; empty for one that exists.

        Args:
            status: what it begins as, by a checkpoint or a record.
        """
        made = self._openings.offer(run_id, session_id, None)
        if not made or session_id is None or status in BEGINNING:
            return made
        return facts.opening(run_id, session_id, None, status=status)
