"""The journal as session store of the Starweaver agent runtime.

    async with graceful_shutdown():
        runtime = create_agent_runtime(
            model=model, session_store=JournalSessionStore(journal), durable_session_id="s1"
        )
        async for event in record(runtime.stream("Hello")):
            ...

To go on from a moment of an earlier run, in a fork of it:

    view = replay(journal, run_id, at=MessageCursor(3))
    runtime = create_agent_runtime(
        model=model,
        session_store=JournalSessionStore(journal, fork_of=view),
        durable_session_id=view.session_id,
        state=restored_state(view),
    )

Needs the extra `starweaver`. The records are described in the runtime's own documentation and,
as far as the journal reads them, in `journal.records`.
"""

from __future__ import annotations

import asyncio
import gc
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from journal.codec import RecordedEvent
from journal.errors import RunNotFound, SessionNotFound, StaleWriter
from journal.events import CheckpointTaken
from journal.journal import Journal
from journal.pending import may_linger
from journal.records import RUN_RECORD, unwrap
from journal.run import Run
from journal.times import format_time
from projections.order import anchored

try:
    from starweaver import AgentRun, SessionStore, StreamEvent
    from starweaver.errors import StateError
except ImportError as missing:
    raise ImportError(
        "journal.hosts.starweaver needs pip install 'runjournal[starweaver]'"
    ) from missing

if TYPE_CHECKING:
    from journal.lineage import Forkable
    from projections import RunView

SETTLE_SECONDS = 0.1
"""How long the runtime's threads get to finish before the event loop closes."""

_writing: WeakValueDictionary[str, JournalSessionStore] = WeakValueDictionary()
"""Stores of this process by the ids of runs they write: how `record` finds its journal."""


class JournalSessionStore:
    """A session store that journals what the runtime hands it.

    Give it to `create_agent_runtime(session_store=..., durable_session_id=...)`. It has the
    methods that a run needs, all synchronous: the runtime calls those at once, from threads
    of its own, and waits for them, so that nothing goes on before it is durable.

    A run is leased with its first checkpoint, and released when its evidence is committed
    and `record` has seen the end of its stream.

    A failure reaches the host as the runtime's `AgentError`, which quotes the journal's text.
    """

    def __init__(self, journal: Journal, *, fork_of: Forkable | None = None) -> None:
        """Journal runs into `journal`.

        Args:
            fork_of: the first run is a fork of this point; give the runtime the state of the
                same point, as the runtime chooses the run's id and knows nothing of forks.
        """
        self._journal = journal
        self._fork_of = fork_of
        self._runs: dict[str, Run] = {}

    def to_native(self) -> Any:
        """Adapt this store for the runtime; called by `create_agent_runtime` inside a loop."""
        return SessionStore.to_native(self)

    def load_session(self, session_id: str) -> dict[str, Any]:
        """Give the session record saved last.

        Its `state` is that before the session's last run; the state after a run is the
        context state of the run's evidence.

        Raises:
            StateError: "unknown session"; the runtime then saves one.
        """
        try:
            session = self._journal.session_record(session_id)
        except SessionNotFound:
            session = None
        if session is None:
            raise StateError(f"unknown session: {session_id}")
        return session

    def save_session(self, record: dict[str, Any]) -> None:
        """Record the session."""
        self._journal.save_session(record)

    def commit_checkpoint(self, session_id: str, checkpoint: dict[str, Any]) -> None:
        """Record a checkpoint; the first one of a run opens the run."""
        run_id = checkpoint["run_id"]
        run = self._runs.get(run_id)
        if run is None or run.session_id != session_id:
            run = self._open(run_id, session_id, checkpoint["conversation_id"])
            self._runs[run_id] = run
            _writing[run_id] = self
        try:
            run.checkpoint(checkpoint)
        except StaleWriter:
            self._release(run_id)
            raise

    def load_run(self, session_id: str, run_id: str) -> dict[str, Any]:
        """Give the run record committed last, with the latest checkpoint in logical order.

        Raises:
            StateError: "unknown run", also while the run goes on.
        """
        record = self._record(session_id, run_id)
        checkpoints = self._checkpoints(run_id)
        if not checkpoints:
            return record
        last = checkpoints[-1]
        taken = self._journal.reader.document(last)
        latest = {
            "checkpoint_id": taken["checkpoint_id"],
            "run_id": run_id,
            "sequence": taken["run_step"],
            "node": taken["node"],
            "stream_cursor": last.data.get("stream_cursor"),
            "created_at": format_time(last.recorded_at),
            "metadata": taken.get("metadata", {}),
        }
        return {**record, "latest_checkpoint": latest}

    def load_checkpoints(self, session_id: str, run_id: str) -> list[dict[str, Any]]:
        """Give the run's checkpoints in logical order.

        Raises:
            StateError: "unknown run", also while the run goes on: the runtime would hand
                every checkpoint it is given here back in its evidence.
        """
        self._record(session_id, run_id)
        return [self._journal.reader.document(event) for event in self._checkpoints(run_id)]

    def commit_run_evidence(self, commit: dict[str, Any]) -> dict[str, Any]:
        """Record a run's evidence, all or nothing, and give the run record back.

        Raises:
            StateError: the runtime was made with a stream archive or a replay log.
        """
        if any((commit.get("publication_targets") or {}).values()):
            raise StateError(
                "the journal keeps no outbox of stream publications: create the runtime without "
                "stream_archive and replay_event_log"
            )
        run, _ = unwrap(commit["run"], RUN_RECORD)
        try:
            self._journal.commit_run_evidence(commit)
        finally:
            self._release(run["run_id"])
        return self.load_run(run["session_id"], run["run_id"])

    def pending_stream_publications(self, _session_id: str) -> list[dict[str, Any]]:
        """Give none: evidence that wants to be published is refused."""
        return []

    def claim_hitl_resume(self, claim: dict[str, Any]) -> None:
        """Record a claim to resume a waiting run."""
        self._journal.claim_resume(claim)

    def release_hitl_resume_claim(self, _session_id: str, run_id: str, claim_id: str) -> None:
        """Record that a claim was given back."""
        self._journal.release_resume(run_id, claim_id)

    def run(self, run_id: str) -> Run:
        """Open a run that this store knows, once more; release it after use."""
        return self._journal.run(run_id)

    def _open(self, run_id: str, session_id: str, conversation_id: str) -> Run:
        if self._fork_of is None:
            return self._journal.run(run_id, session_id=session_id, conversation_id=conversation_id)
        run = self._journal.fork(
            self._fork_of, run_id, session_id=session_id, conversation_id=conversation_id
        )
        self._fork_of = None
        return run

    def _release(self, run_id: str) -> None:
        written = self._runs.pop(run_id, None)
        if written is not None:
            written.release()

    def _record(self, session_id: str, run_id: str) -> dict[str, Any]:
        try:
            record = self._journal.run_record(run_id)
        except RunNotFound:
            record = None
        if record is None or record["session_id"] != session_id:
            raise StateError(f"unknown run: {session_id}:{run_id}")
        return record

    def _checkpoints(self, run_id: str) -> list[RecordedEvent]:
        entries = sorted(anchored(self._journal.reader.run_events(run_id)))
        return [entry.event for entry in entries if entry.event.name == CheckpointTaken.NAME]


