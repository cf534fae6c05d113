"""The log is moved into the file beside the commits, stays short, and nothing is lost by it."""

import os
import sqlite3
import threading
from contextlib import closing

import pytest

from journal.stores import open_store, sqlite_checkpoint, sqlite_log
from journal.stores.sqlite_pragmas import Checkpointed
from tests.unit.sqlite_files import connect, event, three_runs, versions

LONG, TOO_LONG = 300_000, 1_200_000

SLACK = 17 * 4 * 4120
"""It is looked at every 16 rows, each of which may take 4 pages."""


@pytest.fixture
def path(tmp_path):
    return three_runs(tmp_path / "runs.db")


@pytest.fixture
def log(path):
    return path.with_name("runs.db-wal")


@pytest.fixture
def store(path, monkeypatch):
    monkeypatch.setattr(sqlite_checkpoint, "LONG", LONG)
    monkeypatch.setattr(sqlite_checkpoint, "TOO_LONG", TOO_LONG)
    options = {"create": True, "durability": "relaxed", "busy_timeout": 0.05}
    with closing(open_store(path, **options)) as store:
        store._recorder.datastore.pool._checkpointer._bound = LONG
        yield store


def write(store, first, count):
    for version in range(first, first + count):
        store.append([event(version, data=os.urandom(300))], now=9)


def reach(store):
    """How many bytes of the log are in use, as SQLite says and as we find out."""
    pool = store._recorder.datastore.pool
    pool._checkpointer.close()  # waits for the thread
    with store._recorder.datastore.writing() as connection:
        reaches = pool.writer._log.reaches
    [(_, frames, _)] = connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    assert reaches(32 + 4120 * (frames - 1))
    assert not reaches(32 + 4120 * frames)
    return 4120 * frames


def test_its_length_is_known(store):
    lengths = []
    for turn in range(6):
        write(store, 5 + 5 * turn, 5)
        lengths.append(reach(store))
    # Everything was moved each time, so that each turn began anew.
    assert max(lengths) < LONG


def test_an_empty_one_reaches_nowhere(path, log):
    with closing(open_store(path, create=True)) as store:
        log.write_bytes(b"")
        with closing(sqlite_log.Log(store._recorder.datastore.pool.file)) as empty:
            assert not empty.reaches(0)
        log.unlink()


def test_it_stays_short(store, log):
    write(store, 5, 800)
    assert log.stat().st_size <= TOO_LONG + SLACK
    assert versions(store.read_stream("run:1")) == [*range(1, 805)]


def test_the_writer_itself_need_not_move_much(store, monkeypatch):
    moved = []
    checkpoint = sqlite_checkpoint.checkpoint

    def watched(connection):
        done = checkpoint(connection)
        moved.append((threading.current_thread().name, done))
        return done

    monkeypatch.setattr(sqlite_checkpoint, "checkpoint", watched)
    write(store, 5, 300)
    threads = {name for name, _ in moved}
    assert threads == {"journal-checkpoint", threading.current_thread().name}
    assert all(done.busy == 0 for _, done in moved)


def test_a_reader_of_an_old_state_stops_nobody(path, store, log):
    with connect(path) as reader:
        reader.execute("BEGIN")
        seen = reader.execute("SELECT count(*) FROM events").fetchone()
        write(store, 5, 400)
        assert reader.execute("SELECT count(*) FROM events").fetchone() == seen
        reader.execute("COMMIT")
    assert log.stat().st_size > TOO_LONG
    write(store, 405, 100)
    assert reach(store) < TOO_LONG
    assert store.head("run:1") == 504


def test_several_writers_keep_it_short_together(path, store, log):
    with closing(open_store(path, create=True, durability="relaxed")) as other:
        other._recorder.datastore.pool._checkpointer._bound = LONG

        def work(store, stream):
            for version in range(5, 205):
                store.append([event(version, stream, os.urandom(300))], now=9)

        threads = [
            threading.Thread(target=work, args=args)
            for args in ((store, "run:1"), (other, "run:2"))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert store.last_position() == 12 + 400
    assert log.stat().st_size <= TOO_LONG + LONG + 2 * SLACK


@pytest.mark.parametrize("fault", ["connection", "thread"])
def test_without_the_thread_the_writer_moves_it(store, log, monkeypatch, fault):
    pool = store._recorder.datastore.pool

    def refuse(*_, **__):
        raise RuntimeError("can't start new thread")

    def fail():
        raise sqlite3.OperationalError("unable to open database file")

    if fault == "thread":
        monkeypatch.setattr(threading.Thread, "start", refuse)
    else:
        monkeypatch.setattr(pool._checkpointer, "_connect", fail)
    write(store, 5, 200)
    assert log.stat().st_size <= TOO_LONG + SLACK
    assert store.head("run:1") == 204


def test_close_waits_for_the_thread(path, store, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()
    checkpoint = sqlite_checkpoint.checkpoint

    def slow(connection):
        begun.set()
        go_on.wait(60)
        return checkpoint(connection)

    monkeypatch.setattr(sqlite_checkpoint, "checkpoint", slow)
    write(store, 5, 60)
    assert begun.wait(60)
    closing_thread = threading.Thread(target=store.close)
    closing_thread.start()
    go_on.set()
    closing_thread.join()
    assert "journal-checkpoint" not in {thread.name for thread in threading.enumerate()}
    with connect(path) as connection:
        # Possible only for the sole connection.
        assert connection.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)


def test_another_who_is_at_it_is_not_waited_for(store, monkeypatch):
    asked = []

    def busy(connection):
        asked.append(connection)
        return Checkpointed(1, -1, -1)

    monkeypatch.setattr(sqlite_checkpoint, "checkpoint", busy)
    monkeypatch.setattr(sqlite_checkpoint, "TOO_LONG", 100 * TOO_LONG)
    version = 5
    # Once it is long, it is tried again every 16 rows.
    while len(asked) < 5 and version < 3_000:
        write(store, version, 16)
        version += 16
    assert len(asked) >= 5
    assert store.head("run:1") == version - 1


def test_one_that_is_too_long_is_waited_for(store, log, monkeypatch):
    asked = []
    checkpoint = sqlite_checkpoint.checkpoint

    def busy_at_first(connection):
        asked.append(connection)
        return checkpoint(connection) if len(asked) > 20 else Checkpointed(1, -1, -1)

    monkeypatch.setattr(sqlite_checkpoint, "checkpoint", busy_at_first)
    write(store, 5, 200)
    assert log.stat().st_size <= TOO_LONG + LONG + SLACK
    assert store.head("run:1") == 204
