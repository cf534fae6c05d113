"""Which values a store remembers, and that what it forgets is stored once more."""

import threading
from contextlib import closing

import pytest

from journal.compress import REPEATED
from journal.stores import open_store, sqlite_bases, sqlite_packer
from tests.unit.packed_rows import holding, must_hold, numbers, text


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


@pytest.fixture
def store(path):
    with closing(open_store(path, create=True)) as opened:
        yield opened


def test_a_store_opened_again_finds_the_values_of_the_past(path):
    events = [holding(number, text(number)) for number in range(1, 4)]
    with closing(open_store(path, create=True)) as store:
        store.append([*events, holding(1, text(1), stream="run:2")], now=1)
    for number in range(4, 7):
        with closing(open_store(path, create=True)) as store:
            events.append(holding(number, text(1), text(3)))
            store.append(events[-1:], now=1)
    assert numbers(path)[3:] == [REPEATED] * 3
    with closing(open_store(path, create=False)) as store:
        must_hold(store, events)


def test_what_is_forgotten_is_stored_once_more(store, path, monkeypatch):
    monkeypatch.setattr(sqlite_packer, "ROOM", 5000)
    events = [holding(number, text(number)) for number in (1, 2, 3)]
    events += [holding(4, text(1)), holding(5, text(3))]
    for one in events:
        store.append([one], now=1)
    assert [number == REPEATED for number in numbers(path)] == [False] * 4 + [True]
    must_hold(store, events)


def test_a_value_in_two_rows_is_found_when_the_older_is_forgotten(store, path, monkeypatch):
    monkeypatch.setattr(sqlite_packer, "ROOM", 6000)
    events = [holding(1, text(1)), holding(2, text(1), text(2, 3000)), holding(3, text(1))]
    for one in events:
        store.append([one], now=1)
    assert [number == REPEATED for number in numbers(path)] == [False, False, True]
    must_hold(store, events)


def test_of_a_long_past_the_newest_is_found(path, monkeypatch):
    events = [holding(number, text(number)) for number in range(1, 9)]
    with closing(open_store(path, create=True)) as store:
        store.append(events, now=1)
    for old, bound, module, size in (
        (1, "PAST_BYTES", sqlite_bases, 3000),
        (2, "LARGEST", sqlite_packer, 5000),
    ):
        with monkeypatch.context() as patch, closing(open_store(path, create=True)) as store:
            patch.setattr(module, bound, size)
            head = len(events)
            events += [holding(head + 1, text(old), bound), holding(head + 2, text(8), bound)]
            for one in events[head:]:
                store.append([one], now=1)
            assert [number == REPEATED for number in numbers(path)[head:]] == [False, True]
            must_hold(store, events)


def test_many_streams_by_turns_lose_nothing(store, monkeypatch):
    monkeypatch.setattr(sqlite_packer, "STREAMS", 2)
    monkeypatch.setattr(sqlite_packer, "ROOM", 5000)
    written = {f"run:{number}": [] for number in range(5)}
    for version in range(1, 5):
        for stream, events in written.items():
            events.append(holding(version, text(1), stream=stream))
            store.append(events[-1:], now=1)
    for stream, events in written.items():
        must_hold(store, events, stream)


def test_what_finds_no_room_beside_a_page_is_read_when_it_is_needed(store, monkeypatch):
    events = [holding(number, text(number)) for number in range(1, 11)]
    events += [holding(number, text(number - 10), text(1)) for number in range(11, 21)]
    for one in events:
        store.append([one], now=1)
    monkeypatch.setattr(sqlite_bases, "ROOM", 5000)
    monkeypatch.setattr(sqlite_bases, "FETCH_BYTES", 1000)
    monkeypatch.setattr(sqlite_bases, "FETCH_ROWS", 3)
    must_hold(store, events)


def test_values_that_begin_alike_are_told_apart(store, path):
    alike = [text(1, 300) + text(number, 300) for number in (2, 3, 4)]
    events = [holding(1, *alike), holding(2, alike[2]), holding(3, *alike[::-1])]
    for one in events:
        store.append([one], now=1)
    assert [number == REPEATED for number in numbers(path)] == [False, True, True]
    must_hold(store, events)


def test_a_fingerprint_of_something_else_does_no_harm(store, path):
    lying = holding(1, text(1))._replace(values=holding(1, text(2)).values)
    events = [lying, holding(2, text(2)), holding(3, text(2))]
    for one in events:
        store.append([one], now=1)
    assert [number == REPEATED for number in numbers(path)] == [False, False, True]
    must_hold(store, events)


def test_two_stores_on_one_file_read_each_other(path):
    with (
        closing(open_store(path, create=True)) as one,
        closing(open_store(path, create=True)) as other,
    ):
        events = []
        for number in range(1, 9):
            events.append(holding(number, text(number % 3), "by turns"))
            (one, other)[number % 2].append(events[-1:], now=1)
        must_hold(one, events)
        must_hold(other, events)
    assert REPEATED in numbers(path)


def test_many_threads_read_while_others_write(store):
    streams = [f"run:{number}" for number in range(3)]
    wrong = []
    done = threading.Event()

    def write(stream):
        for number in range(1, 26):
            store.append([holding(number, text(number % 5), number, stream=stream)], now=1)

    def read():
        while not done.is_set():
            for stream in streams:
                found = store.read_stream(stream, newest_first=len(wrong) % 2 == 0)
                wrong.extend(
                    one
                    for one in found
                    if one.data
                    != holding(one.version, text(one.version % 5), one.version, stream=stream).data
                )

    writers = [threading.Thread(target=write, args=(stream,)) for stream in streams]
    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in writers + readers:
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in readers:
        thread.join()
    assert wrong == []
    assert [store.head(stream) for stream in streams] == [25, 25, 25]
