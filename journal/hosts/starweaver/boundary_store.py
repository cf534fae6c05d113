"""The session store of runs whose stream is recorded: what is done at each of their boundaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from journal.hosts.starweaver.leasing import GOING_ON, LeasingStore, payload, told
from journal.hosts.starweaver.readers import recorded_runs
from journal.hosts.starweaver.suspending import Suspension, as_suspended, suspend_where_wanted
from journal.journal import Journal
from journal.records import CHECKPOINT, RUN_RECORD

if TYPE_CHECKING:
    from journal.hosts.starweaver.continuation import Continuation
    from journal.lineage import Forkable


class BoundaryStore(LeasingStore):
    """A leasing store that exports environments, suspends runs, and goes on with other runs."""

    def __init__(
        self,
        journal: Journal,
        *,
        fork_of: Forkable | None = None,
        continues: Continuation | None = None,
    ) -> None:
        super().__init__(journal, fork_of=fork_of)
        self._continues = continues
        self._suspensions: dict[str, Suspension] = {}
        """Those of runs whose evidence is to come."""
        self._suspended: dict[str, Suspension] = {}
        """Those of runs whose evidence is there, and whose reader may look for it yet."""

    def commit_checkpoint(
        self,
        session_id: str,
        checkpoint: Mapping[str, Any],
        environment_state: Mapping[str, Any] | None = None,
    ) -> None:
        """Record a checkpoint, the environment before it, and what is decided after it.

        Args:
            environment_state: exported at this checkpoint; None where it is not recorded.

        Raises:
            RunIsLeased, StaleWriter: see `LeasingStore`.
            AgentExecutorError: the run's policy failed.
        """
        taken = payload(checkpoint, CHECKPOINT)
        run_id = str(told(taken, "run_id"))
        goes_on = told(taken, "resume", "status") in GOING_ON
        if self._continues is not None and goes_on:
            self._continues.begins(run_id)
        if environment_state is not None and (
            self.writes(run_id) or (goes_on and run_id not in self._given_up)
        ):
            self._export(environment_state, session_id, taken)
        super().commit_checkpoint(session_id, checkpoint)
        of_source = None
        if self._continues is not None:
            self._continues.has_begun(run_id)
            of_source = self._continues.suspend_requested(run_id)
        run = self._runs.get(run_id)
        suspension = None if run is None else suspend_where_wanted(run, taken, of_source)
        if suspension is not None:
            self._suspensions[run_id] = suspension  # its reader looks for it, and its evidence
            suspension.carry_out()

    def commit_run_evidence(self, commit: Mapping[str, Any]) -> dict[str, Any]:
        """Record all that is known of a run; it is released then.

        A run that was suspended waits, and the run that it went on with ends.
        """
        run = payload(told(commit, "run"), RUN_RECORD)
        run_id = str(told(run, "run_id"))
        suspension = self._suspensions.get(run_id)
        if told(run, "status") != "cancelled":
            suspension = None  # it got to its end before the interruption
        if suspension is not None:
            commit = as_suspended(commit, suspension)
        if self._continues is not None:
            commit = self._continues.evidence(commit, waits=suspension is not None)
        try:
            self.journal.commit_run_evidence(
                dict(commit) if isinstance(commit, Mapping) else commit,
                suspended=None if suspension is None else suspension.reason,
            )
        finally:
            self.release(run_id)
        if run_id in self._suspensions:
            self._suspended[run_id] = self._suspensions[run_id]
            del self._suspensions[run_id]
            if recorded_runs.of(run_id) is None:
                self.forget_suspension(run_id)
        return self._written(commit["run"])

    def suspension(self, run_id: str) -> Suspension | None:
        """Tell where a run was interrupted, and why; None for one that was not."""
        return self._suspensions.get(run_id) or self._suspended.get(run_id)

    def forget_suspension(self, run_id: str) -> None:
        """Forget the suspension of a run whose evidence is there; its reader is done."""
        self._suspended.pop(run_id, None)

    def forget(self, run_id: str) -> None:
        """Forget a run that was dropped: no evidence of it comes any more."""
        self._suspensions.pop(run_id, None)
        self._suspended.pop(run_id, None)

    def release(self, run_id: str) -> None:
        """Give a run's lease back, and that of the run that it went on with."""
        super().release(run_id)
        if self._continues is not None:
            self._continues.release(run_id)

    def _export(self, state: Mapping[str, Any], session_id: str, taken: Mapping[str, Any]) -> None:
        """Record an environment right before a checkpoint, which may be the run's first."""
        run_id = str(taken["run_id"])
        if not self.writes(run_id):
            self._open(session_id, taken, None)
        cursor = told(taken, "resume", "cursor", "stream_cursor")
        run = self._runs.get(run_id)
        if run is not None:  # else nobody has it any more
            run.export_environment(state, stream_cursor=cursor)
