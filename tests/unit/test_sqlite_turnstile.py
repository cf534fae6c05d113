"""The lock beside the journal makes waiting fair, and nothing depends on it but that."""

import os
import signal
import stat
import threading
import time
import warnings
from contextlib import closing, contextmanager

import pytest

from journal.errors import JournalBusy, ReadOnly, StorageFailed
from journal.stores import open_store, sqlite_turnstile
from tests.unit.sqlite_files import connect, event, three_runs, versions


@pytest.fixture
def path(tmp_path):
    return three_runs(tmp_path / "runs.db")


@pytest.fixture
def lock(path):
    return path.with_name("runs.db-lock")


@contextmanager
def opened(path, busy_timeout=0.05):
    with closing(open_store(path, create=True, busy_timeout=busy_timeout)) as store:
        yield store


@contextmanager
def standing_in(store, wait=60):
    with store._recorder.datastore.pool.writer.turnstile.held(time.monotonic() + wait):
        yield


def is_free(store):
    try:
        with standing_in(store, 0):
            return True
    except JournalBusy:
        return False


@contextmanager
def forked(work):
    """A child that works, says so, and then waits to be killed."""
    receive, send = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of threads, and this process may have some.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            with work():
                os.write(send, b"!")
                while True:
                    signal.pause()
        finally:
            os._exit(1)
    os.close(send)
    with os.fdopen(receive) as pipe:
        assert pipe.read(1) == "!"
    try:
        yield child
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_who_stands_in_it_is_the_next_to_write(path):
    def write(store, stream):
        store.append([event(5, stream)], now=9)

    with opened(path, 60) as first, opened(path, 60) as second, connect(path) as other:
        other.execute("BEGIN IMMEDIATE")
        threads = [threading.Thread(target=write, args=(first, "run:1"))]
        threads[0].start()
        while is_free(second):
            time.sleep(0.001)
        threads.append(threading.Thread(target=write, args=(second, "run:2")))
        threads[1].start()
        other.execute("ROLLBACK")
        for thread in threads:
            thread.join()
        assert [e.stream for e in first.read_all(after=12)] == ["run:1", "run:2"]


def test_who_waits_too_long_is_told(path):
    with opened(path) as one, opened(path) as other:
        with standing_in(other):
            with pytest.raises(JournalBusy) as busy:
                one.append([event(5)], now=9)
            assert (busy.value.location, busy.value.waited_seconds) == (str(path), 0.05)
            with standing_in(other):
                pass
            with pytest.raises(JournalBusy):
                one.append([event(5)], now=9)
        one.append([event(5)], now=9)


def test_readers_do_not_stand_in_it(path, lock):
    with opened(path) as store:
        assert store.head("run:1") == 4
        assert not lock.exists()


@pytest.mark.parametrize("mode", [0o600, 0o660, 0o644])
def test_those_may_use_it_who_may_write_the_journal(path, lock, mode):
    path.chmod(mode)
    with opened(path) as store:
        store.append([event(5)], now=9)
        assert stat.S_IMODE(lock.stat().st_mode) == mode
        assert lock.stat().st_size == 0


def test_it_is_of_the_owner_of_the_journal(path, lock):
    os.chown(path, 65534 if os.geteuid() == 0 else -1, -1)
    with opened(path) as store:
        store.append([event(5)], now=9)
        assert lock.stat().st_uid == path.stat().st_uid


def test_it_goes_with_the_last_writer(path, lock):
    with opened(path) as one:
        one.append([event(5)], now=9)
        with opened(path) as two:
            two.append([event(6)], now=9)
        one.append([event(7)], now=9)
        assert one.head("run:1") == 7
    assert not lock.exists()


def test_it_stays_while_another_stands_in_it(path, lock):
    with opened(path) as one:
        one.append([event(5)], now=9)
        with opened(path) as two:
            two.append([event(6)], now=9)
            with standing_in(two):
                one.close()
                assert lock.exists()
            two.append([event(7)], now=9)
    assert not lock.exists()


@pytest.mark.parametrize("instead", [None, "file"])
def test_one_removed_or_replaced_is_not_used_on(path, lock, instead):
    with opened(path) as one, opened(path) as two:
        one.append([event(5)], now=9)
        two.append([event(6)], now=9)
        lock.unlink()
        if instead:
            lock.touch()
        with standing_in(one):
            with pytest.raises(JournalBusy), standing_in(two, 0):
                pass
            assert lock.exists()
        one.append([event(7)], now=9)
        two.append([event(8)], now=9)
        assert versions(one.read_stream("run:1")) == [*range(1, 9)]


def test_one_removed_under_a_writer_keeps_writers_apart(path, lock):
    with opened(path) as one, opened(path) as two:
        with one._recorder.datastore.writing() as connection:
            connection.execute("INSERT INTO streams VALUES (13, 'run:4')")
            lock.unlink()
            with pytest.raises(JournalBusy):
                two.append([event(5)], now=9)
        assert one.streams(prefix="run:4") == [("run:4", 13)]


def test_what_cannot_be_a_lock_is_told(path, lock):
    lock.mkdir()
    with opened(path) as store:
        with pytest.raises(StorageFailed, match=r"cannot lock .*runs\.db-lock: is a directory"):
            store.append([event(5)], now=9)
        lock.rmdir()
        store.append([event(5)], now=9)


def test_a_link_is_not_followed(path, lock):
    lock.symlink_to(path.with_name("elsewhere"))
    with opened(path) as store, pytest.raises(StorageFailed, match="cannot lock"):
        store.append([event(5)], now=9)
    assert not path.with_name("elsewhere").exists()


def test_one_that_may_not_be_used_is_told(path, lock, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    with opened(path) as store, monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(ReadOnly, match=r"runs\.db-lock: permission denied"):
            store.append([event(5)], now=9)


def test_one_that_cannot_be_made_usable_is_told(path, monkeypatch):
    def refuse(*_):
        raise OSError(5, "Input/output error")

    path.chmod(0o640)
    with opened(path) as store:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fchmod", refuse)
            with pytest.raises(StorageFailed, match=r"runs\.db-lock: input/output error"):
                store.append([event(5)], now=9)
        store.append([event(5)], now=9)


def test_without_locks_the_file_itself_is_waited_for(path, lock, monkeypatch):
    monkeypatch.setattr(sqlite_turnstile, "HAS_LOCKS", False)
    with opened(path) as store, connect(path) as other:
        store.append([event(5)], now=9)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalBusy):
            store.append([event(6)], now=9)
        other.execute("ROLLBACK")
        store.append([event(6)], now=9)
        assert not lock.exists()


def test_a_killed_process_leaves_it(path):
    def stand():
        return standing_in(open_store(path, create=True))

    with opened(path) as store:
        with forked(stand), pytest.raises(JournalBusy):
            store.append([event(5)], now=9)
        store.append([event(5)], now=9)


def test_a_forked_child_does_not_hold_what_its_parent_held(path):
    @contextmanager
    def nothing():
        yield

    with opened(path) as one, opened(path) as two, standing_in(one), forked(nothing):
        # As if the parent had died: without a word, by the end of its descriptor.
        one._recorder.datastore.pool.writer.turnstile.forget()
        two.append([event(5)], now=9)


def test_a_forked_child_takes_nothing_from_its_parent(path, lock):
    with opened(path) as one, opened(path) as two:
        one.append([event(5)], now=9)

        @contextmanager
        def close():
            one.close()
            yield

        with standing_in(one), forked(close):
            assert lock.exists()
            with pytest.raises(JournalBusy):
                two.append([event(6)], now=9)
        two.append([event(6)], now=9)
