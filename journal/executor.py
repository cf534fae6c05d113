"""Where an agent loop asks whether to go on: at every checkpoint, after it is durable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from journal.aio import AsyncRun
from journal.errors import AgentExecutorError, JournalError
from journal.json_door import JSON
from journal.records import AgentCheckpoint
from journal.records.vocabulary import TERMINAL
from journal.run import Run


@dataclass(frozen=True, slots=True)
class Continue:
    """Go on with the run."""


@dataclass(frozen=True, slots=True)
class Suspend:
    """Stop the run at this boundary; it waits and can be resumed from the checkpoint."""

    reason: str


Decision: TypeAlias = Continue | Suspend


@runtime_checkable
class AgentExecutor(Protocol):
    """What a host calls at each execution boundary of a run."""

    async def checkpoint(self, checkpoint: AgentCheckpoint) -> Decision:
        """Take the checkpoint and decide whether the run goes on.

        Raises:
            AgentExecutorError: the checkpoint could not be taken; the host must stop.
        """
        ...


Policy: TypeAlias = AgentExecutor | Callable[[AgentCheckpoint], Decision | Awaitable[Decision]]
"""What decides after the checkpoint is durable: an executor or a plain function of it."""


class JournalExecutor:
    """Makes each checkpoint durable first, then asks whether the run goes on.

    An operator's request to suspend is looked for first, then the policy is asked (several are
    composed with `journal.policies.first_of`). A `Suspend` is an event of the run
    (`run.suspended`) before the host hears of it. A run that has ended at the checkpoint has
    nothing left to suspend: the policy sees it, and the answer is `Continue`.
    """

    def __init__(
        self, run: Run | AsyncRun, policy: Policy | None = None, *, on_request: bool = True
    ) -> None:
        """Record the checkpoints of `run`.

        Args:
            policy: without one the run goes on until an operator asks it to stop.
            on_request: False to leave out what operators asked for.
        """
        self._run = run
        self._policy = policy
        self._on_request = on_request

    async def checkpoint(self, checkpoint: AgentCheckpoint | dict[str, JSON] | bytes) -> Decision:
        """Persist, then decide.

        Raises:
            AgentExecutorError: the journal refused the checkpoint, or the policy failed.
        """
        try:
            taken = (
                checkpoint
                if isinstance(checkpoint, AgentCheckpoint)
                else AgentCheckpoint.from_json(checkpoint)
            )
            await _settled(self._run.checkpoint(taken))
        except JournalError as error:
            raise AgentExecutorError(f"the checkpoint was not recorded: {error}") from error
        decision = await self._requested() or await self._decide(taken)
        if taken.state.status in TERMINAL:
            return Continue()
        if isinstance(decision, Suspend):
            try:
                await _settled(
                    self._run.suspend(decision.reason, checkpoint_id=taken.checkpoint_id)
                )
            except JournalError as error:
                raise AgentExecutorError(f"the suspension was not recorded: {error}") from error
        return decision

    async def _requested(self) -> Suspend | None:
        if not self._on_request:
            return None
        try:
            asked = await _settled(self._run.suspend_requested())
        except JournalError as error:
            raise AgentExecutorError(
                f"nobody can tell whether the run is to stop: {error}"
            ) from error
        return None if asked is None else Suspend(asked.message)

    async def _decide(self, checkpoint: AgentCheckpoint) -> Decision:
        return Continue() if self._policy is None else await decided(self._policy, checkpoint)


async def decided(policy: Policy, checkpoint: AgentCheckpoint) -> Decision:
    """Ask a policy about a checkpoint, for a host that stops where it cannot tell.

    Raises:
        AgentExecutorError: the policy failed, or answered something else.
    """
    try:
        return await ask(policy, checkpoint)
    except AgentExecutorError:
        raise
    except Exception as error:
        raise AgentExecutorError(
            f"the policy failed at checkpoint {checkpoint.checkpoint_id!r}: {error}"
        ) from error


async def ask(policy: Policy, checkpoint: AgentCheckpoint) -> Decision:
    """Ask a policy of either kind about a checkpoint.

    Raises:
        AgentExecutorError: it answered something else than `Continue` or `Suspend`.
    """
    if isinstance(policy, AgentExecutor):
        decision = await policy.checkpoint(checkpoint)
    else:
        decision = await _settled(policy(checkpoint))
    if not isinstance(decision, Continue | Suspend):
        raise AgentExecutorError(f"the policy answered {decision!r}, neither Continue nor Suspend")
    return decision


async def _settled(answer: Any) -> Any:
    return await answer if isinstance(answer, Awaitable) else answer
