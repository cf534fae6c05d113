"""Files that no journal can be opened from are examined, and what lies beside a journal."""

import fcntl
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing

import pytest

from journal import Journal
from journal.doctor import examine
from journal.errors import JournalBusy
from journal.stores import sqlite_reader, sqlite_surroundings
from tests.samples import delta
from tests.unit.care_files import (
    EVENTS,
    names,
    write_journal,
)
from tests.unit.privileges import NOBODY, public_directory, without_privileges


@pytest.fixture
def path(tmp_path):
    return write_journal(tmp_path / "runs.db")


@pytest.fixture
def shared():
    with public_directory() as directory:
        yield directory


def codes(path, **options):
    report = examine(path, **options)
    assert report.is_sound is not any(each.severity == "wrong" for each in report.findings)
    return [each.code for each in report.findings]


def overwrite(path, start, end=None):
    content = bytearray(path.read_bytes())
    content[start:end] = b"\xa5" * len(content[start:end])
    path.write_bytes(content)


@pytest.mark.parametrize("content", [b"", b"x", b"no database " * 500, b"\0" * 8192])
def test_what_is_no_journal(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    report = examine(tmp_path / "file")
    assert not report.is_sound
    assert "file.not_a_journal" in [each.code for each in report.findings]
    assert (tmp_path / "file").read_bytes() == content
    assert names(tmp_path) == ["file"]


def test_a_directory_and_what_is_no_file(tmp_path):
    assert codes(tmp_path) == ["file.not_a_journal"]
    os.mkfifo(tmp_path / "pipe")
    assert codes(tmp_path / "pipe") == ["file.not_a_journal"]


def test_a_database_of_another_program(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE mine (x)")
    (tmp_path / "other.db").chmod(0o600)
    assert codes(tmp_path / "other.db") == ["file.not_a_journal"]


def test_a_journal_whose_mark_was_lost_still_has_its_events_looked_at(path, flip):
    flip(path, "run:r", 5)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA application_id = 7")
    assert codes(path) == ["file.not_a_journal", "event.damaged"]


def test_a_file_of_a_newer_format(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    report = examine(path)
    [finding] = report.findings
    assert (finding.code, finding.advice) == ("format.newer", "upgrade runjournal")
    assert report.facts["format"] == 99
    assert report.counts == {}


def test_a_file_that_may_not_be_read(shared):
    path = write_journal(shared / "runs.db")
    path.chmod(0)
    with without_privileges():
        assert codes(path) == ["file.unreadable"]


def test_a_file_that_may_only_be_read(shared):
    path = write_journal(shared / "runs.db")
    path.chmod(0o444)
    with without_privileges():
        assert codes(path) == ["file.permissions", "file.read_only"]
        assert examine(path).counts["events"] == EVENTS


def test_a_file_that_is_written_while_one_who_may_only_read_examines_it(shared):
    path = write_journal(shared / "runs.db")
    path.chmod(0o444)

    def touched(_what, _done, _total):
        os.seteuid(os.getuid())
        os.utime(path)
        os.seteuid(NOBODY if os.getuid() == 0 else os.getuid())

    with without_privileges():
        report = examine(path, progress=touched)
    assert [each.code for each in report.findings][-1] == "file.changed"
    assert report.is_sound


def test_a_log_that_needs_more_than_reading(shared):
    path = write_journal(shared / "runs.db")
    with Journal.open(path) as journal, journal.run("r") as run:
        run.append(delta(1000, "x"))
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{path}{suffix}", shared / f"left.db{suffix}")
            (shared / f"left.db{suffix}").chmod(0o444)
    shared.chmod(0o755)
    with without_privileges():
        finding = examine(shared / "left.db").findings[0]
    assert finding.code == "file.unreadable"
    assert "user who may write it" in finding.advice
    shared.chmod(0o777)


def test_a_destroyed_schema(path):
    overwrite(path, 100, 4096)
    report = examine(path)
    assert [each.code for each in report.findings] == ["file.damaged"]
    assert "malformed" in report.findings[0].what
    assert report.facts["file_bytes"] == path.stat().st_size


def test_destroyed_pages_with_every_event_on_them(path):
    overwrite(path, 4096 * 20)
    report = examine(path)
    found = {each.code for each in report.findings}
    assert "file.damaged" in found
    assert "event.unreadable" in found
    assert 0 < report.counts["events"] < EVENTS


@pytest.mark.parametrize("size", [100, 512, 4096, 4096 * 5, 4096 * 21, -4096, -1])
def test_a_file_that_was_cut_short(path, size):
    os.truncate(path, size if size > 0 else path.stat().st_size + size)
    report = examine(path)
    assert not report.is_sound
    assert report.findings


@pytest.mark.parametrize("seed", range(40))
def test_no_damage_at_all_makes_it_fail(path, seed):
    chance = random.Random(seed)
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 3, 30])):
        at = chance.randrange(len(content))
        content[at : at + chance.choice([1, 8, 500])] = chance.randbytes(chance.choice([1, 8, 500]))
    path.write_bytes(content)
    examine(path, quick=bool(seed % 2))


