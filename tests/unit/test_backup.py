"""A backup is a journal of its own, taken while others write, and it overwrites nothing."""

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from journal import Journal
from journal.backup import back_up
from journal.doctor import examine
from journal.errors import (
    InvalidLocation,
    JournalClosed,
    JournalNotFound,
    StorageFailed,
    TargetExists,
)
from tests.samples import delta, record
from tests.unit.care_files import EVENTS, lines, names, write_journal

OLD = Path(__file__).parents[1] / "fixtures" / "journals" / "format-1.journal"


@pytest.fixture
def source(tmp_path):
    return write_journal(tmp_path / "runs.db")


@pytest.fixture
def shelf(tmp_path):
    """A directory for backups."""
    made = tmp_path / "shelf"
    made.mkdir()
    return made


def test_the_copy_is_a_journal_with_the_same_events(source, shelf):
    result = back_up(source, shelf / "copy.db")
    assert names(shelf) == ["copy.db"]
    assert lines(shelf / "copy.db") == lines(source)
    assert (result.events, result.runs) == (EVENTS, 1)
    assert result.bytes == (shelf / "copy.db").stat().st_size
    with Journal.open(shelf / "copy.db") as journal:
        assert journal.run("r").append(record(300)).version == EVENTS + 1
    assert examine(shelf / "copy.db").is_sound


def test_only_the_owner_may_read_it(source, shelf):
    source.chmod(0o644)
    before = os.umask(0)
    try:
        back_up(source, shelf / "copy.db")
    finally:
        os.umask(before)
    assert stat.S_IMODE((shelf / "copy.db").stat().st_mode) == 0o600


def test_who_writes_meanwhile_is_neither_held_up_nor_in_the_copy(source, shelf):
    told = []
    with Journal.open(source) as journal, journal.run("r") as run:
        held = journal.reader.head("r")

        def progress(what, done, total):
            told.append((what, done, total))
            run.append(delta(1000 + len(told), "y" * 5000))

        back_up(source, shelf / "copy.db", progress)
        written = journal.reader.head("r") - held
    assert written == len(told)
    copied = [done for what, done, _ in told if what == "copy"]
    assert copied == sorted(copied)
    copy = lines(shelf / "copy.db")
    assert copy == lines(source)[: len(copy)]
    assert copy[-1]["version"] == held


def test_progress_reaches_the_end_of_each_part(source, shelf):
    told = {}
    back_up(source, shelf / "copy.db", lambda what, done, total: told.update({what: (done, total)}))
    assert told["verify"] == (EVENTS, EVENTS)
    done, total = told["copy"]
    assert done == total == (shelf / "copy.db").stat().st_size // 4096


@pytest.mark.parametrize("kind", ["file", "empty", "directory", "link", "itself"])
def test_what_is_there_is_never_overwritten(source, shelf, kind):
    target = shelf / "copy.db"
    if kind == "file":
        target.write_bytes(b"precious")
    elif kind == "empty":
        target.touch()
    elif kind == "directory":
        target.mkdir()
    elif kind == "link":
        target.symlink_to(shelf / "nowhere")
    else:
        target = source
    before = target.read_bytes() if target.is_file() else None
    with pytest.raises(TargetExists, match=r"exists already.*name another file"):
        back_up(source, target)
    assert (target.read_bytes() if target.is_file() else None) == before
    assert names(shelf) == ([] if kind == "itself" else ["copy.db"])


def test_what_appears_at_the_last_moment_is_not_overwritten_either(source, shelf):
    target = shelf / "copy.db"

    def progress(what, _done, _total):
        if what == "verify":
            target.write_bytes(b"precious")

    with pytest.raises(TargetExists):
        back_up(source, target, progress)
    assert names(shelf) == ["copy.db"]
    assert target.read_bytes() == b"precious"


def test_leases_of_the_original_do_not_hold_up_the_first_user_of_the_copy(source, shelf):
    with Journal.open(source) as journal:
        run = journal.run("r")
        back_up(source, shelf / "copy.db")
        with Journal.open(shelf / "copy.db") as copy, copy.run("r") as other:
            other.append(record(500))
            taken = list(copy.reader.run_events("r"))[-2]
            assert (taken.data["generation"], taken.data["taken"]) == (3, "released")
        assert run.append(record(500)).version == EVENTS + 1
        assert examine(source, quick=True).facts["leases"]["live"] == 1
    assert examine(shelf / "copy.db").findings == ()


def test_an_old_file_is_copied_as_it_is(tmp_path, shelf):
    shutil.copyfile(OLD, tmp_path / "old.db")
    back_up(tmp_path / "old.db", shelf / "copy.db")
    assert lines(shelf / "copy.db") == lines(OLD)
    assert examine(shelf / "copy.db").facts["format"] == 1


def test_a_journal_without_events(tmp_path, shelf):
    Journal.open(tmp_path / "runs.db").close()
    assert back_up(tmp_path / "runs.db", shelf / "copy.db").events == 0
    assert lines(shelf / "copy.db") == []


def test_locations_are_read_as_everywhere(source, shelf, monkeypatch):
    monkeypatch.chdir(source.parent)
    back_up("sqlite:///runs.db", "shelf/a b?.db")
    assert lines(shelf / "a b?.db") == lines(source)


def test_the_result_as_json(source, shelf):
    result = back_up(source, shelf / "copy.db").to_json()
    assert json.loads(json.dumps(result)) == {
        "schema": "runjournal.backup",
        "schema_version": 1,
        "location": str(source),
        "target": str(shelf / "copy.db"),
        "events": EVENTS,
        "runs": 1,
        "bytes": (shelf / "copy.db").stat().st_size,
    }


@pytest.mark.parametrize(
    ("location", "target", "error", "message"),
    [
        ("memory://", "copy.db", InvalidLocation, "in memory"),
        ("runs.db", "memory://", InvalidLocation, "in memory"),
        ("runs.db", "", InvalidLocation, "names no file"),
        ("runs.db", "a\0b", InvalidLocation, "NUL"),
        ("nothing.db", "copy.db", JournalNotFound, "no journal at"),
        ("runs.db", "nowhere/copy.db", StorageFailed, "cannot write nowhere/copy.db: no such"),
        ("runs.db", "runs.db/copy.db", StorageFailed, "cannot write runs.db/copy.db: not a dir"),
    ],
)
def test_what_cannot_be_a_backup_is_refused(  # noqa: PLR0917
    source, monkeypatch, location, target, error, message
):
    monkeypatch.chdir(source.parent)
    before = names(source.parent)
    with pytest.raises(error, match=message):
        back_up(location, target)
    assert names(source.parent) == before


def test_an_open_journal_makes_a_backup_of_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Journal.open("runs.db") as journal:
        run = journal.run("r", session_id="s")
        run.append(record(0))
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        made = journal.backup(tmp_path / "copy.db")
        assert (made.events, made.runs) == (3, 1)
        run.append(record(1))
    with pytest.raises(JournalClosed):
        journal.backup(tmp_path / "late.db")
    with Journal.open(tmp_path / "copy.db") as copy:
        assert copy.reader.head("r") == 2
        assert copy.run("r").generation == 2
