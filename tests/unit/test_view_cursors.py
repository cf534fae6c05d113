"""Each cursor takes in exactly the events it promises, late arrivals in their place."""

import pytest

from journal import Journal
from journal.codec import encode
from journal.errors import CheckpointNotFound, CursorOutOfRange, RunNotFound
from journal.events import Imported, StreamRecorded
from journal.ids import Version, run_stream
from journal.stores.interface import NewEvent
from projections import (
    LATEST,
    CheckpointCursor,
    MessageCursor,
    StepCursor,
    StreamCursor,
    TimeCursor,
    VersionCursor,
    replay,
)
from tests import samples


@pytest.fixture
def journal():
    with Journal.open("memory://") as opened:
        yield opened


@pytest.fixture
def run(journal):
    return journal.run("r", session_id="s")


def sequences(journal, cursor):
    return [record["sequence"] for record in replay(journal, "r", cursor).tail]


def reached(journal, cursor):
    view = replay(journal, "r", cursor)
    return view.cursor.version, view.cursor.stream, view.cursor.checkpoint_id


def refused(journal, cursor):
    with pytest.raises(CursorOutOfRange) as caught:
        replay(journal, "r", cursor)
    assert caught.value.cursor == str(cursor)
    return caught.value.smallest, caught.value.largest


def response(sequence, step, source=None):
    answer = {"parts": [{"kind": "text", "text": f"step {step}"}], "usage": samples.ZERO}
    made = samples.record(sequence, "model_response", step=step, response=answer)
    return made if source is None else made | {"source": source}


ALL = [
    LATEST,
    StreamCursor(0),
    MessageCursor(0),
    CheckpointCursor("k"),
    StepCursor(0),
    VersionCursor(1),
    TimeCursor("2026-11-29T20:44:38Z"),
]


@pytest.mark.parametrize("cursor", ALL, ids=str)
def test_an_unknown_run_is_named_at_every_cursor(journal, cursor):
    with pytest.raises(RunNotFound):
        replay(journal, "nowhere", cursor)


def test_stream_takes_in_the_checkpoint_taken_right_after_the_record(journal, run):
    run.append_many([samples.record(0), samples.record(1), samples.record(2)])
    run.checkpoint(samples.checkpoint("k1", stream_cursor=1))
    run.checkpoint(samples.checkpoint("k2", stream_cursor=2))
    assert reached(journal, StreamCursor(0)) == (2, 0, None)
    assert reached(journal, StreamCursor(1)) == (5, 1, "k1")
    assert reached(journal, StreamCursor(2)) == (6, 2, "k2")


def test_stream_skips_missing_sequences_and_takes_in_late_ones(journal, run):
    run.append_many([samples.record(3), samples.record(9)])
    assert sequences(journal, StreamCursor(5)) == [3]
    assert sequences(journal, StreamCursor(0)) == []
    assert replay(journal, "r", StreamCursor(0)).cursor.stream is None
    run.append(samples.record(4))
    assert sequences(journal, StreamCursor(5)) == [3, 4]


def test_stream_outside_the_run_states_its_range(journal, run):
    assert refused(journal, StreamCursor(0)) == ("version:1", "version:1")
    run.append(samples.record(3))
    run.append(samples.record(2))
    assert refused(journal, StreamCursor(4)) == ("stream:0", "stream:3")
    run.checkpoint(samples.checkpoint("k", stream_cursor=7))
    assert reached(journal, StreamCursor(7)) == (4, 7, "k")
    assert refused(journal, StreamCursor(2**64 - 1)) == ("stream:0", "stream:7")


def test_facts_stand_where_they_arrived(journal, run):
    run.append(samples.record(0))
    run.suspend("operator")
    run.append(samples.record(1))
    assert replay(journal, "r", StreamCursor(0)).live.status == "waiting"
    assert replay(journal, "r", StreamCursor(1)).live.status == "running"


def test_version_takes_in_the_first_arrivals_in_logical_order(journal, run):
    run.append_many([samples.record(5), samples.record(1), samples.record(3)])
    assert sequences(journal, VersionCursor(1)) == []
    assert sequences(journal, VersionCursor(3)) == [1, 5]
    assert reached(journal, VersionCursor(3)) == (2, 5, None)
    assert sequences(journal, VersionCursor(4)) == [1, 3, 5]
    assert refused(journal, VersionCursor(0)) == ("version:1", "version:4")
    assert refused(journal, VersionCursor(5)) == ("version:1", "version:4")


