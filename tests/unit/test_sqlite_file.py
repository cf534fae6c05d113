"""The journal file: how it is made, opened, refused and read by others."""

import os
import re
import shutil
import sqlite3
import stat
import time
from contextlib import closing
from importlib import resources
from pathlib import Path

import pytest

from journal.errors import (
    JournalClosed,
    JournalNotFound,
    NewerFormat,
    NotAJournal,
    StorageFailed,
    VersionConflict,
)
from journal.ids import StreamId, Version
from journal.stores import NewEvent, open_store, sqlite_schema, sqlite_tail
from journal.values import large_strings
from tests.unit.sqlite_files import connect, event, versions

FIXTURES = Path(__file__).parents[1] / "fixtures" / "journals"
STATEMENTS = [*sqlite_schema.statements(after=0)]


def make(path, count=1):
    with closing(open_store(path, create=True)) as store:
        store.append([event(version) for version in range(1, count + 1)], now=1)
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


def names(directory):
    return sorted(entry.name for entry in directory.iterdir())


class TestMaking:
    def test_it_says_what_it_is(self, path):
        make(path)
        with connect(path) as connection:

            def ask(sql):
                return connection.execute(sql).fetchall()

            assert ask("PRAGMA application_id") == [(0x52756E4A,)]
            assert ask("PRAGMA user_version") == [(3,)]
            assert ask("PRAGMA journal_mode") == [("wal",)]
            meta = dict(ask("SELECT key, value FROM meta"))
            assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", meta["journal"])
            assert 0 <= time.time_ns() // 1000 - meta["created"] < 10**9
            assert meta["format"] == 3

    def test_only_its_owner_may_read_it(self, path):
        mask = os.umask(0)
        try:
            with closing(open_store(path, create=True)) as store:
                store.append([event()], now=1)
                assert names(path.parent) == [
                    "runs.db",
                    "runs.db-lock",
                    "runs.db-shm",
                    "runs.db-wal",
                ]
                for entry in path.parent.iterdir():
                    assert stat.S_IMODE(entry.stat().st_mode) == 0o600, entry.name
        finally:
            os.umask(mask)

    def test_a_closed_journal_is_one_file(self, path):
        make(path, 10)
        assert names(path.parent) == ["runs.db"]
        with closing(open_store(path, create=False)) as store:
            assert len(store.read_all()) == 10
        assert names(path.parent) == ["runs.db"]

    def test_an_empty_file_becomes_a_journal(self, path):
        path.touch()
        make(path)
        with closing(open_store(path, create=False)) as store:
            assert store.head("run:1") == 1

    @pytest.mark.parametrize("steps", range(len(STATEMENTS) + 1))
    def test_a_first_open_cut_short_is_completed_by_the_next(self, tmp_path, path, steps):
        torn = tmp_path / "torn.db"
        with connect(torn) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA cache_size=1")
            connection.execute("BEGIN IMMEDIATE")
            for statement in STATEMENTS[:steps]:
                connection.execute(statement)
            # What a killed process leaves: the files as they are at this moment.
            for suffix in ("", "-wal"):
                shutil.copy(f"{torn}{suffix}", f"{path}{suffix}")
        with pytest.raises(NotAJournal):
            open_store(path, create=False)
        make(path)
        with closing(open_store(path, create=False)) as store:
            assert store.head("run:1") == 1


