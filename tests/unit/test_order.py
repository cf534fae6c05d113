"""Every event has one place in a run, whatever the order of arrival."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal.errors import CorruptEvent
from projections.order import anchored
from tests.unit.builders import Arrivals


def versions(run):
    return [entry.version for entry in sorted(run.entries())]


def anchors(run):
    return [entry.anchor for entry in run.entries()]


def test_a_records_anchor_is_its_sequence():
    run = Arrivals().record(7, "model_request", step=0).record(3, "model_request", step=0)
    assert anchors(run) == [-1, 7, 3]
    assert versions(run) == [1, 3, 2]


def test_a_checkpoints_anchor_is_its_stream_cursor():
    run = Arrivals().checkpoint("k", 5).record(9, "model_request", step=0)
    assert anchors(run) == [-1, 5, 9]


def test_a_checkpoint_without_cursor_stands_at_the_largest_anchor_before_it():
    run = Arrivals().record(4, "model_request", step=0).record(2, "model_request", step=0)
    run.checkpoint("k")
    assert anchors(run) == [-1, 4, 2, 4]


def test_a_fact_stands_at_the_largest_anchor_of_lower_versions():
    run = Arrivals().fact("run.suspended.v1", reason="x").checkpoint("k", 8)
    run.record(3, "model_request", step=0).fact("run.resumed.v1")
    assert anchors(run) == [-1, -1, 8, 3, 8]


def test_later_arrivals_do_not_move_what_is_there():
    run = Arrivals().record(4, "model_request", step=0).fact("run.resumed.v1")
    before = anchors(run)
    run.record(9, "model_request", step=0).record(0, "model_request", step=0)
    assert anchors(run)[:3] == before


def test_records_come_before_others_at_an_anchor():
    run = Arrivals().checkpoint("k", 5).record(5, "model_request", step=0)
    assert versions(run) == [1, 3, 2]


def test_others_at_an_anchor_stand_in_the_order_of_arrival():
    run = Arrivals().record(5, "model_request", step=0)
    run.fact("run.suspended.v1", reason="x").checkpoint("k", 5).fact("run.resumed.v1")
    assert versions(run) == [1, 2, 3, 4, 5]


def test_sequences_reach_to_the_end_of_64_bits():
    run = Arrivals().record(2**64 - 1, "model_request", step=0).record(0, "model_request", step=0)
    run.checkpoint("k", 2**64 - 1)
    assert versions(run) == [1, 3, 2, 4]


@given(st.lists(st.integers(0, 30), unique=True), st.data())
def test_records_are_ordered_by_sequence_however_they_arrive(sequences, data):
    run = Arrivals()
    for sequence in sequences:
        run.record(sequence, "model_request", step=0)
        if data.draw(st.booleans()):
            run.fact("run.resumed.v1")
    ordered = [entry for entry in sorted(run.entries()) if entry.rank == 0]
    assert [entry.anchor for entry in ordered] == sorted(sequences)


@pytest.mark.parametrize(
    "record", [{}, {"sequence": 1}, {"sequence": 1, "event": {}}, {"event": {"kind": "x"}}, None, 3]
)
def test_a_stored_record_without_sequence_or_kind_is_damage_and_named(record):
    run = Arrivals().fact("stream.recorded.v1", record=record)
    with pytest.raises(CorruptEvent, match="event 2 of 'run:r'"):
        list(anchored(run.events))
