"""What a real runtime handed in comes back equal, and every view of it is the right one."""

import functools

import pytest

from journal import Journal
from journal.json_door import equal
from journal.times import format_time
from projections import parse_cursor, replay
from tests import corpus
from tests.laws.compare import assert_same_view
from tests.recorded import FILES

LONG = "long"
TAPPED = "stream, tapped first"


@functools.cache
def recorded(name):
    """Give a corpus file to a journal, once; `TAPPED` hands in the live records before."""
    calls = corpus.Calls("stream" if name == TAPPED else name)
    journal = Journal.open("memory://")
    if name == TAPPED:
        (run_id,) = calls.run_ids
        with journal.run(run_id, session_id="stream") as run:
            for record in corpus.live_records("stream"):
                run.append(record)
    calls.give(journal)
    oracles = {run_id: corpus.oracle_of(journal, run_id) for run_id in calls.run_ids}
    return journal, calls, oracles


def view(journal, run_id, cursor):
    return replay(journal, run_id, at=parse_cursor(cursor)).to_json()


def check_cursors(name, cursors_of):
    journal, _, oracles = recorded(name)
    for run_id, oracle in oracles.items():
        for cursor in cursors_of(oracle):
            assert_same_view(view(journal, run_id, cursor), oracle.view(cursor))


EVERY = pytest.mark.parametrize("name", [*FILES, TAPPED])


@EVERY
def test_every_checkpoint_comes_back_equal_at_its_id(name):
    journal, calls, _ = recorded(name)
    for run_id in calls.run_ids:
        for checkpoint in calls.checkpoints[run_id]:
            seen = view(journal, run_id, f"checkpoint:{checkpoint['checkpoint_id']}")
            assert equal(seen["checkpoint"], checkpoint)
            assert equal(seen["evidence"], checkpoint["resume"])


@EVERY
def test_every_stream_record_comes_back_equal(name):
    journal, calls, _ = recorded(name)
    for run_id in calls.run_ids:
        events = journal.reader.run_events(run_id, names=("stream.recorded.v1",))
        held = sorted((event.data["record"] for event in events), key=lambda one: one["sequence"])
        handed = calls.records[run_id]
        if name == TAPPED:
            handed = corpus.live_records("stream")
        assert len(held) == len(handed)
        for one, other in zip(held, handed, strict=True):
            assert equal(one, other)


@EVERY
def test_the_tail_holds_the_records_after_the_checkpoint_as_handed_in(name):
    journal, calls, _ = recorded(name)
    for run_id in calls.run_ids:
        records = {record["sequence"]: record for record in calls.records[run_id]}
        if name == TAPPED:
            records = {record["sequence"]: record for record in corpus.live_records("stream")}
        for checkpoint in calls.checkpoints[run_id][::10]:
            taken = checkpoint["resume"]["cursor"]["stream_cursor"]
            at = min(taken + 2, max(records))
            seen = view(journal, run_id, f"stream:{at}")
            assert equal(seen["tail"], [records[one] for one in range(taken + 1, at + 1)])


@EVERY
def test_the_latest_checkpoint_is_the_last_one_taken(name):
    journal, calls, _ = recorded(name)
    for run_id in calls.run_ids:
        seen = view(journal, run_id, "latest")
        assert equal(seen["checkpoint"], calls.checkpoints[run_id][-1])


@EVERY
def test_what_was_exported_at_the_end_comes_back_equal(name):
    journal, calls, _ = recorded(name)
    for run_id, commit in calls.commits.items():
        seen = view(journal, run_id, "latest")
        assert equal(seen["context_state"], commit["context_state"])
        assert equal(seen["environment_state"], commit["environment_state"])
        assert equal(seen["approvals"], commit["approvals"])
        assert equal(seen["deferred_tools"], commit["deferred_tools"])


@EVERY
def test_at_every_stream_cursor_the_view_is_the_fold_from_scratch(name):
    def cursors(oracle):
        anchors = sorted({event.anchor for event in oracle.events if event.anchor >= 0})
        return [*(f"stream:{anchor}" for anchor in anchors), "latest"]

    check_cursors(name, cursors)


@EVERY
def test_at_every_number_of_messages_the_view_is_the_fold_from_scratch(name):
    stride = 9 if name == LONG else 1

    def cursors(oracle):
        found = [f"message:{number}" for number in range(0, max(oracle.counts) + 1, stride)]
        return found + [f"{cursor}@1" for cursor in found]

    check_cursors(name, cursors)


@EVERY
def test_before_every_step_the_view_is_the_fold_from_scratch(name):
    stride = 9 if name == LONG else 1

    def cursors(oracle):
        steps = [event.body["run_step"] for event in oracle.events if event.kind == "checkpoint"]
        return [f"step:{step}" for step in range(0, max(steps) + 1, stride)]

    check_cursors(name, cursors)


@EVERY
def test_at_versions_and_times_the_view_is_the_fold_from_scratch(name):
    stride = 101 if name == LONG else 7

    def cursors(oracle):
        early = oracle.arrivals[::stride]
        return [
            *(f"version:{arrival.version}" for arrival in early),
            *(f"time:{format_time(arrival.recorded_at)}" for arrival in early),
            f"version:{len(oracle.arrivals)}",
        ]

    check_cursors(name, cursors)


def test_a_live_tap_changes_nothing_but_what_only_the_tap_saw():
    tapped, calls, _ = recorded(TAPPED)
    committed, _, _ = recorded("stream")
    (run_id,) = calls.run_ids
    for sequence in range(len(calls.records[run_id])):
        one = view(tapped, run_id, f"stream:{sequence}")
        other = view(committed, run_id, f"stream:{sequence}")
        for seen in (one, other):
            del seen["cursor"]["version"]
            for record in seen["tail"]:
                record["event"].get("tool_return", {}).pop("private_metadata", None)
        assert_same_view(one, other)
