"""`doctor` and `backup`: what they print, how they exit, and that their advice works."""

import os
import shlex
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from journal import Journal
from journal.cli import progress
from journal.stores import sqlite_reader
from tests import samples
from tests.cli.conftest import environment, one_line, record_a_run


def test_a_healthy_journal(cli, recorded):
    done = cli("doctor")
    assert done.code == 0
    assert done.err == ""
    assert "nothing wrong" in done.out
    assert "14 events, 1 run, 1 session, 2 documents" in done.out
    assert cli("doctor", "--quick").code == 0


def test_a_healthy_journal_as_json(cli, recorded):
    report = cli("doctor", "--json").document
    assert (report["schema"], report["schema_version"]) == ("runjournal.doctor", 1)
    assert (report["sound"], report["findings"]) == (True, [])
    assert report["location"] == "runjournal.db"
    assert report["counts"] == {"events": 14, "runs": 1, "sessions": 1, "documents": 2}


def test_what_is_wrong_is_told_with_its_place_and_an_advice_that_works(cli, recorded, flip):
    flip(recorded, "run:r", 9)
    done = cli("doctor")
    assert done.code == 1
    one_line(done, "runjournal.db: 1 finding is wrong")
    assert "wrong   run r, version 9: its checksum does not match" in done.out
    [advice] = [line for line in done.out.splitlines() if "do: " in line]
    assert "put a copy of a backup in its place" in advice
    command = shlex.split(advice.split("`")[1])
    assert command[0] == "runjournal"
    shown = cli(*command[1:])
    assert shown.code == 0
    assert "version:8" in shown.out


def test_what_is_wrong_as_json(cli, recorded, flip):
    flip(recorded, "run:r", 9)
    done = cli("doctor", "--json")
    assert done.code == 1
    one_line(done, "1 finding is wrong")
    [finding] = done.document["findings"]
    assert (finding["severity"], finding["run_id"], finding["version"]) == ("wrong", "r", 9)


def test_an_id_that_is_no_word_is_quoted_in_the_advice(cli, tmp_path, flip):
    path = tmp_path / "my runs.db"
    with Journal.open(path) as journal:
        record_a_run(journal, "-it's me")
    flip(path, "run:-it's me", 9)
    advice = cli("--db", "my runs.db", "doctor", "--json").document["findings"][0]["advice"]
    command = shlex.split(advice.split("`")[1])
    assert command[1:3] == ["--db", "my runs.db"]
    assert "-it's me" in cli(*command[1:]).out


def test_notices_alone_are_no_failure(cli, recorded):
    recorded.chmod(0o644)
    done = cli("doctor")
    assert done.code == 0
    assert done.err == ""
    assert "1 notice" in done.out
    assert "do: `chmod 600" in done.out


@pytest.mark.parametrize("content", [b"", b"no database " * 500])
def test_what_is_no_journal_is_a_finding(cli, tmp_path, content):
    (tmp_path / "runjournal.db").write_bytes(content)
    done = cli("doctor")
    assert done.code == 1
    one_line(done, "1 finding is wrong")
    assert "name another file" in done.out


@pytest.mark.parametrize("location", ["nothing.db", "memory://", "redis://x"])
def test_where_there_is_nothing_to_examine(cli, location):
    for command in (["doctor"], ["backup", "copy.db"]):
        done = cli("--db", location, *command)
        assert done.code == 1
        one_line(done, location)
        assert done.out == ""


def test_guards_that_are_missing_are_found_though_the_journal_does_not_open(cli, recorded):
    with closing(sqlite3.connect(recorded)) as db:
        db.execute("DROP TRIGGER events_delete_guard")
    assert cli("runs").code == 1
    done = cli("doctor")
    assert done.code == 1
    assert "events_delete_guard" in done.out
    assert "14 events" in done.out


def test_a_hostile_name_cannot_steer_the_terminal(cli, tmp_path, flip):
    path = tmp_path / "runjournal.db"
    with Journal.open(path) as journal:
        record_a_run(journal, "\x1b[31mred\u202e")
    flip(path, "run:\x1b[31mred\u202e", 9)
    done = cli("doctor")
    assert r"run \x1b[31mred\u202e, version 9" in done.out
    assert "\x1b" not in done.out


def test_a_backup(cli, recorded, tmp_path):
    done = cli("backup", "copy.db")
    assert done.code == 0
    assert done.err == ""
    assert "14 events of 1 run" in done.out
    assert cli("--db", "copy.db", "runs").out == cli("runs").out
    assert cli("--db", "copy.db", "doctor").code == 0


def test_a_backup_as_json(cli, recorded, tmp_path):
    assert cli("--json", "backup", "copy.db").document == {
        "schema": "runjournal.backup",
        "schema_version": 1,
        "location": "runjournal.db",
        "target": "copy.db",
        "events": 14,
        "runs": 1,
        "bytes": (tmp_path / "copy.db").stat().st_size,
    }


def test_a_backup_overwrites_nothing(cli, recorded, tmp_path):
    (tmp_path / "copy.db").write_text("precious")
    done = cli("backup", "copy.db")
    assert done.code == 1
    one_line(done, "copy.db exists already", "name another file")
    assert (tmp_path / "copy.db").read_text() == "precious"


def test_a_backup_needs_a_file(cli, recorded):
    assert cli("backup").code == 2


def test_a_backup_of_a_damaged_journal_is_refused(cli, recorded, flip, tmp_path):
    flip(recorded, "run:r", 9)
    done = cli("backup", "copy.db")
    assert done.code == 1
    one_line(done, "event 9 of 'run:r' is damaged", "runjournal doctor")
    assert not (tmp_path / "copy.db").exists()


def test_a_backup_that_is_interrupted_says_nothing_and_leaves_nothing(cli, recorded, tmp_path):
    fifo = tmp_path / "started"
    os.mkfifo(fifo)
    script = (
        "import sys\n"
        "import journal.cli.care as care\n"
        "from journal.backup import back_up\n"
        "def slow(location, file, progress):\n"
        "    def told(what, done, total):\n"
        "        if what == 'verify':\n"
        f"            open({str(fifo)!r}, 'w').close()\n"
        "            import time; time.sleep(60)\n"
        "    return back_up(location, file, told)\n"
        "care.back_up = slow\n"
        "from journal.cli.main import main\n"
        "sys.argv = ['runjournal', 'backup', 'copy.db']\n"
        "main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE
    )
    with process:
        fifo.read_text()
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert error == b""
    assert sorted(each.name for each in tmp_path.iterdir()) == ["runjournal.db", "started"]


def test_both_show_their_progress_on_a_terminal(cli, recorded, attach, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    monkeypatch.setattr(sqlite_reader, "OFTEN", 100)
    terminal = attach()
    assert cli("doctor").code == 0
    for part in ("integrity check", "events", "documents"):
        assert part in terminal.getvalue()
    terminal = attach()
    assert cli("backup", "copy.db").code == 0
    for part in ("copy", "verify"):
        assert part in terminal.getvalue()


def test_both_run_as_processes_while_the_journal_is_written(process, tmp_path):
    with Journal.open(tmp_path / "runjournal.db") as journal:
        record_a_run(journal)
        with journal.run("live", session_id="s") as run:
            run.append(samples.record(0))
            assert process("backup", "copy.db").code == 0
            done = process("doctor")
            run.append(samples.record(1))
    assert (done.code, done.err) == (0, "")
    assert "1 live" in done.out
    copied = process("--db", "copy.db", "doctor")
    assert copied.code == 0
    assert "live" not in copied.out
