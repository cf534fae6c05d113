"""A damaged journal file names what is damaged; what is not stays readable."""

import os
import sqlite3
from contextlib import closing

import pytest

from journal.errors import CorruptEvent, NotAJournal, StorageFailed
from journal.ids import StreamId, Version
from journal.stores import NewEvent, open_store


def connect(path):
    return closing(sqlite3.connect(path, isolation_level=None))


def event(version=1, stream="run:1", data=b"{}", identity=None):
    return NewEvent(StreamId(stream), Version(version), "noted.v1", data, identity)


def versions(page):
    return [found.version for found in page]


@pytest.fixture
def path(tmp_path):
    """A journal of run:1, run:2 and run:3 with four events each, stored in turns."""
    path = tmp_path / "runs.db"
    with closing(open_store(path, create=True)) as store:
        for version in range(1, 5):
            store.append(
                [event(version, f"run:{at}", identity=version) for at in (1, 2, 3)], now=version
            )
    return path


@pytest.fixture
def damage(path):
    def change(assignment):
        """Change event 2 of run:1 behind the guards."""
        with connect(path) as connection:
            [(guard,)] = connection.execute(
                "SELECT sql FROM sqlite_schema WHERE name = 'events_update_guard'"
            )
            connection.execute("DROP TRIGGER events_update_guard")
            connection.execute(f"UPDATE events SET {assignment} WHERE version = 2 AND stream = 1")
            connection.execute(guard)
        return closing(open_store(path, create=False))

    return change


@pytest.mark.parametrize(
    ("assignment", "reason"),
    [
        ("codec = 99", "unknown codec 99"),
        ("codec = 1, data = x'0102030405'", "zstd|frame"),
        ("codec = 1, data = x''", "zstd|frame"),
        ("name = 77", "no event name of code 77"),
    ],
)
def test_a_damaged_row_is_named_and_the_rest_stays_readable(damage, assignment, reason):
    with damage(assignment) as store:
        for read in (
            lambda: store.read_stream("run:1"),
            store.read_all,
            lambda: store.find("run:1", 2),
        ):
            with pytest.raises(CorruptEvent, match=reason) as corrupt:
                read()
            assert (corrupt.value.stream, corrupt.value.version) == ("run:1", 2)
        assert versions(store.read_stream("run:2")) == [1, 2, 3, 4]
        assert versions(store.read_stream("run:1", upto=1)) == [1]
        assert versions(store.read_stream("run:1", after=2)) == [3, 4]
        assert store.append([event(5)], now=9)[0].position == 13


def test_an_event_of_no_stream_is_named_by_its_position(damage):
    with damage("stream = 999") as store:
        with pytest.raises(CorruptEvent, match="position 4 is of no stream"):
            store.read_all()
        assert versions(store.read_stream("run:2")) == [1, 2, 3, 4]


def test_destroyed_pages_are_no_traceback_of_sqlite(path):
    with closing(open_store(path, create=True)) as store:
        store.append([event(5, data=os.urandom(100_000))], now=9)
    content = bytearray(path.read_bytes())
    schema_pages = 4096 * 12
    content[schema_pages:] = b"\xa5" * (len(content) - schema_pages)
    path.write_bytes(content)
    with closing(open_store(path, create=False)) as store:
        with pytest.raises((StorageFailed, CorruptEvent)):
            store.read_all()
        with pytest.raises((StorageFailed, CorruptEvent)):
            store.read_stream("run:1")


def test_a_destroyed_schema_is_no_traceback_of_sqlite(path):
    content = bytearray(path.read_bytes())
    content[100:4096] = b"\xa5" * 3996
    path.write_bytes(content)
    with pytest.raises(StorageFailed, match="malformed"):
        open_store(path, create=False)


def test_a_file_cut_short(path):
    os.truncate(path, 4096)
    with pytest.raises((StorageFailed, NotAJournal)):
        open_store(path, create=False)
