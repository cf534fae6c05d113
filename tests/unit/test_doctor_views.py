"""The doctor looks at the snapshots beside a journal, and raises no false alarm."""

import os
import subprocess
import sys
from contextlib import closing

import pytest

from journal import Journal
from journal.doctor import examine
from journal.snapshots import drop_views
from journal.stores import sqlite_reader
from journal.stores.sqlite_views_rows import chunk_checksum
from journal.stores.views import Tracked
from tests.unit.care_files import names, write_journal
from tests.unit.privileges import NOBODY, public_directory, without_privileges
from tests.unit.test_views_damage import CHANGES
from tests.unit.view_files import connect, fill, open_beside, views_of

RUN = "run:r"


@pytest.fixture
def path(tmp_path):
    return write_journal(tmp_path / "runs.db", records=20)


def findings(path, **options):
    report = examine(path, **options)
    assert report.is_sound is not any(each.severity == "wrong" for each in report.findings)
    return report.findings


def codes(path, **options):
    return [each.code for each in findings(path, **options)]


def put(path, position=None, stream=RUN, version=9, revision=1):
    """Fill the views as a projection does that has read so far."""
    with closing(open_beside(path, revision)) as views:
        fill(views, stream, version)
        with Journal.open(path, create=False) as journal:
            found = journal.reader.event(stream, version)
        at = position or (found.position if found else 10**6)
        with views.writing() as rows:
            rows.track(Tracked(stream, version, at, b"state"))


def test_a_sound_file_is_no_finding(path):
    for revision in (1, 2):
        put(path, revision=revision)
    with closing(open_beside(path, 2)) as views, views.writing() as rows:
        rows.forget(RUN)
        rows.put_document(RUN, 4, b"without a tracking position")
    before = views_of(path).read_bytes()
    assert codes(path) == []
    assert codes(path, quick=True) == []
    report = examine(path)
    assert report.facts["views_bytes"] == len(before)
    assert views_of(path).read_bytes() == before
    assert names(path.parent) == ["runs.db", "runs.db.views"]


def test_no_file_is_no_finding_and_none_is_made(path):
    assert codes(path) == []
    assert "views_bytes" not in examine(path).facts
    views_of(path).touch(0o600)
    assert codes(path) == []


@pytest.mark.parametrize(("table", "change"), [each[:2] for each in CHANGES])
def test_a_damaged_row_is_wrong_with_its_run(path, table, change):
    put(path)
    with connect(views_of(path)) as db:
        db.execute(f"UPDATE {table} SET {change}")
    found = findings(path, quick=True)
    assert {(each.severity, each.code) for each in found} == {("wrong", "snapshots.damaged")}
    lost = change == "stream = stream + 1"
    assert [each.run_id for each in found] == ([None, None] if lost else ["r"])
    advice = f"`runjournal --db {path} snapshots drop`; they are made again when needed"
    assert {each.advice for each in found} == {advice}


def test_damaged_rows_are_counted(path):
    with closing(open_beside(path)) as views, views.writing() as rows:
        for at in range(1200):
            rows.put_document(RUN, at, b"root %d" % at)
    with connect(views_of(path)) as db:
        db.execute("UPDATE documents SET root = x'00ff' WHERE version % 3 = 0")
    [found] = findings(path, quick=True)
    assert "damaged rows of documents: 400" in found.what


@pytest.mark.parametrize("start", [100, 4096, 5 * 4096])
def test_destroyed_pages_are_wrong(path, start):
    put(path)
    content = views_of(path).read_bytes()
    views_of(path).write_bytes(content[:start] + b"\xa5" * (len(content) - start))
    found = findings(path)
    assert {(each.severity, each.code) for each in found} == {("wrong", "snapshots.damaged")}


def test_a_row_that_does_not_unpack_is_damaged(path):
    put(path)
    blob = b"\x07 of no codec"
    with connect(views_of(path)) as db:
        [(key, stream)] = db.execute("SELECT key, stream FROM chunks").fetchall()
        crc = chunk_checksum(stream, key, blob)
        db.execute("UPDATE chunks SET data = ?, checksum = ?", (blob, crc))
    [found] = findings(path, quick=True)
    assert (found.run_id, "damaged rows of chunks: 1" in found.what) == ("r", True)