def test_checkpoint_takes_in_what_stands_before_it_and_itself(journal, run):
    run.checkpoint(samples.checkpoint("late: one", stream_cursor=2))
    run.checkpoint(samples.checkpoint("early", stream_cursor=1))
    run.append_many([samples.record(sequence) for sequence in range(4)])
    assert reached(journal, CheckpointCursor("early")) == (3, 1, "early")
    assert reached(journal, CheckpointCursor("late: one")) == (2, 2, "late: one")
    assert replay(journal, "r", CheckpointCursor("late: one")).live.last_sequence == 2


def test_two_checkpoints_at_one_record_are_told_apart(journal, run):
    run.checkpoint(samples.checkpoint("k1", stream_cursor=2))
    run.checkpoint(samples.checkpoint("k2", stream_cursor=2))
    assert reached(journal, CheckpointCursor("k1")) == (2, 2, "k1")
    assert reached(journal, StreamCursor(2)) == (3, 2, "k2")


def test_a_checkpoint_without_stream_cursor_is_found(journal, run):
    run.append_many([samples.record(4), samples.record(2)])
    run.checkpoint(samples.checkpoint("k", stream_cursor=None))
    run.append_many([samples.record(3), samples.record(5)])
    assert reached(journal, CheckpointCursor("k")) == (4, 4, "k")
    assert replay(journal, "r", CheckpointCursor("k")).tail == ()
    assert sequences(journal, LATEST) == [5]


def test_a_checkpoint_of_another_run_is_not_found(journal, run):
    other = journal.run("other", session_id="s")
    other.checkpoint(samples.checkpoint("k", "other"))
    with pytest.raises(CheckpointNotFound, match="run 'r' has no checkpoint 'k'"):
        replay(journal, "r", CheckpointCursor("k"))


def test_step_ends_before_the_first_response_or_checkpoint_of_a_later_step(journal, run):
    run.append_many([samples.record(0, "model_request", step=0), response(1, 1)])
    run.append_many([samples.record(2, "model_request", step=1), response(4, 2)])
    run.checkpoint(samples.checkpoint("k", stream_cursor=3, step=2))
    run.append(samples.record(5, "model_request", step=2))
    assert reached(journal, StepCursor(0)) == (2, 0, None)
    assert reached(journal, StepCursor(1)) == (4, 2, None)
    assert reached(journal, StepCursor(2)) == (7, 5, "k")
    assert refused(journal, StepCursor(3)) == ("step:0", "step:2")


def test_steps_that_no_response_had_end_at_the_next(journal, run):
    run.append_many([samples.record(0, "model_request", step=0), response(1, 1), response(2, 4)])
    assert reached(journal, StepCursor(3)) == reached(journal, StepCursor(1)) == (3, 1, None)


def test_a_childs_steps_do_not_count(journal, run):
    source = {"kind": "subagent", "agent_id": "w", "agent_name": "w", "source_sequence": 0}
    run.append_many([response(0, 9, source), response(1, 1)])
    assert reached(journal, StepCursor(0)) == (2, 0, None)
    assert refused(journal, StepCursor(2)) == ("step:0", "step:1")


def test_a_run_without_steps_is_all_at_step_zero(journal, run):
    run.append(samples.record(0))
    assert reached(journal, StepCursor(0)) == (2, 0, None)
    assert refused(journal, StepCursor(1)) == ("step:0", "step:0")


def at(second):
    return TimeCursor(f"2001-11-29T20:00:{second:02}Z")


@pytest.fixture
def timed(journal, run):
    """Records 0 to 2, recorded elsewhere at 10, 30 and 20 seconds past eight in the evening."""
    for sequence, second in enumerate([10, 30, 20]):
        moment = at(second).microseconds
        event = StreamRecorded(
            record=samples.record(sequence), imported=Imported(recorded_at=moment)
        )
        version = Version(sequence + 2)
        stored = NewEvent(run_stream("r"), version, event.NAME, encode(event), sequence)
        journal._store.append([stored], now=at(40).microseconds)
    return journal


def test_time_takes_in_what_was_recorded_at_or_before_it(timed):
    assert sequences(timed, at(10)) == [0]
    assert sequences(timed, at(20)) == [0, 2]
    assert sequences(timed, at(29)) == [0, 2]
    assert sequences(timed, at(30)) == [0, 1, 2]
    assert reached(timed, at(20)) == (4, 2, None)


def test_time_after_the_last_event_takes_in_all_of_it(timed):
    assert sequences(timed, TimeCursor("9999-12-31T23:59:59Z")) == [0, 1, 2]


def test_time_before_the_first_event_states_when_the_run_was(timed):
    smallest, largest = refused(timed, at(9))
    assert smallest == "time:2001-11-29T20:00:10.000000Z"
    assert TimeCursor(largest.removeprefix("time:")).microseconds > at(30).microseconds


def test_every_view_knows_its_session(timed):
    assert replay(timed, "r", at(10)).session_id == "s"
