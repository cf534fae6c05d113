"""Asking a run to stop, whoever is writing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from journal.errors import StateConflict
from journal.records import TERMINAL
from journal.related import goes_on_in
from journal.times import format_time
from projections.replaying import replay
from projections.standing import derived_status

if TYPE_CHECKING:
    from journal import Journal, Receipt
    from journal.events import Operator


@dataclass(frozen=True, slots=True)
class SuspendRequested:
    """A recorded request that a run stops at its next boundary."""

    run_id: str
    """The run that was asked: the one that the run goes on in, where there is one."""
    run_status: str | None
    """How the run stood then, see `projections.standing`."""
    reason: str
    operator: Operator
    receipt: Receipt

    def to_json(self) -> dict[str, Any]:
        """Give the `runjournal.suspend_request` object that `runjournal suspend --json` prints."""
        return {
            "schema": "runjournal.suspend_request",
            "schema_version": 1,
            "run_id": self.run_id,
            "run_status": self.run_status,
            "reason": self.reason,
            "operator": self.operator.model_dump(),
            "version": self.receipt.version,
            "recorded_at": format_time(self.receipt.recorded_at),
            "repeated": self.receipt.repeated,
        }


def request_suspend(
    journal: Journal, run_id: str, reason: str, operator: Operator
) -> SuspendRequested:
    """Record that an operator asks a run to stop at its next boundary.

    Of a crashed run it holds for who goes on with it; one that waits has stopped already, and
    resuming it answers the request. One that goes on in another run stops there: that one is
    asked.

    Raises:
        StateConflict: the run ended, by its records or by what its host said; it names the run
            that it went on in.
        RunNotFound: nothing of this run was ever recorded.
        UnknownEvent, CorruptEvent, BrokenBase: the run cannot be read.
    """
    view = replay(journal, run_id, tail=0)
    status = view.live.status
    other = goes_on_in(journal.reader, run_id)
    if status in TERMINAL:
        how = f"is {status} and cannot be suspended"
        left = "there is nothing left to stop"
        remedy = left if other is None else f"it went on in run {other!r}: suspend that one"
        raise StateConflict(f"run {run_id!r}", how, remedy)
    if other is not None:
        return request_suspend(journal, other, reason, operator)
    standing = derived_status(journal, run_id, status)
    receipt = journal.request_suspend(run_id, reason, operator)
    return SuspendRequested(run_id, standing, reason, operator, receipt)
