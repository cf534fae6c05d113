"""A page of large events holds fewer of them, and a short page is not the end."""

import os
from contextlib import closing

import pytest

from journal import Journal
from journal.ids import Position, Version
from journal.stores import open_store, sqlite_page, sqlite_recorder
from tests import samples
from tests.unit.sqlite_files import event, versions


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_page, "PAGE_BYTES", 1_000)
    monkeypatch.setattr(sqlite_recorder, "PLAIN_BYTES", 4_000)
    with closing(open_store(tmp_path / "runs.db", create=True)) as store:
        yield store


def fill(store, sizes, make=os.urandom):
    data = [make(size) for size in sizes]
    store.append([event(version, data=one) for version, one in enumerate(data, 1)], now=1)


def test_it_ends_when_it_is_full_of_packed_bytes(store):
    fill(store, [80] * 40)
    page = store.read_stream("run:1")
    assert 5 <= len(page) <= 12
    assert versions(page) == [*range(1, len(page) + 1)]
    assert store.read_all() == page
    newest = store.read_stream("run:1", newest_first=True)
    assert versions(newest) == [40 - at for at in range(len(newest))]
    assert len(newest) < 40


def test_it_ends_when_it_is_full_of_unpacked_bytes(store):
    fill(store, [2_000] * 10, bytes)
    assert versions(store.read_stream("run:1")) == [1, 2]
    assert versions(store.read_all()) == [1, 2]


def test_it_holds_at_least_one_event(store):
    fill(store, [100_000, 10, 100_000])
    assert versions(store.read_stream("run:1")) == [1]
    assert versions(store.read_stream("run:1", newest_first=True)) == [3]
    assert versions(store.read_all(after=Position(2))) == [3]


@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_pages_give_every_event_once(store, limit):
    fill(store, [50, 5_000, 900, 1, 900, 900, 3_000] * 5)
    found, after = [], Version(0)
    while page := store.read_stream("run:1", after=after, limit=limit):
        assert len(page) <= limit
        found += versions(page)
        after = page[-1].version
    assert found == [*range(1, 36)]


def test_the_librarys_verbs_do_not_stop_at_a_page(store):
    fill(store, [900] * 20)
    recorder = store._recorder

    def selected(**bounds):
        return [e.originator_version for e in recorder.select_events("run:1", **bounds)]

    assert selected() == [*range(1, 21)]
    assert selected(desc=True) == [*range(20, 0, -1)]
    assert selected(gt=2, lte=19, limit=9) == [*range(3, 12)]
    assert selected(desc=True, gt=2, lte=19, limit=9) == [*range(19, 10, -1)]
    assert [n.id for n in recorder.select_notifications(3, 15)] == [*range(3, 18)]
    assert [n.id for n in recorder.select_notifications(3, 15, stop=7)] == [*range(3, 8)]


def test_a_run_is_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_page, "PAGE_BYTES", 300)
    with Journal.open(tmp_path / "runs.db") as journal:
        run = journal.run("r", session_id="s")
        run.append_many([samples.delta(sequence, "x" * sequence) for sequence in range(60)])
        messages = [samples.user("hi")]
        for at in range(1, 80):
            messages += [samples.answer(f"answer {at}")]
            run.checkpoint(samples.checkpoint(f"k{at}", messages=messages, stream_cursor=59))
        found = [*journal.reader.run_events("r")]
        assert versions(found) == [*range(1, journal.reader.head("r") + 1)]
        assert len(found) == 140
        records = journal.reader.run_events("r", names={"stream.recorded.v1"})
        assert len([*records]) == 60
        assert len([*journal.reader.all_events()]) == journal._store.last_position()
        last = journal.reader.last_run_event("r", {"checkpoint.taken.v1"})
        assert len(journal.reader.document(last)["state"]["message_history"]) == 80
