"""Every tool call is told once, with what it returned."""

import pytest

from journal.errors import InvalidFilter
from projections.audit import Audit, AuditFilter
from projections.audit.filters import EVERYTHING
from tests.unit.audited import (
    DAY,
    START,
    called,
    child,
    ended,
    failed,
    opened,
    response,
    returned,
)


def tools(journal, asked=EVERYTHING, **more):
    return list(Audit(journal).tools(asked, **more))


def one(journal, **more):
    [call] = tools(journal, **more)
    return call


def test_a_call_is_joined_with_its_return(clock, journal):
    run = opened(journal, "r", "s", called(0, "c1", arguments={"city": "Paris"}))
    clock.pass_(2_500_000)
    run.append(returned(1, "c1", content="sunny"))
    call = one(journal)
    assert (call.run_id, call.session_id, call.conversation_id) == ("r", "s", "c")
    assert (call.tool, call.call_id, call.step, call.place) == ("lookup", "c1", 1, "stream:0")
    assert (call.called_at, call.returned_at) == (START, START + 2_500_000)
    assert (call.duration_ms, call.duration_given) == (2500, False)
    assert (call.outcome, call.failed, call.waited, call.attempts) == ("ok", False, False, 1)
    assert (call.arguments, call.result) == ('{"city":"Paris"}', "sunny")


def test_the_duration_that_the_return_gives_wins(clock, journal):
    run = opened(journal, "r", "s", called(0, "c1"))
    clock.pass_(9_000_000)
    run.append(returned(1, "c1", duration=17))
    call = one(journal)
    assert (call.duration_ms, call.duration_given) == (17, True)


def test_a_missing_return_is_told_and_is_no_failure(journal):
    opened(journal, "r", "s", called(0, "c1"), failed(1))
    call = one(journal)
    assert (call.outcome, call.returned_at, call.duration_ms, call.result) == (
        "missing", None, None, None,
    )  # fmt: skip
    assert tools(journal, failed=True) == []


@pytest.mark.parametrize(
    ("flow", "outcome"), [("approval_required", "approval_required"), ("call_deferred", "deferred")]
)
def test_returns_that_ask_for_somebody_are_no_failures(journal, flow, outcome):
    opened(journal, "r", "s", called(0, "c1"), returned(1, "c1", error=True, flow=flow))
    call = one(journal)
    assert (call.outcome, call.waited, call.failed) == (outcome, True, False)
    assert tools(journal, failed=True) == []


def test_the_last_return_in_logical_order_decides_and_the_wait_is_told(journal):
    run = opened(journal, "r", "s", called(0, "c1"))
    run.append(returned(5, "c1", content="deployed"))
    run.append(returned(1, "c1", flow="approval_required", content="may I?"))
    call = one(journal)
    assert (call.outcome, call.waited, call.result) == ("ok", True, "deployed")


def test_a_call_recorded_again_is_one_call(clock, journal):
    run = opened(journal, "r", "s", called(0, "c1"))
    clock.pass_(1_000_000)
    run.append_many([called(1, "c1"), returned(2, "c1", error=True)])
    call = one(journal)
    assert (call.attempts, call.place, call.called_at) == (2, "stream:1", START + 1_000_000)
    assert one(journal, failed=True) == call


def test_an_attempt_after_the_window_moves_the_call_out_of_it(clock, journal):
    run = opened(journal, "r", "s", called(0, "c1"))
    clock.pass_(DAY)
    run.append(called(1, "c1"))
    assert tools(journal, AuditFilter(until=START + DAY)) == []
    assert len(tools(journal, AuditFilter(since=START + DAY))) == 1


def test_the_same_id_in_another_step_is_another_call(journal):
    opened(
        journal, "r", "s",
        called(0, "c1", step=1), returned(1, "c1", step=1, content="first"),
        called(2, "c1", step=2), returned(3, "c1", step=2, content="second", error=True),
    )  # fmt: skip
    assert [(call.step, call.result, call.attempts) for call in tools(journal)] == [
        (2, "second", 1), (1, "first", 1),
    ]  # fmt: skip
    assert [call.step for call in tools(journal, failed=True)] == [2]


def test_the_same_id_in_another_run_is_another_call(journal):
    opened(journal, "r1", "s", called(0, "c1"), returned(1, "c1"))
    opened(journal, "r2", "s", called(0, "c1"))
    assert [(call.run_id, call.outcome) for call in tools(journal)] == [
        ("r2", "missing"), ("r1", "ok"),
    ]  # fmt: skip


