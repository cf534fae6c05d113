"""A forked child is told to open the journal again, and cannot hurt its parent's."""

import os
import signal
import threading
import warnings
from contextlib import closing
from pathlib import Path

import pytest

from journal.errors import JournalClosed, JournalForked
from journal.stores import open_store, sqlite_checkpoint, sqlite_connection
from tests.unit.sqlite_files import READS, event, three_runs, versions


@pytest.fixture
def path(tmp_path):
    return three_runs(tmp_path / "runs.db")


@pytest.fixture
def store(path):
    with closing(open_store(path, create=True, busy_timeout=0.05)) as store:
        yield store


def in_child(work):
    """Run in a forked child; returns what it made of it as text."""
    receive, send = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of threads, and this process may have some.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        answer = "an unexpected error"
        try:
            answer = str(work())
        except JournalClosed as error:
            answer = type(error).__name__
        finally:
            os.write(send, answer.encode())
            os._exit(0)
    os.close(send)
    with os.fdopen(receive) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


@pytest.mark.parametrize("location", ["sqlite", "memory"])
def test_the_child_is_told_to_open_it_again(path, location):
    where = "memory://" if location == "memory" else path
    with closing(open_store(where, create=True)) as store:
        store.append([event(1, "run:9")], now=9)
        store.read_all()
        for use in (*READS.values(), lambda store: store.append([event(2, "run:9")], now=9)):
            assert in_child(lambda use=use: use(store)) == "JournalForked"
        assert store.append([event(2, "run:9")], now=9)[0].version == 2
    assert issubclass(JournalForked, JournalClosed)


def test_the_child_may_close_while_a_thread_of_its_parent_writes(store):
    def work():
        signal.alarm(10)  # a child that waits for the lock ends without an answer
        store.close()
        return len(sqlite_connection._orphans)

    store.read_all()
    with store._recorder.datastore.writing() as connection:
        connection.execute("INSERT INTO streams VALUES (13, 'run:4')")
        assert in_child(work) == "2"
    assert store.streams(prefix="run:4") == [("run:4", 13)]


def test_the_child_may_close_what_it_got_and_open_its_own(path):
    with closing(open_store(path, create=True)) as store:
        store.append([event(5)], now=9)

        def work():
            store.close()
            with closing(open_store(path, create=True)) as own:
                own.append([event(6)], now=9)
                return own.head("run:1")

        assert in_child(work) == "6"
        assert store.append([event(7)], now=9)[0].version == 7
        assert versions(store.read_stream("run:1")) == [*range(1, 8)]


def test_the_child_may_come_while_the_log_is_moved(path, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()
    checkpoint = sqlite_checkpoint.checkpoint

    def slow(connection):
        if threading.current_thread().name == "journal-checkpoint":
            begun.set()
            go_on.wait(1)  # forking waits for it, too
        return checkpoint(connection)

    monkeypatch.setattr(sqlite_checkpoint, "LONG", 50_000)
    monkeypatch.setattr(sqlite_checkpoint, "checkpoint", slow)
    with closing(open_store(path, create=True)) as store:
        store._recorder.datastore.pool._checkpointer._bound = 50_000

        def work():
            signal.alarm(10)  # a child that waits for the thread ends without an answer
            store.close()
            with closing(open_store(path, create=True)) as own:
                own.append([event(1, "run:child")], now=9)
                return own.head("run:1")

        for version in range(5, 45):
            store.append([event(version)], now=9)
        assert begun.wait(60)
        assert in_child(work) == "44"
        go_on.set()
        for version in range(45, 85):
            store.append([event(version)], now=9)
        assert versions(store.read_stream("run:1")) == [*range(1, 85)]
        assert store.head("run:child") == 1


def test_the_child_that_opens_its_own_holds_locks_of_its_own(path):
    with closing(open_store(path, create=True)) as store:
        store.append([event(5)], now=9)

        def work():
            with closing(open_store(path, create=True)) as own:
                own.append([event(6)], now=9)
                shared = path.with_name(f"{path.name}-shm").stat().st_ino
                locks = Path("/proc/locks").read_text("ascii").splitlines()
                mine = [line for line in locks if f" {os.getpid()} " in line]
                return any(line.endswith(f":{shared} 128 128") for line in mine)

        assert in_child(work) == "True"
