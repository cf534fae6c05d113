"""On a terminal the output is coloured and fits its width; a pipe gets neither."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest
from rich.cells import cell_len

from journal import Journal
from tests import samples
from tests.cli.conftest import console_script, environment, record_a_run

STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def terminal(tmp_path):
    """Run the command on a terminal of its own."""

    def run(columns, *args, **variables):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        with subprocess.Popen(
            [*console_script(), *args],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=tmp_path,
            env=environment(TERM="xterm-256color", **variables),
        ) as running:
            os.close(theirs)
            seen = b""
            while chunk := read(ours):
                seen += chunk
        os.close(ours)
        assert running.returncode == 0
        return seen.decode().replace("\r\n", "\n")

    return run


def read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other side was closed
        return b""


@pytest.fixture
def wide(tmp_path):
    with Journal.open(tmp_path / "runjournal.db") as opened:
        record_a_run(opened, "run_" + "0123456789" * 3, "session_" + "0123456789" * 4)
        with opened.run("cjk", session_id="s") as run:
            run.checkpoint(samples.checkpoint("k", "cjk", messages=[samples.user("晴れ" * 100)]))


@pytest.mark.parametrize(
    ("args", "columns"),
    [(["runs"], 80), (["runs"], 120), (["log", "run_" + "0123456789" * 3], 80), (["replay", "cjk"], 80)],
    ids=["runs-80", "runs-120", "log", "replay"],
)  # fmt: skip
def test_lines_fit_a_terminal_and_are_coloured(wide, terminal, args, columns):
    seen = terminal(columns, *args)
    assert STYLE.search(seen)
    plain = STYLE.sub("", seen)
    assert plain.replace("\n", "").isprintable()
    assert max(map(cell_len, plain.splitlines())) in range(columns // 2, columns + 1)
    if args == ["runs"]:
        assert "run_" + "0123456789" * 3 in plain


@pytest.mark.parametrize("columns", [30, 74, 75])
@pytest.mark.parametrize(
    ("args", "found"),
    [("runs", "run_" + "0123456789" * 3), ("sessions", "session_" + "0123456789" * 4)],
)
def test_ids_are_never_cut_however_narrow_the_terminal(wide, terminal, args, found, columns):
    lines = STYLE.sub("", terminal(columns, args)).splitlines()
    assert max(map(cell_len, lines)) <= columns
    assert found in "".join(line.split("  ")[0].strip() for line in lines)


def test_a_terminal_without_colour_gets_no_colour(recorded, terminal):
    seen = terminal(80, "replay", "r", NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", seen)
    assert "get_weather" in seen


def test_a_pipe_gets_no_escape_sequence(recorded, process):
    for args in (["runs"], ["log", "r"], ["replay", "r"]):
        assert "\x1b" not in process(*args).out


def test_json_on_a_terminal_is_plain(recorded, terminal):
    assert terminal(80, "runs", "--json").startswith('{"schema":"runjournal.run"')


def test_a_short_command_shows_no_progress_bar(recorded, terminal):
    seen = STYLE.sub("", terminal(80, "export", "--all"))
    assert seen.startswith('{"type":"event"')
    assert "\x1b" not in seen


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_any_text_can_be_written_to_a_narrow_encoding(wide, process, encoding):
    done = process("replay", "cjk", env={"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"})
    assert (done.code, done.err) == (0, "")
    assert r"\u6674\u308c" in done.out
