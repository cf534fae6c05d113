"""Whether a run is to stop: what a host asks at each of its boundaries.

An operator asks with an event of the run (`run.suspend_requested`), from any process and
whoever is writing the run. What answers it is the next `run.suspended`, whatever its reason,
or a `run.resumed`: who goes on with a run that had stopped knows that it was asked to. A run
that crashed did not stop because of it, so going on with that leaves the request as it was.
One that came in by `ingest` was asked of the host of another journal, and counts for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from journal.codec import RecordedEvent
from journal.events import Operator, RunResumed, RunSuspended, RunSuspendRequested
from journal.ids import Version
from journal.reader import Reader

_NAMES = (RunResumed.NAME, RunSuspended.NAME, RunSuspendRequested.NAME)


@dataclass(frozen=True, slots=True)
class SuspendRequest:
    """An operator's request that a run stops at its next boundary."""

    version: Version
    """Of the event that records it, in the run's stream."""
    recorded_at: int
    """Microseconds since the epoch."""
    reason: str
    """As the operator gave it."""
    operator: Operator

    @property
    def message(self) -> str:
        """Say who asked for it and why: the reason of a suspension that answers it."""
        who = f"{self.operator.user}@{self.operator.host}"
        name = f"{self.operator.name} ({who})" if self.operator.name else who
        return f"operator {name} asked: {self.reason}"


class Boundaries:
    """Looks at each boundary of one run for an operator's request; not at the same event twice."""

    def __init__(self, reader: Reader, run_id: str, *, after: Version = Version(0)) -> None:
        """Look in one run.

        Args:
            after: only at events after this version; 0 looks at the whole run first.
        """
        self._reader = reader
        self._run_id = run_id
        self._seen: tuple[Version, SuspendRequest | None] = (after, None)

    def suspend_requested(self) -> SuspendRequest | None:
        """Give the last request that nothing answered yet; it stays until something does.

        Raises:
            RunNotFound: nothing of the run was ever recorded.
            CorruptEvent: a row no longer decodes.
        """
        after, asked = self._seen
        head = self._reader.head(self._run_id)
        if head != after:
            for event in self._reader.run_events(
                self._run_id, after=after, upto=head, names=_NAMES
            ):
                asked = _next(asked, event)
            self._seen = (head, asked)
        return asked


def suspend_requested(
    reader: Reader, run_id: str, after: Version = Version(0)
) -> SuspendRequest | None:
    """Tell whether an operator asked a run to stop at its next boundary; see `Boundaries`.

    Args:
        after: only look at events after this version.

    Raises:
        RunNotFound: nothing of the run was ever recorded.
    """
    return Boundaries(reader, run_id, after=after).suspend_requested()


def _next(asked: SuspendRequest | None, event: RecordedEvent) -> SuspendRequest | None:
    """Tell what is asked for after an event of `_NAMES`."""
    match event.event:
        case RunSuspendRequested(imported=None, reason=reason, operator=operator):
            return SuspendRequest(event.version, event.recorded_at, reason, operator)
        case RunSuspended() | RunResumed(crashed=None | False):
            return None
        case _:
            return asked
