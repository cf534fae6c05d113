"""--db, --json and --version, before or after the command."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal import Journal
from journal.cli.app import globals_first
from tests.cli.conftest import environment


@pytest.fixture
def elsewhere(tmp_path):
    with Journal.open(tmp_path / "b.db") as opened, opened.run("other", session_id="s"):
        pass


@pytest.mark.parametrize(
    "args",
    [
        ["--db", "b.db", "--json", "runs", "--limit", "1"],
        ["runs", "--limit", "1", "--json", "--db", "b.db"],
        ["--json", "runs", "--db=b.db", "--limit", "1"],
        ["--db", "a.db", "runs", "--json", "--db", "b.db"],
        ["runs", "--json", "--db", "sqlite:///b.db"],
    ],
)
def test_global_options_may_stand_anywhere(elsewhere, cli, args):
    assert cli(*args).document["run_id"] == "other"


def test_the_environment_names_the_journal_and_the_option_wins(
    recorded, elsewhere, cli, monkeypatch
):
    monkeypatch.setenv("RUNJOURNAL_DB", "b.db")
    assert cli("runs", "--json").document["run_id"] == "other"
    assert cli("runs", "--json", "--db", "runjournal.db").document["run_id"] == "r"


def test_what_stands_behind_two_dashes_is_no_option(cli, tmp_path):
    with Journal.open(tmp_path / "runjournal.db") as opened:
        opened.run("--json", session_id="s")
        opened.run("-r", session_id="s")
    assert cli("replay", "--json", "--", "--json").document["run_id"] == "--json"
    assert cli("replay", "--", "-r").out.startswith("run          -r\n")


@given(st.lists(st.sampled_from(["--json", "--db", "--db=x", "--", "a", "--at", "-"])))
def test_moving_them_loses_no_word(args):
    moved = globals_first(args)
    assert sorted(moved) == sorted(args)
    if "--" in args:
        behind = args[args.index("--") :]
        assert moved[len(moved) - len(behind) :] == behind


def test_the_version_is_that_of_the_package(cli, monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"9.9 of {name}")
    assert cli("--version").out == "runjournal 9.9 of runjournal\n"
    assert cli("--version", "--json").document == {
        "schema": "runjournal.version",
        "schema_version": 1,
        "version": "9.9 of runjournal",
    }


def test_help_names_every_command_and_how_a_command_ends(cli):
    done = cli("--help")
    assert done.code == 0
    for word in (
        "demo",
        "ingest",
        "export",
        "sessions",
        "runs",
        "log",
        "replay",
        "evidence",
        "diff",
    ):
        assert f"\n  {word} " in done.out
    for word in (
        "RUNJOURNAL_DB",
        "message:N@E",
        "time:RFC3339",
        "Exit codes",
        "one document a line",
    ):
        assert word in " ".join(done.out.split())


SLOW = {"eventsourcing", "rich", "orjson", "sqlite3", "asyncio", "starweaver", "projections"}


@pytest.mark.parametrize(
    ("args", "slow"),
    [
        (["--help"], {*SLOW, "pydantic", "journal.journal"}),
        (
            ["replay", "--help"],
            {*SLOW, "journal.journal"},
        ),  # typer itself reads these with pydantic
    ],
)
def test_help_loads_nothing_that_is_slow(args, slow):
    program = (
        "import json, sys\n"
        "from journal.cli.main import main\n"
        f"sys.argv = ['runjournal', *{args!r}]\n"
        "try:\n    main()\n"
        "finally:\n    print(json.dumps(sorted(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, check=True
    )
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert "typer" in loaded
    assert loaded & slow == set()
