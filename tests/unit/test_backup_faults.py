"""A backup that fails, is interrupted or is killed puts nothing in place."""

import errno
import os
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from journal import Journal
from journal.backup import back_up
from journal.doctor import examine
from journal.errors import DamagedFile, DiskFull, GuardsMissing, NotAJournal
from journal.stores import sqlite_backup
from tests.unit.care_files import (
    lines,
    names,
    write_journal,
)
from tests.unit.privileges import public_directory, without_privileges


@pytest.fixture
def source(tmp_path):
    return write_journal(tmp_path / "runs.db")


@pytest.fixture
def shelf(tmp_path):
    """A directory for backups."""
    made = tmp_path / "shelf"
    made.mkdir()
    return made


@pytest.fixture
def shared():
    with public_directory() as directory:
        yield directory


def refusing(part, error):
    """A progress that raises in a part of the backup."""

    def progress(what, _done, _total):
        if what == part:
            raise error

    return progress


@pytest.mark.parametrize("part", ["copy", "verify"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("no more")])
def test_an_interrupted_backup_leaves_nothing_behind(source, shelf, part, error):
    before = names(source.parent)
    with pytest.raises(type(error)):
        back_up(source, shelf / "copy.db", refusing(part, error))
    assert names(shelf) == []
    assert names(source.parent) == before
    back_up(source, shelf / "copy.db")
    assert lines(shelf / "copy.db") == lines(source)


@pytest.mark.parametrize("part", ["copy", "verify"])
def test_a_killed_backup_leaves_a_file_whose_name_says_so(source, shelf, part):
    script = (
        "import os, signal, sys\n"
        "from journal.backup import back_up\n"
        "def progress(what, done, total):\n"
        f"    if what == {part!r}: os.kill(os.getpid(), signal.SIGKILL)\n"
        "back_up(sys.argv[1], sys.argv[2], progress)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, source, shelf / "copy.db"], check=False, timeout=60
    )
    assert ended.returncode == -signal.SIGKILL
    left = names(shelf)
    assert left
    assert all(name.startswith("unfinished-runjournal-backup-") for name in left)
    back_up(source, shelf / "copy.db")
    assert names(shelf) == sorted(["copy.db", *left])
    assert lines(shelf / "copy.db") == lines(source)
    found = examine(shelf / "copy.db").findings
    assert {each.code for each in found} == {"backup.unfinished"}
    for each in found:
        command = each.advice.strip("`").split()
        assert command[0] == "rm"
        Path(command[1]).unlink()
    assert names(shelf) == ["copy.db"]


def test_a_full_disk_is_told_of_the_target(source, shelf):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, hard))
    try:
        with pytest.raises(DiskFull) as full:
            back_up(source, shelf / "copy.db")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert full.value.location == str(shelf / "copy.db")
    assert names(shelf) == []
    back_up(source, shelf / "copy.db")
    assert names(shelf) == ["copy.db"]


def test_a_directory_that_may_not_be_written(shared):
    with Journal.open(shared / "runs.db") as journal:
        journal.run("r", session_id="s")
    shelf = shared / "shelf"
    shelf.mkdir(mode=0o755)
    (shared / "runs.db").chmod(0o644)
    with without_privileges(), pytest.raises(Exception, match=r"cannot write .*permission denied"):
        back_up(shared / "runs.db", shelf / "copy.db")
    assert names(shelf) == []


def test_a_journal_that_may_only_be_read_is_copied(shared):
    with Journal.open(shared / "runs.db") as journal:
        journal.run("r", session_id="s")
    (shared / "runs.db").chmod(0o444)
    shared.chmod(0o755)
    shelf = shared / "shelf"
    shelf.mkdir()
    shelf.chmod(0o777)
    with without_privileges():
        back_up(shared / "runs.db", shelf / "copy.db")
    assert lines(shelf / "copy.db") == lines(shared / "runs.db")


def test_a_damaged_event_is_named_and_the_copy_not_kept(source, shelf, flip):
    flip(source, "run:r", 7)
    with pytest.raises(DamagedFile, match=r"event 7 of 'run:r' is damaged.*doctor") as damaged:
        back_up(source, shelf / "copy.db")
    assert damaged.value.location == str(source)
    assert names(shelf) == []


def test_a_copy_that_differs_is_not_kept(source, shelf):
    def progress(what, _done, _total):
        if what == "verify":
            [copy] = shelf.glob("*[0-9a-f]")
            with closing(sqlite3.connect(copy)) as db, db:
                db.execute("INSERT INTO streams VALUES (1000000, 'run:none')")

    with pytest.raises(DamagedFile, match="307 events of 1 runs, and the copy 307 events of 2"):
        back_up(source, shelf / "copy.db", progress)
    assert names(shelf) == []


def test_a_damaged_index_is_noticed(source, shelf):
    damage_index(source)
    with pytest.raises(DamagedFile, match="the integrity check found"):
        back_up(source, shelf / "copy.db")
    assert names(shelf) == []


def damage_index(path):
    """Overwrite entries of the index of identities."""
    with closing(sqlite3.connect(path)) as db:
        [(page,)] = db.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'events_by_identity'"
        )
    with path.open("r+b") as file:
        file.seek(page * 4096 - 1024)
        file.write(b"\xa5" * 1024)


def test_a_journal_that_was_cut_short(source, shelf):
    os.truncate(source, source.stat().st_size - 8192)
    with pytest.raises(DamagedFile) as damaged:
        back_up(source, shelf / "copy.db")
    assert damaged.value.location == str(source)
    assert names(shelf) == []


@pytest.mark.parametrize("whom", [stat.S_ISREG, stat.S_ISDIR])
def test_a_sync_that_fails_leaves_nothing_behind(source, shelf, monkeypatch, whom):
    sync = os.fsync

    def fails(descriptor):
        if whom(os.fstat(descriptor).st_mode):
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(descriptor)

    monkeypatch.setattr(sqlite_backup, "SYNC", 1)
    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(DiskFull, match=r"copy\.db: no space left on device"):
        back_up(source, shelf / "copy.db")
    assert names(shelf) == []


def test_guards_that_are_missing_are_told_before_the_copy(source, shelf):
    with closing(sqlite3.connect(source)) as db:
        db.execute("DROP TRIGGER events_delete_guard")
    with pytest.raises(GuardsMissing, match="events_delete_guard") as missing:
        back_up(source, shelf / "copy.db")
    assert missing.value.location == str(source)
    assert names(shelf) == []


def test_what_is_no_journal_is_not_copied(tmp_path, shelf):
    (tmp_path / "text.db").write_text("no database " * 500)
    with pytest.raises(NotAJournal) as refused:
        back_up(tmp_path / "text.db", shelf / "copy.db")
    assert refused.value.location == str(tmp_path / "text.db")
    assert names(shelf) == []


def test_a_file_system_without_links_gets_the_file_by_renaming(source, shelf, monkeypatch):
    def link(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    back_up(source, shelf / "copy.db")
    assert names(shelf) == ["copy.db"]

    def appears(what, _done, _total):
        if what == "verify":
            (shelf / "other.db").write_bytes(b"precious")

    with pytest.raises(Exception, match="exists already"):
        back_up(source, shelf / "other.db", appears)
    assert names(shelf) == ["copy.db", "other.db"]
    assert (shelf / "other.db").read_bytes() == b"precious"
