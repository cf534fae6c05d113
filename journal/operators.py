"""What operators and other runs record of a run, whoever is writing it: no lease is needed."""

from __future__ import annotations

from journal import facts, offers
from journal.errors import RunConflict
from journal.events import ResumeReleased
from journal.facts import noted
from journal.ids import RUN_PREFIX, run_stream
from journal.offers import Offer, Source
from journal.pending import Write
from journal.receipt import Receipt
from journal.run_offers import RunOffers
from journal.writing import Writing


class Operators(Writing):
    """The verbs of a `journal.Journal` that need no lease."""

    def approval(self, record: Source) -> Receipt:
        """Record an approval's request or decision, whoever is writing the run."""
        return self._fact(offers.approval(record, self.redactor))

    def deferred_tool(self, record: Source) -> Receipt:
        """Record a deferred tool call's request or resolution, whoever is writing the run."""
        return self._fact(offers.deferred_tool(record, self.redactor))

    def set_status(self, run_id: str, status: str, *, reason: str | None = None) -> Receipt:
        """Record that somebody set a run's status, whoever is writing the run."""
        opened = self._openings.known(run_id)
        session_id = opened["session_id"]
        change = RunOffers(run_id, session_id, None, self.redactor).status(status, reason)
        return self._writer.write(Write(noted(change, session_id)))[0]

    def claim_resume(self, claim: Source) -> Receipt:
        """Record a claim to resume a run (`resume claim` of the host's session store)."""
        offer = facts.claim(claim, self.redactor)
        claimed = offer.value["claim"]
        held = self._openings.known(claimed["run_id"])["session_id"]
        if held != claimed["session_id"]:
            raise RunConflict(claimed["run_id"], "session", held, claimed["session_id"])
        return self._fact(offer)

    def release_resume(self, run_id: str, claim_id: str) -> Receipt:
        """Record that a claim to resume a run was given back."""
        self._openings.known(run_id)
        fields = {"claim_id": offers.check_id(claim_id, "claim id")}
        return self._fact(facts.fact(run_stream(run_id), ResumeReleased.NAME, fields))

    def _fact(self, offer: Offer) -> Receipt:
        run_id = offer.stream.removeprefix(RUN_PREFIX)
        opened = self._openings.known(run_id)
        session_id = offer.value.get("session_id", opened["session_id"])
        if session_id != opened["session_id"]:
            raise RunConflict(run_id, "session", opened["session_id"], session_id)
        return self._writer.write(Write([offer]))[0]
