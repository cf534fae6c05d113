"""0 done, 1 failed or the answer is no, 2 wrong usage; errors are one line, never a traceback."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from journal import Journal
from journal.cli.failures import ended, prepare_streams
from journal.errors import JournalError
from tests.cli.conftest import console_script, environment, one_line


@pytest.mark.parametrize(
    ("args", "parts"),
    [
        (["replay", "nope"], ["no run 'nope'", "runjournal runs"]),
        (["log", "nope"], ["no run 'nope'"]),
        (["export", "nope"], ["no run 'nope'"]),
        (["evidence", "nope"], ["no run 'nope'"]),
        (["diff", "nope", "latest", "latest"], ["no run 'nope'"]),
        (["replay", "r", "--at", "stream:99"], ["stream:99", "reaches from"]),
        (["replay", "r", "--at", "checkpoint:zz"], ["no checkpoint 'zz'"]),
        (["evidence", "r", "--at", "version:1"], ["no checkpoint at version:1"]),
        (["replay", ""], ["''"]),
        (["replay", "x" * 100_000], ["no run 'xxx"]),
        (["ingest", "missing.jsonl"], ["missing.jsonl", "No such file"]),
        (["ingest", "."], ["Is a directory"]),
        (["--db", "http://host/db", "runs"], ["http://host/db"]),
        (["--db", "", "runs"], ["names no file"]),
        (["--db", "no/such/dir.db", "runs"], ["no journal at no/such/dir.db", "--db"]),
        (["--db", "no/such/dir.db", "ingest", "-"], ["no/such/dir.db"]),
        (["--db", ".", "runs"], ["directory"]),
        (["--db", ".", "snapshots", "drop"], ["directory"]),
        (["--db", "memory://", "snapshots"], ["in memory"]),
    ],
)
def test_what_cannot_be_done_exits_1_with_one_line(recorded, cli, args, parts):
    done = cli(*args)
    assert (done.code, done.out) == (1, "")
    assert one_line(done, *parts)


@pytest.mark.parametrize("text", ["", "stream", "stream:-1", "stream:x", "nope:1", "time:today"])
def test_text_that_is_no_cursor_is_wrong_usage(recorded, cli, text):
    done = cli("replay", "r", "--at", text)
    assert (done.code, done.out) == (2, "")
    assert one_line(done, "invalid cursor", "use latest, stream:N")


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["nope"],
        ["runs", "--nope"],
        ["runs", "--limit", "x"],
        ["runs", "--limit", "0"],
        ["runs", "--status", "finished"],
        ["replay"],
        ["export"],
        ["export", "r", "--all"],
        ["runs", "--db"],
        ["snapshots", "nope"],
        ["snapshots", "drop", "nope"],
    ],
)
def test_wrong_usage_exits_2(recorded, cli, args):
    done = cli(*args)
    assert (done.code, done.out) == (2, "")
    assert "Usage" in done.err or "Error" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("args", [["runs"], ["audit", "tools"], ["stats"]])
def test_a_wrong_status_is_shortened(recorded, cli, args):
    done = cli(*args, "--status", "x" * 100_000)
    assert (done.code, done.out) == (2, "")
    assert "'xxx" in done.err
    assert "... is none of" in done.err
    assert len(done.err) < 500


def test_a_real_process_exits_with_these_codes(recorded, process):
    assert process("replay", "r").code == 0
    failed = process("replay", "nope")
    assert (failed.code, failed.out) == (1, "")
    assert one_line(failed)
    wrong = process("runs", "--nope")
    assert (wrong.code, wrong.out) == (2, "")
    assert "Traceback" not in wrong.err


def damage(path, kind):
    match kind:
        case "foreign":
            with closing(sqlite3.connect(path)) as db, db:
                db.execute("CREATE TABLE recipes (name)")
        case "text":
            path.write_text("no database, but long enough to be looked at\n" * 100)
        case "empty":
            path.write_bytes(b"")
        case "newer":
            Journal.open(path).close()
            with closing(sqlite3.connect(path)) as db, db:
                db.execute("PRAGMA user_version = 999")


@pytest.mark.parametrize(
    ("kind", "part"),
    [("foreign", "not a journal"), ("text", "not a journal"), ("empty", "not a journal"), ("newer", "format 999")],
)  # fmt: skip
def test_a_file_that_is_no_journal_of_ours_is_named_and_left_alone(cli, tmp_path, kind, part):
    path = tmp_path / "other.db"
    damage(path, kind)
    before = path.read_bytes()
    done = cli("--db", "other.db", "runs")
    assert (done.code, done.out) == (1, "")
    assert one_line(done, "other.db", part)
    assert path.read_bytes() == before


def test_a_damaged_run_is_named_and_the_others_stay_readable(recorded, cli, flip):
    with Journal.open(recorded) as opened, opened.run("fine", session_id="s"):
        pass
    flip(recorded, "run:r", 3)
    done = cli("replay", "r")
    assert (done.code, done.out) == (1, "")
    assert one_line(done, "event 3 of 'run:r' is damaged")
    assert cli("replay", "fine").code == 0
    listed = cli("runs")
    assert listed.code == 0
    assert [line.split()[:3:2] for line in listed.out.splitlines()[1:]] == [
        ["fine", "-"],
        ["r", "unreadable"],
    ]


def raising(error):
    def opened(*_args, **_kwargs):
        raise error

    return opened


def test_a_fault_of_ours_is_one_line_that_tells_how_to_see_more(cli, monkeypatch):
    monkeypatch.setattr(Journal, "open", raising(RuntimeError("boom\n\x1b[31mred")))
    done = cli("runs")
    assert (done.code, done.out) == (1, "")
    assert one_line(done, r"unexpected RuntimeError: boom\n\x1b[31mred", "RUNJOURNAL_TRACEBACK=1")


def test_the_traceback_is_shown_on_demand_and_escaped(cli, monkeypatch):
    monkeypatch.setattr(Journal, "open", raising(RuntimeError("boom\x1b[31mred")))
    monkeypatch.setenv("RUNJOURNAL_TRACEBACK", "1")
    done = cli("runs")
    assert done.code == 1
    assert "Traceback (most recent call last)" in done.err
    assert "\x1b" not in done.err
    assert done.err.splitlines()[-1].startswith("runjournal: unexpected RuntimeError: boom")


def test_ctrl_c_exits_130_without_a_word(cli, monkeypatch):
    monkeypatch.setattr(Journal, "open", raising(KeyboardInterrupt()))
    assert cli("runs") == type(cli("--help"))(130, "", "")


def test_a_fault_before_the_command_is_one_line_too(cli, monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", raising(LookupError("no metadata")))
    done = cli("--version")
    assert done.code == 1
    assert one_line(done, "unexpected LookupError: no metadata")


def test_output_that_cannot_be_written_is_dropped(monkeypatch, capsys):
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        full.write("lost")
        assert ended(OSError(28, "No space left on device")) == 1
    assert capsys.readouterr().err == "runjournal: No space left on device\n"


def test_a_reader_that_went_away_is_no_failure(monkeypatch, capsys):
    there, here = os.pipe()
    os.close(there)
    with os.fdopen(here, "w") as pipe:
        monkeypatch.setattr("sys.stdout", pipe)
        pipe.write("unread")
        assert ended(BrokenPipeError()) == 0
    assert capsys.readouterr().err == ""


def test_closed_streams_are_replaced(monkeypatch):
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    prepare_streams()
    streams = [sys.stdin, sys.stdout, sys.stderr]
    assert [stream.name for stream in streams] == [os.devnull] * 3
    for stream in streams:
        stream.close()


def test_every_error_of_the_journal_is_told_by_its_own_message(cli, monkeypatch):
    class Odd(JournalError):
        message = "what failed\u202e, why"

    monkeypatch.setattr(Journal, "open", raising(Odd()))
    done = cli("runs")
    assert done.err == "runjournal: what failed\\u202e, why\n"


@pytest.mark.parametrize("command", ["log", "export"])
def test_a_closed_pipe_ends_quietly(tmp_path, command):
    with Journal.open(tmp_path / "runjournal.db") as opened:
        event = {"kind": "model_request", "step": 0}
        run = opened.run("long", session_id="s")
        run.append_many({"sequence": at, "event": event} for at in range(5000))
    with subprocess.Popen(
        [*console_script(), command, "long"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
    ) as running:
        assert running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 0


def test_a_full_disk_behind_the_output_is_one_line(recorded, process):
    with Path("/dev/full").open("wb") as full:
        done = process("replay", "r", stdout=full, stderr=subprocess.PIPE)
    assert done.code == 1
    assert one_line(done, "cannot write to standard output: no space left on device")


@pytest.mark.parametrize(
    "args",
    [["log", "r"], ["runs"], ["export", "r"], ["--help"]],
)  # fmt: skip
@pytest.mark.parametrize("colour", [{}, {"FORCE_COLOR": "1"}], ids=["pipe", "colour"])
def test_whatever_is_printed_a_full_disk_is_told_as_such(recorded, process, args, colour):
    with Path("/dev/full").open("wb") as full:
        done = process(*args, stdout=full, stderr=subprocess.PIPE, env=colour)
    assert done.code == 1
    assert one_line(done, "cannot write to standard output: no space left on device")


def test_a_path_with_a_nul_character_is_wrong_usage(cli):
    done = cli("ingest", "a\0b.jsonl")
    assert (done.code, done.out) == (2, "")
    assert "a path cannot hold a NUL character" in done.err
    done = cli("--db", "a\0b.db", "runs")
    assert (done.code, done.out) == (1, "")
    assert one_line(done, "NUL")


OLD_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize(
    "args",
    [["runs"], ["demo"], ["ingest", "é.jsonl"], ["export", "--all"]],
    ids=lambda args: " ".join(args).replace("é", "e"),
)  # fmt: skip
def test_any_path_works_in_a_locale_without_its_letters(tmp_path, process, args):
    name = os.fsencode("晴é.db")
    Journal.open(tmp_path / "晴é.db").close()
    (tmp_path / "é.jsonl").write_bytes(b"")
    done = process("--db", name, *args, env=OLD_LOCALE)
    assert (done.code, done.err) == (0, "")
    if args == ["demo", "--json"]:
        assert done.document["location"] == str(tmp_path / "晴é.db")


def test_closed_standard_streams_are_no_failure(recorded, process):
    script = 'exec "$@" <&- >&- 2>&-'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *console_script(), "replay", "r"],
        cwd=recorded.parent,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0


def test_an_interrupted_process_exits_130_and_keeps_what_was_receipted(tmp_path):
    line = b'{"type":"session","session":{"session_id":"s","status":"active","state":{"agent_id":"a"},"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","revision":1}}\n'
    with subprocess.Popen(
        [*console_script(), "ingest", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
    ) as running:
        running.stdin.write(line)
        running.stdin.flush()
        path = tmp_path / "runjournal.db"
        while not (path.exists() and sessions(path)):
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        out, err = running.communicate()
    assert (running.returncode, out, err) == (130, b"", b"")
    assert sessions(path) == ["s"]


def sessions(path):
    try:
        with Journal.open(path, create=False) as opened:
            return list(opened.reader.session_ids())
    except JournalError:  # it is being made
        return []
