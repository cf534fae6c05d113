"""What is asked for is data, and what is found reaches no terminal bare."""

import csv
import io
import json
import re

import pytest
from rich.cells import cell_len

from journal import Journal
from projections.audit import catch_up
from tests.cli.audit_runs import TRACE, record_failed_run
from tests.cli.conftest import copied, one_line
from tests.cli.test_hostile_text import EVIL

STYLES = re.compile(r"\x1b\[[0-9;]*m")

RUN = "run_" + "0123456789" * 4

COMMANDS = {
    "tools": (["tools"], []),
    "tools of": (["tools", "--tool", EVIL, "--session", EVIL, "--run", EVIL], []),
    "usage": (["usage", "--by", "session,run,model"], []),
    "usage of tools": (["usage", "--by", "tool,conversation"], []),
    "trace": (["trace"], [TRACE]),
    "failures": (["failures"], []),
    "approvals": (["approvals"], []),
    "search": (["search"], ["sorry"]),
    "search itself": (["search"], [EVIL]),
    "timeline": (["timeline"], [EVIL]),
    "trace-text": (["trace-text"], [EVIL, EVIL]),
    "gaps": (["gaps"], []),
}
EACH = pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "runjournal.db"
    with Journal.open(path) as opened:
        record_failed_run(opened, EVIL, EVIL, EVIL)
        record_failed_run(opened, RUN, "session_" + "0123456789" * 4, "晴れ" * 30)
        catch_up(opened)
    return path


@pytest.fixture
def hostile(made, tmp_path):
    return copied(made, tmp_path)


@EACH
@pytest.mark.parametrize("colour", [False, True], ids=["pipe", "colour"])
def test_nothing_dangerous_is_printed(hostile, cli, monkeypatch, command, colour):
    if colour:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "1000")
    options, arguments = command
    for full in ((), ("--full",)):
        done = cli("audit", *options, *full, "--", *arguments)
        assert (done.code, done.err) == (0, "")
        seen = STYLES.sub("", done.out) if colour else done.out
        assert all(one == "\n" or one.isprintable() for one in seen)
        assert bool(STYLES.search(done.out)) is colour
    assert r"\x1b[31mred" in seen
    assert "[bold]b[/bold][link=http://x]l[/link]:smile:" in seen


@EACH
def test_json_is_printable_and_keeps_the_text(hostile, cli, command):
    options, arguments = command
    done = cli("audit", *options, "--json", "--", *arguments)
    assert (done.code, done.err) == (0, "")
    assert done.out.replace("\n", "").isprintable()
    assert json.dumps(EVIL)[1:-1] in json.dumps(done.documents)


@EACH
def test_csv_in_a_pipe_keeps_the_text(hostile, cli, command):
    options, arguments = command
    done = cli("audit", *options, "--csv", "--", *arguments)
    assert (done.code, done.err) == (0, "")
    rows = list(csv.reader(io.StringIO(done.out, newline="")))
    assert EVIL in [text for row in rows for text in row]
    assert len({len(row) for row in rows}) == 1


@pytest.mark.parametrize("columns", [30, 60, 80, 120])
@pytest.mark.parametrize(
    "args",
    [["tools"], ["usage", "--by", "session"], ["trace", TRACE], ["failures"], ["approvals"], ["search", "sorry"], ["timeline", RUN], ["trace-text", RUN, "sorry"], ["gaps"]],
    ids=lambda args: args[0],
)  # fmt: skip
def test_lines_fit_a_terminal_and_ids_are_whole(hostile, cli, monkeypatch, args, columns):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = STYLES.sub("", cli("audit", *args).out).splitlines()
    found = "session_" + "0123456789" * 4 if args[0] == "usage" else RUN
    if args[0] in ("tools", "usage", "gaps"):  # a cell that is too wide goes on in the next line
        assert max(map(cell_len, lines)) <= columns
        if columns >= 60:
            assert found in "".join(line.split("  ")[0].strip() for line in lines)
        return
    if args[0] != "timeline":
        assert any(found in line for line in lines)
    whole = re.compile(r"run_|session|x1b|held by")  # lines in which something is to be copied
    assert all(cell_len(line) <= columns or whole.search(line) for line in lines)


def test_the_last_column_is_whole_at_80(hostile, cli, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    lines = STYLES.sub("", cli("audit", "gaps", "--run", RUN).out).splitlines()
    assert re.search(r"1 +failed +\d\d-\d\d \d\d:\d\d *$", lines[2])


def test_what_was_searched_is_emphasised_on_a_terminal_only(hostile, cli, monkeypatch):
    assert STYLES.search(cli("audit", "search", "sorry").out) is None
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;7msorry\x1b[0m" in cli("audit", "search", "SORRY").out


VALUES = [
    "' OR 1=1 --",
    '"; DROP TABLE audit_rows; --',
    "%",
    "_",
    "*",
    "a* OR b NEAR c",
    "{text} : x",
    "\\",
    "\x1b[31m",
    "a\0b",
    "😀",
    "e\u0301",
    "x" * 100_000,
    "-- ",
    " ",
    "$1 ? :a @b",
    "../../etc/passwd",
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_a_value_is_data(hostile, cli, value):
    before = hostile.read_bytes()
    for args in (
        ["tools", f"--tool={value}"],
        ["usage", f"--session={value}"],
        ["gaps", f"--run={value}"],
        ["failures", f"--session={value}"],
        ["approvals", f"--run={value}"],
        ["trace", "--", value],
    ):
        done = cli("--json", "audit", *args)
        assert (done.code, done.out, done.err) == (0, "", "")
    done = cli("audit", "search", "--json", "--", value)
    assert done.code == (0 if re.search(r"[^\W_]", value) else 2)
    assert done.err == "" or one_line(done, "no word")
    done = cli("audit", "timeline", "--", value)
    assert (done.code, done.out) == (1, "")
    assert one_line(done, "no run")
    assert hostile.read_bytes() == before


@pytest.mark.parametrize(
    "value", ["' OR 1", "%", "\x1b[31m", "a\0b", "😀", "9" * 100_000, "\udcff"]
)
def test_a_value_that_means_nothing_is_refused_in_printable_words(hostile, cli, value):
    for option in ("--since", "--until", "--status", "--limit", "--by"):
        done = cli("audit", "usage", f"{option}={value}")
        assert (done.code, done.out) == (2, "")
        assert all(one == "\n" or one.isprintable() for one in done.err)
