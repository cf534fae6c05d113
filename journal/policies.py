"""Policies of a `JournalExecutor`: when a run is to stop at a boundary and wait.

    policy = first_of(
        AtNodes("tool_call"),
        TokenBudget(200_000),
        CostBudget(2.50, cost=lambda checkpoint: price(checkpoint.resume.usage)),
        Deadline.within(timedelta(minutes=10)),
        HumanDecision(),
    )
    executor = JournalExecutor(run, policy)

A policy is anything that is called with the checkpoint and answers `Continue` or `Suspend`, at
once or awaited, so a function of one's own stands beside these. What an operator asked for
needs none: the executor looks for it by itself. The run may be resumed later whatever the
reason was; a budget or a deadline that is not raised then stops it again at the next boundary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

from journal.errors import InvalidRecord
from journal.executor import Continue, Decision, Policy, Suspend, ask
from journal.records import AgentCheckpoint
from journal.records.vocabulary import ExecutionNode

Cost: TypeAlias = int | float | Decimal
"""An amount of money, in whatever currency the budget is given in."""


@dataclass(frozen=True, slots=True)
class FirstOf:
    """Suspends when one of several policies does, for the reason of the first that does.

    They are asked in order, and none after the one that suspends.
    """

    policies: tuple[Policy, ...]

    async def __call__(self, checkpoint: AgentCheckpoint) -> Decision:
        """Ask each policy about the checkpoint."""
        for policy in self.policies:
            decision = await ask(policy, checkpoint)
            if isinstance(decision, Suspend):
                return decision
        return Continue()


def first_of(*policies: Policy) -> FirstOf:
    """Compose policies: the run goes on while all of them let it."""
    return FirstOf(policies)


class AtNodes:
    """Suspends at every checkpoint of these nodes, such as `tool_call`: before the tools run.

    Raises:
        InvalidRecord: there is no such node.
    """

    def __init__(self, *nodes: ExecutionNode | str) -> None:
        for node in nodes:
            if node not in [*ExecutionNode]:
                known = ", ".join(ExecutionNode)
                raise InvalidRecord("policy", "$.nodes", f"{node!r} is no node; use {known}")
        self.nodes = frozenset(map(str, nodes))

    def __call__(self, checkpoint: AgentCheckpoint) -> Decision:
        """Compare the checkpoint's node."""
        if checkpoint.node not in self.nodes:
            return Continue()
        return Suspend(f"node: at {checkpoint.node}, step {checkpoint.run_step}")


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Suspends when a run has used more tokens than it may.

    Raises:
        InvalidRecord: the budget is negative.
    """

    tokens: int
    """The most that the run may use, as its checkpoint counts them (`total_tokens`)."""

    def __post_init__(self) -> None:
        _must_be_budget(self.tokens, "tokens")

    def __call__(self, checkpoint: AgentCheckpoint) -> Decision:
        """Compare what the checkpoint says was used."""
        used = checkpoint.resume.usage.total_tokens
        if used <= self.tokens:
            return Continue()
        return Suspend(f"token budget: {used} tokens used of {self.tokens}")


@dataclass(frozen=True, slots=True)
class CostBudget:
    """Suspends when a run has cost more than it may.

    Raises:
        InvalidRecord: the budget is negative or no number.
    """

    budget: Cost
    cost: Callable[[AgentCheckpoint], Cost]
    """Tells what the run has cost so far, such as the tokens of `checkpoint.resume.usage` times
    their prices, or the last estimate of a runtime that makes one (`estimate_pricing` of its
    `usage_snapshot` events). A cost that is no number (NaN) suspends, too."""

    def __post_init__(self) -> None:
        _must_be_budget(self.budget, "budget")

    def __call__(self, checkpoint: AgentCheckpoint) -> Decision:
        """Compare what the run has cost at the checkpoint."""
        cost = self.cost(checkpoint)
        if cost <= self.budget:
            return Continue()
        return Suspend(f"cost budget: {cost} spent of {self.budget}")


@dataclass(frozen=True, slots=True)
class Deadline:
    """Suspends at the first boundary after a moment, by the system's clock.

    Raises:
        InvalidRecord: the moment names no zone.
    """

    at: datetime
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def __post_init__(self) -> None:
        if self.at.tzinfo is None:
            reason = f"{self.at} names no zone; make it with datetime.now(UTC), for example"
            raise InvalidRecord("policy", "$.at", reason)

    @classmethod
    def within(cls, time: timedelta) -> Deadline:
        """Give the run so much time from now."""
        return cls(datetime.now(UTC) + time)

    def __call__(self, checkpoint: AgentCheckpoint) -> Decision:  # noqa: ARG002 - a policy
        """Look at the clock."""
        late = self.clock() - self.at
        if late <= timedelta():
            return Continue()
        return Suspend(f"deadline: {self.at.isoformat()} passed {late.total_seconds():.1f} s ago")


@dataclass(frozen=True, slots=True)
class HumanDecision:
    """Suspends when the run waits for somebody else: approvals, or deferred tool calls.

    That is what the checkpoint's evidence counts, or its state holds: tools that returned with
    a demand in place of an answer.
    """

    def __call__(self, checkpoint: AgentCheckpoint) -> Decision:
        """Count what the checkpoint waits for."""
        evidence, state = checkpoint.resume, checkpoint.state
        approvals = max(evidence.pending_approval_count, len(state.pending_approval_tool_returns))
        deferred = max(evidence.deferred_tool_count, len(state.deferred_tool_returns))
        if not approvals and not deferred:
            return Continue()
        return Suspend(f"human decision: approvals {approvals}, deferred tool calls {deferred}")


def _must_be_budget(value: Any, what: str) -> None:
    if not value >= 0:  # NaN, too
        raise InvalidRecord("policy", f"$.{what}", f"{value!r}, but a budget is 0 or more")
