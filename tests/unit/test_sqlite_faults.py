"""Faults of the journal file and its surroundings become errors of ours, and pass."""

import os
import resource
import sqlite3
import threading
from contextlib import closing, contextmanager

import pytest

from journal.errors import (
    JournalBusy,
    StorageFailed,
)
from journal.ids import StreamId, Version
from journal.stores import NewEvent, open_store, sqlite_connection
from tests.unit.sqlite_files import READS, connect, event, three_runs, versions


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
            pytest.raises(StorageFailed, match="readonly"),
            store._recorder.datastore.reading() as connection,
        ):
            connection.execute("INSERT INTO names VALUES (2, 'x')")
        assert store.head("run:1") == 4


class TestFailedAppend:
    @contextmanager
    def small_files(self, size):
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    def test_a_full_disk_leaves_the_store_usable(self, path, store):
        store.append([event(5)], now=9)
        before = store.read_all()
        with self.small_files(60_000), pytest.raises(StorageFailed) as failed:
            store.append([event(6, data=os.urandom(300_000))], now=9)
        assert failed.value.location == str(path)
        assert failed.value.operation == "write to"
        assert store.read_all() == before
        assert store.append([event(6)], now=9)[0].position == 14

    def test_a_database_at_its_size_limit_says_so(self, store):
        with store._recorder.datastore.writing() as connection:
            [(pages,)] = connection.execute("PRAGMA page_count")
            connection.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(StorageFailed, match="full"):
            store.append([event(5, data=os.urandom(50_000))], now=9)
        assert versions(store.read_stream("run:1")) == [1, 2, 3, 4]

    @pytest.mark.parametrize("at", range(1, 8))
    def test_a_failure_at_any_event_leaves_none(self, store, at):
        store.append([event(5)], now=9)
        before = store.read_all()
        with store._recorder.datastore.writing() as connection:
            connection.execute(
                f"CREATE TEMP TRIGGER fault BEFORE INSERT ON main.events "
                f"WHEN NEW.position = {13 + at} BEGIN SELECT RAISE(FAIL, 'injected'); END"
            )
        batch = [event(version, "run:new", identity=version) for version in range(1, 8)]
        with pytest.raises(StorageFailed, match="injected"):
            store.append(batch, now=9)
        assert store.read_all() == before
        assert store.streams(prefix="run:new") == []
        with store._recorder.datastore.writing() as connection:
            connection.execute("DROP TRIGGER fault")
        assert [e.position for e in store.append(batch, now=9)] == [*range(14, 21)]

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
        # SQLite answers with the old mode where it cannot switch, as for this database.
        in_memory = sqlite3.connect(":memory:", isolation_level=None)
        monkeypatch.setattr(sqlite_connection.EventPool, "_connect", lambda *_: in_memory)
        with pytest.raises(StorageFailed, match="journal mode memory"):
            store.append([event(5)], now=9)


class TestMovedFile:
    @pytest.fixture(autouse=True)
    def always_look(self, monkeypatch):
        monkeypatch.setattr(sqlite_connection, "LOOK_EVERY", 0)

    def test_a_removed_file_takes_no_more_events(self, path, store):
        store.append([event(5)], now=9)
        path.unlink()
        with pytest.raises(StorageFailed, match="removed or replaced"):
            store.append([event(6)], now=9)
        with (
            pytest.raises(StorageFailed, match="removed or replaced"),
            store._recorder.datastore.reading(),
            store._recorder.datastore.reading(),
        ):
            pass
        assert not path.exists()

    def test_a_replaced_file_takes_no_events_of_the_old_one(self, path, store):
        path.rename(path.with_name("old.db"))
        open_store(path, create=True).close()
        with pytest.raises(StorageFailed, match="removed or replaced"):
            store.append([event(5)], now=9)
        with closing(open_store(path, create=False)) as other:
            assert other.last_position() == 0
