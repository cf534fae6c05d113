"""Approvals are decided once and deferred tool calls end once; their requests stay as made."""

import pytest

from tests.contract.host_records import APPROVED, approval, deferred, run, session

pytestmark = pytest.mark.anyio


async def prepare(store):
    await store.save_session(session())
    await store.append_run(run())


@pytest.mark.parametrize("status", ["approved", "denied", "expired", "cancelled"])
async def test_an_approval_is_decided_once(ours, status):
    await prepare(ours)
    await ours.append_approval(approval())
    decision = {**APPROVED, "status": status}
    await ours.append_approval(approval(status=status, decision=decision))
    [held] = await ours.load_approvals("s1", "r1")
    assert (held["status"], held["request"]) == (status, {"risk": "high"})
    other = "denied" if status == "approved" else "approved"
    again = approval(status=other, decision={**APPROVED, "status": other})
    await ours.refused("append_approval", again)
    before = await ours.everything()
    await ours.append_approval(approval())  # the request again
    assert await ours.everything() == before


@pytest.mark.parametrize("begun", ["pending", "waiting"])
@pytest.mark.parametrize("ended", ["completed", "failed", "cancelled"])
async def test_a_deferred_tool_call_ends_once(ours, begun, ended):
    await prepare(ours)
    await ours.append_deferred_tool(deferred(status=begun))
    await ours.append_deferred_tool(deferred(status=ended, response={"url": "x"}))
    [held] = await ours.load_deferred_tools("s1", "r1")
    assert (held["status"], held["request"]) == (ended, {"queue": "reports"})
    await ours.refused("append_deferred_tool", deferred(status=ended, response={"url": "y"}))
    before = await ours.everything()
    await ours.append_deferred_tool(deferred(status=begun))  # the request again
    assert await ours.everything() == before


@pytest.mark.parametrize(
    "field", ["action_id", "action_name", "request", "reviewed_arguments", "created_at"]
)
async def test_a_decision_leaves_the_request_untouched(ours, field):
    await prepare(ours)
    await ours.append_approval(approval())
    changed = {field: {"other": 1} if field in {"request", "reviewed_arguments"} else "other"}
    decided = approval(status="approved", decision=APPROVED, **changed)
    await ours.refused("append_approval", decided)


@pytest.mark.parametrize("field", ["tool_call_id", "tool_name", "request", "created_at"])
async def test_an_ending_leaves_the_tool_call_untouched(ours, field):
    await prepare(ours)
    await ours.append_deferred_tool(deferred())
    changed = {field: {"other": 1} if field == "request" else "other"}
    await ours.refused("append_deferred_tool", deferred(status="completed", **changed))