def restored_state(view: RunView, *, agent_id: str = "main") -> dict[str, Any]:
    """Make the state that a runtime goes on from: a view's messages and conversation.

    The runtime takes its next prompt as the next message, so no tool call should be open in
    the view.

    Args:
        view: where to go on.
        agent_id: of the agent that goes on.

    Returns:
        For `create_agent_runtime(state=...)`.
    """
    state = {"agent_id": agent_id, "message_history": list(view.messages)}
    if view.conversation_id is not None:
        state["conversation_id"] = view.conversation_id
    return state


async def record(run: AgentRun) -> AsyncIterator[StreamEvent]:
    """Journal a run's stream records as they pass.

    The journal is the one of the run's `JournalSessionStore`, which learns of the run with
    its first checkpoint; the few records before that are held back until then.

    Args:
        run: from `runtime.stream(...)`.

    Yields:
        The same items; each is durable by then.

    Raises:
        StateError: the runtime has no `JournalSessionStore`.
        JournalError: a record was not journaled; the run itself goes on.
    """
    held: list[StreamEvent] = []
    journaled: Run | None = None
    opening: asyncio.Task[Run] | None = None
    try:
        async for event in run:
            held.append(event)
            if journaled is None and (store := _writing.get(str(held[0].run_id))) is not None:
                opening = asyncio.create_task(asyncio.to_thread(store.run, str(held[0].run_id)))
                journaled = await asyncio.shield(opening)
            if journaled is not None:
                made = journaled.offers.records([item.raw for item in held])
                await journaled.write_soon(made, lingers=may_linger(made))
                for item in held:
                    yield item
                held.clear()
            elif event.kind == "checkpoint":
                # The runtime streams this only after the store has taken the checkpoint.
                raise StateError(
                    f"run {held[0].run_id} is not journaled: give create_agent_runtime a "
                    "session_store=JournalSessionStore(journal)"
                )
    except asyncio.CancelledError:
        if opening is not None and journaled is None:
            journaled = await opening  # cancelled while the thread was opening it
        raise
    finally:
        if journaled is not None:
            await asyncio.to_thread(journaled.release)


@asynccontextmanager
async def graceful_shutdown() -> AsyncIterator[None]:
    """Let the runtime's threads finish before the event loop closes.

    A process that ends right after a run may abort with exit code 134: threads of the
    runtime still call into Python while the interpreter shuts down. Put the block around
    everything that uses a runtime, as the last thing in the loop. When the block ends with an
    error, the local variables of the frames it left are dropped: they would keep the runtime.
    """
    try:
        yield
    except BaseException as error:
        traceback.clear_frames(error.__traceback__)
        raise
    finally:
        gc.collect()
        await asyncio.sleep(SETTLE_SECONDS)
