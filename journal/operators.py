"""What operators and other runs record of a run, whoever is writing it: no lease is needed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from journal import claims, facts, offers
from journal.errors import CorruptEvent, InvalidRecord, RunConflict, brief
from journal.events import (
    Operator,
    PublicationAcknowledged,
    ResumeAllowed,
    RunCommitted,
    RunResumed,
    RunSuspended,
    RunSuspendRequested,
    SessionRunAdded,
)
from journal.ids import RUN_PREFIX, Position, StreamId, run_stream, session_stream
from journal.offers import Offer, Source
from journal.pending import Decide
from journal.receipt import Receipt
from journal.revisions import CHANGES
from journal.run_offers import RunOffers
from journal.run_status import change_status, must_not_have_ended
from journal.transitions import check_transition
from journal.writing import Writing


class Operators(Writing):
    """The verbs of a `journal.Journal` that need no lease."""

    def approval(self, record: Source) -> Receipt:
        """Record an approval's request or decision, whoever is writing the run.

        Raises:
            StateConflict: it was decided before, or the request was another.
        """
        return self._transition(offers.approval(record, self.redactor))

    def deferred_tool(self, record: Source) -> Receipt:
        """Record a deferred tool call's request or resolution, whoever is writing the run.

        Raises:
            StateConflict: it has ended before, or the request was another.
        """
        return self._transition(offers.deferred_tool(record, self.redactor))

    def save_cursor(self, session_id: str, run_id: str, cursor: Source) -> Receipt:
        """Record how far a reader of a run's streams got, whoever is writing the run.

        Raises:
            StateConflict: it would go back.
            RunConflict: the run is in another session.
        """
        offer = offers.stream_cursor(run_id, cursor, self.redactor)
        offers.check_id(session_id, "session id")
        return self._transition(offer, session_id)

    def set_status(
        self,
        run_id: str,
        status: str,
        *,
        reason: str | None = None,
        output_preview: str | None = None,
    ) -> Receipt:
        """Record that somebody set a run's status, whoever is writing the run.

        One that says nothing new is the same. A host that stops says so under its lease, with
        `Run.suspend` or `Run.set_status`: what anybody can say does not tell that no tool runs.

        Args:
            reason: why, for people.
            output_preview: the beginning of what came out. A run that failed or was cancelled
                gets none, and a general diagnostic: the evidence of the run tells more.
        """
        session_id = self.session_of(run_id)
        change = self._offers_of(run_id).status(status, reason, output_preview)
        streams = (change.stream, session_stream(session_id))
        return self._unfenced(
            streams, lambda: change_status(self.reader, run_id, session_id, change)
        )

    def claim_resume(self, claim: Source) -> Receipt:
        """Claim to resume a run that waits (`resume claim` of the host's session store).

        Raises:
            StateConflict: the run does not wait, or is claimed.
            RunConflict: the run is in another session.
        """
        offer = facts.claim(claim, self.redactor)
        claimed = offer.value["claim"]
        self._must_be_in(claimed["run_id"], claimed["session_id"])
        return self._unfenced((offer.stream,), lambda: claims.claim(self.reader, offer))

    def start_resume(self, run_id: str, claim_id: str) -> Receipt:
        """Record that the holder of a claim starts to resume the run.

        Raises:
            StateConflict: the run is not claimed, or by somebody else.
        """
        self._openings.known(run_id)
        offers.check_id(claim_id, "claim id")
        return self._unfenced(
            (run_stream(run_id),), lambda: claims.start(self.reader, run_id, claim_id)
        )

    def release_resume(self, run_id: str, claim_id: str) -> Receipt | None:
        """Record that a claim to resume a run is given back; None where it is not claimed.

        Raises:
            StateConflict: the claim is somebody else's, or was started.
        """
        self._openings.known(run_id)
        offers.check_id(claim_id, "claim id")
        return self._maybe(run_id, lambda: claims.release(self.reader, run_id, claim_id))

    def acknowledge_publication(self, run_id: str, target: str) -> Receipt | None:
        """Record that a target has what the run's evidence wanted published.

        Args:
            target: `archive` or `replay`.

        Returns:
            None where nothing was to be published there.
        """
        self._openings.known(run_id)
        fields = {"target": offers.check_target(target)}
        offer = facts.fact(run_stream(run_id), PublicationAcknowledged.NAME, fields)

        def decide() -> list[Offer]:
            event = self.reader.last_run_event(run_id, (RunCommitted.NAME,))
            rest = {} if event is None else event.data["rest"]
            return [offer] if (rest.get("publication_targets") or {}).get(target) else []

        return self._maybe(run_id, decide)

    def request_suspend(self, run_id: str, reason: str, operator: Operator) -> Receipt:
        """Ask a run to stop at its next boundary, whoever is writing it.

        The same request, while the run did not stop yet, is the same.

        Raises:
            StateConflict: the run has ended.
        """
        self._openings.known(run_id)
        fields = {"reason": reason, "operator": _said_by(operator)}
        names = (RunSuspendRequested.NAME, RunSuspended.NAME, RunResumed.NAME)
        offer = self._offers_of(run_id).said(RunSuspendRequested.NAME, fields)
        offer = offer._replace(last_of=names)

        def decide() -> list[Offer]:
            must_not_have_ended(self.reader, run_id, "be suspended")
            return [self._asked_here(run_id, offer)]

        return self._unfenced((offer.stream,), decide)

    def allow_resume(
        self,
        run_id: str,
        operator: Operator,
        *,
        rerun: Sequence[str] | None = None,
        trust_imported: bool | None = None,
        reason: str | None = None,
    ) -> Receipt:
        """Allow what the next resume of a run would otherwise refuse.

        The same again, while nothing resumed the run, is the same.

        Args:
            rerun: ids of the tool calls that may have run before and may run again.
            trust_imported: whether decisions that another journal recorded may be acted on.
            reason: why, for people.
        """
        self._openings.known(run_id)
        fields = {
            "operator": _said_by(operator),
            "rerun": None if rerun is None else _ids(rerun),
            "trust_imported": trust_imported,
            "reason": reason,
        }
        offer = self._offers_of(run_id).said(ResumeAllowed.NAME, fields)
        offer = offer._replace(last_of=(ResumeAllowed.NAME, RunResumed.NAME))
        return self._unfenced((offer.stream,), lambda: [self._asked_here(run_id, offer)])

    def _asked_here(self, run_id: str, offer: Offer) -> Offer:
        """Let what an operator says count also where another journal holds the same."""
        last = self.reader.last_run_event(run_id, offer.last_of)
        return offer._replace(last_of=()) if last is not None and last.imported else offer

    def _went_on(self, session_id: str, since: Position, but: str | None = None) -> bool:
        """Tell whether records of a session's runs changed since something was recorded in it.

        Args:
            since: its position.
            but: a run that does not count.
        """
        if self.reader.last_position() <= since:
            return False
        try:
            notes = self.reader.session_events(session_id, names=(SessionRunAdded.NAME,))
            runs = [note.data["run_id"] for note in notes]
            for run_id in reversed(runs):
                last = self.reader.last_run_event(run_id, CHANGES)
                if run_id != but and last is not None and last.position > since:
                    return True
        except (CorruptEvent, KeyError):
            return True  # nobody can tell: it is recorded once more
        return False

    def _offers_of(self, run_id: str) -> RunOffers:
        return RunOffers(run_id, self.session_of(run_id), None, self.redactor)

    def _transition(self, offer: Offer, session_id: str | None = None) -> Receipt:
        run_id = offer.stream.removeprefix(RUN_PREFIX)
        self._must_be_in(run_id, offer.value["session_id"] if session_id is None else session_id)

        def decide() -> list[Offer]:
            check_transition(self.reader, offer)
            return [offer]

        return self._unfenced((offer.stream,), decide)

    def _must_be_in(self, run_id: str, session_id: str) -> None:
        held = self.session_of(run_id)
        if held != session_id:
            raise RunConflict(run_id, "session", held, session_id)

    def _maybe(self, run_id: str, decide: Decide) -> Receipt | None:
        receipts = self.decide((run_stream(run_id),), decide, fenced=False)
        return receipts[0] if receipts else None

    def _unfenced(self, streams: Collection[StreamId], decide: Decide) -> Receipt:
        return self.decide(streams, decide, fenced=False)[0]


def _said_by(operator: object) -> dict[str, str]:
    if not isinstance(operator, Operator):
        reason = f"expected a journal.events.Operator, found {type(operator).__name__}"
        raise InvalidRecord("operator", "$", reason)
    return operator.model_dump(exclude_none=True)


def _ids(ids: object) -> list[str]:
    if isinstance(ids, str | bytes) or not isinstance(ids, Collection):
        raise InvalidRecord("rerun", "$", f"expected ids of tool calls, found {brief(ids)}")
    return [*ids]
