"""The views file is the journal's own and nobody else's; what it cannot be is said."""

import os
import stat
from contextlib import closing

import pytest
from eventsourcing.persistence import IntegrityError, Tracking

from journal import Journal
from journal.stores import open_store, open_views, sqlite_views_file
from journal.stores.sqlite_views import ViewFactory
from journal.stores.views import Tracked, ViewsUnusable
from journal.views import Views
from tests.unit.care_files import names
from tests.unit.privileges import public_directory, without_privileges
from tests.unit.test_sqlite_room import files_up_to
from tests.unit.view_files import (
    RUN,
    connect,
    fill,
    journal_file,
    open_beside,
    page,
    views_of,
)


@pytest.fixture
def path(tmp_path):
    return journal_file(tmp_path / "runs.db")


def tracked(path, revision=1):
    with closing(open_beside(path, revision)) as views, views.reading() as rows:
        return rows.tracked(RUN)


def refuses(path, match):
    with pytest.raises(ViewsUnusable, match=match) as raised:
        open_beside(path)
    assert raised.value.stream is None


def test_it_stands_beside_the_journal_for_its_owner_only(path):
    with closing(open_beside(path)) as views:
        fill(views)
        assert views.location == str(views_of(path))
        for name in ("runs.db.views", "runs.db.views-wal", "runs.db.views-shm"):
            assert stat.S_IMODE(path.with_name(name).stat().st_mode) == 0o600
    assert names(path.parent) == ["runs.db", "runs.db.views"]
    assert tracked(path).version == 9


def test_those_who_may_use_the_journal_may_use_it(path):
    path.chmod(0o660)
    with closing(open_beside(path)):
        assert stat.S_IMODE(views_of(path).stat().st_mode) == 0o660


