"""The session store of a host that runs agents: what it runs is leased to it meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from journal.errors import StaleWriter
from journal.hosts.session_store import SessionStore
from journal.journal import Journal
from journal.records import CHECKPOINT, RUN_RECORD, unwrap
from journal.run import Run

if TYPE_CHECKING:
    from journal.lineage import Forkable

GOING_ON = ("queued", "starting", "running")
"""Statuses in which somebody is at work on a run, or about to be."""

writing: WeakValueDictionary[str, LeasingStore] = WeakValueDictionary()
"""Stores of this process by the ids of runs they write: how `record` finds its journal."""

_unclaimed: dict[str, float] = {}
"""Runs that nobody had any more before a store took their first checkpoint, if one ever does;
and since when, by the monotonic clock."""

_UNCLAIMED_SECONDS = 30.0
"""How long that is remembered: by then a first checkpoint that was on its way is there."""


class LeasingStore(SessionStore):
    """A session store that takes a run's lease with its first checkpoint.

    The run is released when its evidence is committed, or when somebody says through this
    store that it ended or waits.
    """

    def __init__(self, journal: Journal, *, fork_of: Forkable | None = None) -> None:
        super().__init__(journal)
        self._fork_of = fork_of
        self._runs: dict[str, Run] = {}
        self._opening = threading.Lock()
        self._given_up: set[str] = set()
        """Runs that nobody has any more: what the runtime still brings takes no lease."""

    def commit_checkpoint(self, session_id: str, checkpoint: Mapping[str, Any]) -> None:
        """Record a checkpoint; the first new one of a run that goes on takes its lease.

        Raises:
            RunIsLeased: another owner is writing the run.
            StaleWriter: another owner took it over.
        """
        taken = payload(checkpoint, CHECKPOINT)
        run_id = str(told(taken, "run_id"))
        goes_on = told(taken, "resume", "status") in GOING_ON
        run = self._runs.get(run_id)
        if run is not None and run.session_id == session_id:
            self._take_on(run, checkpoint)
        elif goes_on and not self.journal.reader.has_run(run_id):
            self._open(session_id, taken, checkpoint)
        elif (
            not self.journal.commit_checkpoint(session_id, checkpoint).repeated
            and goes_on
            and run_id not in self._given_up
        ):
            self._open(session_id, taken, None)

    def commit_run_evidence(self, commit: Mapping[str, Any]) -> dict[str, Any]:
        """Record all that is known of a run, all or nothing; it is released then."""
        try:
            return super().commit_run_evidence(commit)
        finally:
            run = payload(told(commit, "run"), RUN_RECORD)
            self.release(str(told(run, "run_id")))

    def append_run(self, record: Mapping[str, Any]) -> None:
        """Record a run; one that ended or waits is released."""
        super().append_run(record)
        run = payload(record, RUN_RECORD)
        self._settle(run["run_id"], run["status"])

    def update_run_status(
        self, session_id: str, run_id: str, status: str, output_preview: str | None = None
    ) -> None:
        """Set a run's status; one that ended or waits is released."""
        super().update_run_status(session_id, run_id, status, output_preview)
        self._settle(run_id, status)

    def writes(self, run_id: str) -> bool:
        """Tell whether this store is writing the run."""
        return run_id in self._runs

    def run(self, run_id: str) -> Run:
        """Open a run that this store knows, once more; release it after use."""
        return self.journal.run(run_id)

    def release(self, run_id: str) -> None:
        """Give a run's lease back, where this store holds it."""
        written = self._runs.pop(run_id, None)
        if written is not None:
            written.release()

    def give_up(self, run_id: str) -> None:
        """Release a run for good: it goes no further, whatever is still on its way."""
        self._given_up.add(run_id)
        self.release(run_id)

    def _settle(self, run_id: str, status: str) -> None:
        if status not in GOING_ON:
            self.release(run_id)

    def _take_on(self, run: Run, checkpoint: Mapping[str, Any]) -> None:
        try:
            run.checkpoint(checkpoint)
        except StaleWriter:
            self.release(run.run_id)
            raise

    def _open(
        self, session_id: str, taken: Mapping[str, Any], checkpoint: Mapping[str, Any] | None
    ) -> None:
        run_id, conversation_id = told(taken, "run_id"), told(taken, "conversation_id")
        ids = {"session_id": session_id, "conversation_id": conversation_id}
        with self._opening:
            point = self._fork_of
            if point is None:
                run = self.journal.run(run_id, **ids, checkpoint=checkpoint)
            else:
                run = self.journal.fork(point, run_id, **ids, checkpoint=checkpoint)
                self._fork_of = None
            self._runs[run.run_id] = run
        writing[run.run_id] = self
        since = _unclaimed.pop(run.run_id, None)
        if since is not None and time.monotonic() - since <= _UNCLAIMED_SECONDS:
            self._given_up.add(run.run_id)
        if run.run_id in self._given_up:  # meanwhile
            self.release(run.run_id)


def give_up(run_id: str) -> None:
    """Release a run that nobody has any more: the runtime goes no further with it.

    In a thread, as this is called wherever the last reference went, maybe inside the journal.
    Its store may be about to take its first checkpoint in another: one of both sees the other.
    """
    now = time.monotonic()
    for other, since in _unclaimed.copy().items():
        if now - since > _UNCLAIMED_SECONDS:
            _unclaimed.pop(other, None)
    _unclaimed[run_id] = now
    store = writing.get(run_id)
    if store is None:
        return
    _unclaimed.pop(run_id, None)
    if store.writes(run_id):
        threading.Thread(target=store.give_up, args=(run_id,), daemon=True).start()


def payload(record: Any, schema: str) -> Any:
    """Take what may be a record out of its envelope, for a look before it is checked.

    Raises:
        InvalidEnvelope: see `unwrap`.
    """
    return unwrap(dict(record) if isinstance(record, Mapping) else record, schema)[0]


def told(record: Any, *names: str) -> Any:
    """Follow names into JSON that nobody checked yet; None where it is not there."""
    for name in names:
        record = record.get(name) if isinstance(record, Mapping) else None
    return record
