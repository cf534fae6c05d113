"""What is missing is told: sequences, returns, ends, and events that cannot be read."""

import pytest

from journal import Journal
from journal.ids import run_stream
from projections.audit import Audit, AuditFilter
from projections.audit.gaps import missing_sequences
from tests.unit.audited import START, called, child, ended, failed, opened, record, returned


def gaps(journal, **filters):
    return list(Audit(journal).gaps(AuditFilter(**filters)))


def told(journal, **filters):
    return [
        (each.kind, each.run_id, each.missing or each.call_id) for each in gaps(journal, **filters)
    ]


@pytest.mark.parametrize(
    ("sequences", "missing"),
    [
        ("", None),
        ("0-52", None),
        ("5", None),
        ("0-52 54 60-61", "53 55-59"),
        ("3 5", "4"),
        ("0 18446744073709551615", "1-18446744073709551614"),
    ],
)
def test_what_is_between_ranges_is_missing(sequences, missing):
    assert missing_sequences(sequences) == missing


def test_very_many_stretches_are_cut_short():
    shown = missing_sequences(" ".join(str(at) for at in range(0, 1000, 2)))
    assert shown.startswith("1 3 5 ")
    assert shown.endswith(" 199 ...")


def test_missing_sequences_are_told(journal):
    with opened(journal, "r", "s", called(0, "a"), returned(3, "a"), ended(9)):
        pass
    [gap] = gaps(journal)
    assert (gap.kind, gap.run_id, gap.missing) == ("sequences", "r", "1-2 4-8")
    assert (gap.run_status, gap.place) == ("completed", "stream:9")


def test_calls_without_returns_in_runs_that_ended_are_told(clock, journal):
    opened(
        journal, "r", "s",
        called(0, "a"), called(1, "b"), returned(2, "b"), called(3, "c", source=child("kid")), failed(4),
    )  # fmt: skip
    assert told(journal) == [("call", "r", "c"), ("call", "r", "a")]
    [_, gap] = gaps(journal)
    assert (gap.tool, gap.place, gap.recorded_at, gap.run_status) == (
        "lookup",
        "stream:0",
        START,
        "failed",
    )


def test_a_call_that_returned_in_another_step_is_told(journal):
    opened(
        journal, "r", "s",
        called(0, "a", step=1), returned(1, "a", step=1), called(2, "a", step=2), ended(3),
    )  # fmt: skip
    assert [(each.kind, each.place) for each in gaps(journal)] == [("call", "stream:2")]


def test_runs_that_are_written_or_wait_have_no_gaps(journal):
    opened(journal, "r1", "s", called(0, "a"))
    opened(
        journal, "r2", "s", called(0, "a"), record(1, "suspended", node="tool_call", reason="ask")
    )
    assert gaps(journal) == []


def test_runs_that_nobody_is_at_never_ended(journal):
    with opened(
        journal, "r", "s", record(0, "run_start", run_id="r", conversation_id="c"), called(1, "a")
    ):
        pass
    assert told(journal) == [("unended", "r", None), ("call", "r", "a")]
    assert [each.run_status for each in gaps(journal)] == ["crashed", "crashed"]
    assert told(journal, status="crashed") == told(journal)
    assert told(journal, status="running") == []


def test_damaged_events_are_told(tmp_path, flip):
    path = tmp_path / "runs.db"
    with (
        Journal.open(path) as journal,
        opened(journal, "r", "s", called(0, "a"), returned(1, "a"), ended(2)),
    ):
        pass
    flip(path, run_stream("r"), 2)
    with Journal.open(path) as journal:
        first, *_ = gaps(journal)
        assert (first.kind, first.run_id) == ("damaged", None)
        assert first.position == 3
        assert first.reason
        assert "damaged" not in {each.kind for each in gaps(journal, session="s")}


def test_gaps_are_narrowed(journal):
    for number in range(3):
        with opened(journal, f"r{number}", f"s{number}", called(0, "a"), ended(2, f"r{number}")):
            pass
    assert len(gaps(journal)) == 6
    assert told(journal, limit=1) == [("sequences", "r2", "1")]
    assert told(journal, session="s1") == [("sequences", "r1", "1"), ("call", "r1", "a")]
    assert told(journal, run="r0") == [("sequences", "r0", "1"), ("call", "r0", "a")]
    assert told(journal, status="failed") == []
    assert told(journal, since=START * 2) == []
