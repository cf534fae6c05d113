"""A run's timeline is in logical order, a trace's in time order, over all runs on it."""

import pytest

from journal.errors import InvalidFilter, RunNotFound
from projections.audit import Audit, AuditFilter
from tests import samples
from tests.unit.audited import DAY, START, called, child, ended, opened, response, returned


def kinds(answer):
    return [each.row.kind for each in answer]


def on_trace(run, checkpoint_id, trace_id, **fields):
    made = samples.checkpoint(checkpoint_id, run.run_id, **fields)
    made["resume"]["trace_context"] = {"trace_id": trace_id}
    run.checkpoint(made)


def test_a_timeline_is_in_logical_order_with_offsets_from_the_start(clock, journal):
    run = opened(journal, "r", "s", called(4, "c1"))
    clock.pass_(250)
    run.append_many([response(2), returned(5, "c1"), ended(6)])
    rows = list(Audit(journal).timeline("r"))
    assert kinds(rows) == [
        "run.opened",
        "model_response",
        "tool_call",
        "tool_return",
        "run_complete",
    ]
    assert [each.place for each in rows] == [
        "version:1",
        "stream:2",
        "stream:4",
        "stream:5",
        "stream:6",
    ]
    assert [each.offset for each in rows] == [0, 250, 0, 250, 250]


def test_a_sequence_beyond_64_bits_is_named_by_its_version(journal):
    opened(journal, "r", "s", response(2**64 - 1), called(2**63 - 2, "c"))
    assert [each.place for each in Audit(journal).timeline("r")] == [
        "version:1", f"stream:{2**63 - 2}", "version:2",
    ]  # fmt: skip


def test_a_timeline_is_narrowed(clock, journal):
    run = opened(journal, "r", "s", called(0, "c1"))
    clock.pass_(DAY)
    run.append(ended(1))
    audit = Audit(journal)
    assert kinds(audit.timeline("r", AuditFilter(since=START + DAY))) == ["run_complete"]
    assert kinds(audit.timeline("r", AuditFilter(limit=1))) == ["run.opened"]
    assert kinds(audit.timeline("r", AuditFilter(session="other"))) == []
    assert kinds(audit.timeline("r", AuditFilter(status="failed"))) == []


def test_an_unknown_run_is_an_error(journal):
    opened(journal)
    for run_id in ("no", "", "r'", "%"):
        with pytest.raises(RunNotFound):
            list(Audit(journal).timeline(run_id))
    with pytest.raises(InvalidFilter):
        list(Audit(journal).timeline("\ud800"))


def test_a_trace_goes_over_all_its_runs_in_time_order(clock, journal):
    first = opened(journal, "r1", "s")
    on_trace(first, "k1", "t1", stream_cursor=None)
    clock.pass_(10)
    second = opened(journal, "r2", "s")
    on_trace(second, "k1", "t1", stream_cursor=None)
    clock.pass_(10)
    first.append(called(0, "a"))
    clock.pass_(10)
    second.append(called(0, "b"))
    third = opened(journal, "r3", "s", called(0, "x"))
    on_trace(third, "k1", "t2", stream_cursor=None)
    found = [(each.row.run_id, each.row.kind, each.offset) for each in Audit(journal).trace("t1")]
    assert found == [
        ("r1", "run.opened", 0),
        ("r1", "checkpoint.taken", 0),
        ("r2", "run.opened", 10),
        ("r2", "checkpoint.taken", 10),
        ("r1", "tool_call", 20),
        ("r2", "tool_call", 30),
    ]
    assert [each.row.run_id for each in Audit(journal).trace("t1", AuditFilter(run="r2"))] == [
        "r2"
    ] * 3
    assert len(list(Audit(journal).trace("t1", AuditFilter(limit=2)))) == 2
    assert list(Audit(journal).trace("t1", AuditFilter(session="other"))) == []
    assert list(Audit(journal).trace("t' OR 1=1")) == []


def test_a_run_on_two_traces_shows_those_of_the_one_asked_for(journal):
    run = opened(journal, "r", "s")
    on_trace(run, "k1", "t1", stream_cursor=0)
    run.append(called(1, "a"))
    on_trace(run, "k2", "t2", stream_cursor=2)
    run.append(called(3, "b"))
    calls = [each.row.call_id for each in Audit(journal).trace("t2") if each.row.call_id]
    assert calls == ["b"]
    assert [each.row.item_id for each in Audit(journal).trace("t1") if each.row.item_id] == ["k1"]


def test_a_child_on_the_trace_is_not_told_twice(journal):
    run = opened(journal, "r", "s")
    on_trace(run, "k1", "t1", stream_cursor=None)
    run.append_many([called(0, "a"), called(1, "b", source=child("kid"))])
    assert [each.row.call_id for each in Audit(journal).trace("t1") if each.row.call_id] == [
        "a",
        "b",
    ]
    kid = opened(journal, "kid", "s")
    on_trace(kid, "k1", "t1", stream_cursor=None)
    kid.append(called(0, "b"))
    found = [
        (each.row.run_id, each.row.call_id)
        for each in Audit(journal).trace("t1")
        if each.row.call_id
    ]
    assert found == [("r", "a"), ("kid", "b")]
