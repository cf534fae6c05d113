"""What the runtime calls: the session store without awaiting."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Coroutine
from typing import Any, Self

from starweaver.errors import StateError

from journal.hosts.starweaver.boundaries import exported_state
from journal.hosts.starweaver.boundary_store import BoundaryStore
from journal.hosts.starweaver.failures import state_errors
from journal.hosts.starweaver.leasing import LeasingStore
from journal.hosts.starweaver.readers import recorded_runs

METHODS = (
    "acknowledge_stream_publication",
    "append_approval",
    "append_checkpoint",
    "append_deferred_tool",
    "append_run",
    "append_run_allocated",
    "append_stream_records",
    "claim_hitl_resume",
    "commit_run_evidence",
    "compact_run_trace",
    "compact_session_trace",
    "latest_checkpoint",
    "list_recent_runs",
    "list_run_page",
    "list_runs",
    "list_session_page",
    "list_sessions",
    "load_approvals",
    "load_deferred_tools",
    "load_run",
    "load_session",
    "mark_hitl_resume_started",
    "pending_stream_publications",
    "release_hitl_resume_claim",
    "replay_stream_records",
    "resume_snapshot",
    "save_context_state",
    "save_environment_state",
    "save_session",
    "save_stream_cursor",
    "update_run_status",
    "update_session_status",
)
"""What is handed on to the store as it is, with the journal's errors in the runtime's words."""


class StoreBridge:
    """The session store as the runtime calls it: plain dicts, and no awaiting.

    The runtime calls such methods at once, from threads of its own, and waits for them, so
    that nothing goes on before it is durable. A failure reaches the host as the runtime's
    `AgentError`, which quotes the journal's text.
    """

    def __init__(self, store: BoundaryStore) -> None:
        self.store = store
        self.loop: asyncio.AbstractEventLoop | None = None
        """Where the runtime awaits what it is given to await: the loop that it was made in."""

    def in_loop(self, loop: asyncio.AbstractEventLoop) -> Self:
        """Give the same for a runtime that was made in a loop."""
        made = copy.copy(self)
        made.loop = loop
        return made

    def commit_checkpoint(
        self, session_id: str, checkpoint: dict[str, Any]
    ) -> Coroutine[Any, Any, None] | None:
        """Record a checkpoint, with its session and its run where they are new.

        Returns:
            What is to be awaited at the first checkpoint of a run, as whoever reads the run must
            be known then, and where an environment is exported, which takes a thread of the
            runtime: it does that in its event loop, and no thread of it is held up.
        """
        run_id = str(checkpoint.get("run_id"))
        recorded = recorded_runs.of(run_id)
        exports = recorded is not None and recorded.environment is not None
        if exports or not self.store.writes(run_id):
            if self.loop is not None and not self.loop.is_running():
                raise StateError(
                    "the event loop that this runtime was made in does not run any more; "
                    "make one with create_agent_runtime in the loop that uses it"
                )
            return self._commit_in_loop(run_id, session_id, checkpoint)
        with state_errors():
            self.store.commit_checkpoint(session_id, checkpoint)
        return None

    async def _commit_in_loop(
        self, run_id: str, session_id: str, checkpoint: dict[str, Any]
    ) -> None:
        await recorded_runs.wait(run_id)
        recorded = recorded_runs.of(run_id)
        environment = None if recorded is None else recorded.environment
        state = None if environment is None else await exported_state(environment)
        with state_errors():
            await asyncio.to_thread(self.store.commit_checkpoint, session_id, checkpoint, state)

    def load_checkpoints(self, session_id: str, run_id: str) -> list[dict[str, Any]]:
        """Give a run's checkpoints in logical order; none while this store is writing it.

        The runtime asks before it commits a run's evidence, and puts into that every
        checkpoint that it is given: what is recorded already would be handed in again.
        """
        if self.store.writes(run_id):
            return []
        with state_errors():
            return self.store.load_checkpoints(session_id, run_id)


def _handing_on(name: str) -> Callable[..., Any]:
    def method(self: StoreBridge, *args: Any) -> Any:
        with state_errors():
            return getattr(self.store, name)(*args)

    method.__name__ = name
    method.__doc__ = getattr(LeasingStore, name).__doc__
    return method


for _name in METHODS:
    setattr(StoreBridge, _name, _handing_on(_name))