def test_a_return_without_its_call_is_told(journal):
    opened(journal, "r", "s", returned(3, "c1", error=True, content="no"))
    call = one(journal)
    assert (call.attempts, call.called_at, call.outcome, call.place) == (
        0,
        None,
        "error",
        "stream:3",
    )
    assert one(journal, failed=True) == call


def test_a_late_call_finds_its_return(journal):
    run = opened(journal, "r", "s", returned(3, "c1"))
    run.append(called(2, "c1"))
    call = one(journal)
    assert (call.attempts, call.outcome, call.place) == (1, "ok", "stream:2")


def test_a_merged_child_counts_where_it_has_no_stream_of_its_own(journal):
    source = child("kid")
    opened(
        journal, "r", "s",
        called(0, "c1", source=source), returned(1, "c1", source=source, error=True),
    )  # fmt: skip
    call = one(journal)
    assert (call.run_id, call.child_run_id, call.agent) == ("r", "kid", "worker")
    assert one(journal, failed=True) == call
    opened(journal, "kid", "s", called(0, "c1"), returned(1, "c1", error=True))
    assert [(call.run_id, call.child_run_id) for call in tools(journal)] == [("kid", None)]
    assert [call.run_id for call in tools(journal, failed=True)] == ["kid"]


def test_a_child_and_its_parent_may_use_the_same_id(journal):
    source = child("kid")
    opened(
        journal, "r", "s",
        called(0, "c1"), called(1, "c1", source=source),
        returned(2, "c1", source=source, error=True), returned(3, "c1"),
    )  # fmt: skip
    assert [(call.child_run_id, call.outcome) for call in tools(journal)] == [
        ("kid", "error"), (None, "ok"),
    ]  # fmt: skip


def test_questions_are_narrowed(clock, journal):
    opened(journal, "r1", "s1", called(0, "a", "x"), ended(1, "r1"))
    clock.pass_(DAY)
    opened(journal, "r2", "s2", called(0, "b", "y"), failed(1, "r2"))
    clock.pass_(DAY)
    opened(journal, "r3", "s1", called(0, "c", "x"), called(1, "d", "y"))

    def ids(**filters):
        tool = filters.pop("tool", None)
        return "".join(call.call_id for call in tools(journal, AuditFilter(**filters), tool=tool))

    assert ids() == "dcba"
    assert ids(limit=2) == "dc"
    assert ids(limit=10**30) == "dcba"
    assert ids(session="s1") == "dca"
    assert ids(run="r2") == "b"
    assert ids(status="failed") == "b"
    assert ids(status="completed", session="s1") == "a"
    assert ids(tool="x") == "ca"
    assert ids(since=START + DAY) == "dcb"
    assert ids(until=START + DAY) == "a"
    assert ids(since=START + DAY, until=START + DAY) == ""
    assert ids(tool="x' OR '1'='1", status="%") == ""


@pytest.mark.parametrize(
    "name", ["it's", '"', "%", "a_b", "'; DROP TABLE audit_rows; --", "\0", "é\n"]
)
def test_names_are_data(journal, name):
    opened(journal, name, name, called(0, name, name), returned(1, name, name))
    opened(journal, "other", "other", called(0, "x", "x"))
    asked = AuditFilter(session=name, run=name)
    assert [call.call_id for call in tools(journal, asked, tool=name)] == [name]


def test_a_lone_surrogate_is_refused(journal):
    with pytest.raises(InvalidFilter, match="surrogate"):
        tools(journal, tool="\ud800")


def test_many_calls_are_told_once_each_newest_first(journal):
    run = opened(journal)
    for start in range(0, 3000, 1000):
        run.append_many(
            record
            for at in range(start, start + 1000, 2)
            for record in (called(at, f"c{at}"), returned(at + 1, f"c{at}", error=at % 100 == 0))
        )
    assert [call.call_id for call in tools(journal)] == [f"c{at}" for at in range(2998, -2, -2)]
    assert len(tools(journal, failed=True)) == 30
    assert [call.call_id for call in tools(journal, AuditFilter(limit=2), failed=True)] == [
        "c2900", "c2800",
    ]  # fmt: skip


def test_what_is_recorded_while_an_answer_is_read_does_not_harm_it(journal):
    run = opened(journal, "r", "s", *(called(at, f"c{at}") for at in range(200)))
    answer = Audit(journal).tools()
    first = next(answer)
    run.append_many([called(500, "late"), response(501, text="x")])
    found = [first.call_id, *(call.call_id for call in answer)]
    assert found == [f"c{at}" for at in range(199, -1, -1)]
    assert one(journal, asked=AuditFilter(limit=1)).call_id == "late"
