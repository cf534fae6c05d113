"""The history of a run is every checkpoint, as handed in and in logical order."""

from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journal import Journal
from journal.errors import BrokenBase, CorruptEvent, RunNotFound
from journal.ids import Version, run_stream
from journal.lineage import Lineage
from journal.reader import Reader
from journal.stores.interface import NewEvent
from projections.run_history import history
from tests import samples


@pytest.fixture
def journal():
    with Journal.open("memory://") as opened:
        yield opened


@pytest.fixture
def run(journal):
    return journal.run("r", session_id="s")


def growing(run, count, *, run_id="r", start=0):
    """Take checkpoints of a history that grows by one message each; gives what was handed in."""
    made = []
    for at in range(start, start + count):
        messages = [samples.user(f"message {number}") for number in range(at + 1)]
        made.append(
            samples.checkpoint(f"k{at}", run_id, stream_cursor=at, messages=messages, step=at)
        )
        run.append(samples.record(at))
        run.checkpoint(made[-1])
    return made


def read(journal, run_id="r"):
    return [entry.checkpoint for entry in history(journal, run_id)]


def ids(journal, run_id="r"):
    return [entry.checkpoint_id for entry in history(journal, run_id)]


def fork(journal, source, version, as_run, *, before=None, until=None):
    lineage = Lineage(source, Version(version), before, until, source, "latest")
    point = SimpleNamespace(session_id="s", conversation_id=None, lineage=lineage)
    return journal.fork(point, as_run)


def test_every_checkpoint_comes_back_as_it_was_handed_in(journal, run):
    made = growing(run, 30)
    assert read(journal) == made
    assert [entry.anchor for entry in history(journal, "r")] == list(range(30))
    assert [entry.event.version for entry in history(journal, "r")] == list(range(3, 63, 2))


def test_checkpoints_share_what_is_unchanged(journal, run):
    growing(run, 30)
    for one, other in pairwise(read(journal)):
        before = one["state"]["message_history"]
        after = other["state"]["message_history"]
        assert all(was is now for was, now in zip(before, after, strict=False))


def test_late_arrivals_take_their_place(journal, run):
    for name, cursor in (("c", 7), ("a", 1), ("d", 9), ("b", 7), ("first", 0)):
        run.checkpoint(
            samples.checkpoint(name, stream_cursor=cursor, messages=[samples.user(name)])
        )
    assert ids(journal) == ["first", "a", "c", "b", "d"]
    assert [found["checkpoint_id"] for found in read(journal)] == ids(journal)


def test_a_checkpoint_without_a_cursor_stands_where_it_arrived(journal, run):
    run.checkpoint(samples.checkpoint("start", stream_cursor=None))
    run.append_many([samples.record(0), samples.record(4)])
    run.checkpoint(samples.checkpoint("later", stream_cursor=None))
    run.checkpoint(samples.checkpoint("earlier", stream_cursor=3))
    places = [(entry.anchor, entry.checkpoint_id) for entry in history(journal, "r")]
    assert places == [(-1, "start"), (3, "earlier"), (4, "later")]


CURSORS = st.none() | st.integers(0, 6)
ARRIVALS = st.lists(
    st.tuples(st.sampled_from(["record", "context"]), st.integers(0, 6))
    | st.tuples(st.just("checkpoint"), CURSORS),
    max_size=14,
)


@settings(max_examples=30)
@given(ARRIVALS)
def test_whatever_the_order_of_arrival_the_history_is_in_logical_order(arrivals):
    largest = -1
    expected = []
    with Journal.open("memory://") as journal:
        run = journal.run("r", session_id="s")
        for at, (kind, number) in enumerate(arrivals):
            messages = [samples.user(f"message {place}") for place in range(at % 5)]
            if kind == "record":
                run.append(samples.record(number))
            elif kind == "context":
                run.export_context({"agent_id": "main", "message_history": messages, "n": at})
                continue
            else:
                made = samples.checkpoint(f"k{at}", stream_cursor=number, messages=messages)
                run.checkpoint(made)
                expected.append((largest if number is None else number, at, made))
            largest = max(largest, -1 if number is None else number)
        found = [(entry.anchor, entry.checkpoint) for entry in history(journal, "r")]
    assert found == [
        (anchor, made) for anchor, _, made in sorted(expected, key=lambda one: one[:2])
    ]


