"""The journal behind the session store of the runtime's own facade."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from starweaver import _native
from starweaver.store import (
    ApprovalRecord,
    DeferredToolRecord,
    RunRecord,
    RunStatus,
    SessionRecord,
    SessionResumeSnapshot,
    SessionStatus,
    SessionStore,
    StreamRecord,
)

from journal.hosts.starweaver.boundary_store import BoundaryStore
from journal.hosts.starweaver.bridge import StoreBridge
from journal.hosts.starweaver.failures import state_errors
from journal.journal import Journal

if TYPE_CHECKING:
    from journal.hosts.starweaver.continuation import Continuation
    from journal.lineage import Forkable

    JSONObject = dict[str, Any]


class JournalSessionStore(SessionStore):  # type: ignore[misc] # the runtime's types are not read
    """A Starweaver session store that keeps everything in a journal.

    Give it to `create_agent_runtime(session_store=..., durable_session_id=...)`, or await its
    methods: they are those of `starweaver.SessionStore`, with its record types, and raise its
    `StateError` with the journal's text.

    A run is leased with its first checkpoint, and released when its evidence is committed
    and `record` has seen the end of its stream.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        fork_of: Forkable | None = None,
        continues: Continuation | None = None,
    ) -> None:
        """Journal runs into `journal`.

        Args:
            fork_of: the first run is a fork of this point; give the runtime the state of the
                same point, as the runtime chooses the run's id and knows nothing of forks.
            continues: the first run goes on with another one; `resume_run` sees to that.
        """
        self.store = BoundaryStore(journal, fork_of=fork_of, continues=continues)
        """The same store without awaiting, in plain dicts, with the journal's own errors."""
        self.bridge = StoreBridge(self.store)
        """What the runtime calls."""

    def to_native(self) -> _native.PythonSessionStore:
        """Adapt this store for the runtime; called by `create_agent_runtime` inside a loop.

        The runtime gets the store's `bridge`. It also works with
        `PythonSessionStore(store, loop)`, but calls the loop for everything then, and hands
        every checkpoint in twice.
        """
        loop = asyncio.get_running_loop()
        return _native.PythonSessionStore(self.bridge.in_loop(loop), loop)

    async def save_session(self, record: SessionRecord | Mapping[str, Any]) -> None:
        """Record a session; what its runs changed in it meanwhile stays."""
        await self._do("save_session", record)

    async def load_session(self, session_id: str) -> SessionRecord:
        """Give the session record, as its saves and its runs left it."""
        return SessionRecord(await self._do("load_session", session_id))

    async def list_sessions(
        self,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the facade's name
    ) -> list[SessionRecord]:
        """Give session records, last updated first."""
        return [SessionRecord(raw) for raw in await self._do("list_sessions", filter)]

    async def list_session_page(self, query: Mapping[str, Any]) -> JSONObject:
        """Give a page of session records, last updated first; see `SessionStore`."""
        page: JSONObject = await self._do("list_session_page", query)
        return page

    async def update_session_status(self, session_id: str, status: SessionStatus | str) -> None:
        """Set a session's status."""
        await self._do("update_session_status", session_id, str(status))

    async def save_context_state(self, session_id: str, state: Mapping[str, Any]) -> None:
        """Set a session's exported context state."""
        await self._do("save_context_state", session_id, state)

    async def save_environment_state(
        self, session_id: str, environment_state: Mapping[str, Any]
    ) -> None:
        """Set where a session's environment state is."""
        await self._do("save_environment_state", session_id, environment_state)

    async def append_run(self, record: RunRecord | Mapping[str, Any]) -> None:
        """Record a run; a `sequence_no` of 0 stands for the next one of its session."""
        await self._do("append_run", record)

    async def append_run_allocated(self, record: RunRecord | Mapping[str, Any]) -> RunRecord:
        """Record a run, and give its record with the number that it got."""
        return RunRecord(await self._do("append_run_allocated", record))

    async def load_run(self, session_id: str, run_id: str) -> RunRecord:
        """Give the run record; its latest checkpoint is the last in logical order."""
        return RunRecord(await self._do("load_run", session_id, run_id))

    async def list_runs(self, session_id: str) -> list[RunRecord]:
        """Give a session's run records, by `sequence_no`."""
        return [RunRecord(raw) for raw in await self._do("list_runs", session_id)]

    async def list_recent_runs(self, session_id: str, limit: int) -> list[RunRecord]:
        """Give a session's last run records, at most `limit`, by `sequence_no`."""
        return [RunRecord(raw) for raw in await self._do("list_recent_runs", session_id, limit)]

    async def list_run_page(self, session_id: str, query: Mapping[str, Any]) -> JSONObject:
        """Give a page of a session's run records, the newest first; see `SessionStore`."""
        page: JSONObject = await self._do("list_run_page", session_id, query)
        return page

    async def update_run_status(
        self,
        session_id: str,
        run_id: str,
        status: RunStatus | str,
        output_preview: str | None = None,
    ) -> None:
        """Set a run's status, without the evidence that a commit brings."""
        await self._do("update_run_status", session_id, run_id, str(status), output_preview)

    async def commit_checkpoint(self, session_id: str, checkpoint: Mapping[str, Any]) -> None:
        """Record a checkpoint, with its session and its run where they are new."""
        await self._do("commit_checkpoint", session_id, checkpoint)

    async def append_checkpoint(self, session_id: str, checkpoint: Mapping[str, Any]) -> None:
        """Record a checkpoint of a run that exists."""
        await self._do("append_checkpoint", session_id, checkpoint)

    async def load_checkpoints(self, session_id: str, run_id: str) -> list[JSONObject]:
        """Give a run's checkpoints, exactly as recorded, in logical order."""
        checkpoints: list[JSONObject] = await self._do("load_checkpoints", session_id, run_id)
        return checkpoints

    async def latest_checkpoint(self, session_id: str, run_id: str) -> JSONObject | None:
        """Give a run's last checkpoint in logical order."""
        checkpoint: JSONObject | None = await self._do("latest_checkpoint", session_id, run_id)
        return checkpoint

    async def append_stream_records(
        self, session_id: str, run_id: str, records: Sequence[StreamRecord | Mapping[str, Any]]
    ) -> None:
        """Record stream records, all or none, and the `raw_runtime` cursor at the last."""
        await self._do("append_stream_records", session_id, run_id, records)

    async def replay_stream_records(
        self, session_id: str, run_id: str, after_sequence: int | None = None
    ) -> list[StreamRecord]:
        """Give a run's stream records by sequence, those above `after_sequence`."""
        held = await self._do("replay_stream_records", session_id, run_id, after_sequence)
        return [StreamRecord(raw) for raw in held]

    async def save_stream_cursor(
        self, session_id: str, run_id: str, cursor: Mapping[str, Any]
    ) -> None:
        """Record how far a reader of the run's streams got; a cursor never goes back."""
        await self._do("save_stream_cursor", session_id, run_id, cursor)

    async def append_approval(self, record: ApprovalRecord | Mapping[str, Any]) -> None:
        """Record an approval: a request while it is pending, else a decision, once."""
        await self._do("append_approval", record)

    async def load_approvals(self, session_id: str, run_id: str) -> list[ApprovalRecord]:
        """Give a run's approvals, each as it is now."""
        return [ApprovalRecord(raw) for raw in await self._do("load_approvals", session_id, run_id)]

    async def append_deferred_tool(self, record: DeferredToolRecord | Mapping[str, Any]) -> None:
        """Record a deferred tool call: a request until it ends, once."""
        await self._do("append_deferred_tool", record)

    async def load_deferred_tools(self, session_id: str, run_id: str) -> list[DeferredToolRecord]:
        """Give a run's deferred tool calls, each as it is now."""
        held = await self._do("load_deferred_tools", session_id, run_id)
        return [DeferredToolRecord(raw) for raw in held]

    async def commit_run_evidence(self, commit: Mapping[str, Any]) -> RunRecord:
        """Record all that is known of a run, all or nothing, and give its record."""
        return RunRecord(await self._do("commit_run_evidence", commit))

    async def claim_hitl_resume(self, claim: Mapping[str, Any]) -> None:
        """Claim the right to resume a run that waits, for one host alone."""
        await self._do("claim_hitl_resume", claim)

    async def mark_hitl_resume_started(self, session_id: str, run_id: str, claim_id: str) -> None:
        """Record that the claimed continuation starts."""
        await self._do("mark_hitl_resume_started", session_id, run_id, claim_id)

    async def release_hitl_resume_claim(self, session_id: str, run_id: str, claim_id: str) -> None:
        """Give a claim back that was not started."""
        await self._do("release_hitl_resume_claim", session_id, run_id, claim_id)

    async def pending_stream_publications(self, session_id: str) -> list[JSONObject]:
        """Give what evidence wanted published and some target has not acknowledged."""
        pending: list[JSONObject] = await self._do("pending_stream_publications", session_id)
        return pending

    async def acknowledge_stream_publication(self, publication_id: str, target: str) -> None:
        """Record that a target, `archive` or `replay`, has the publication."""
        await self._do("acknowledge_stream_publication", publication_id, target)

    async def resume_snapshot(
        self, session_id: str, run_id: str | None = None
    ) -> SessionResumeSnapshot:
        """Give all that a run is resumed from; the session's active run, else its last."""
        raw = await self._do("resume_snapshot", session_id, run_id)
        run = raw.get("run")
        return SessionResumeSnapshot(
            state=raw["state"],
            session=SessionRecord(raw["session"]),
            run=None if run is None else RunRecord(run),
            environment_state=raw.get("environment_state"),
            latest_checkpoint=raw.get("latest_checkpoint"),
            stream_records=[*map(StreamRecord, raw.get("stream_records", ()))],
            approvals=[*map(ApprovalRecord, raw.get("approvals", ()))],
            deferred_tools=[*map(DeferredToolRecord, raw.get("deferred_tools", ()))],
            stream_cursors=raw.get("stream_cursors", []),
        )

    async def compact_run_trace(self, session_id: str, run_id: str) -> JSONObject:
        """Give an overview of a run."""
        trace: JSONObject = await self._do("compact_run_trace", session_id, run_id)
        return trace

    async def compact_session_trace(self, session_id: str) -> JSONObject:
        """Give an overview of a session."""
        trace: JSONObject = await self._do("compact_session_trace", session_id)
        return trace

    async def _do(self, method: str, *args: Any) -> Any:
        """Call a method of the store in a thread, so that the loop goes on meanwhile."""
        with state_errors():
            return await asyncio.to_thread(getattr(self.store, method), *map(_plain, args))


def _plain(value: Any) -> Any:
    """Give the dict of one of the facade's record types, and those of a list of them."""
    if isinstance(value, list | tuple):
        return [*map(_plain, value)]
    return value.to_dict() if hasattr(value, "to_dict") else value
