"""The run that goes on with another one: what it tells of that one, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from journal import times
from journal.boundary import SuspendRequest
from journal.claims import UNDER_LEASE, current_claim
from journal.events import ResumeStarted, RunStatusChanged
from journal.facts import claim, fact, noted
from journal.hosts.starweaver.leasing import give_up
from journal.hosts.starweaver.settling import link, outcome
from journal.ids import run_stream
from journal.journal import Journal
from journal.offers import Offer
from journal.records import RUN_RECORD, unwrap
from journal.run import Run
from journal.times import format_time


class Continuation:
    """A new run that goes on with `source`, whose lease is held until the new one is recorded.

    The source says where it goes on before the new run is recorded, so that nobody goes on
    with it twice; its status follows with the evidence of the new run, in one transaction.
    """

    def __init__(self, journal: Journal, source: Run) -> None:
        """Claim the source, which is resumed under its lease, and start the claim."""
        self._journal = journal
        self._source = source
        self._claim_id = _claimed(journal, source)
        self._run_id: str | None = None
        self._linked = False
        self._is_dropped = False

    def begins(self, run_id: str) -> None:
        """Record in the source that this run goes on with it; before its first checkpoint."""
        if self._run_id is not None:
            return
        self._run_id = run_id
        fields = {"status": "running", "continued_by": run_id}
        change = fact(run_stream(self._source.run_id), RunStatusChanged.NAME, fields)
        self._source.write(noted(change, self._source.session_id))

    def has_begun(self, run_id: str) -> None:
        """Record in the new run what it goes on with; after its first checkpoint."""
        if run_id != self._run_id or self._linked:
            return
        self._linked = True
        link(self._journal, run_id, self._source.run_id)
        if self._is_dropped:  # meanwhile
            give_up(run_id)

    def suspend_requested(self, run_id: str) -> SuspendRequest | None:
        """Give what an operator asks the source for: it holds for the run that goes on."""
        return self._source.suspend_requested() if run_id == self._run_id else None

    def evidence(self, commit: Mapping[str, Any], *, waits: bool) -> Mapping[str, Any]:
        """Add to the evidence of the new run what becomes of the source.

        Args:
            waits: the run was suspended, whatever its record says.
        """
        run, _ = unwrap(commit["run"], RUN_RECORD)
        if run["run_id"] != self._run_id:
            return commit
        update = {
            "run_id": self._source.run_id,
            "expected_status": "running",
            "resume_claim_id": self._claim_id,
            **outcome("completed" if waits else run["status"], run),
        }
        linked = {**run, "restore_from_run_id": self._source.run_id}
        return {**commit, "run": linked, "related_run_updates": [update]}

    def release(self, run_id: str) -> None:
        """Give the source's lease back when the new run is given back.

        Also where it ended before its first checkpoint: the source can be resumed again then.
        """
        if self._run_id in (None, run_id):
            self._source.release()

    def drop(self) -> None:
        """Give both runs back: nobody has the new one any more, and it goes no further."""
        self._is_dropped = True
        if self._run_id is not None:
            give_up(self._run_id)
        self._source.release()


def _claimed(journal: Journal, source: Run) -> str:
    """Claim a run whose lease is held, or take over the claim of a host that is gone."""
    stream = run_stream(source.run_id)
    value = {
        "claim_id": f"{UNDER_LEASE}{uuid4()}",
        "session_id": source.session_id,
        "run_id": source.run_id,
        "state": "preflight",
        "created_at": format_time(times.now()),
    }
    claim_id = value["claim_id"]

    def decide() -> list[Offer]:
        nonlocal claim_id
        held = current_claim(journal.reader, source.run_id)
        claim_id = value["claim_id"] if held is None else held.claim_id
        made = [claim(value, journal.redactor)] if held is None else []
        return [*made, fact(stream, ResumeStarted.NAME, {"claim_id": claim_id})]

    journal.decide((stream,), decide)
    return claim_id
