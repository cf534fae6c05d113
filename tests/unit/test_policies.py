"""Policies decide at a checkpoint, compose, and give reasons with their figures."""

import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from journal import (
    AgentExecutorError,
    AtNodes,
    Continue,
    CostBudget,
    Deadline,
    HumanDecision,
    Journal,
    JournalExecutor,
    Suspend,
    TokenBudget,
    first_of,
)
from journal.errors import InvalidRecord
from journal.records import AgentCheckpoint
from tests import samples


def taken(*, tokens=0, evidence=(), **fields):
    """A checkpoint as a policy gets it."""
    made = samples.checkpoint(**fields)
    usage = {**samples.ZERO, "total_tokens": tokens, "input_tokens": tokens}
    made["resume"] |= {"usage": usage, **dict(evidence)}
    made["state"]["usage"] = usage
    return AgentCheckpoint.from_json(made)


def ask(policy, checkpoint):
    """Ask through the executor, which takes every kind of policy."""
    with Journal.open("memory://") as journal, journal.run("r", session_id="s") as run:
        return asyncio.run(JournalExecutor(run, policy).checkpoint(checkpoint))


def test_a_node_policy_suspends_at_its_nodes_and_nowhere_else():
    policy = AtNodes("tool_call", "validate_output")
    assert ask(policy, taken(node="model_response")) == Continue()
    assert ask(policy, taken(node="tool_call", step=3)) == Suspend("node: at tool_call, step 3")
    assert isinstance(ask(policy, taken(node="validate_output")), Suspend)


def test_a_node_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(InvalidRecord, match=r"'tool_cal' is no node; use run_start, .*tool_call"):
        AtNodes("tool_call", "tool_cal")


def test_a_token_budget_may_be_used_up_but_not_exceeded():
    policy = TokenBudget(100)
    assert ask(policy, taken(tokens=100)) == Continue()
    assert ask(policy, taken(tokens=101)) == Suspend("token budget: 101 tokens used of 100")


def test_a_cost_budget_asks_what_the_run_has_cost():
    policy = CostBudget(
        Decimal("0.30"), cost=lambda taken: taken.resume.usage.input_tokens * Decimal("0.003")
    )
    assert ask(policy, taken(tokens=100)) == Continue()
    assert ask(policy, taken(tokens=101)) == Suspend("cost budget: 0.303 spent of 0.30")


def test_a_cost_that_is_no_number_does_not_pass_for_nothing():
    assert isinstance(ask(CostBudget(1, cost=lambda _: float("nan")), taken()), Suspend)


@pytest.mark.parametrize("budget", [-1, float("nan")])
def test_a_budget_below_nothing_is_refused(budget):
    with pytest.raises(InvalidRecord, match=r"\$\.tokens.*0 or more"):
        TokenBudget(budget)
    with pytest.raises(InvalidRecord, match=r"\$\.budget.*0 or more"):
        CostBudget(budget, cost=lambda _: 0)


def test_a_deadline_suspends_at_the_first_boundary_after_it():
    at = datetime(2030, 1, 1, 12, tzinfo=UTC)
    now = at
    policy = Deadline(at, clock=lambda: now)
    assert ask(policy, taken()) == Continue()
    now += timedelta(seconds=2.5)
    assert ask(policy, taken()) == Suspend("deadline: 2030-01-01T12:00:00+00:00 passed 2.5 s ago")


def test_a_deadline_can_be_given_as_a_time_from_now():
    assert ask(Deadline.within(timedelta(hours=1)), taken()) == Continue()
    assert isinstance(ask(Deadline.within(timedelta(seconds=-1)), taken()), Suspend)


def test_a_deadline_without_a_zone_is_refused():
    with pytest.raises(InvalidRecord, match="names no zone"):
        Deadline(datetime(2030, 1, 1))  # noqa: DTZ001 - that is the point


ASKING = {
    "tool_call_id": "call-1",
    "name": "deploy",
    "content": {},
    "is_error": True,
    "metadata": {"control_flow": "approval_required"},
}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"evidence": {"pending_approval_count": 2}}, "approvals 2, deferred tool calls 0"),
        ({"evidence": {"deferred_tool_count": 1}}, "approvals 0, deferred tool calls 1"),
        ({"pending_approval_tool_returns": [ASKING]}, "approvals 1, deferred tool calls 0"),
        ({"deferred_tool_returns": [ASKING]}, "approvals 0, deferred tool calls 1"),
    ],
)
def test_a_run_that_waits_for_somebody_is_suspended(fields, reason):
    assert ask(HumanDecision(), taken(**fields)) == Suspend(f"human decision: {reason}")


def test_a_run_that_waits_for_nobody_goes_on():
    assert ask(HumanDecision(), taken()) == Continue()


class Asked:
    """Notes that it was asked; an executor, a function or a coroutine function."""

    def __init__(self, decision):
        self.decision = decision
        self.asked = 0

    async def checkpoint(self, _):
        self.asked += 1
        return self.decision


def test_the_first_policy_that_suspends_gives_the_reason_and_the_last_word():
    before, after = Asked(Continue()), Asked(Suspend("too late"))

    async def slow(_):
        await asyncio.sleep(0)
        return Suspend("slow")

    policy = first_of(before, lambda _: Continue(), slow, after)
    assert ask(policy, taken()) == Suspend("slow")
    assert (before.asked, after.asked) == (1, 0)


def test_policies_compose_in_depth_and_nothing_composed_goes_on():
    inner = first_of(TokenBudget(10), AtNodes("tool_call"))
    policy = first_of(first_of(), HumanDecision(), inner)
    assert ask(policy, taken(tokens=10)) == Continue()
    assert ask(policy, taken(tokens=11)) == Suspend("token budget: 11 tokens used of 10")
    assert ask(policy, taken(node="tool_call")) == Suspend("node: at tool_call, step 0")


def test_a_composed_policy_that_answers_nonsense_stops_the_host():
    with pytest.raises(AgentExecutorError, match="neither Continue nor Suspend"):
        ask(first_of(AtNodes("tool_call"), lambda _: "stop"), taken())


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_a_run_that_has_ended_is_not_suspended(status):
    ended = taken(tokens=1000, node="run_complete", status=status)
    assert ask(first_of(TokenBudget(1), AtNodes("run_complete")), ended) == Continue()
