"""The durable records of sessions and runs: the verbs of a session store that write."""

from __future__ import annotations

from typing import Any

from journal import commit, offers
from journal.errors import RunNotFound
from journal.events import RunCommitted, RunSaved, SessionSaved
from journal.facts import noted
from journal.offers import Source
from journal.operators import Operators
from journal.receipt import Receipt
from journal.records import RUN_RECORD, unwrap


class RecordVerbs(Operators):
    """The verbs of a `journal.Journal` that take a whole record, of runs that nobody writes."""

    def commit_checkpoint(self, session_id: str, checkpoint: Source) -> Receipt:
        """Record a checkpoint, opening its run in the same transaction where it is new.

        Like every verb of the journal itself that writes to a run, it needs no lease.

        Raises:
            RunIsLeased: another owner is writing the run.
        """
        offer = offers.checkpoint(checkpoint, redactor=self.redactor)
        taken = offer.value
        opening = self._openings.offer(taken["run_id"], session_id, taken["conversation_id"])
        return self.write_offers([*opening, offer])[-1]

    def commit_run_evidence(self, bundle: Source) -> Receipt:
        """Record a run's evidence: all or nothing, the same bundle again is the same.

        Raises:
            RecordConflict: the run was committed with a different bundle, or one of its
                items is recorded with different JSON.
            RunIsLeased: another owner is writing the run.
        """
        value, sha256 = commit.read_bundle(bundle)
        run, _ = unwrap(value["run"], RUN_RECORD)
        opening = self._openings.offer(run["run_id"], run["session_id"], run["conversation_id"])
        return commit.write_bundle(
            self.reader, self, value, sha256, opening, redactor=self.redactor
        )

    def is_committed(self, run_id: str) -> bool:
        """Tell whether the run's evidence was committed."""
        offers.check_id(run_id, "run id")
        return commit.committed(self.reader, run_id) is not None

    def save_session(self, session: Source) -> Receipt:
        """Record a session record; one equal to the last is the same."""
        return self.write_offers([offers.session(session, self.redactor)])[0]

    def save_run(self, run: Source) -> Receipt:
        """Record a run record, opening the run where it is new.

        Raises:
            RunIsLeased: another owner is writing the run.
        """
        offer = offers.run(run, self.redactor)
        value = offer.value
        opening = self._openings.offer(
            value["run_id"], value["session_id"], value["conversation_id"]
        )
        return self.write_offers([*opening, *noted(offer, value["session_id"])])[-1]

    def session_record(self, session_id: str) -> dict[str, Any] | None:
        """Give the session record saved last, as handed in; None when none was saved.

        Raises:
            SessionNotFound: nothing of this session was ever recorded.
        """
        offers.check_id(session_id, "session id")
        event = self.reader.last_session_event(session_id, (SessionSaved.NAME,))
        return None if event is None else self.reader.document(event)

    def run_record(self, run_id: str) -> dict[str, Any] | None:
        """Give the run record saved or committed last, as handed in; None without one.

        Raises:
            RunNotFound: nothing of this run was ever recorded.
        """
        self._must_know(run_id)
        event = self.reader.last_run_event(run_id, (RunSaved.NAME, RunCommitted.NAME))
        return None if event is None else event.data["run"]

    def _must_know(self, run_id: str) -> None:
        offers.check_id(run_id, "run id")
        if not self.reader.has_run(run_id):
            raise RunNotFound(run_id)
