"""`runjournal stats` tells a journal in numbers, as bars or as JSON."""

import re

import pytest
from rich.cells import cell_len

from journal import Journal
from tests.cli.audit_runs import record_failed_run
from tests.cli.conftest import one_line
from tests.cli.test_hostile_text import EVIL

STYLES = re.compile(r"\x1b\[[0-9;]*m")


def test_a_pipe_gets_plain_bars(audited, cli):
    done = cli("stats")
    assert (done.code, done.err) == (0, "")
    assert done.out.isascii()
    assert done.out.startswith(
        f"runs  2\n  completed  {'#' * 40}  1  50.0 %\n  failed     {'#' * 40}  1  50.0 %\n"
    )
    assert re.search(r"\n  stream\.recorded\.v1     #{40}  16  +\S+ k?B\n", done.out)
    assert re.search(rf"\n  input             {'#' * 40}  13,545\n", done.out)
    assert re.search(r"\ncharge_card +1 +1  100\.0 % +0  1\.2 s  1\.2 s\n", done.out)


def test_json_is_one_document(audited, cli):
    document = cli("stats", "--json").document
    assert (document["schema"], document["schema_version"]) == ("runjournal.audit.stats", 1)
    assert document["runs"] == {"completed": 1, "failed": 1}
    assert document["usage"]["input_tokens"] == 13_545
    assert {each["tool"]: each["failed"] for each in document["tools"]} == {
        "charge_card": 1,
        "declined": 0,
        "get_weather": 0,
    }
    with Journal.open(audited) as opened:
        events = opened.reader.last_position()
    assert sum(each["events"] for each in document["events"]) == events


@pytest.mark.parametrize(
    "narrowed",
    [["--session", "s2"], ["--run", "bad"], ["--status", "failed"], ["--since", "1h"], ["--until", "2999-01-01"]],
)  # fmt: skip
def test_it_can_be_narrowed(audited, cli, narrowed):
    document = cli("stats", *narrowed, "--json").document
    assert document["runs"]["failed"] == 1
    assert document["events"] is None
    assert len(document["runs"]) == (2 if narrowed[0] in ("--since", "--until") else 1)
    assert "\nevents " not in cli("stats", *narrowed).out


def test_a_limit_is_of_tools(audited, cli):
    done = cli("stats", "--limit", "2")
    assert "... 1 more tool; --limit N shows more\n" in done.out
    assert cli("stats", "--limit", "2", "--json").document["more_tools"] == 1


@pytest.mark.parametrize("columns", [30, 60, 80, 120])
def test_lines_fit_a_terminal_and_are_coloured(audited, cli, monkeypatch, columns):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    seen = cli("stats").out
    assert STYLES.search(seen)
    assert max(map(cell_len, STYLES.sub("", seen).splitlines())) <= columns


def test_an_empty_journal_has_its_numbers_too(cli, tmp_path):
    Journal.open(tmp_path / "runjournal.db").close()
    done = cli("stats")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("runs  0\n")
    assert done.out.endswith("no tool calls\n")
    assert cli("stats", "--json").document["events"] == []


def test_nothing_dangerous_is_printed(cli, tmp_path):
    with Journal.open(tmp_path / "runjournal.db") as opened:
        record_failed_run(opened, EVIL, EVIL, EVIL)
    for full in ((), ("--full",)):
        done = cli("stats", *full)
        assert all(one == "\n" or one.isprintable() for one in done.out)
    assert r"\x1b[31mred" in done.out


def test_wrong_usage_exits_2(audited, cli):
    for args in (["--csv"], ["--limit", "0"], ["--status", "x"], ["extra"]):
        done = cli("stats", *args)
        assert (done.code, done.out) == (2, "")
    done = cli("stats", "--since", "soon")
    assert (done.code, done.out) == (2, "")
    assert one_line(done, "'soon'")
