"""What every storage engine promises to those who wait for events; each runs the whole suite."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from journal.errors import JournalClosed, VersionConflict
from tests.contract.events import event, fill

PATIENCE = 60
"""Seconds after which something hangs."""


@pytest.fixture
def pool():
    with ThreadPoolExecutor(12) as pool:
        yield pool


def test_what_is_there_is_told_without_waiting(store):
    assert not store.wait_for(0, 0)
    fill(store, "run:1", 3)
    assert [store.wait_for(after, 0) for after in (0, 1, 2, 3, 99)] == [True] * 3 + [False] * 2
    assert store.wait_for(2, PATIENCE)


@pytest.mark.parametrize("timeout", [-1, 0, 0.001, 0.1])
def test_what_does_not_come_is_not_told(store, timeout):
    fill(store, "run:1", 3)
    assert not store.wait_for(3, timeout)


def test_an_event_is_told_when_it_comes(store, pool):
    waiting = pool.submit(store.wait_for, 0, PATIENCE)
    assert not waiting.done()
    fill(store, "run:1", 1)
    assert waiting.result(PATIENCE)


def test_each_waits_for_a_position_of_its_own(store, pool):
    waiting = [pool.submit(store.wait_for, after, PATIENCE) for after in range(10)]
    for version in range(1, 11):
        fill(store, "run:1", 1, first=version)
        assert waiting[version - 1].result(PATIENCE)
    late = pool.submit(store.wait_for, 10, 0.05)
    assert not late.result(PATIENCE)


def test_none_is_missed_between_a_look_and_the_wait(store, pool):
    """Two threads answer each other; one notification lost, and both wait for ever."""
    turns = 300

    def play(name, first):
        for turn in range(turns):
            if turn or not first:
                assert store.wait_for(2 * turn - first, PATIENCE)
            store.append([event(name, turn + 1)], now=1)

    both = [pool.submit(play, "run:a", 1), pool.submit(play, "run:b", 0)]
    for one in both:
        one.result(PATIENCE)
    assert [found.stream for found in store.read_all()] == ["run:a", "run:b"] * turns


def test_one_that_gives_up_leaves_the_looking_to_another(store, pool):
    for _ in range(10):
        last = store.last_position()
        brief = [pool.submit(store.wait_for, last, 0.01) for _ in range(4)]
        patient = [pool.submit(store.wait_for, last, PATIENCE) for _ in range(4)]
        assert not any(one.result(PATIENCE) for one in brief)
        fill(store, f"run:{last}", 1)
        assert all(one.result(PATIENCE) for one in patient)


def test_an_append_that_was_refused_is_not_told(store):
    fill(store, "run:1", 1)
    with pytest.raises(VersionConflict):
        store.append([event("run:2", 1), event("run:1", 1)], now=1)
    assert not store.wait_for(1, 0)


def test_closing_wakes_everybody(store, pool):
    started = threading.Barrier(9)

    def work():
        started.wait(PATIENCE)
        store.wait_for(0, PATIENCE)

    waiting = [pool.submit(work) for _ in range(8)]
    started.wait(PATIENCE)
    store.close()
    for one in waiting:
        with pytest.raises(JournalClosed) as refused:
            one.result(PATIENCE)
        assert refused.value.location == store.location
    with pytest.raises(JournalClosed):
        store.wait_for(0, 0)