def test_an_index_that_does_not_fit_is_wrong(path):
    put(path)
    with connect(views_of(path)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute(
            "UPDATE sqlite_schema AS one SET rootpage = other.rootpage "
            "FROM (SELECT name, rootpage FROM sqlite_schema) AS other "
            "WHERE (one.name, other.name) IN (VALUES "
            "('pages_by_step', 'pages_by_latest'), ('pages_by_latest', 'pages_by_step'))"
        )
    found = findings(path)
    assert {(each.severity, each.code) for each in found} == {("wrong", "snapshots.damaged")}
    assert "the integrity check says" in found[0].what


def test_a_file_that_is_kept_locked_is_told(path, monkeypatch):
    put(path)
    monkeypatch.setattr(sqlite_reader, "BUSY_TIMEOUT", 0.05)
    with connect(views_of(path)) as db:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
        db.execute("DELETE FROM pages")
        [found] = findings(path)
        assert (found.severity, found.code) == ("notice", "snapshots.unreadable")
        assert "locked" in found.what
        db.execute("ROLLBACK")


def test_what_is_dropped_meanwhile_is_no_finding(path):
    put(path)

    def drop(what, _done, _total):
        if what == "snapshots":
            drop_views(path)

    assert examine(path, progress=drop).findings == ()


@pytest.mark.parametrize("change", [os.utime, os.unlink])
def test_what_others_do_to_a_file_that_is_read_without_locks_is_no_finding(change):
    with public_directory() as directory:
        journal = write_journal(directory / "runs.db", records=20)
        put(journal, stream="run:gone")
        for file in (journal, views_of(journal)):
            file.chmod(0o444)

        def touched(what, _done, _total):
            if what == "snapshots" and views_of(journal).exists():
                os.seteuid(os.getuid())
                change(views_of(journal))
                os.seteuid(NOBODY if os.getuid() == 0 else os.getuid())

        with without_privileges():
            assert "snapshots.unknown_run" in codes(journal)
            assert "snapshots.unknown_run" not in codes(journal, progress=touched)


def test_beside_what_is_no_journal_they_are_looked_at_all_the_same(path):
    put(path)
    with connect(path) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("DELETE FROM sqlite_schema WHERE name IN ('events', 'streams')")
    with connect(views_of(path)) as db:
        db.execute("UPDATE documents SET root = x'00'")
    assert "snapshots.damaged" in codes(path, quick=True)


def test_what_is_no_file_of_snapshots_is_told(path):
    for content in (b"x", b"no database " * 500):
        views_of(path).write_bytes(content)
        views_of(path).chmod(0o600)
        [found] = findings(path)
        assert found.severity == ("notice" if content == b"x" else "wrong")
    views_of(path).unlink()
    with connect(views_of(path)) as db:
        db.execute("CREATE TABLE mine (x)")
    views_of(path).chmod(0o600)
    [found] = findings(path)
    assert (found.severity, found.code) == ("notice", "snapshots.foreign")
    assert "mv" in found.advice
    views_of(path).unlink()
    views_of(path).mkdir(0o700)
    assert codes(path) == ["snapshots.foreign"]


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("PRAGMA user_version = 9", "snapshots.newer"),
        ("PRAGMA user_version = 0", "snapshots.outdated"),
        ("UPDATE meta SET value = 'x' WHERE key = 'journal'", "snapshots.outdated"),
        ("DROP INDEX pages_by_step", "snapshots.damaged"),
    ],
)
def test_what_the_file_says_of_itself(path, statement, code):
    put(path)
    with connect(views_of(path)) as db:
        db.execute(statement)
    assert codes(path) == [code]


def test_rows_of_a_run_that_the_journal_does_not_have(path):
    put(path, stream="run:gone")
    [found] = findings(path)
    assert (found.severity, found.code, found.run_id) == ("notice", "snapshots.unknown_run", "gone")


@pytest.mark.parametrize(("version", "position"), [(9999, 9999), (9, 3)])
def test_a_backup_that_was_put_in_its_place_is_noticed(path, version, position):
    put(path, position, version=version)
    [found] = findings(path)
    assert (found.severity, found.code, found.run_id) == ("notice", "snapshots.ahead", "r")


def test_a_damaged_event_does_not_hide_the_rest(path, flip):
    put(path)
    put(path, stream="run:gone")
    flip(path, RUN, 9)
    assert codes(path) == ["event.damaged", "snapshots.unknown_run"]


def test_a_file_that_is_open_to_more_than_the_journal_is_noticed(path):
    put(path)
    views_of(path).chmod(0o644)
    [found] = findings(path)
    assert found.code == "file.permissions"
    assert "runs.db.views" in found.what


def test_those_who_may_only_read_examine_it(path):
    with public_directory() as directory:
        journal = write_journal(directory / "runs.db", records=20)
        put(journal)
        for file in (journal, views_of(journal)):
            file.chmod(0o444)
        with without_privileges():
            assert set(codes(journal)) == {"file.permissions", "file.read_only"}
            assert names(directory) == ["runs.db", "runs.db.views"]


def test_those_who_may_not_read_it_are_told(path):
    with public_directory() as directory:
        journal = write_journal(directory / "runs.db", records=20)
        put(journal)
        journal.chmod(0o444)
        with without_privileges():
            assert "snapshots.unreadable" in codes(journal)


def test_no_alarm_while_others_write(path):
    command = [sys.executable, "-m", "tests.crash.views_writer", path, "run:r", "run:x"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline()
            for quick in (False, True, False, True):
                # What the writer makes up is not in the journal.
                assert set(codes(path, quick=quick)) <= {"snapshots.unknown_run", "snapshots.ahead"}
        finally:
            process.kill()
