"""What may not be written can be read; what may not be read says so."""

import os
import shutil
from contextlib import closing

import pytest

from journal.errors import ReadOnly, StorageFailed
from journal.ids import StreamId, Version
from journal.stores import NewEvent, open_store
from tests.unit.care_files import names
from tests.unit.privileges import NOBODY, public_directory, without_privileges


def event(version):
    return NewEvent(StreamId("run:1"), Version(version), "noted.v1", b"{}")


def make(path, count=1):
    with closing(open_store(path, create=True)) as store:
        store.append([event(version) for version in range(1, count + 1)], now=1)
    return path


@pytest.fixture
def shared():
    with public_directory() as directory:
        yield directory


def test_a_file_that_may_not_be_read(shared):
    path = make(shared / "runs.db")
    path.chmod(0o000)
    with without_privileges():
        for create in (True, False):
            with pytest.raises(StorageFailed, match="no permission to read"):
                open_store(path, create=create)


def test_a_directory_that_may_not_be_written(shared):
    shared.chmod(0o555)
    with without_privileges(), pytest.raises(ReadOnly, match="permission denied"):
        open_store(shared / "runs.db", create=True)


@pytest.mark.parametrize(("file", "directory"), [(0o444, 0o777), (0o444, 0o555)])
def test_what_may_not_be_written_can_be_read(shared, file, directory):
    path = make(shared / "runs.db", 3)
    path.chmod(file)
    shared.chmod(directory)
    with without_privileges():
        with closing(open_store(path, create=False)) as store:
            assert [e.version for e in store.read_stream("run:1")] == [1, 2, 3]
            assert store.head("run:1") == 3
            with pytest.raises(ReadOnly, match="no permission to write"):
                store.append([event(4)], now=1)
            assert store.last_position() == 3
        assert names(shared) == ["runs.db"]
        with pytest.raises(ReadOnly, match="no permission to write"):
            open_store(path, create=True)


def test_a_writable_file_in_a_closed_directory_can_be_read(shared):
    path = make(shared / "runs.db", 3)
    path.chmod(0o666)
    shared.chmod(0o555)
    with without_privileges(), closing(open_store(path, create=False)) as store:
        assert store.last_position() == 3


def test_what_becomes_writable_again_is_written(shared):
    path = make(shared / "runs.db")
    for entry in (path, shared):
        os.chown(entry, NOBODY if os.geteuid() == 0 else -1, -1)
    with without_privileges(), closing(open_store(path, create=True)) as store:
        for file, directory in ((0o400, 0o700), (0o600, 0o500), (0o400, 0o500)):
            path.chmod(file)
            shared.chmod(directory)
            with pytest.raises(ReadOnly, match="no permission to write"):
                store.append([event(2)], now=1)
            assert store.head("run:1") == 1
        path.chmod(0o600)
        shared.chmod(0o700)
        store.append([event(2)], now=1)
        assert store.head("run:1") == 2


def test_what_is_open_for_writing_is_written_on(shared):
    path = make(shared / "runs.db")
    for entry in (path, shared):
        os.chown(entry, NOBODY if os.geteuid() == 0 else -1, -1)
    with without_privileges(), closing(open_store(path, create=True)) as store:
        store.append([event(2)], now=1)
        path.chmod(0o400)
        shared.chmod(0o500)
        store.append([event(3)], now=1)
        shared.chmod(0o700)
        path.chmod(0o600)
    with closing(open_store(path, create=False)) as store:
        assert store.head("run:1") == 3


@pytest.mark.parametrize("directory", [0o777, 0o555])
def test_a_reader_without_permission_to_write_follows_a_writer(shared, directory):
    path = make(shared / "runs.db", 1)

    def close_to_others():
        for entry in shared.iterdir():
            entry.chmod(0o444)
        shared.chmod(directory)

    def open_to_its_owner():
        shared.chmod(0o777)
        for entry in shared.iterdir():
            entry.chmod(0o644)

    close_to_others()
    with without_privileges():
        reader = open_store(path, create=False)
        assert reader.last_position() == 1
    open_to_its_owner()
    with closing(open_store(path, create=True)) as writer:
        for version in (2, 3):
            writer.append([event(version)], now=1)
            close_to_others()
            with without_privileges():
                assert reader.last_position() == version
            open_to_its_owner()
    close_to_others()
    with without_privileges():
        assert [e.version for e in reader.read_stream("run:1")] == [1, 2, 3]
        reader.close()
    shared.chmod(0o777)
    assert names(shared) == ["runs.db"]


def test_a_log_that_needs_recovery_is_not_passed_over(shared):
    path = make(shared / "runs.db")
    with closing(open_store(path, create=True)) as store:
        store.append([event(2)], now=1)
        crashed = shared / "crashed.db"
        shutil.copy(path, crashed)
        shutil.copy(f"{path}-wal", f"{crashed}-wal")
    for entry in shared.iterdir():
        entry.chmod(0o444)
    shared.chmod(0o555)
    with (
        without_privileges(),
        pytest.raises(StorageFailed, match=r"a crash left its log crashed\.db-wal"),
    ):
        open_store(crashed, create=False)
    shared.chmod(0o777)
    for entry in shared.iterdir():
        entry.chmod(0o666)
    with closing(open_store(crashed, create=False)) as store:
        assert store.last_position() == 2
