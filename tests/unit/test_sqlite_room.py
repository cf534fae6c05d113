"""Where there is no room, nothing is written, the error says why, and it passes."""

import errno
import os
import resource
import sqlite3
from contextlib import closing, contextmanager, suppress

import pytest

from journal.errors import (
    DamagedFile,
    DiskFull,
    FileMoved,
    JournalBusy,
    ReadOnly,
    StorageFailed,
)
from journal.stores import open_store, sqlite_cause, sqlite_checkpoint
from journal.stores.sqlite_cause import find_cause
from journal.stores.sqlite_errors import explain, translate
from tests.unit.sqlite_files import event, three_runs, versions


@pytest.fixture
def path(tmp_path):
    return three_runs(tmp_path / "runs.db")


@pytest.fixture
def store(path):
    with closing(open_store(path, create=True)) as store:
        yield store


@contextmanager
def files_up_to(size):
    """Let no file of this process grow beyond so many bytes; what SQLite is told is EFBIG."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_limit_on_files_is_named_and_passes(path, store):
    store.append([event(5)], now=9)
    before = store.read_all()
    with files_up_to(60_000):
        for _ in range(2):
            with pytest.raises(DiskFull, match=r"may have 60000 bytes .*ulimit -f") as full:
                store.append([event(6, data=os.urandom(300_000))], now=9)
            assert (full.value.location, full.value.operation) == (str(path), "write to")
            assert store.read_all() == before
    assert store.append([event(6)], now=9)[0].position == 14


@pytest.mark.parametrize("size", [0, 100, 5_000, 33_000, 40_000, 70_000, 150_000, 250_000])
def test_wherever_it_ends_nothing_of_a_batch_is_left(store, size):
    batch = [event(version, data=os.urandom(4_000)) for version in range(5, 105)]
    with files_up_to(size), pytest.raises(DiskFull):
        store.append(batch, now=9)
    assert store.last_position() == 12
    assert store.append(batch, now=9)[-1].version == 104
    assert versions(store.read_stream("run:1")) == [*range(1, 105)]


@pytest.mark.parametrize("size", [0, 1_000, 5_000, 20_000, 33_000])
def test_a_journal_that_could_not_be_made_is_made_later(tmp_path, size):
    path = tmp_path / "new.db"
    with files_up_to(size), pytest.raises(DiskFull):
        open_store(path, create=True)
    with closing(open_store(path, create=True)) as store:
        store.append([event()], now=1)
        assert store.last_position() == 1


def test_a_log_that_cannot_be_moved_is_no_secret(path, store, monkeypatch):
    monkeypatch.setattr(sqlite_checkpoint, "LONG", 40_000)
    store._recorder.datastore.pool._checkpointer._bound = 40_000
    written = 4
    size = path.stat().st_size
    with files_up_to(size + 30_000):
        # The log begins anew again and again, until the file itself would have to grow.
        with suppress(DiskFull):
            while written < 1_000:
                store.append([event(written + 1, data=os.urandom(500))], now=9)
                written += 1
        with pytest.raises(DiskFull):
            store.append([event(written + 1)], now=9)
    store.append([event(written + 1)], now=9)
    assert versions(store.read_stream("run:1")) == [*range(1, written + 2)]


def test_a_database_at_its_limit_of_pages_says_so(store):
    with store._recorder.datastore.writing() as connection:
        [(pages,)] = connection.execute("PRAGMA page_count")
        connection.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(DiskFull, match="full"):
        store.append([event(5, data=os.urandom(50_000))], now=9)
    assert versions(store.read_stream("run:1")) == [1, 2, 3, 4]
    assert store.append([event(5, data=os.urandom(50_000))], now=9)[0].position == 13


class TestCause:
    """Why SQLite could not write, found out beside the file."""

    def test_none_is_found_where_there_is_none(self, path):
        assert find_cause(path) is None
        assert [entry.name for entry in path.parent.iterdir()] == ["runs.db"]

    def test_a_limit_that_the_files_are_far_from_is_none(self, path):
        with files_up_to(1_000_000):
            assert find_cause(path) is None

    @pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
    def test_a_limit_that_one_of_the_files_is_near_to(self, path, suffix):
        path.with_name(f"runs.db{suffix}").write_bytes(bytes(960_000))
        with files_up_to(1_000_000):
            assert find_cause(path).errno == errno.EFBIG

    def test_a_directory_that_is_gone(self, tmp_path):
        assert find_cause(tmp_path / "gone" / "runs.db").errno == errno.ENOENT

    def test_without_limits_the_probe_tells(self, path, monkeypatch):
        monkeypatch.setattr(sqlite_cause, "HAS_LIMITS", False)
        with files_up_to(1_000_000):
            assert find_cause(path).errno == errno.EFBIG


@contextmanager
def few_files():
    """Let this process open no more files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    probe = os.open(os.devnull, os.O_RDONLY)
    os.close(probe)
    resource.setrlimit(resource.RLIMIT_NOFILE, (probe, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_too_many_open_files_are_told_and_pass(path):
    with closing(open_store(path, create=True)) as store, closing(open_store(path, create=True)):
        with store._recorder.datastore.reading(), few_files():
            with pytest.raises(StorageFailed, match="unable to open"):
                store.head("run:1")
            with pytest.raises(StorageFailed, match=r"unable to open|too many open files"):
                store.append([event(5)], now=9)
        store.append([event(5)], now=9)
        assert store.head("run:1") == 5


@pytest.mark.parametrize(
    ("code", "name", "kind"),
    [
        (sqlite3.SQLITE_READONLY_DBMOVED, "SQLITE_READONLY_DBMOVED", FileMoved),
        (sqlite3.SQLITE_READONLY_ROLLBACK, "SQLITE_READONLY_ROLLBACK", ReadOnly),
        (sqlite3.SQLITE_CORRUPT_VTAB, "SQLITE_CORRUPT_VTAB", DamagedFile),
        (sqlite3.SQLITE_BUSY_RECOVERY, "SQLITE_BUSY_RECOVERY", JournalBusy),
        (sqlite3.SQLITE_PROTOCOL, "SQLITE_PROTOCOL", JournalBusy),
        (sqlite3.SQLITE_IOERR_READ, "SQLITE_IOERR_READ", StorageFailed),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, "SQLITE_CANTOPEN_ISDIR", StorageFailed),
    ],
)
def test_what_sqlite_says_becomes_an_error_of_ours(path, code, name, kind):
    error = sqlite3.OperationalError("it failed")
    error.sqlite_errorcode, error.sqlite_errorname = code, name
    told = translate(error, location="runs.db", operation="write to", waited=5, path=path)
    assert type(told) is kind


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, DiskFull),
        (errno.EDQUOT, DiskFull),
        (errno.EFBIG, DiskFull),
        (errno.EROFS, ReadOnly),
        (errno.EACCES, ReadOnly),
        (errno.EIO, StorageFailed),
        (errno.EMFILE, StorageFailed),
    ],
)
def test_what_the_system_says_becomes_an_error_of_ours(number, kind):
    error = explain(OSError(number, os.strerror(number)), location="runs.db", operation="write to")
    assert type(error) is kind
    assert os.strerror(number).lower() in error.message
