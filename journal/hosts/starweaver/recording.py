"""A run's live stream, journaled as it passes."""

from __future__ import annotations

import asyncio
import gc
import traceback
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from functools import partial
from weakref import finalize

from starweaver import AgentRun, StreamEvent
from starweaver.errors import StarweaverError, StateError, StreamError

from journal.acquiring import in_thread
from journal.errors import Suspended
from journal.executor import Policy
from journal.hosts.starweaver.boundaries import Environment, as_provider
from journal.hosts.starweaver.boundary_store import BoundaryStore
from journal.hosts.starweaver.leasing import give_up, writing
from journal.hosts.starweaver.readers import WAIT_SECONDS, Recorded, recorded_runs
from journal.pending import may_linger
from journal.run import Run

_learning: set[asyncio.Task[None]] = set()
"""Tasks that ask for a run's id: an event loop does not keep its tasks."""

SETTLE_SECONDS = 0.1
"""How long the runtime's threads get to finish before the event loop closes."""


async def record(
    run: AgentRun, *, environment: Environment | None = None, policy: Policy | None = None
) -> AsyncIterator[StreamEvent]:
    """Journal a run's stream records as they pass, and let it be suspended.

    The journal is the one of the run's `JournalSessionStore`, which learns of the run with
    its first checkpoint; the few records before that are held back until then. At each
    checkpoint an operator's request to suspend is looked for, and the policy asked.

    A task that is cancelled here interrupts the run and gives it back; so does dropping the
    run. `resume_run` goes on with it then.

    Args:
        run: from `runtime.stream(...)`, or `resume_run`.
        environment: the one that the runtime was given; it is exported at each checkpoint.
        policy: says whether the run goes on (see `journal.policies`). It is asked in a thread
            of the runtime; one that is awaited has an event loop of its own.

    Yields:
        The same items; each is durable by then.

    Raises:
        Suspended: the run waits at a checkpoint; `resume_run` goes on with it.
        StateError: the runtime has no `JournalSessionStore`.
        JournalError: a record was not journaled; the run itself goes on.
    """
    held: list[StreamEvent] = []
    recording = _Recording(run, environment, policy)
    try:
        async for event in run:
            held.append(event)
            journaled = await recording.journaled(str(held[0].run_id))
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
    except StreamError:
        with suppress(StarweaverError):
            await run.join()  # its evidence is committed then
        recording.raise_suspended()
        raise
    except asyncio.CancelledError:
        recording.stop()
        raise
    finally:
        await recording.close()


class _Recording:
    """The recording of one run: what its store must know of it, and its handle on the run."""

    def __init__(
        self, run: AgentRun, environment: Environment | None, policy: Policy | None
    ) -> None:
        exported = None if environment is None else as_provider(environment)
        self._expected = recorded_runs.expect(Recorded(run, exported, policy))
        self._run_id: str | None = None
        self._opening: Future[Run] | None = None
        self._is_stopped = False
        self._when_dropped: finalize[..., AgentRun] | None = None

    async def journaled(self, run_id: str) -> Run | None:
        """Give the run for writing; None until its store has taken its first checkpoint."""
        if self._run_id is None:
            self._is_of(run_id)
            self._expected.is_of(run_id)
        if self._opening is None:
            store = writing.get(run_id)
            if store is None:
                return None
            self._opening = in_thread(partial(store.run, run_id))
        if self._opening.done():  # as for nearly every record: to await it takes long
            return self._opening.result()
        return await asyncio.wrap_future(self._opening)

    def raise_suspended(self) -> None:
        """Say that the run was suspended, where it was."""
        store = None if self._run_id is None else writing.get(self._run_id)
        if self._run_id is None or not isinstance(store, BoundaryStore):
            return
        suspension = store.suspension(self._run_id)
        if suspension is not None:
            checkpoint_id = suspension.checkpoint["checkpoint_id"]
            raise Suspended(self._run_id, checkpoint_id, suspension.reason) from None

    def stop(self) -> None:
        """Interrupt the run, whose reader was cancelled: it is given up, whoever keeps it."""
        try:
            self._expected.brought.run.interrupt()
        except StarweaverError:
            return  # it was detached, and goes on by itself; or it is over
        self._is_stopped = True

    async def close(self) -> None:
        """Give the run back, also where the task is cancelled once more meanwhile."""
        self._expected.close()
        if self._run_id is not None:
            self._settle(self._run_id)
        releasing = None if self._opening is None else in_thread(partial(_release, self._opening))
        if self._run_id is None:
            learning = asyncio.create_task(self._learn_run_id())
            _learning.add(learning)
            learning.add_done_callback(_learning.discard)
            await asyncio.shield(learning)
        if releasing is not None:
            await asyncio.wrap_future(releasing)

    def _is_of(self, run_id: str) -> None:
        self._run_id = run_id
        self._when_dropped = finalize(self._expected.brought.run, _drop, run_id)
        self._when_dropped.atexit = False

    async def _learn_run_id(self) -> None:
        """Ask the run which one it is, where its reader was stopped before the first item.

        It is interrupted then, and its first checkpoint may be about to take a lease.
        """
        with suppress(StarweaverError, TimeoutError):
            async with asyncio.timeout(WAIT_SECONDS):
                state = await self._expected.brought.run.recoverable_state()
            if isinstance(run_id := state.get("run_id"), str):
                self._is_of(run_id)
                self._settle(run_id)

    def _settle(self, run_id: str) -> None:
        """Let the store know that nobody reads any more."""
        store = writing.get(run_id)
        if isinstance(store, BoundaryStore):
            store.forget_suspension(run_id)
        if self._is_stopped:
            give_up(run_id)
        if self._when_dropped is not None and self._expected.brought.run.is_finished:
            self._when_dropped.detach()  # nothing of it is on its way
            if store is not None:
                give_up(run_id)


def _release(opening: Future[Run]) -> None:
    """Give back a run when it was opened; where that failed, it was said already."""
    if opening.exception() is None:
        opening.result().release()


def _drop(run_id: str) -> None:
    """Give up a run that nobody has any more, and what is remembered for its evidence."""
    give_up(run_id)
    store = writing.get(run_id)
    if isinstance(store, BoundaryStore):
        store.forget(run_id)


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
