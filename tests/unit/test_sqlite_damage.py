"""A damaged journal file names what is damaged; what is not stays readable."""

import os
from contextlib import closing
from struct import pack
from zlib import crc32

import pytest

from journal import Journal
from journal.errors import CorruptEvent, DamagedFile, NotAJournal
from journal.stores import open_store
from tests.unit.sqlite_files import connect, event, three_runs, versions


@pytest.fixture
def path(tmp_path):
    return three_runs(tmp_path / "runs.db")


@pytest.fixture
def damage(path):
    def change(assignment, *values):
        """Change event 2 of run:1 behind the guards."""
        with connect(path) as connection:
            [(guard,)] = connection.execute(
                "SELECT sql FROM sqlite_schema WHERE name = 'events_update_guard'"
            )
            connection.execute("DROP TRIGGER events_update_guard")
            connection.execute(
                f"UPDATE events SET {assignment} WHERE version = 2 AND stream = 1", values
            )
            connection.execute(guard)
        return closing(open_store(path, create=False))

    return change


@pytest.mark.parametrize(
    ("assignment", "reason"),
    [
        ("codec = 99", "checksum does not match"),
        ("codec = 1, data = x'0102030405'", "checksum does not match"),
        ("data = x''", "checksum does not match"),
        ("recorded_at = recorded_at + 1", "checksum does not match"),
        ("checksum = checksum + 1", "checksum does not match"),
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


@pytest.mark.parametrize(
    ("codec", "data", "reason"),
    [(99, b"{}", "unknown codec 99"), (1, b"\1\2\3\4\5", "zstd|frame"), (1, b"", "zstd|frame")],
)
def test_what_was_stored_so_but_does_not_unpack_is_named(damage, codec, data, reason):
    crc = crc32(b"run:1\0noted.v1" + pack(">5q", 4, 2, codec, 2, 2) + data)
    signed = crc if crc < 2**31 else crc - 2**32
    assignment = "codec = ?, checksum = ?, data = ?"
    with (
        damage(assignment, codec, signed, data) as store,
        pytest.raises(CorruptEvent, match=reason) as corrupt,
    ):
        store.read_stream("run:1")
    assert (corrupt.value.stream, corrupt.value.version) == ("run:1", 2)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE streams SET name = 'run:x' WHERE key = 1",
        "UPDATE streams SET name = CAST(x'72756e3ae9' AS TEXT) WHERE key = 1",
        "UPDATE names SET name = 'other.v1'",
        "UPDATE names SET name = CAST(x'ff' AS TEXT)",
    ],
)
def test_a_damaged_name_is_noticed_at_the_events_that_have_it(path, statement):
    with closing(open_store(path, create=False)) as store:
        with connect(path) as connection:
            connection.execute("DROP TRIGGER streams_update_guard")
            connection.execute("DROP TRIGGER names_update_guard")
            connection.execute(statement)
        with pytest.raises(CorruptEvent, match="checksum does not match"):
            store.read_all()
        assert len(store.streams(prefix="run:")) == 3
        if "streams" in statement:
            assert versions(store.read_stream("run:2")) == [1, 2, 3, 4]


def test_an_event_of_no_stream_is_named_by_its_position(damage):
    with damage("stream = 999") as store:
        with pytest.raises(CorruptEvent, match="position 4 is of no stream"):
            store.read_all()
        assert versions(store.read_stream("run:2")) == [1, 2, 3, 4]


def test_destroyed_pages_are_no_traceback_of_sqlite(path):
    with closing(open_store(path, create=True)) as store:
        store.append([event(5, data=os.urandom(100_000))], now=9)
    content = bytearray(path.read_bytes())
    schema_pages = 4096 * 18
    content[schema_pages:] = b"\xa5" * (len(content) - schema_pages)
    path.write_bytes(content)
    with closing(open_store(path, create=False)) as store:
        with pytest.raises((DamagedFile, CorruptEvent)):
            store.read_all()
        with pytest.raises((DamagedFile, CorruptEvent)):
            store.read_stream("run:1")


def test_a_destroyed_schema_is_no_traceback_of_sqlite(path):
    content = bytearray(path.read_bytes())
    content[100:4096] = b"\xa5" * 3996
    path.write_bytes(content)
    with pytest.raises(DamagedFile, match="malformed"):
        open_store(path, create=False)


def test_a_file_cut_short(path):
    os.truncate(path, 4096)
    with pytest.raises((DamagedFile, NotAJournal)):
        open_store(path, create=False)


def test_a_store_works_again_when_the_damage_is_gone(path):
    good = path.read_bytes()
    with connect(path) as connection:
        pages = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'events' AND rootpage"
        ).fetchall()
    with closing(open_store(path, create=True)) as store:
        with path.open("r+b", buffering=0) as file:
            for (page,) in pages:
                file.seek((page - 1) * 4096)
                file.write(b"\xa5" * 4096)
            for use in (store.read_all, lambda: store.append([event(5)], now=9)):
                with pytest.raises(DamagedFile) as damaged:
                    use()
                assert damaged.value.location == str(path)
            file.seek(0)
            file.write(good)
        assert len(store.read_all()) == 12
        assert store.append([event(5)], now=9)[0].position == 13
        assert versions(store.read_stream("run:1")) == [1, 2, 3, 4, 5]


def test_a_file_overwritten_while_it_is_open_is_damaged_not_another(path):
    good = path.read_bytes()
    with closing(open_store(path, create=True)) as store:
        with path.open("r+b", buffering=0) as file:
            file.write(b"\xa5" * len(good))
        with pytest.raises(DamagedFile):
            store.read_all()
        with path.open("r+b", buffering=0) as file:
            file.write(good)
        assert len(store.read_all()) == 12


def test_damage_whose_description_is_no_text_is_told_as_damage(tmp_path):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        journal.run("r", session_id="s")
    content = path.read_bytes()
    assert content.count(b"tableleasesleases") == 1
    content = content.replace(b"tableleasesleases", b"table\xff\xfeasesleases")
    path.write_bytes(content.replace(b"CREATE TABLE leases", b"CREATE TABBE leases"))
    with pytest.raises(DamagedFile, match="no text"):
        Journal.open(path)
