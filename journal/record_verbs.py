"""The durable records of runs: the verbs of a session store that write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from journal import commit, committing, offers, times
from journal.errors import RunNotFound
from journal.events import RunCommitted, RunSaved
from journal.facts import noted
from journal.ids import Position, run_stream, session_stream
from journal.offers import Offer, Source
from journal.receipt import Receipt
from journal.run_offers import RunOffers
from journal.session_verbs import SessionVerbs
from journal.times import format_time
from journal.transitions import last_cursor


class RecordVerbs(SessionVerbs):
    """The verbs of a `journal.Journal` that take a whole record, of runs that nobody writes."""

    def commit_checkpoint(
        self, session_id: str, checkpoint: Source, *, must_exist: bool = False
    ) -> Receipt:
        """Record a checkpoint, opening its run in the same transaction where it is new.

        A new run has the status of the checkpoint. Like every verb of the journal itself that
        writes to a run, it needs no lease.

        Args:
            must_exist: refuse a checkpoint of a run that is new.

        Raises:
            RunIsLeased: another owner is writing the run.
            RunConflict: the run is in another session or conversation.
            RunNotFound: the run must exist, and does not.
        """
        offer = offers.checkpoint(checkpoint, redactor=self.redactor)
        run_id, conversation_id = offer.value["run_id"], offer.value["conversation_id"]
        if not self._openings.offer(run_id, session_id, conversation_id):
            return self.write_offers([offer])[0]
        if must_exist:
            raise RunNotFound(run_id)
        status = offer.fields["status"]

        def decide() -> list[Offer]:
            opening = self.numbered(run_id, session_id, conversation_id, status=status)
            return [*opening, offer]

        return self.decide((offer.stream, session_stream(session_id)), decide)[-1]

    def append_records(
        self, session_id: str, run_id: str, records: Iterable[Source]
    ) -> list[Receipt]:
        """Append stream records of a run that exists, all or none.

        With them goes the run's `raw_runtime` cursor, at the highest sequence that was
        recorded.

        Returns:
            A receipt a record, in order.

        Raises:
            RunNotFound: nothing of this run was ever recorded.
            RunConflict: the run is in another session.
            RecordConflict: a sequence is recorded with different JSON.
            RunIsLeased: another owner is writing the run.
        """
        self._must_be_in(run_id, session_id)
        ours = RunOffers(run_id, session_id, None, self.redactor)
        made = ours.records(records)
        if not made:
            return []
        reached = max(each.identity for each in made if isinstance(each.identity, int))
        place = {"family": "raw_runtime", "scope": f"run:{run_id}", "sequence": reached}
        cursor = ours.cursor({"position": place, "created_at": format_time(times.now())})

        def decide() -> list[Offer]:
            stands = last_cursor(self.reader, run_id, "raw_runtime")
            return made if stands is not None and stands >= reached else [*made, cursor]

        return self.decide((run_stream(run_id),), decide)[: len(made)]

    def commit_run_evidence(self, bundle: Source, *, suspended: str | None = None) -> Receipt:
        """Record a run's evidence: all or nothing, the same bundle again is the same.

        The update of the run that this one went on with is recorded with it.

        Args:
            suspended: why the run waits, whatever the status in its record; then it is
                recorded as suspended, too.

        Raises:
            RecordConflict: the run was committed with a different bundle, or one of its
                items is recorded with different JSON.
            StateConflict: what it holds does not fit how things stand.
            RunIsLeased: another owner is writing the run.
        """
        return self.commit_bundle(bundle, suspended=suspended)

    def commit_bundle(
        self,
        bundle: Source,
        *,
        suspended: str | None = None,
        mark: Callable[[Offer], Offer] = lambda offer: offer,
    ) -> Receipt:
        """Record a run's evidence; for `journal.ingest`.

        Args:
            suspended: see `commit_run_evidence`.
            mark: marks each event that comes of it.
        """
        value, sha256 = commit.read_bundle(bundle)
        evidence = committing.prepare(value, sha256, redactor=self.redactor, suspended=suspended)
        run = evidence.run
        place = 0

        def decide() -> list[Offer] | Receipt:
            nonlocal place
            earlier = evidence.earlier_commit(self.reader)
            if earlier is not None:
                return earlier
            opening = self.numbered(
                run["run_id"], run["session_id"], run["conversation_id"], run["sequence_no"]
            )
            before = [
                *opening,
                *evidence.items_to_record(self.reader, self._is_held),
                *evidence.update_to_record(self.reader, self._openings, self._is_held),
            ]
            place = len(before)
            made = before + evidence.commit_events(self.reader, is_new=bool(opening))
            return [mark(offer) for offer in made]

        free = () if evidence.update is None else (evidence.update.stream,)
        receipts = self.decide(evidence.streams, decide, free=free)
        return receipts[place] if len(receipts) > 1 else receipts[0]

    def is_committed(self, run_id: str) -> bool:
        """Tell whether the run's evidence was committed."""
        offers.check_id(run_id, "run id")
        return committing.committed(self.reader, run_id) is not None

    def save_run(self, record: Source) -> Receipt:
        """Record a run record, opening the run where it is new.

        A `sequence_no` of 0 stands for the next number of its session, or the one it has. A
        record equal to the last one is the same, when nothing else set the status meanwhile
        and no other run of the session changed.

        Raises:
            RunIsLeased: another owner is writing the run.
            RunConflict: the run is in another session or conversation.
            StateConflict: the run has another number, or another run has this one.
        """
        made = offers.run(record, self.redactor)
        value = made.value

        def decide() -> list[Offer]:
            offer, last = made, self.reader.last_run_event(value["run_id"], made.last_of)
            if (
                last is not None
                and self.is_same(made, last)
                # The note of its session goes with it.
                and self._went_on(value["session_id"], Position(last.position + 1), value["run_id"])
            ):
                offer = made._replace(last_of=())
            opening = self.numbered(
                value["run_id"],
                value["session_id"],
                value["conversation_id"],
                value["sequence_no"],
            )
            return [*opening, *noted(offer, value["session_id"])]

        receipts = self.decide((made.stream, session_stream(value["session_id"])), decide)
        return receipts[-2]  # the last one is of the session's note

    def run_record(self, run_id: str) -> dict[str, Any] | None:
        """Give the run record saved or committed last, as handed in; None without one.

        Raises:
            RunNotFound: nothing of this run was ever recorded.
        """
        self._must_know(run_id)
        event = self.reader.last_run_event(run_id, (RunSaved.NAME, RunCommitted.NAME))
        return None if event is None else event.data["run"]

    def _is_held(self, offer: Offer) -> bool:
        return self.held(offer) is not None

    def _must_know(self, run_id: str) -> None:
        offers.check_id(run_id, "run id")
        if not self.reader.has_run(run_id):
            raise RunNotFound(run_id)
