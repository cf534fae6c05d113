"""Dropping the snapshots works at any time, and removes nothing else."""

import os
import subprocess
import sys
import time
from contextlib import closing

import pytest

from journal.errors import InvalidLocation, JournalNotFound, StorageFailed
from journal.snapshots import drop_views, look_at_views
from tests.unit.care_files import names, write_journal
from tests.unit.privileges import public_directory, without_privileges
from tests.unit.view_files import RUN, connect, fill, journal_file, open_beside, views_of


@pytest.fixture
def path(tmp_path):
    return journal_file(tmp_path / "runs.db")


def test_what_is_in_it_is_told_and_it_is_removed(path):
    assert look_at_views(path).bytes == drop_views(path).bytes == 0
    with closing(open_beside(path)) as views:
        fill(views)
        status = look_at_views(path)
        assert (status.streams, status.pages, status.chunks, status.documents) == (1, 2, 1, 1)
        assert status.problem is None
    status = look_at_views(path)
    assert status.file == str(views_of(path))
    assert status.bytes == views_of(path).stat().st_size == drop_views(path).bytes
    assert names(path.parent) == ["runs.db"]
    assert look_at_views(path).to_json()["pages"] == 0


def test_one_that_has_it_open_notices_and_the_next_one_is_new(path, monkeypatch):
    monkeypatch.setattr("journal.stores.sqlite_file.LOOK_EVERY", 0)
    with closing(open_beside(path)) as views:
        fill(views)
        assert drop_views(path).bytes > 0
        assert names(path.parent) == ["runs.db"]
        with pytest.raises(Exception, match="removed or replaced"), views.reading():
            pass
        with closing(open_beside(path)) as new, new.reading() as rows:
            assert rows.tracked(RUN) is None
    assert names(path.parent) == ["runs.db", "runs.db.views"]


def test_it_works_while_other_processes_write(path):
    command = [sys.executable, "-m", "tests.crash.views_writer", path, "run:a", "run:b"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            for _ in range(8):
                assert process.stdout.readline()
                drop_views(path)
                time.sleep(0.03)
            told = [process.stdout.readline() for _ in range(200)]
            assert all(told), process.stderr.read()
        finally:
            process.kill()
    assert {line.split(b" ", 1)[1] for line in told if line.startswith(b"away")} <= {
        b"the file was removed or replaced\n",
        b"the file was removed\n",
    }


@pytest.mark.parametrize("start", [100, 4096])
def test_a_damaged_one_is_removed(path, start):
    with closing(open_beside(path)) as views:
        fill(views)
    whole = views_of(path).read_bytes()
    views_of(path).write_bytes(whole[:start] + b"\xa5" * (len(whole) - start))
    assert look_at_views(path).problem is None or look_at_views(path).pages is None
    assert drop_views(path).bytes == len(whole)
    assert names(path.parent) == ["runs.db"]


def test_one_whose_making_was_cut_short_is_removed(path):
    views_of(path).touch()
    assert look_at_views(path).problem is None
    drop_views(path)
    assert names(path.parent) == ["runs.db"]


def test_one_of_a_newer_format_is_told_and_removed(path):
    open_beside(path).close()
    with connect(views_of(path)) as db:
        db.execute("PRAGMA user_version = 9")
    status = look_at_views(path)
    assert "newer format" in status.problem
    assert status.pages is None
    drop_views(path)
    assert names(path.parent) == ["runs.db"]


@pytest.mark.parametrize("content", [b"x", b"no database " * 100, "a database"])
def test_what_is_no_file_of_snapshots_is_never_removed(path, content):
    if content == "a database":
        with connect(views_of(path)) as db:
            db.execute("CREATE TABLE mine (x)")
    else:
        views_of(path).write_bytes(content)
    before = views_of(path).read_bytes()
    assert look_at_views(path).problem
    with pytest.raises(StorageFailed, match="not"):
        drop_views(path)
    assert views_of(path).read_bytes() == before


def test_a_directory_in_its_place_is_left(path):
    views_of(path).mkdir()
    assert look_at_views(path).problem == "a directory"
    with pytest.raises(StorageFailed, match="not a regular file"):
        drop_views(path)
    assert views_of(path).is_dir()


def test_a_name_that_is_too_long_is_told(path):
    long = path.rename(path.with_name("r" * 250))
    assert "name too long" in look_at_views(long).problem
    with pytest.raises(StorageFailed, match="name too long"):
        drop_views(long)


def test_a_damaged_journal_is_no_hindrance(path):
    open_beside(path).close()
    path.write_bytes(b"no journal any more " * 100)
    assert drop_views(path).bytes > 0


def test_without_a_journal_it_is_said(tmp_path):
    for use in (drop_views, look_at_views):
        with pytest.raises(JournalNotFound):
            use(tmp_path / "none.db")
        with pytest.raises(InvalidLocation, match="in memory"):
            use("memory://")
    assert names(tmp_path) == []


def test_those_who_may_not_remove_it_are_told():
    with public_directory() as directory:
        journal = write_journal(directory / "runs.db", records=1)
        with closing(open_beside(journal)) as views:
            fill(views)
        if os.geteuid() == 0:
            for file in (journal, views_of(journal)):
                os.chown(file, 65534, 65534)
        directory.chmod(0o555)
        with without_privileges():
            assert look_at_views(journal).pages == 2
            with pytest.raises(StorageFailed, match="no permission"):
                drop_views(journal)
        assert views_of(journal).exists()