def test_a_link_to_the_journal_leads_to_its_views(path, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.db"
    link.symlink_to(path)
    with closing(open_beside(link)) as views:
        assert views.location == str(views_of(path))


def test_a_relative_journal_keeps_its_views_when_the_directory_changes(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    with closing(open_store("runs.db", create=False)) as store:
        monkeypatch.chdir("/")
        with closing(open_views(store, 1, in_memory=False)) as views:
            assert views.location == str(views_of(path))


def test_a_journal_in_memory_has_its_views_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with closing(open_store("memory://", create=True)) as store:
        for in_memory in (False, True):
            with closing(open_views(store, 1, in_memory=in_memory)) as views:
                fill(views)
                assert views.location == "memory"
    assert names(tmp_path) == []


def test_the_file_of_another_journal_is_made_anew(path, tmp_path):
    with closing(open_beside(path)) as views:
        fill(views)
    other = journal_file(tmp_path / "other.db")
    views_of(path).rename(views_of(other))
    assert tracked(other) is None
    with connect(views_of(other)) as db:
        [(owner,)] = db.execute("SELECT value FROM meta WHERE key = 'journal'").fetchall()
    with closing(open_store(other, create=False)) as store:
        assert owner == store.journal_id


def test_a_backup_of_the_journal_has_its_id(path, tmp_path):
    with Journal.open(path) as journal:
        journal.backup(tmp_path / "copy.db")
    copy = open_store(tmp_path / "copy.db", create=False)
    with closing(copy), closing(open_store(path, create=False)) as one:
        assert one.journal_id == copy.journal_id


def test_a_past_format_is_made_anew(path):
    with closing(open_beside(path)) as views:
        fill(views)
    with connect(views_of(path)) as db:
        db.execute("PRAGMA user_version = 0")
    assert tracked(path) is None


FOREIGN = {
    "a newer format": ("PRAGMA user_version = 9", "of a newer format"),
    "another program": ("PRAGMA application_id = 7", "another program"),
    "no program named": ("PRAGMA application_id = 0", "another program"),
    "a table more": ("CREATE TABLE more (x)", "its tables are not those"),
    "an index less": ("DROP INDEX pages_by_step", "its tables are not those"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_what_is_not_ours_is_left_as_it_is(path, what):
    statement, reason = FOREIGN[what]
    with closing(open_beside(path)) as views:
        fill(views)
    with connect(views_of(path)) as db:
        db.execute(statement)
    before = views_of(path).read_bytes()
    refuses(path, reason)
    assert views_of(path).read_bytes() == before


@pytest.mark.parametrize("content", [b"x", b"no database at all" * 100])
def test_a_file_that_is_no_database_is_left_as_it_is(path, content):
    views_of(path).write_bytes(content)
    refuses(path, "not a")
    assert views_of(path).read_bytes() == content


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda at: at.symlink_to("real")])
def test_what_is_no_file_is_left_as_it_is(path, make):
    make(views_of(path))
    refuses(path, "not a regular file")
    assert names(path.parent) == ["runs.db", "runs.db.views"]


def test_an_empty_file_is_taken(path):
    views_of(path).touch(0o600)
    with closing(open_beside(path)) as views:
        fill(views)
    assert tracked(path).version == 9


@pytest.mark.parametrize("modes", [(0o555, 0o600), (0o555, 0o400), (0o777, 0o400), (0o733, 0o600)])
def test_where_it_may_not_be_made_memory_is_used(modes):
    with public_directory() as directory:
        journal_file(directory / "runs.db")
        if os.geteuid() == 0:
            os.chown(directory / "runs.db", 65534, 65534)
        (directory / "runs.db").chmod(modes[1])
        directory.chmod(modes[0])
        with without_privileges(), Journal.open(directory / "runs.db", create=False) as journal:
            refuses(directory / "runs.db", "permission")
            assert journal.views.store(1, RUN).location == "memory"
            fill(journal.views.store(1, RUN))
            assert [event.version for event in journal.reader.all_events()] == [1]
            assert not views_of(directory / "runs.db").exists()


def test_rows_of_a_lower_revision_go_and_of_a_higher_stay(path):
    def put(views, version):
        with views.writing() as rows:
            for at in range(450):
                rows.put_document(RUN, at + 1, b"root")
                rows.put_chunk(RUN, b"%d" % at)
            rows.track(Tracked(RUN, version, 1, b""))

    for revision in (3, 1):
        with closing(open_beside(path, revision)) as views:
            put(views, revision)
    with closing(open_beside(path, 2)) as views:
        assert tracked(path, 1).version == 1
        put(views, 2)
        assert [tracked(path, at) and tracked(path, at).version for at in (1, 2, 3)] == [None, 2, 3]
        for at in range(5):
            with views.writing() as rows:
                rows.put_page(RUN, page(at))
        with connect(views_of(path)) as db:
            assert db.execute("SELECT count(*) FROM chunks").fetchall() == [(900,)]
            assert db.execute("SELECT count(*) FROM streams").fetchall() == [(2,)]


def test_what_is_forgotten_is_removed_little_by_little(path):
    with closing(open_beside(path)) as views:
        with views.writing() as rows:
            for at in range(450):
                rows.put_chunk(RUN, b"%d" % at)
            rows.forget(RUN)
        for _ in range(5):
            fill(views, "run:2")
        with connect(views_of(path)) as db:
            assert db.execute("SELECT count(*) FROM chunks").fetchall() == [(1,)]
            assert db.execute("SELECT name FROM streams").fetchall() == [("1:run:2",)]


def test_a_full_disk_is_told_and_nothing_is_half_done(path):
    with closing(open_beside(path)) as views:
        fill(views)

        def put_much():
            with views.writing() as rows:
                rows.track(Tracked(RUN, 99, 99, b""))
                for _ in range(100):
                    rows.put_chunk(RUN, os.urandom(10_000))

        with files_up_to(100_000), pytest.raises(ViewsUnusable) as raised:
            put_much()
        assert raised.value.stream is None
        with views.reading() as rows:
            assert rows.tracked(RUN).version == 9
        fill(views, version=10)
        with views.reading() as rows:
            assert rows.tracked(RUN).version == 10


@pytest.mark.parametrize("size", [0, 5_000, 30_000])
def test_where_there_is_no_room_to_make_it_it_is_made_later(path, size):
    with closing(open_store(path, create=False)) as store:
        store.last_position()
        with files_up_to(size), pytest.raises(ViewsUnusable) as raised:
            open_views(store, 1, in_memory=False)
        assert raised.value.stream is None
    with closing(open_beside(path)) as views:
        fill(views)


def test_others_that_write_are_waited_for_but_not_for_ever(path, monkeypatch):
    monkeypatch.setattr(sqlite_views_file, "WAIT", 0.05)
    with closing(open_beside(path)) as views:
        fill(views)
        with connect(views_of(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(ViewsUnusable, match="locked") as raised, views.writing():
                pass
            assert raised.value.stream is None
            with views.reading() as rows:
                assert rows.tracked(RUN).version == 9
            other.execute("ROLLBACK")
        fill(views)


def test_a_directory_that_is_kept_locked_is_not_waited_for_ever(path, monkeypatch):
    monkeypatch.setattr(sqlite_views_file, "WAIT", 0.05)
    fcntl = pytest.importorskip("fcntl")
    descriptor = os.open(path.parent, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    refuses(path, "keep its directory locked")
    os.close(descriptor)
    open_beside(path).close()


class TestRemoved:
    """Who has a removed file open never mixes it with the one in its place."""

    @pytest.fixture(autouse=True)
    def _look_always(self, monkeypatch):
        monkeypatch.setattr("journal.stores.sqlite_file.LOOK_EVERY", 0)

    @pytest.mark.parametrize(
        "suffixes", [("",), ("", "-wal", "-shm"), ("-wal",), ("-shm",), ("-wal", "-shm")]
    )
    def test_it_is_noticed_and_a_new_one_is_right(self, path, suffixes):
        with closing(open_beside(path)) as views:
            fill(views)
            for suffix in suffixes:
                path.with_name(f"runs.db.views{suffix}").unlink()
            for use in (views.reading, views.writing):
                with pytest.raises(ViewsUnusable, match="removed or replaced") as raised, use():
                    pass
                assert raised.value.stream is None

    def test_the_next_one_is_not_hurt_by_who_has_the_last(self, path):
        old = open_beside(path)
        fill(old, version=5)
        for name in ("runs.db.views", "runs.db.views-wal", "runs.db.views-shm"):
            path.with_name(name).unlink()
        with closing(open_beside(path)) as new:
            fill(new, version=7)
            old.close()
            with new.reading() as rows:
                assert rows.tracked(RUN).version == 7
            assert tracked(path).version == 7
        assert tracked(path).version == 7

    def test_what_a_dead_process_left_beside_it_does_no_harm(self, path):
        with closing(open_beside(path)) as views:
            fill(views)
            log = path.with_name("runs.db.views-wal").read_bytes()
        views_of(path).unlink()
        path.with_name("runs.db.views-wal").write_bytes(log)
        path.with_name("runs.db.views-shm").write_bytes(b"\xff" * 32768)
        assert tracked(path) is None

    def test_a_connection_that_is_opened_later_is_told(self, path, monkeypatch):
        monkeypatch.setattr("journal.stores.sqlite_file.LOOK_EVERY", 1000)
        for again, reason in ((False, "was removed"), (True, "was replaced")):
            with closing(open_beside(path)) as views:
                with views.reading():
                    pass  # where it stands is looked at now
                for name in ("runs.db.views", "runs.db.views-wal", "runs.db.views-shm"):
                    path.with_name(name).unlink()
                if again:
                    open_beside(path).close()
                with pytest.raises(ViewsUnusable, match=reason), views.writing():
                    pass

    def test_projections_go_on_in_memory_and_come_back(self, path, monkeypatch):
        with Journal.open(path) as journal:
            fill(journal.views.store(1, RUN))
            views_of(path).unlink()
            with pytest.raises(ViewsUnusable) as raised, journal.views.store(1, RUN).reading():
                pass
            journal.views.distrust(raised.value)
            assert journal.views.store(1, RUN).location == "memory"
            journal.views._away_until = 0
            assert journal.views.store(1, RUN).location == str(views_of(path))
            fill(journal.views.store(1, RUN))


def test_the_journal_closes_its_views(path):
    with Journal.open(path) as journal:
        assert isinstance(journal.views, Views)
        views = journal.views.store(1, RUN)
        fill(views)
    assert names(path.parent) == ["runs.db", "runs.db.views"]
    with pytest.raises(ViewsUnusable, match="closed"):
        journal.views.store(1, RUN)


def test_nothing_is_made_before_it_is_needed(path):
    with Journal.open(path) as journal:
        assert journal.reader.head("1") == 1
    assert names(path.parent) == ["runs.db"]


def test_a_name_that_is_too_long_leads_to_memory(path):
    long = path.rename(path.with_name("r" * 250))
    refuses(long, "name too long")
    with Journal.open(long) as journal:
        assert journal.views.store(1, RUN).location == "memory"


def test_where_the_system_has_no_locks_it_works(path, monkeypatch):
    monkeypatch.setattr(sqlite_views_file, "HAS_LOCKS", False)
    with closing(open_beside(path)) as views:
        fill(views)
    assert tracked(path).version == 9


def test_it_has_no_place_for_events(path):
    factory = ViewFactory({"SQLITE_DBNAME": str(path), "JOURNAL_ID": "x"})
    for make in (
        factory.aggregate_recorder,
        factory.application_recorder,
        factory.process_recorder,
    ):
        with pytest.raises(NotImplementedError, match="no table"):
            make()
    recorder = factory.tracking_recorder()
    assert recorder.max_tracking_id("nobody") is None
    recorder.insert_tracking(Tracking("somebody", 5))
    with pytest.raises(IntegrityError):
        recorder.insert_tracking(Tracking("somebody", 5))
    assert recorder.max_tracking_id("somebody") == 5
    recorder.datastore.close()
