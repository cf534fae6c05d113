"""Sessions, runs and the log, as people read them."""

import re
import time

import pytest

from journal import Journal
from tests import samples
from tests.cli.conftest import record_a_run


@pytest.fixture
def utc(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def several(tmp_path):
    with Journal.open(tmp_path / "runjournal.db") as opened:
        opened.save_session(samples.session_record("s1", title="Trip"))
        record_a_run(opened, "r1", "s1")
        with opened.run("r2", session_id="s2"):
            pass
        with opened.run("r3", session_id="s1") as run:
            run.set_status("failed")


def cells(line):
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def test_runs_are_listed_newest_first(several, cli):
    titles, *rows = cli("runs").out.splitlines()
    assert cells(titles) == [
        "RUN",
        "SESSION",
        "STATUS",
        "STEP",
        "MESSAGES",
        "EVENTS",
        "OPENED",
        "UPDATED",
    ]
    assert [cells(row)[:6] for row in rows] == [
        ["r3", "s1", "failed", "0", "0", "2"],
        ["r2", "s2", "-", "0", "0", "1"],
        ["r1", "s1", "completed", "2", "3", "13"],
    ]


STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(
    ("columns", "titles"),
    [
        ("80", ["RUN", "SESSION", "STATUS", "OPENED"]),
        ("120", ["RUN", "SESSION", "STATUS", "STEP", "MESSAGES", "EVENTS", "OPENED"]),
        ("150", ["RUN", "SESSION", "STATUS", "STEP", "MESSAGES", "EVENTS", "OPENED", "UPDATED"]),
    ],
)
def test_a_terminal_shows_the_columns_it_has_room_for(several, cli, monkeypatch, columns, titles):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", columns)
    lines = STYLE.sub("", cli("runs").out).splitlines()
    assert cells(lines[0]) == titles
    assert [cells(line)[:3] for line in lines[1:]] == [
        ["r3", "s1", "failed"],
        ["r2", "s2", "-"],
        ["r1", "s1", "completed"],
    ]


@pytest.mark.parametrize(
    ("args", "found"),
    [
        (["--session", "s1"], ["r3", "r1"]),
        (["--status", "failed"], ["r3"]),
        (["--limit", "2"], ["r3", "r2"]),
        (["--session", "s1", "--status", "completed", "--limit", "1"], ["r1"]),
        (["--session", "none"], []),
    ],
)
def test_runs_are_chosen(several, cli, args, found):
    assert [one["run_id"] for one in cli("runs", *args, "--json").documents] == found


def test_sessions_are_listed_newest_first(several, cli):
    titles, *rows = cli("sessions").out.splitlines()
    assert cells(titles) == ["SESSION", "STATUS", "RUNS", "CREATED", "UPDATED", "TITLE"]
    assert [cells(row)[:3] for row in rows] == [["s2", "-", "1"], ["s1", "active", "2"]]
    assert rows[1].endswith("  Trip")


def test_an_empty_list_says_so(cli, tmp_path):
    with Journal.open(tmp_path / "runjournal.db"):
        pass
    assert cli("runs").out == "no runs\n"
    assert cli("sessions").out == "no sessions\n"


def test_a_session_that_cannot_be_read_is_listed(several, cli, flip, tmp_path):
    flip(tmp_path / "runjournal.db", "session:s2", 1)
    done = cli("sessions")
    assert done.code == 0
    assert cells(done.out.splitlines()[1])[:2] == ["s2", "unreadable"]


def test_long_lists_are_printed_in_parts_with_one_title(tmp_path, cli, monkeypatch):
    monkeypatch.setattr("journal.cli.output.ROWS_A_TABLE", 2)
    with Journal.open(tmp_path / "runjournal.db") as opened:
        for at in range(5):
            opened.run(f"r{at}", session_id="s")
    done = cli("runs")
    assert [cells(line)[0] for line in done.out.splitlines()] == [
        "RUN",
        "r4",
        "r3",
        "r2",
        "r1",
        "r0",
    ]


def test_a_long_id_is_shortened_unless_full(tmp_path, cli):
    run_id = "a" * 250 + "z" * 250
    with Journal.open(tmp_path / "runjournal.db") as opened:
        opened.run(run_id, session_id="s")
    assert f"{'a' * 29}…{'z' * 30}  s" in cli("runs").out
    assert run_id in cli("runs", "--full").out


def test_the_log_is_in_logical_order_one_event_a_line(several, cli):
    titles, *rows = cli("log", "r1").out.splitlines()
    assert titles.split() == ["STREAM", "VERSION", "TIME", "EVENT"]
    assert [(row.split()[0], row.split()[4]) for row in rows] == [
        ("-", "run.opened"),
        ("0", "run_start"),
        ("0", "checkpoint.taken"),
        ("1", "model_request"),
        ("2", "node_start"),
        ("2", "checkpoint.taken"),
        ("3", "tool_call"),
        ("4", "tool_return"),
        ("5", "model_request"),
        ("6", "model_stream"),
        ("7", "model_stream"),
        ("8", "model_response"),
        ("9", "run_complete"),
    ]
    assert 'get_weather({"city":"Paris"})' in rows[6]


@pytest.mark.parametrize(
    ("args", "found"),
    [
        (["--from", "8"], [8, 9]),
        (["--to", "-1"], [None]),
        (["--from", "2", "--to", "2"], [2, 2]),
        (["--kind", "tool_call", "--kind", "tool_return"], [3, 4]),
        (["--kind", "checkpoint.taken"], [0, 2]),
        (["--kind", "nope"], []),
    ],
)
def test_the_log_is_narrowed(several, cli, args, found):
    assert [one["stream"] for one in cli("log", "r1", *args, "--json").documents] == found


def test_an_empty_log_says_so(several, cli):
    assert cli("log", "r1", "--from", "100").out == "no events\n"


def test_the_log_marks_what_it_does_not_know_and_what_was_imported(several, cli, tmp_path):
    with Journal.open(tmp_path / "runjournal.db") as opened:
        opened.run("r1").append(samples.record(10, "telepathy", thought="x"))
    last = cli("log", "r1").out.splitlines()[-1]
    assert "telepathy (unknown)" in last
    lines = cli("export", "r1").out.encode()
    assert cli("--db", "copy.db", "ingest", "-", stdin=lines).code == 0
    versions = [row.split()[1] for row in cli("--db", "copy.db", "log", "r1").out.splitlines()[1:]]
    assert all(version.endswith("*") for version in versions)
    assert "*" not in cli("log", "r1").out


def test_long_summaries_are_shortened_unless_full(tmp_path, cli):
    with Journal.open(tmp_path / "runjournal.db") as opened:
        opened.run("r", session_id="s").append(samples.delta(0, "word " * 1000))
    assert max(map(len, cli("log", "r").out.splitlines())) == 120
    assert ("word " * 1000).strip() in cli("log", "r", "--full").out


@pytest.mark.usefixtures("utc")
def test_times_are_local(tmp_path, cli, monkeypatch):
    line = (
        b'{"type":"stream_record","session_id":"s","run_id":"r","recorded_at":"%s",'
        b'"record":{"sequence":0,"event":{"kind":"model_request","step":0}}}\n'
    )
    assert cli("ingest", "-", stdin=line % b"2020-06-01T12:00:00.123456Z").code == 0
    assert "2020-06-01 12:00:00.123  model_request" in cli("log", "r").out
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    assert "2020-06-01 17:30:00.123  model_request" in cli("log", "r").out
    assert cli("log", "r", "--json").documents[-1]["recorded_at"] == "2020-06-01T12:00:00.123456Z"


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize("moment", [b"0001-01-01T00:00:00Z", b"9999-12-31T23:59:59Z"])
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_times_at_the_edge_of_the_calendar_are_shown(cli, monkeypatch, moment, zone):
    line = (
        b'{"type":"stream_record","session_id":"s","run_id":"r","recorded_at":"%s",'
        b'"record":{"sequence":0,"event":{"kind":"model_request","step":0}}}\n'
    )
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    assert cli("ingest", "-", stdin=line % moment).code == 0
    assert "model_request" in cli("log", "r").out


@pytest.mark.usefixtures("utc")
def test_years_have_four_digits(cli):
    line = (
        b'{"type":"stream_record","session_id":"s","run_id":"r",'
        b'"recorded_at":"0966-05-04T03:02:01Z",'
        b'"record":{"sequence":0,"event":{"kind":"model_request","step":0}}}\n'
    )
    assert cli("ingest", "-", stdin=line).code == 0
    assert " 0966-05-04 03:02:01.000  model_request" in cli("log", "r").out
