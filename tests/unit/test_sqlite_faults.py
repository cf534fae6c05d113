"""Faults of the journal file and its surroundings become errors of ours, and pass."""

import sqlite3
import threading
from contextlib import closing

import pytest

from journal.errors import JournalBusy, ReadOnly, StorageFailed
from journal.ids import StreamId, Version
from journal.stores import NewEvent, open_store, sqlite_writer
from tests.unit.sqlite_files import READS, connect, event, three_runs


@pytest.fixture
def path(tmp_path):
    return three_runs(tmp_path / "runs.db")


@pytest.fixture
def store(path):
    with closing(open_store(path, create=True, busy_timeout=0.05)) as store:
        yield store


class TestLocked:
    def test_a_writer_that_keeps_the_lock_makes_others_busy(self, path, store):
        with connect(path) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(JournalBusy) as busy:
                store.append([event(5)], now=9)
            assert (busy.value.location, busy.value.waited_seconds) == (str(path), 0.05)
            other.execute("ROLLBACK")
        assert store.append([event(5)], now=9)[0].position == 13

    def test_a_thread_that_keeps_the_writer_makes_others_busy(self, store):
        with store._recorder.datastore.writing(), pytest.raises(JournalBusy):
            store.append([event(5)], now=9)
        assert store.append([event(5)], now=9)[0].position == 13

    @pytest.mark.parametrize("read", READS.values(), ids=READS)
    def test_readers_do_not_wait_for_a_writer(self, path, store, read):
        before = read(store)
        with connect(path) as other, store._recorder.datastore.writing() as connection:
            connection.execute("INSERT INTO streams VALUES (13, 'run:4')")
            assert read(store) == before
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                other.execute("PRAGMA busy_timeout=0").execute("BEGIN IMMEDIATE")

    def test_a_lock_while_the_file_is_made_is_waited_for(self, tmp_path):
        path = tmp_path / "new.db"
        with connect(path) as other:
            other.execute("BEGIN EXCLUSIVE")
            with pytest.raises(JournalBusy):
                open_store(path, create=True, busy_timeout=0.05)
        open_store(path, create=True).close()

    def test_switching_to_the_log_is_waited_for(self, path):
        with connect(path) as other:
            other.execute("PRAGMA journal_mode=DELETE")
            with closing(open_store(path, create=False, busy_timeout=0.05)) as store:
                other.execute("BEGIN IMMEDIATE")
                with pytest.raises(JournalBusy):
                    store.append([event(5)], now=9)
                other.execute("ROLLBACK")
                assert store.append([event(5)], now=9)[0].position == 13


class TestReaders:
    @pytest.mark.parametrize("read", READS.values(), ids=READS)
    def test_nothing_stays_open_after_a_read(self, path, store, read):
        store.append([event(5)], now=9)
        read(store)
        with connect(path) as other:
            # Succeeds only when no reader holds a place in the log.
            [(busy, _, _)] = other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            assert busy == 0
        assert path.with_name("runs.db-wal").stat().st_size == 0

    def test_many_threads_leave_few_connections(self, store):
        together = threading.Barrier(20)

        def read():
            with store._recorder.datastore.reading():
                together.wait()

        threads = [threading.Thread(target=read) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store._recorder.datastore.pool._idle) == 8

    def test_close_does_not_wait_for_ever(self, path, store):
        begun, closed = threading.Event(), threading.Event()

        def work(lend):
            with lend():
                begun.set()
                closed.wait()

        datastore = store._recorder.datastore
        threads = []
        for lend in (datastore.reading, datastore.writing):
            begun.clear()
            threads.append(threading.Thread(target=work, args=(lend,)))
            threads[-1].start()
            begun.wait()
        store.close()
        closed.set()
        for thread in threads:
            thread.join()
        with connect(path) as other:
            # Possible only for the sole connection.
            assert other.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)

    def test_a_reader_cannot_write(self, store):
        with (
            pytest.raises(ReadOnly, match="readonly"),
            store._recorder.datastore.reading() as connection,
        ):
            connection.execute("INSERT INTO names VALUES (2, 'x')")
        assert store.head("run:1") == 4


class TestFailedAppend:
    def test_a_name_of_a_failed_append_is_not_remembered(self, store):
        def named(version, name):
            return NewEvent(StreamId("run:1"), Version(version), name, b"{}")

        with store._recorder.datastore.writing() as connection:
            connection.execute(
                "CREATE TEMP TRIGGER fault BEFORE INSERT ON main.events "
                "BEGIN SELECT RAISE(FAIL, 'injected'); END"
            )
        with pytest.raises(StorageFailed):
            store.append([named(5, "odd.v1")], now=9)
        with store._recorder.datastore.writing() as connection:
            connection.execute("DROP TRIGGER fault")
        store.append([named(5, "even.v1")], now=9)
        store.append([named(6, "odd.v1")], now=9)
        found = store.read_stream("run:1", after=4)
        assert [e.name for e in found] == ["even.v1", "odd.v1"]

    def test_an_interrupt_rolls_back(self, store):
        def write():
            with store._recorder.datastore.writing() as connection:
                connection.execute("INSERT INTO streams VALUES (13, 'run:4')")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            write()
        assert store.streams(prefix="run:4") == []
        assert store.append([event(5)], now=9)[0].position == 13

    def test_a_writer_that_cannot_even_roll_back_is_replaced(self, store):
        def write():
            with store._recorder.datastore.writing() as connection:
                connection.execute("INSERT INTO streams VALUES (13, 'run:4')")
                connection.close()
                connection.execute("SELECT 1")

        with pytest.raises(StorageFailed):
            write()
        assert store.streams(prefix="run:4") == []
        assert store.append([event(5)], now=9)[0].position == 13


class TestFileSystem:
    def test_one_that_cannot_have_a_log_is_refused(self, store, monkeypatch):
        # SQLite answers with the old mode where it cannot switch.
        monkeypatch.setattr(sqlite_writer, "use_log", lambda _: "delete")
        with pytest.raises(StorageFailed, match="journal mode delete"):
            store.append([event(5)], now=9)
