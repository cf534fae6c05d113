"""How the evidence of a run is recorded: decided as things stand, in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from journal import facts, offers
from journal.commit import Marks, items_of, redact_bundle, rest_of
from journal.errors import InvalidRecord, RecordConflict
from journal.events import (
    CheckpointTaken,
    RunCommitted,
)
from journal.ids import StreamId, run_stream, session_stream
from journal.json_door import MAX_BYTES, dumps
from journal.offers import Offer
from journal.openings import Openings
from journal.reader import Reader
from journal.receipt import Receipt
from journal.records import RUN_RECORD, unwrap
from journal.redact import Redactor
from journal.related import RelatedUpdate, related_update
from journal.revisions import next_revision, next_saves
from journal.run_offers import RunOffers
from journal.run_status import receipt_of_event
from journal.transitions import check_transitions


@dataclass(frozen=True, slots=True)
class Evidence:
    """A bundle that was checked and redacted, ready to be recorded."""

    run: dict[str, Any]
    """The run record, out of its envelope."""
    rest: dict[str, Any]
    sha256: str
    items: list[Offer]
    """An event an item that has one of its own."""
    redacted: tuple[str, ...]
    """Paths of the run record and the rest that were redacted."""
    update: RelatedUpdate | None
    suspended: Offer | None
    """Set when the run is then to wait."""

    @property
    def run_id(self) -> str:
        """The run it is of."""
        return str(self.run["run_id"])

    @property
    def session_id(self) -> str:
        """The session of the run."""
        return str(self.run["session_id"])

    @property
    def streams(self) -> list[StreamId]:
        """The streams it is recorded in."""
        of_others = [self.update.stream] if self.update is not None else []
        return [run_stream(self.run_id), session_stream(self.session_id), *of_others]

    def earlier_commit(self, reader: Reader) -> Receipt | None:
        """Tell the receipt of the same bundle; None where the run was not committed yet.

        Raises:
            RecordConflict: the run was committed with another bundle.
        """
        earlier = committed(reader, self.run_id)
        if earlier is None:
            return None
        receipt, sha256 = earlier
        if sha256 == self.sha256:
            return receipt
        what, path = "evidence commit", "$ (SHA-256)"
        raise RecordConflict(self.run_id, what, receipt.version, path, sha256, self.sha256)

    def items_to_record(self, reader: Reader, is_held: Callable[[Offer], bool]) -> list[Offer]:
        """Give the items that are not recorded yet.

        Args:
            is_held: tells whether an item is.

        Raises:
            RecordConflict: an item is recorded with different JSON.
            StateConflict: an item may not follow what is recorded.
        """
        made = [offer for offer in self.items if not is_held(offer)]
        check_transitions(reader, made)
        return made

    def update_to_record(
        self, reader: Reader, openings: Openings, is_held: Callable[[Offer], bool]
    ) -> list[Offer]:
        """Offer what changes in the run that this one went on with; see `RelatedUpdate`."""
        return [] if self.update is None else self.update.decided(reader, openings, is_held)

    def commit_events(self, reader: Reader, *, is_new: bool) -> list[Offer]:
        """Offer what says that the run was committed, with the session's notes.

        Args:
            is_new: the run is opened with it.
        """
        fields = {
            "run": self.run,
            "rest": self.rest,
            "sha256": self.sha256,
            "revision": 1 if is_new else next_revision(reader, self.run_id),
            "saves": 1 if is_new else next_saves(reader, self.run_id),
        }
        change = offers.marked(
            facts.fact(run_stream(self.run_id), RunCommitted.NAME, fields), self.redacted
        )
        made = facts.noted(change, self.session_id)
        if self.suspended is not None:
            made += facts.noted(self.suspended, self.session_id)
        return made


def prepare(
    bundle: dict[str, Any],
    sha256: str,
    *,
    redactor: Redactor | None = None,
    suspended: str | None = None,
) -> Evidence:
    """Turn a valid bundle into what is recorded of it.

    Args:
        sha256: of the bundle.
        redactor: runs the journal's hook over each item, as a record of its own kind; the
            SHA-256 is that of what is left then.
        suspended: why the run waits, whatever its record says.

    Raises:
        RedactionFailed: the hook failed, or what it left is refused.
        InvalidRecord: an item is wrong, or what is no item of its own is too large.
    """
    marks: Marks = {}
    if redactor is not None:
        bundle, sha256, marks = redact_bundle(bundle, redactor)
    run, _ = unwrap(bundle["run"], RUN_RECORD)
    rest = rest_of(bundle)
    size = len(dumps(rest))
    if size > MAX_BYTES:
        kept = ", ".join(sorted(rest))
        reason = f"{kept} together are {size} bytes, over the limit of {MAX_BYTES}"
        raise InvalidRecord("evidence commit", "$", reason)
    updates = bundle.get("related_run_updates") or ()
    items = items_of(bundle, run, marks)
    return Evidence(
        run,
        rest,
        sha256,
        items,
        tuple(marks.get(("run", 0), ())),
        related_update(updates[0], run, redactor) if updates else None,
        None if suspended is None else _suspended(run, items, suspended, redactor),
    )


def committed(reader: Reader, run_id: str) -> tuple[Receipt, str] | None:
    """Tell the receipt and the SHA-256 of the bundle a run was committed with."""
    event = reader.last_run_event(run_id, (RunCommitted.NAME,))
    return None if event is None else (receipt_of_event(event), event.data["sha256"])


def _suspended(
    run: dict[str, Any], items: list[Offer], reason: str, redactor: Redactor | None
) -> Offer:
    taken = [offer.fields for offer in items if offer.name == CheckpointTaken.NAME]
    ours = RunOffers(run["run_id"], run["session_id"], None, redactor)
    return ours.suspended(reason, taken[-1]["checkpoint_id"] if taken else None)
