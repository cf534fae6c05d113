"""Who approved what, and how long it waited."""

from projections.audit import Audit, AuditFilter
from tests import samples
from tests.unit.audited import START, called, child, ended, opened, returned


def approvals(journal, pending=None, **filters):
    return list(Audit(journal).approvals(AuditFilter(**filters), pending=pending))


def test_an_approval_tells_request_decision_and_wait(clock, journal):
    run = opened(journal, "r", "s", called(0, "call-1", "deploy", arguments={"to": "prod"}))
    run.approval(samples.approval())
    [asked] = approvals(journal)
    assert (asked.run_id, asked.approval_id, asked.tool, asked.call_id) == (
        "r",
        "a1",
        "deploy",
        "call-1",
    )
    assert (asked.arguments, asked.request, asked.place) == (
        '{"to":"prod"}',
        '{"risk":"high"}',
        "stream:0",
    )
    assert (asked.status, asked.is_pending, asked.waited) == ("pending", True, None)
    clock.pass_(99)
    decision = {
        "status": "approved", "decided_by": "ada", "decided_at": "2026-11-29T20:50:00Z",
        "reason": "fine",
    }  # fmt: skip
    run.approval(samples.approval("approved", decision=decision))
    [decided] = approvals(journal)
    assert (decided.status, decided.decided_by, decided.reason) == ("approved", "ada", "fine")
    assert (decided.requested_at, decided.decided_at) == (START, START + 99)
    assert decided.waited == 320_820_034, "by the times that the host gave"
    assert approvals(journal, pending=True) == []
    assert approvals(journal, pending=False) == [decided]


def test_what_only_a_return_asks_for_is_told(journal):
    ask = returned(1, "c1", "deploy", flow="approval_required", content="may I?")
    run = opened(journal, "r", "s", called(0, "c1", "deploy"), ask)
    [asked] = approvals(journal)
    assert (asked.approval_id, asked.call_id, asked.status) == (None, "c1", "pending")
    assert (asked.request, asked.arguments, asked.place) == ("may I?", "{}", "stream:1")
    run.append(returned(2, "c1", "deploy", content="deployed"))
    assert [each.status for each in approvals(journal)] == ["answered"]


def test_what_nobody_answered_before_the_end_waits_no_more(journal):
    ask = returned(1, "c1", flow="approval_required")
    opened(journal, "r", "s", called(0, "c1"), ask, ended(2))
    assert [each.status for each in approvals(journal)] == ["unanswered"]
    assert approvals(journal, pending=True) == []


def test_a_record_and_the_return_that_asked_are_one(journal):
    ask = returned(1, "call-1", "deploy", flow="approval_required")
    run = opened(journal, "r", "s", called(0, "call-1", "deploy"), ask)
    run.approval(samples.approval())
    assert [each.approval_id for each in approvals(journal)] == ["a1"]


def test_deferred_tools_are_no_approvals(journal):
    run = opened(journal, "r", "s", returned(1, "c1", flow="call_deferred"))
    run.deferred_tool(samples.deferred_tool())
    assert approvals(journal) == []


def test_approvals_are_narrowed(journal):
    for number in range(3):
        run_id, session = f"r{number}", f"s{number}"
        run = opened(journal, run_id, session)
        run.approval(samples.approval(run_id=run_id, session_id=session))
    assert [each.run_id for each in approvals(journal)] == ["r2", "r1", "r0"]
    assert [each.run_id for each in approvals(journal, limit=1)] == ["r2"]
    assert [each.run_id for each in approvals(journal, session="s1")] == ["r1"]
    assert [each.run_id for each in approvals(journal, run="r0")] == ["r0"]
    assert approvals(journal, status="failed") == []


def test_a_record_hides_only_the_call_that_it_is_about(journal):
    ask = {"flow": "approval_required"}
    run = opened(
        journal, "r", "s",
        called(0, "call-1", "deploy", step=1), returned(1, "call-1", "deploy", step=1, **ask),
        called(2, "call-1", "deploy", step=2), returned(3, "call-1", "deploy", step=2, **ask),
    )  # fmt: skip
    run.approval(samples.approval())
    assert [(each.approval_id, each.place) for each in approvals(journal)] == [
        ("a1", "stream:3"),
        (None, "stream:1"),
    ]
    run.append(called(4, "call-1", "deploy", step=3))
    run.append(returned(5, "call-1", "deploy", step=3, **ask))
    run.approval(samples.approval(approval_id="a2"))
    assert {each.approval_id for each in approvals(journal)} == {"a1", "a2", None}
    assert len(approvals(journal)) == 3


def test_the_record_of_an_own_call_hides_none_of_a_child(journal):
    ask = returned(1, "call-1", "deploy", source=child("cc"), flow="approval_required")
    opened(journal, "r", "s", called(0, "call-1", "deploy"), ask).approval(samples.approval())
    assert {each.approval_id for each in approvals(journal)} == {"a1", None}


def test_a_record_may_be_about_a_childs_call_that_its_parent_did_not_make(journal):
    ask = returned(1, "call-1", "deploy", source=child("cc"), flow="approval_required")
    opened(journal, "r", "s", called(0, "other"), ask).approval(samples.approval())
    assert [each.approval_id for each in approvals(journal)] == ["a1"]
