"""A journal file or log that is removed or replaced while it is open is noticed."""

from contextlib import closing

import pytest

from journal.errors import FileMoved
from journal.stores import open_store, sqlite_file
from tests.unit.sqlite_files import READS, event, three_runs, versions


@pytest.fixture
def path(tmp_path):
    return three_runs(tmp_path / "runs.db")


@pytest.fixture
def store(path):
    with closing(open_store(path, create=True)) as store:
        store.append([event(5)], now=9)
        yield store


@pytest.fixture(autouse=True)
def always_look(monkeypatch):
    monkeypatch.setattr(sqlite_file, "LOOK_EVERY", 0)


def test_a_removed_file_takes_no_more_events(path, store):
    path.unlink()
    with pytest.raises(FileMoved) as moved:
        store.append([event(6)], now=9)
    assert moved.value.location == str(path)
    assert not path.exists()


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_removed_file_is_not_read(path, store, read):
    read(store)
    path.unlink()
    with pytest.raises(FileMoved):
        read(store)


def test_a_file_put_back_is_used_again(path, store):
    aside = path.with_name("aside.db")
    for _ in range(2):
        path.rename(aside)
        with pytest.raises(FileMoved):
            store.append([event(6)], now=9)
        with pytest.raises(FileMoved):
            store.head("run:1")
        aside.rename(path)
        assert store.head("run:1") == 5
    store.append([event(6)], now=9)
    assert versions(store.read_stream("run:1")) == [*range(1, 7)]


def test_a_directory_put_back_is_used_again(tmp_path):
    directory = tmp_path / "here"
    directory.mkdir()
    with closing(open_store(three_runs(directory / "runs.db"), create=True)) as store:
        store.append([event(5)], now=9)
        directory.rename(tmp_path / "there")
        with pytest.raises(FileMoved):
            store.append([event(6)], now=9)
        (tmp_path / "there").rename(directory)
        store.append([event(6)], now=9)
        assert store.head("run:1") == 6


def test_a_replaced_file_takes_no_events_of_the_old_one(path, store):
    path.rename(path.with_name("old.db"))
    open_store(path, create=True).close()
    with pytest.raises(FileMoved):
        store.append([event(6)], now=9)
    with pytest.raises(FileMoved):
        store.read_all()
    with closing(open_store(path, create=False)) as other:
        assert other.last_position() == 0


@pytest.mark.parametrize("instead", [None, b"", b"another"])
def test_without_its_log_no_event_is_taken(path, store, instead):
    log = path.with_name("runs.db-wal")
    log.unlink()
    if instead is not None:
        log.write_bytes(instead)
    with pytest.raises(FileMoved) as moved:
        store.append([event(6)], now=9)
    assert moved.value.location == str(log)


def test_what_stood_in_a_lost_log_is_saved_when_the_journal_is_closed(path):
    with closing(open_store(path, create=True)) as store:
        store.append([event(5)], now=9)
        path.with_name("runs.db-wal").unlink()
        with pytest.raises(FileMoved):
            store.append([event(6)], now=9)
    with closing(open_store(path, create=True)) as store:
        assert versions(store.read_stream("run:1")) == [*range(1, 6)]
        assert store.append([event(6)], now=9)[0].position == 14


def test_a_log_put_back_is_used_again(path, store):
    log = path.with_name("runs.db-wal")
    log.rename(path.with_name("aside"))
    with pytest.raises(FileMoved):
        store.append([event(6)], now=9)
    path.with_name("aside").rename(log)
    assert store.append([event(6)], now=9)[0].position == 14


def test_one_lost_between_two_looks_is_noticed_when_it_is_opened(path, store, monkeypatch):
    monkeypatch.setattr(sqlite_file, "LOOK_EVERY", 1_000)
    pool = store._recorder.datastore.pool
    store.append([event(6)], now=9)
    assert store.head("run:1") == 6
    pool.writer.forget()
    path.with_name("runs.db-wal").unlink()
    with pytest.raises(FileMoved, match=r"runs\.db-wal"):
        store.append([event(7)], now=9)
    path.unlink()
    with store._recorder.datastore.reading(), pytest.raises(FileMoved):
        store.head("run:1")
    assert pool._reading == 0