class TestRefusing:
    def test_reading_what_is_not_there_creates_nothing(self, tmp_path):
        for missing in (tmp_path / "runs.db", tmp_path / "no" / "runs.db"):
            with pytest.raises(JournalNotFound) as refused:
                open_store(missing, create=False)
            assert refused.value.location == str(missing)
        assert names(tmp_path) == []

    def test_a_missing_directory_is_not_made(self, tmp_path):
        with pytest.raises(StorageFailed, match="no such file or directory"):
            open_store(tmp_path / "no" / "runs.db", create=True)
        assert names(tmp_path) == []

    def test_a_path_through_a_file_leads_nowhere(self, path):
        path.touch()
        with pytest.raises(JournalNotFound):
            open_store(path / "runs.db", create=False)
        with pytest.raises(StorageFailed, match="not a directory"):
            open_store(path / "runs.db", create=True)

    def test_a_link_to_nowhere_is_said_to_be_one(self, path):
        path.symlink_to(path.with_name("gone.db"))
        with pytest.raises(JournalNotFound):
            open_store(path, create=False)
        with pytest.raises(StorageFailed, match="link to nowhere"):
            open_store(path, create=True)

    def test_a_name_too_long_for_the_file_system(self, tmp_path):
        for create in (True, False):
            with pytest.raises(StorageFailed, match="name too long"):
                open_store(tmp_path / ("x" * 300), create=create)

    def test_an_empty_file_is_no_journal_to_a_reader(self, path):
        path.touch()
        with pytest.raises(NotAJournal, match="empty"):
            open_store(path, create=False)
        assert path.stat().st_size == 0

    @pytest.mark.parametrize("create", [True, False])
    def test_a_directory(self, path, create):
        path.mkdir()
        with pytest.raises(NotAJournal, match="a directory"):
            open_store(path, create=create)

    @pytest.mark.parametrize("create", [True, False])
    def test_a_pipe(self, path, create):
        os.mkfifo(path)
        with pytest.raises(NotAJournal, match="not a regular file"):
            open_store(path, create=create)

    @pytest.mark.parametrize("create", [True, False])
    @pytest.mark.parametrize(
        "content", [b"x", b'{"type":"run"}\n' * 1000, b"SQLite format 3\0", b"\0" * 8192]
    )
    def test_a_file_of_another_kind_is_left_alone(self, path, content, create):
        path.write_bytes(content)
        with pytest.raises(NotAJournal):
            open_store(path, create=create)
        assert path.read_bytes() == content

    @pytest.mark.parametrize("create", [True, False])
    @pytest.mark.parametrize(
        "statements",
        [
            ["CREATE TABLE events (position)"],
            ["PRAGMA application_id = 7", "PRAGMA user_version = 1"],
            ["PRAGMA application_id = 7", "CREATE TABLE other (a)"],
            ["CREATE VIEW v AS SELECT 1"],
        ],
    )
    def test_another_programs_database_is_left_alone(self, path, statements, create):
        with connect(path) as connection:
            for statement in statements:
                connection.execute(statement)
        before = path.read_bytes()
        with pytest.raises(NotAJournal, match="another program"):
            open_store(path, create=create)
        assert path.read_bytes() == before
        assert names(path.parent) == ["runs.db"]

    @pytest.mark.parametrize("create", [True, False])
    def test_a_newer_format(self, path, create):
        make(path)
        with connect(path) as connection:
            connection.execute("PRAGMA user_version = 4")
        with pytest.raises(NewerFormat) as refused:
            open_store(path, create=create)
        assert (refused.value.found, refused.value.known) == (4, 3)

    def test_a_format_that_never_was(self, path):
        make(path)
        with connect(path) as connection:
            connection.execute("PRAGMA user_version = 0")
        with pytest.raises(NotAJournal, match="format 0"):
            open_store(path, create=False)

    def test_an_sqlite_too_old_for_the_tables(self, path, monkeypatch):
        monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 36, 0))
        with pytest.raises(StorageFailed, match=r"the journal needs 3\.37\.0"):
            open_store(path, create=True)
        assert names(path.parent) == []


