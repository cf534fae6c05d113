"""Each failed run is told with the last thing it did."""

from projections.audit import Audit, AuditFilter
from tests.unit.audited import (
    DAY,
    START,
    called,
    child,
    ended,
    failed,
    opened,
    record,
    response,
    returned,
)


def test_a_failure_tells_the_error_the_last_call_and_the_last_text(clock, journal):
    run = opened(
        journal, "r", "s",
        called(0, "a", "x"), returned(1, "a", "x"), response(2, text="let me see"),
        called(3, "b", "y", step=2, arguments={"path": "/tmp"}),
    )  # fmt: skip
    clock.pass_(5)
    run.append_many([returned(4, "b", "y", step=2, error=True, content="denied"), failed(5)])
    [failure] = Audit(journal).failures()
    assert (failure.run_id, failure.session_id, failure.status) == ("r", "s", "failed")
    assert (failure.error_kind, failure.error) == ("boom", "it broke")
    assert (failure.opened_at, failure.failed_at) == (START, START + 5)
    assert (failure.last_text, failure.place) == ("let me see", "stream:5")
    last = failure.last_call
    assert (last.tool, last.call_id, last.place, last.outcome) == ("y", "b", "stream:3", "error")
    assert (last.arguments, last.result) == ('{"path":"/tmp"}', "denied")


def test_a_call_without_return_and_a_run_without_calls(journal):
    opened(journal, "r1", "s", called(0, "a"), failed(1, "r1"))
    opened(journal, "r2", "s", failed(0, "r2"))
    second, first = Audit(journal).failures()
    assert first.last_call.outcome == "missing"
    assert (second.run_id, second.last_call, second.last_text) == ("r2", None, None)


def test_the_last_call_is_the_runs_own_and_the_last_of_its_id(journal):
    opened(
        journal, "r", "s",
        called(0, "a", step=1), returned(1, "a", step=1), called(2, "a", step=2),
        called(3, "z", source=child("kid")), failed(4),
    )  # fmt: skip
    [failure] = Audit(journal).failures()
    assert (failure.last_call.place, failure.last_call.outcome) == ("stream:2", "missing")


def test_cancelled_runs_are_told_when_asked_for(journal):
    opened(journal, "r1", "s", record(0, "run_cancelled", run_id="r1", reason="stop it"))
    opened(journal, "r2", "s", failed(0, "r2"))
    opened(journal, "r3", "s", ended(0, "r3"))
    audit = Audit(journal)
    assert [each.run_id for each in audit.failures()] == ["r2"]
    assert [each.run_id for each in audit.failures(cancelled=True)] == ["r2", "r1"]
    asked = AuditFilter(status="cancelled")
    assert [each.error for each in audit.failures(asked, cancelled=True)] == ["stop it"]
    assert list(audit.failures(asked)) == []


def test_a_failed_run_that_goes_on_is_no_failure(journal):
    run = opened(journal, "r", "s", failed(0))
    assert len(list(Audit(journal).failures())) == 1
    run.append_many([record(1, "run_start", run_id="r", conversation_id="c"), ended(2)])
    assert list(Audit(journal).failures()) == []


def test_failures_are_narrowed_by_when_they_ended(clock, journal):
    for number in range(3):
        opened(journal, f"r{number}", f"s{number}", failed(0, f"r{number}"))
        clock.pass_(DAY)
    audit = Audit(journal)

    def ids(**filters):
        return [each.run_id for each in audit.failures(AuditFilter(**filters))]

    assert ids() == ["r2", "r1", "r0"]
    assert ids(limit=2) == ["r2", "r1"]
    assert ids(since=START + DAY) == ["r2", "r1"]
    assert ids(until=START + DAY) == ["r0"]
    assert ids(session="s1") == ["r1"]
    assert ids(run="r1") == ["r1"]
    assert ids(run="r1", session="s2") == []
    assert ids(run="r1", since=START + 2 * DAY) == []
    assert ids(run="no") == []
