"""Whoever follows a journal gets every event once, in order, and waits for the next."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest

from journal import Journal
from journal.errors import (
    CorruptEvent,
    InvalidRecord,
    JournalClosed,
    PositionOutOfRange,
    RunNotFound,
)
from journal.ids import Version, run_stream
from journal.stores import NewEvent
from tests import samples
from tests.unit.sqlite_files import connect

PATIENCE = 60
WRITERS = 4
GROUPS = 40
"""Appends of each writer."""


def fill(journal, run_id, count, first=0):
    with journal.run(run_id, session_id="s") as run:
        run.append_many([samples.record(number) for number in range(first, first + count)])


def positions(events):
    return [event.position for event in events]


def test_first_comes_what_is_there_and_then_what_comes(journal):
    fill(journal, "a", 3)
    with journal.subscribe() as following:
        there = journal.reader.last_position()
        assert positions(islice(following, there)) == [*range(1, there + 1)]
        assert following.position == there
        assert following.get(0) is None
        with ThreadPoolExecutor(1) as pool:
            coming = pool.submit(next, following)
            fill(journal, "b", 3)
            assert coming.result(PATIENCE).position == there + 1
        assert next(following) == next(journal.reader.all_events(after=there + 1))


def test_it_goes_on_after_any_position(journal):
    fill(journal, "a", 5)
    fill(journal, "b", 5)
    everything = list(journal.reader.all_events())
    of_a = list(journal.reader.run_events("a"))
    for after in range(len(everything) + 1):
        for run_id, events in ((None, everything), ("a", of_a)):
            with journal.subscribe(after=after, run_id=run_id) as following:
                assert following.position == after
                rest = [event for event in events if event.position > after]
                assert list(islice(following, len(rest))) == rest
                assert following.get(0) is None


@pytest.mark.parametrize("after", [-1, 100])
def test_a_position_the_journal_never_reached_is_refused(journal, after):
    fill(journal, "a", 5)
    last = journal.reader.last_position()
    for run_id in (None, "a"):
        with pytest.raises(PositionOutOfRange, match=f"from 0 to {last}") as refused:
            journal.subscribe(after=after, run_id=run_id)
        assert refused.value.position == after


def test_one_run_is_given_alone(journal):
    a, b = (journal.run(run_id, session_id="s") for run_id in "ab")
    with journal.subscribe(run_id="b") as following:
        assert next(following).version == 1
        for number in range(20):
            a.append(samples.record(number))
            if number % 5 == 0:
                b.append(samples.record(number))
                assert next(following).data["record"]["sequence"] == number
            else:
                assert following.get(0) is None
        assert following.position == list(journal.reader.run_events("b"))[-1].position


def test_a_run_must_exist_unless_it_is_waited_for(journal):
    with pytest.raises(RunNotFound):
        journal.subscribe(run_id="a")
    with pytest.raises(InvalidRecord):
        journal.subscribe(run_id="", must_exist=False)
    with journal.subscribe(run_id="a", must_exist=False) as following:
        fill(journal, "b", 2)
        assert following.get(0) is None
        fill(journal, "a", 2)
        assert [event.version for event in islice(following, 3)] == [1, 2, 3]


def group_sizes(number):
    return [1 + (group + number) % 7 for group in range(GROUPS)]


def append_groups(path, number):
    with Journal.open(path) as journal, journal.run(f"w{number}", session_id="s") as run:
        for group, size in enumerate(group_sizes(number)):
            run.append_many([samples.record(10 * group + at) for at in range(size)])


def follow(journal, run_id, records):
    """Follow until so many stream records came."""
    seen = []
    with journal.subscribe(run_id=run_id) as following:
        while records:
            seen.append(following.get(PATIENCE))
            records -= seen[-1].name == "stream.recorded.v1"
    return seen


def test_nothing_is_lost_or_repeated_while_processes_append_in_groups(tmp_path):
    path = tmp_path / "runs.db"
    sizes = [sum(group_sizes(number)) for number in range(WRITERS)]
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append_groups, args=(path, at)) for at in range(WRITERS)]
    with Journal.open(path) as journal, ThreadPoolExecutor(3) as pool:
        fill(journal, "w1", 0)
        followers = [pool.submit(follow, journal, None, sum(sizes)) for _ in range(2)]
        of_one = pool.submit(follow, journal, "w1", sizes[1])
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
            assert writer.exitcode == 0
        recorded = list(journal.reader.all_events())
        for follower in followers:
            seen = follower.result(PATIENCE)
            assert seen == recorded[: len(seen)]
        seen = of_one.result(PATIENCE)
        assert seen == list(journal.reader.run_events("w1"))[: len(seen)]


def test_another_thread_may_close_it(journal):
    with ThreadPoolExecutor(1) as pool, journal.subscribe() as following:
        waiting = pool.submit(list, following)
        following.close()
        assert waiting.result(PATIENCE) == []
        assert following.get(0) is None


def test_closing_drops_what_was_read_and_not_given(journal):
    fill(journal, "a", 5)
    with journal.subscribe() as following:
        assert next(following).position == 1
        following.close()
        assert list(following) == []
        assert following.position == 1


def test_it_ends_with_the_journal(tmp_path):
    for location in ("memory://", tmp_path / "runs.db"):
        with Journal.open(location) as journal, ThreadPoolExecutor(1) as pool:
            following = journal.subscribe()
            waiting = pool.submit(next, following)
            journal.close()
            with pytest.raises(JournalClosed):
                waiting.result(PATIENCE)


def test_a_slow_follower_holds_nothing_of_the_file(tmp_path):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        fill(journal, "a", 50)
        with journal.subscribe() as everything, journal.subscribe(run_id="a") as one_run:
            for following in (everything, one_run):
                next(following)
            fill(journal, "b", 50)
            with connect(path) as db:
                assert db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
            last = journal.reader.last_position()
            assert positions(islice(everything, last - 1)) == [*range(2, last + 1)]


def test_what_comes_before_a_damaged_event_is_given(tmp_path, flip):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        fill(journal, "a", 5)
        fill(journal, "b", 5)
        bad = journal.reader.event(run_stream("a"), Version(4)).position
    flip(path, "run:a", 4)
    with Journal.open(path) as journal:
        for run_id, count in ((None, bad - 1), ("a", 3)):
            with journal.subscribe(run_id=run_id) as following:
                assert len(list(islice(following, count))) == count
                for _ in range(2):
                    with pytest.raises(CorruptEvent) as damaged:
                        next(following)
                    assert (damaged.value.stream, damaged.value.version) == ("run:a", 4)
                assert following.position < bad
        with journal.subscribe(after=bad) as following:
            assert next(following).position == bad + 1


def test_an_event_that_is_no_json_comes_after_those_before_it(journal):
    fill(journal, "a", 2)
    last = journal.reader.last_position()
    head = journal.reader.head("a")
    bad = NewEvent(run_stream("a"), Version(head + 1), "noted.v1", b"nonsense")
    journal._store.append([bad], now=1)
    for run_id in (None, "a"):
        with journal.subscribe(run_id=run_id) as following:
            for _ in range(last if run_id is None else head):
                next(following)
            with pytest.raises(CorruptEvent, match="not JSON"):
                next(following)


@pytest.mark.parametrize("after", [0, 3, 5])
def test_a_missing_event_is_noticed(tmp_path, tamper, after):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        fill(journal, "a", 5)
    tamper(path, "run:a", 3, "DELETE FROM events")
    with Journal.open(path) as journal, pytest.raises(CorruptEvent, match="missing"):
        list(islice(journal.subscribe(run_id="a", after=after), 6))


def test_large_events_are_decoded_some_at_a_time(journal):
    text = "x" * 400_000
    with journal.run("a", session_id="s") as run:
        run.append_many([samples.delta(number, f"{number}{text}") for number in range(8)])
    with journal.subscribe(run_id="a") as following:
        seen = []
        for _ in range(9):
            seen.append(next(following).version)
            assert len(following.feed.ready) <= 3
        assert seen == [*range(1, 10)]