class TestOpen:
    def test_a_path_of_odd_characters(self, tmp_path):
        for name in ("a b.db", "50%41.db", "what?.db", "#1.db", "ü 東京.db", "it's.db", "a&b=c.db"):
            make(tmp_path / name, 2)
            with closing(open_store(tmp_path / name, create=False)) as store:
                assert store.last_position() == 2
                assert store.location == str(tmp_path / name)

    def test_a_later_change_of_directory_does_not_matter(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with closing(open_store("runs.db", create=True)) as store:
            monkeypatch.chdir("/")
            store.append([event()], now=1)
            assert store.head("run:1") == 1
            assert store.location == "runs.db"
        assert names(tmp_path) == ["runs.db"]

    def test_two_stores_of_a_process_see_each_other(self, path):
        with (
            closing(open_store(path, create=True)) as one,
            closing(open_store(path, create=True)) as two,
        ):
            one.append([event(1, identity=1)], now=50)
            assert two.find("run:1", 1).version == 1
            assert two.append([event(2)], now=40)[0].recorded_at == 50
            with pytest.raises(VersionConflict) as lost:
                one.append([event(1, "run:2"), event(2)], now=60)
            assert (lost.value.stream, lost.value.expected, lost.value.actual) == ("run:1", 1, 2)
            one.append([NewEvent(StreamId("run:2"), Version(1), "other.v1", b"2")], now=60)
            assert [e.name for e in two.read_all()] == ["noted.v1", "noted.v1", "other.v1"]
            one.close()
            two.append([event(3)], now=70)
            assert two.last_position() == 4

    def test_two_stores_taking_turns_leave_no_gap(self, path):
        with (
            closing(open_store(path, create=True)) as one,
            closing(open_store(path, create=True)) as two,
        ):
            for version in range(1, 21):
                writer, other = (one, two) if version % 3 else (two, one)
                writer.append([event(version), event(1, f"run:new{version}")], now=1)
                with pytest.raises(VersionConflict) as lost:
                    other.append([event(version)], now=1)
                assert lost.value.actual == version
            assert [e.position for e in one.read_all()] == [*range(1, 41)]

    def test_a_writer_remembers_a_bounded_number_of_streams(self, path, monkeypatch):
        monkeypatch.setattr(sqlite_tail, "STREAMS", 3)
        with closing(open_store(path, create=True)) as store:
            for version in (1, 2):
                for at in range(10):
                    store.append([event(version, f"run:{at}")], now=1)
                    assert len(store._recorder._tail.heads) <= 4
            assert store.last_position() == 20

    def test_close_leaves_no_connection(self, path):
        store = open_store(path, create=True)
        store.append([event()], now=1)
        store.read_all()
        store.close()
        with connect(path) as connection:
            # Possible only for the sole connection.
            assert connection.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)
        with pytest.raises(JournalClosed):
            store.read_all()

    def test_a_journal_taken_out_of_wal_mode_is_put_back(self, path):
        make(path)
        with connect(path) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
        with closing(open_store(path, create=False)) as store:
            store.append([event(2)], now=1)
        with connect(path) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)

    def read_with_the_format_page(self, directory, monkeypatch, capsys):
        page = resources.files("journal.stores").joinpath("FORMAT.md").read_text("utf-8")
        [code] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        monkeypatch.chdir(directory)
        used = {}
        exec(compile(code, "FORMAT.md", "exec"), used)
        used["database"].close()
        return capsys.readouterr().out.split("\n")[:-1]

    def test_the_format_page_reads_a_journal_without_this_package(self, path, monkeypatch, capsys):
        long = b'{"text":"' + b"word " * 100 + b'"}'
        unlike = os.urandom(4000).hex().encode()
        repeated = [
            b'{"result":"' + unlike + b'"}',
            b'{"again":"' + unlike + b'","and":["' + long[9:-2] + b'","' + unlike + b'"]}',
        ]
        with closing(open_store(path, create=True)) as store:
            store.append([event(1, data=b'{"a":1}'), event(1, "run:ü", long, 7)], now=12)
            for version, data in enumerate(repeated, 2):
                values = tuple([value for _, _, value in large_strings(data)])
                store.append([event(version, data=data)._replace(values=values)], now=13)
        with connect(path) as connection:
            codecs = connection.execute("SELECT DISTINCT codec FROM events").fetchall()
            assert {(0,), (2,), (3,)} <= {*codecs}
        assert self.read_with_the_format_page(path.parent, monkeypatch, capsys) == [
            '1 run:1 1 noted.v1 12 {"a":1}',
            f"2 run:ü 1 noted.v1 12 {long.decode()}",
            f"3 run:1 2 noted.v1 13 {repeated[0].decode()}",
            f"4 run:1 3 noted.v1 13 {repeated[1].decode()}",
        ]

    @pytest.mark.parametrize("number", [1, 2])
    def test_the_format_page_reads_every_format(self, path, monkeypatch, capsys, number):
        shutil.copyfile(FIXTURES / f"format-{number}.journal", path)
        with closing(open_store(path, create=False)) as store:
            expected = [
                f"{e.position} {e.stream} {e.version} {e.name} {e.recorded_at} {e.data.decode()}"
                for e in store.read_all()
            ]
        assert self.read_with_the_format_page(path.parent, monkeypatch, capsys) == expected


def test_a_journal_named_by_a_symbolic_link_is_written_and_read(tmp_path):
    path, link = tmp_path / "runs.db", tmp_path / "link.db"
    link.symlink_to(path.name)
    with closing(open_store(path, create=True)) as store:
        store.append([event(1)], now=9)
        with closing(open_store(link, create=True)) as other:
            other.append([event(2)], now=9)
            assert versions(other.read_stream("run:1")) == [1, 2]
        assert not list(tmp_path.glob("link.db-*"))
        assert versions(store.read_stream("run:1")) == [1, 2]
