"""Waiting for events of a journal file, which other processes append to."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest

from journal.errors import FileMoved
from journal.stores import open_store, sqlite_file
from tests.unit.privileges import public_directory, without_privileges
from tests.unit.sqlite_files import connect, event, three_runs
from tests.unit.test_sqlite_fork import in_child

PATIENCE = 60


@pytest.fixture
def path(tmp_path):
    return three_runs(tmp_path / "runs.db")


@pytest.fixture
def store(path):
    with closing(open_store(path, create=True)) as store:
        yield store


@pytest.fixture
def pool():
    with ThreadPoolExecutor(4) as pool:
        yield pool


def test_an_event_of_another_process_is_told(path, store, pool):
    waiting = pool.submit(store.wait_for, 12, PATIENCE)

    def work():
        with closing(open_store(path, create=True)) as own:
            return own.append([event(5)], now=9)[0].position

    assert in_child(work) == "13"
    assert waiting.result(PATIENCE)


def test_one_who_waits_holds_no_state_of_the_file(path, store, pool):
    waiting = pool.submit(store.wait_for, 13, PATIENCE)
    with closing(open_store(path, create=True)) as other:
        other.append([event(5)], now=9)
        with connect(path) as db:
            # All of the log is moved and it is cut, which a reader of an old state prevents.
            assert db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
        other.append([event(6)], now=9)
    assert waiting.result(PATIENCE)


def test_a_file_that_was_moved_away_is_noticed(path, store, pool, monkeypatch):
    monkeypatch.setattr(sqlite_file, "LOOK_EVERY", 0)
    waiting = pool.submit(store.wait_for, 12, PATIENCE)
    path.unlink()
    with pytest.raises(FileMoved):
        waiting.result(PATIENCE)


def test_one_who_waits_lets_the_process_be_forked(path, store, pool):
    waiting = [pool.submit(store.wait_for, 12, PATIENCE) for _ in range(3)]

    def work():
        signal.alarm(10)  # a child that waits for a lock ends without an answer
        store.close()
        with closing(open_store(path, create=True)) as own:
            return own.wait_for(11, 0), own.wait_for(12, 0.1)

    for _ in range(5):
        assert in_child(work) == "(True, False)"
    assert in_child(lambda: store.wait_for(0, 0)) == "JournalForked"
    store.append([event(5)], now=9)
    assert all(one.result(PATIENCE) for one in waiting)


@pytest.mark.parametrize("goes_on", [True, False], ids=["beside its writer", "lying still"])
def test_a_file_that_may_not_be_written_can_be_waited_for(goes_on):
    with public_directory() as directory, ExitStack() as stack:
        path = three_runs(directory / "runs.db")
        path.chmod(0o444 if os.geteuid() == 0 else 0o600)
        directory.chmod(0o755)
        if goes_on:
            writer = stack.enter_context(closing(open_store(path, create=True)))
            writer.append([event(5)], now=9)
        with without_privileges():
            reader = stack.enter_context(closing(open_store(path, create=False)))
            last = reader.last_position()
            assert not reader.wait_for(last, 0.1)
        if not goes_on:
            writer = stack.enter_context(closing(open_store(path, create=True)))
        writer.append([event(1, "run:4")], now=9)
        with without_privileges():
            assert reader.wait_for(last, PATIENCE)
            assert not reader.wait_for(last + 1, 0.1)


def test_closing_while_another_thread_looks_ends_both(path):
    for _ in range(20):
        store = open_store(path, create=True)
        started = threading.Event()

        def work(store=store, started=started):
            started.set()
            try:
                store.wait_for(99, PATIENCE)
            except Exception as error:  # noqa: BLE001 - told below
                return type(error).__name__

        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(work)
            assert started.wait(PATIENCE)
            store.close()
            assert waiting.result(PATIENCE) == "JournalClosed"
