"""A journal in numbers."""

import random

import pytest

from projections.audit import Audit, AuditFilter
from projections.audit.durations import Durations
from tests.unit.audited import called, ended, failed, opened, response, returned


def test_runs_events_tokens_and_tools_are_counted(journal):
    with opened(
        journal, "r1", "s",
        called(0, "a", "x"), returned(1, "a", "x", duration=10),
        called(2, "b", "x"), returned(3, "b", "x", duration=30, error=True),
        called(4, "c", "y"), response(5, total_tokens=9), ended(6, "r1"),
    ):  # fmt: skip
        pass
    opened(journal, "r2", "s", failed(0, "r2"))
    opened(journal, "r3", "s", failed(0, "r3"))
    opened(journal, "r4", "s")
    stats = Audit(journal).stats()
    assert list(stats.runs.items()) == [("failed", 2), ("completed", 1), ("unknown", 1)]
    by_name = {each.name: each for each in stats.events}
    assert by_name["stream.recorded.v1"].events == 9
    assert by_name["run.opened.v1"].events == 4
    assert all(each.bytes > 0 for each in stats.events)
    assert sum(each.events for each in stats.events) == journal.reader.last_position()
    assert (stats.usage.responses, stats.usage.total_tokens) == (1, 9)
    x, y = stats.tools
    assert (x.tool, x.calls, x.failed, x.missing, x.failure_rate) == ("x", 2, 1, 0, 0.5)
    assert (x.p50_ms, x.p99_ms) == (10, 30)
    assert (y.tool, y.calls, y.missing, y.p50_ms) == ("y", 1, 1, None)
    assert stats.more_tools == 0
    assert stats.to_json()["tools"][0]["failure_rate"] == 0.5


def test_an_empty_journal_has_numbers(journal):
    stats = Audit(journal).stats()
    assert (stats.runs, stats.events, stats.tools) == ({}, (), ())
    assert (stats.usage.responses, stats.usage.cost_micros) == (0, 0)


def test_numbers_are_narrowed(journal):
    for number in range(3):
        opened(
            journal,
            f"r{number}",
            f"s{number}",
            called(0, "a", f"t{number}"),
            ended(1, f"r{number}"),
        )
    stats = Audit(journal).stats(AuditFilter(session="s1"))
    assert (stats.runs, stats.events, [each.tool for each in stats.tools]) == (
        {"completed": 1}, None, ["t1"],
    )  # fmt: skip
    stats = Audit(journal).stats(AuditFilter(limit=1))
    assert (len(stats.tools), stats.more_tools, stats.runs) == (1, 2, {"completed": 3})
    assert stats.events is not None
    assert Audit(journal).stats(AuditFilter(status="crashed")).runs == {}


@pytest.mark.parametrize("most", [9, 999, 10**6, 2**63 - 1])
def test_percentiles_are_right_to_three_digits(most):
    rng = random.Random(most)
    for size in (1, 2, 3, 100, 1000):
        values = sorted(rng.randint(0, most) for _ in range(size))
        durations = Durations()
        for value in values:
            durations.add(value)
        for percent in (50, 99, 100):
            exact = values[-(-size * percent // 100) - 1]
            found = durations.percentile(percent)
            assert found <= exact <= found * 1.01 + 0.5
            assert exact > 999 or found == exact
