"""What was used is counted once, by whatever one asks for."""

import pytest

from journal.errors import InvalidFilter
from journal.stores.audit import LARGEST
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
    record,
    response,
    returned,
)


def usage(journal, *by, asked=EVERYTHING):
    return list(Audit(journal).usage(asked, by=by))


def totals(journal, *by, **filters):
    found = usage(journal, *by, asked=AuditFilter(**filters))
    return {tuple(each.key.values()): each.total_tokens for each in found}


def test_tokens_are_summed_by_each_key(clock, journal):
    opened(
        journal,
        "r1",
        "s1",
        response(0, input_tokens=3, output_tokens=4, total_tokens=7, requests=1),
    )
    clock.pass_(DAY)
    opened(journal, "r2", "s1", response(0, model="n", total_tokens=20, cache_read_tokens=5))
    opened(journal, "r3", "s2", response(0, total_tokens=100, cache_write_tokens=6))
    assert totals(journal, "session") == {("s2",): 100, ("s1",): 27}
    assert totals(journal, "run") == {("r3",): 100, ("r2",): 20, ("r1",): 7}
    assert totals(journal, "model") == {("m",): 107, ("n",): 20}
    assert totals(journal, "conversation") == {("c",): 127}
    assert totals(journal, "parent") == {(None,): 127}
    assert totals(journal, "day") == {("2026-11-01",): 7, ("2026-11-02",): 120}
    assert list(totals(journal, "session", "day")) == [
        ("s1", "2026-11-01"), ("s1", "2026-11-02"), ("s2", "2026-11-02"),
    ]  # fmt: skip
    assert list(totals(journal, "day", "session")) == [
        ("2026-11-01", "s1"), ("2026-11-02", "s1"), ("2026-11-02", "s2"),
    ]  # fmt: skip
    first = usage(journal, "run")[-1]
    assert (first.responses, first.requests, first.input_tokens, first.output_tokens) == (
        1,
        1,
        3,
        4,
    )
    assert first.calls is None


def test_the_largest_come_first_unless_by_day(journal):
    for run_id, tokens in (("a", 1), ("b", 3), ("c", 2)):
        opened(journal, run_id, "s", response(0, total_tokens=tokens))
    assert list(totals(journal, "run")) == [("b",), ("c",), ("a",)]
    assert list(totals(journal, "run", limit=2)) == [("b",), ("c",)]


def test_a_response_recorded_again_is_counted_once(journal):
    opened(
        journal, "r", "s",
        response(0, total_tokens=5), response(7, total_tokens=5), response(8, step=2, total_tokens=5),
    )  # fmt: skip
    [found] = usage(journal, "run")
    assert (found.responses, found.total_tokens) == (2, 10)


def test_a_merged_child_is_counted_once(journal):
    opened(
        journal, "r", "s",
        response(0, total_tokens=5), response(1, source=child("kid"), total_tokens=70),
    )  # fmt: skip
    assert totals(journal, "run") == {("r",): 75}
    assert totals(journal, "agent") == {("worker",): 70, (None,): 5}
    opened(journal, "kid", "s", response(0, total_tokens=70))
    assert totals(journal, "run") == {("kid",): 70, ("r",): 5}
    assert totals(journal, "session") == {("s",): 75}


def test_sums_saturate(journal):
    opened(journal, "r", "s", *(response(at, at, total_tokens=2**64 - 1) for at in range(3)))
    assert totals(journal, "run") == {("r",): LARGEST}


def test_costs_are_what_hosts_estimated(journal):
    snapshot = {
        "run_id": "r", "latest_usage": {}, "entries": [], "agent_usages": {}, "model_usages": {},
        "estimate_pricing": {"amount_micros_usd": 1200},
    }  # fmt: skip
    opened(
        journal,
        "r",
        "s",
        record(0, "custom", event={"kind": "usage_snapshot", "payload": snapshot}),
    )
    [found] = usage(journal, "session")
    assert (found.cost_micros, found.responses) == (1200, 0)


def test_tools_have_calls_and_no_tokens(journal):
    opened(
        journal, "r", "s",
        called(0, "a", "x"), returned(1, "a", "x", duration=10),
        called(2, "b", "x"), returned(3, "b", "x", duration=30, error=True),
        called(4, "c", "x"), called(5, "d", "y"), response(6, total_tokens=9),
    )  # fmt: skip
    x, y = usage(journal, "tool")
    assert (x.key, x.calls, x.failed_calls, x.missing_returns) == ({"tool": "x"}, 3, 1, 1)
    assert (x.duration_ms, x.total_tokens, x.responses) == (40, None, None)
    assert (y.key, y.calls, y.missing_returns) == ({"tool": "y"}, 1, 1)
    assert [tuple(each.key.values()) for each in usage(journal, "tool", "run", "session")] == [
        ("x", "r", "s"), ("y", "r", "s"),
    ]  # fmt: skip


def test_usage_is_narrowed(clock, journal):
    opened(journal, "r1", "s1", response(0, total_tokens=1), ended(1, "r1"))
    clock.pass_(DAY)
    opened(journal, "r2", "s2", response(0, total_tokens=2), failed(1, "r2"))
    assert totals(journal, "run", since=START + DAY) == {("r2",): 2}
    assert totals(journal, "run", until=START + DAY) == {("r1",): 1}
    assert totals(journal, "run", status="failed") == {("r2",): 2}
    assert totals(journal, "run", session="s1") == {("r1",): 1}
    assert totals(journal, "run", run="r2", status="completed") == {}


@pytest.mark.parametrize(
    "by", [(), ("week",), ("run", "run"), ("tool", "model"), "run", ("run; --",)]
)
def test_other_keys_are_refused_at_once(journal, by):
    with pytest.raises(InvalidFilter):
        Audit(journal).usage(by=by)