def test_a_file_that_somebody_locks_for_himself(path, monkeypatch):
    monkeypatch.setattr(sqlite_reader, "BUSY_TIMEOUT", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
        with pytest.raises(JournalBusy):
            examine(path)


def test_files_that_others_may_read_are_a_notice(path):
    path.chmod(0o640)
    report = examine(path)
    assert report.is_sound
    [finding] = report.findings
    assert (finding.code, finding.severity) == ("file.permissions", "notice")
    assert "0640" in finding.what
    command, mode, name = finding.advice.strip("`").split()
    assert (command, name) == ("chmod", str(path))
    path.chmod(int(mode, 8))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert codes(path) == []


def test_a_log_that_a_reader_keeps_from_being_moved(path, monkeypatch):
    monkeypatch.setattr(sqlite_surroundings, "LARGE", 100_000)
    monkeypatch.setattr(sqlite_surroundings, "WATCHED", 0.1)
    with Journal.open(path) as journal, journal.run("r") as run:
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM events").fetchall()
            for at in range(20):
                run.append(delta(1000 + at, os.urandom(10_000).hex()))
            report = examine(path)
            assert report.is_sound
            [finding] = report.findings
            assert finding.code == "wal.large"
            assert f"process {os.getpid()} kept reading" in finding.what
        [finding] = examine(path).findings
        assert "kept reading" not in finding.what
    assert codes(path) == []


def test_a_writers_lock_that_is_never_let_go(path, monkeypatch):
    monkeypatch.setattr(sqlite_surroundings, "WATCHED", 0.1)
    lock = path.with_name("runs.db-lock")
    with lock.open("w") as held:
        lock.chmod(0o600)
        fcntl.flock(held, fcntl.LOCK_EX)
        [finding] = examine(path).findings
        assert finding.code == "lock.held"
        assert f"process {os.getpid()} held the writers' lock" in finding.what
    assert codes(path) == []


def test_a_writers_lock_that_outlives_its_process(path, monkeypatch):
    monkeypatch.setattr(sqlite_surroundings, "WATCHED", 0.1)
    script = (
        "import fcntl, os, sys\n"
        "lock = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)\n"
        "fcntl.flock(lock, fcntl.LOCK_EX)\n"
        "if os.fork():\n"
        "    os._exit(0)\n"
        "print(os.getppid(), flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, f"{path}-lock"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        parent.stdout.readline()
        parent.wait(timeout=60)
        [finding] = examine(path).findings
        parent.stdin.close()
        parent.stdout.read()  # ends with the process that was forked
    assert finding.code == "lock.held"
    assert f"process {parent.pid} (gone, but one that it forked holds on)" in finding.what
    assert codes(path) == []


def test_a_backup_in_the_making_is_no_leftover(path):
    unfinished = path.with_name(f"unfinished-runjournal-backup-{os.getpid()}-abcd")
    unfinished.touch()
    assert codes(path) == []
    unfinished.rename(path.with_name("unfinished-runjournal-backup-999999999-abcd"))
    assert codes(path) == ["backup.unfinished"]


def test_a_backup_of_another_user_is_no_leftover(shared):
    path = write_journal(shared / "runs.db")
    (shared / "unfinished-runjournal-backup-1-abcd").touch()
    with without_privileges():
        assert "backup.unfinished" not in codes(path)
