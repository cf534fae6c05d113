"""The audit rows of any run are the same however its events are cut into batches."""

import json
from itertools import pairwise
from typing import get_args, get_type_hints

from hypothesis import given, settings
from hypothesis import strategies as st

from journal import Journal
from journal.documents import Walk
from journal.ids import Position, run_stream
from journal.stores.audit import LARGEST, AuditRow, RunFacts
from projections import replay
from projections.audit import RowMaker
from projections.audit.record_rows import AS_CHECKPOINTS
from projections.audit.sequences import Sequences
from projections.order import anchored
from tests.laws.random_runs import runs

SILENT = {"model_stream", "node_start", "node_complete", "checkpoint"}
ROWLESS = {"run.lease_taken.v1", "cursor.saved.v1"}


def hand_in(journal, random_run):
    run = journal.run("r", session_id="s", conversation_id=random_run.conversation_id)
    verbs = {
        "record": run.append,
        "checkpoint": run.checkpoint,
        "context": run.export_context,
        "environment": run.export_environment,
        "approval": run.approval,
        "deferred": run.deferred_tool,
        "run": journal.save_run,
        "status": run.set_status,
        "suspend": run.suspend,
        "resume": run.resume,
    }
    for kind, *what in random_run.items:
        verbs[kind](*what)


class Taken:
    """What becomes of events that are taken in batch by batch."""

    def __init__(self, journal):
        self.walk = Walk()
        self.journal = journal
        self.originals = {event.version: event for event in journal.reader.run_events("r")}
        self.facts = {}
        self.rows = []
        self.maker = self.new_maker()

    def new_maker(self):
        return RowMaker(
            lambda run_ids: {one: self.facts[one] for one in run_ids if one in self.facts},
            lambda event: self.journal.reader.document(self.originals[event.version], self.walk),
        )

    def take(self, events):
        rows, facts = self.maker.take(events)
        self.rows += rows
        self.facts |= {one.run_id: one for one in facts}


def interleaved(events, other):
    """Put the same run beside itself, under another id, with a position of its own each."""
    doubled = []
    for event in events:
        doubled.append(event._replace(position=Position(2 * event.position)))
        if event.run_id is not None:
            position = Position(2 * event.position + 1)
            doubled.append(event._replace(stream=run_stream(other), position=position))
    return doubled


@given(random_run=runs(), cuts=st.lists(st.tuples(st.integers(0, 80), st.booleans()), max_size=5))
@settings(max_examples=60)
def test_batches_change_nothing(random_run, cuts):
    with Journal.open("memory://") as journal:
        hand_in(journal, random_run)
        events = interleaved(list(journal.reader.all_events()), "q")
        whole = Taken(journal)
        whole.take(events)
        split = Taken(journal)
        before = 0
        for cut, anew in sorted(cuts):
            split.take(events[before : max(before, cut)])
            before = max(before, cut)
            if anew:
                split.maker = split.new_maker()
        split.take(events[before:])
        assert split.rows == whole.rows
        assert split.facts == whole.facts


@given(random_run=runs())
@settings(max_examples=60)
def test_rows_and_facts_tell_what_the_run_does(random_run):
    with Journal.open("memory://") as journal:
        hand_in(journal, random_run)
        events = list(journal.reader.all_events())
        taken = Taken(journal)
        taken.take(events)
        facts = taken.facts["r"]
        view = replay(journal, "r").to_json()
    own = [event for event in events if event.run_id == "r"]
    records = [event.data["record"] for event in own if event.name == "stream.recorded.v1"]
    own_records = [record for record in records if record.get("source") is None]
    check_types(taken.rows, facts)
    assert facts.status == view["live"]["status"]
    assert facts.version == own[-1].version
    assert facts.position == own[-1].position
    assert facts.records == sum(record["event"]["kind"] in AS_CHECKPOINTS for record in own_records)
    assert numbers(facts.sequences) == sorted(record["sequence"] for record in records)
    largest = max((record["sequence"] for record in records), default=-1)
    assert facts.anchor >= min(largest, LARGEST)
    entries = list(anchored(own))
    if view["live"]["error"] is not None and entries == sorted(entries):
        error = view["live"]["error"]
        assert (facts.error_kind, facts.error) == (error["error_kind"], error["message"])
    assert facts.conversation_id == view["conversation_id"]
    check_each_event_once(own, taken.rows)


def numbers(ranges):
    found = []
    for one in ranges.split():
        low, _, high = one.partition("-")
        found += range(int(low), int(high or low) + 1)
    return found


def check_each_event_once(own, rows):
    """Each event gives its rows, numbered from 0, and none that is not meaningful does."""
    parts = {}
    for row in rows:
        parts.setdefault(row.version, []).append(row.part)
    assert all(found == [*range(len(found))] for found in parts.values())
    for event in own:
        if event.name in ROWLESS:
            assert event.version not in parts
        elif event.name == "stream.recorded.v1":
            assert (event.version in parts) is (event.data["record"]["event"]["kind"] not in SILENT)
        elif event.name != "run.saved.v1":
            assert event.version in parts


def kinds_of(hint):
    return get_args(hint) or (hint,)


def check_types(rows, facts):
    assert not [row for row in rows if row.kind == "unreadable"]
    wholes = {name for name, hint in get_type_hints(AuditRow).items() if int in kinds_of(hint)}
    for row in rows:
        assert len(row) == len(AuditRow._fields)
        for name, value in row._asdict().items():
            kinds = (bool,) if name == "from_state" else (int,) if name in wholes else (str,)
            assert value is None or type(value) in kinds, name
            assert type(value) is not int or -LARGEST - 1 <= value <= LARGEST, name
    for name, value in facts._asdict().items():
        assert type(value) in kinds_of(get_type_hints(RunFacts)[name]), name
        assert type(value) is not int or -1 <= value <= LARGEST, name
    assert type(json.loads(facts.trace_ids)) is list


@given(st.lists(st.integers(0, 40) | st.integers(2**64 - 5, 2**64 - 1)), st.integers(0, 30))
def test_ranges_hold_exactly_the_numbers_that_were_put_in(put_in, reread):
    ranges = Sequences()
    for at, number in enumerate(put_in):
        ranges.add(number)
        if at == reread:
            ranges = Sequences(str(ranges))
    expected = sorted(set(put_in))
    assert numbers(str(ranges)) == expected
    gaps = sum(1 for low, high in pairwise(expected) if high > low + 1)
    assert len(str(ranges).split()) == (gaps + 1 if expected else 0)