class CountingStore:
    """Passes on to a store, and counts how often its streams are read."""

    def __init__(self, store):
        self._store = store
        self.reads = 0

    def __getattr__(self, name):
        return getattr(self._store, name)

    def read_stream(self, *args, **options):
        self.reads += 1
        return self._store.read_stream(*args, **options)


def test_a_history_reads_pages_of_the_run_and_no_checkpoint_by_itself(journal, run):
    messages = []
    for at in range(40):
        messages.append(samples.answer(f"answer {at}"))
        run.checkpoint(samples.checkpoint(f"k{at}", stream_cursor=at, messages=messages))
        run.export_context({"agent_id": "main", "message_history": messages, "n": at})
    counting = CountingStore(journal._store)
    assert len(read(SimpleNamespace(reader=Reader(counting)))) == 40
    assert counting.reads < 10


def test_what_is_appended_meanwhile_is_left_out(journal, run):
    growing(run, 2)
    entries = history(journal, "r")
    next(entries)
    growing(run, 1, start=2)
    assert [entry.checkpoint_id for entry in entries] == ["k1"]
    assert ids(journal) == ["k0", "k1", "k2"]


def test_a_run_without_checkpoints_has_no_history(journal, run):
    run.append(samples.record(0))
    assert read(journal) == []


def test_an_unknown_run_is_an_error_at_once(journal):
    with pytest.raises(RunNotFound):
        history(journal, "nowhere")


def test_a_fork_begins_with_what_it_inherits_and_no_more(journal, run):
    made = growing(run, 6)
    forked = fork(journal, "r", journal.reader.head("r"), "f", before=(3, 2, 0))
    growing(run, 1, start=6)
    own = growing(forked, 2, run_id="f", start=4)
    assert read(journal, "f") == made[:4] + own
    again = fork(journal, "f", journal.reader.head("f"), "g", before=(4, 2, 0))
    last = growing(again, 1, run_id="g", start=5)
    assert read(journal, "g") == made[:4] + own[:1] + last


def test_a_fork_inherits_only_what_was_recorded_by_its_version_and_time(journal, run):
    growing(run, 4)
    events = list(journal.reader.run_events("r", names=("checkpoint.taken.v1",)))
    fork(journal, "r", events[1].version, "by version")
    assert ids(journal, "by version") == ["k0", "k1"]
    fork(journal, "r", journal.reader.head("r"), "by time", until=events[2].recorded_at)
    assert ids(journal, "by time") == ["k0", "k1", "k2"]


def test_a_difference_that_does_not_fit_is_damage_and_named(journal, run):
    growing(run, 1)
    data = (
        b'{"checkpoint_id":"odd","conversation_id":"c","node":"run_start","status":"running",'
        b'"step":0,"messages":0,"stream_cursor":5,"delta":[["-",["nothing"]]],'
        b'"base_version":3,"chain_bytes":9}'
    )
    odd = NewEvent(run_stream("r"), Version(4), "checkpoint.taken.v1", data)
    journal._store.append([odd], now=0)
    entries = history(journal, "r")
    assert next(entries).checkpoint_id == "k0"
    with pytest.raises(CorruptEvent, match="event 4 of 'run:r'"):
        next(entries)


def test_a_checkpoint_that_is_no_object_is_damage_and_named(journal, run):
    data = (
        b'{"checkpoint_id":"odd","conversation_id":"c","node":"run_start","status":"running",'
        b'"step":0,"messages":0,"stream_cursor":5,"delta":[["=",[],7]],"chain_bytes":9}'
    )
    odd = NewEvent(run_stream("r"), Version(2), "checkpoint.taken.v1", data)
    journal._store.append([odd], now=0)
    with pytest.raises(CorruptEvent, match=r"event 2 of 'run:r'.*no object"):
        next(history(journal, "r"))


@pytest.mark.parametrize("source", ["nowhere", "f"])
def test_a_fork_whose_source_is_not_before_it_is_damage_and_names_both(journal, source):
    data = (
        f'{{"run_id":"f","session_id":"s","source":"{source}","source_version":1,'
        '"cursor":"latest"}'
    )
    odd = NewEvent(run_stream("f"), Version(1), "run.forked.v1", data.encode())
    journal._store.append([odd], now=0)
    with pytest.raises(BrokenBase, match=f"event 1 of 'run:f' builds on 'run:{source}'"):
        history(journal, "f")
