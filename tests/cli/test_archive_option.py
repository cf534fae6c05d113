"""log, replay and export answer with --archive as they did before, also without the journal."""

import pytest

from journal import Journal
from projections.archive.dropping import drop_archived
from projections.archive.writing import write_archive
from tests.dropped import write_run
from tests.unit.archive_files import EVER


@pytest.fixture
def db(tmp_path):
    with Journal.open(tmp_path / "runs.db") as journal:
        write_run(journal, "ended")
        write_run(journal, "open", status=None)
    return str(tmp_path / "runs.db")


@pytest.fixture
def place(db, tmp_path):
    with Journal.open(db) as journal:
        write_archive(journal, tmp_path / "archive", before=EVER)
    return str(tmp_path / "archive")


COMMANDS = (
    ("log", "ended"),
    ("log", "ended", "--kind", "checkpoint.taken", "--from", "1", "--to", "2"),
    ("--json", "log", "open"),
    ("replay", "ended", "--at", "stream:1"),
    ("--json", "replay", "ended"),
    ("--json", "replay", "open", "--at", "checkpoint:k-open"),
    ("export", "ended"),
    ("export", "--all"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_answer_is_the_same_from_everywhere(cli, db, place, tmp_path, command):
    expected = cli("--db", db, *command)
    assert expected.code == 0
    missing = str(tmp_path / "missing.db")
    for where in (db, missing):
        for archive in (place, f"file://{place}"):
            done = cli("--db", where, *command, "--archive", archive)
            assert (done.code, done.out) == (0, expected.out)
    assert not (tmp_path / "missing.db").exists()


def test_a_dropped_run_is_read_with_the_archive_only(cli, db, place):
    expected = cli("--db", db, "export", "ended").out
    with Journal.open(db) as journal:
        drop_archived(journal, place)
    for command in (("log", "ended"), ("replay", "ended"), ("export", "ended")):
        done = cli("--db", db, *command)
        assert done.code == 1
        assert "--archive" in done.err
        assert cli("--db", db, *command, "--archive", place).code == 0
    assert cli("--db", db, "export", "ended", "--archive", place).out.startswith(expected)


def test_what_is_no_archive_is_said_in_one_line(cli, db, tmp_path):
    for location in (str(tmp_path / "none"), "nosuch://x", ""):
        done = cli("--db", db, "log", "ended", "--archive", location)
        assert done.code == 1
        assert done.out == ""
        assert len(done.err.splitlines()) == 1


def test_the_archive_of_another_journal_is_refused(cli, place, tmp_path):
    other = str(tmp_path / "other.db")
    with Journal.open(other) as journal:
        write_run(journal, "ended")
    done = cli("--db", other, "log", "ended", "--archive", place)
    assert done.code == 1
    assert "another journal" in done.err or "is of the journal" in done.err
