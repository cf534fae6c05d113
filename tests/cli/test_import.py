"""`runjournal import` brings a Starweaver database into the journal and tells what it did."""

import pytest

from journal import Journal
from journal.cli import progress
from tests.cli.conftest import one_line
from tests.unit.starweaver_files import TIME, small_file


@pytest.fixture
def made(tmp_path):
    return small_file(tmp_path / "sw.db")


@pytest.mark.usefixtures("made")
def test_an_import_prints_what_it_recorded(cli):
    done = cli("import", "sw.db")
    assert done.code == 0
    assert done.err == ""
    assert done.out.splitlines() == [
        "source       sw.db",
        "recorded     5  (1 checkpoint, 1 run, 1 session, 2 stream_record)",
        "repeated     0",
        "refused      0",
    ]
    assert "r    s" in cli("runs").out


@pytest.mark.usefixtures("made")
def test_importing_again_repeats_nothing(cli):
    cli("import", "sw.db")
    before = cli("export", "--all").out
    again = cli("import", "sw.db", "--json").document
    assert (again["recorded"], sum(again["repeated"].values())) == ({}, 5)
    assert cli("export", "--all").out == before


def test_json_tells_everything(cli, made):
    made.stream(7, record="nope")
    made.insert("replay_snapshots", "x", {}, TIME)
    done = cli("import", "sw.db", "--json")
    assert done.code == 1
    told = done.document
    [refused], [not_mapped] = told.pop("refused_rows"), told.pop("not_mapped")
    assert told == {
        "schema": "runjournal.import",
        "schema_version": 1,
        "source": "sw.db",
        "dry_run": False,
        "recorded": {"stream_record": 2, "checkpoint": 1, "run": 1, "session": 1},
        "repeated": {},
        "refused": {"stream_records": 1},
    }
    assert "not JSON" in refused.pop("reason")
    assert refused == {"table": "stream_records", "key": "r 7"}
    assert "screen" in not_mapped.pop("reason")
    assert not_mapped == {"what": "replay_snapshots", "count": 1}


def test_a_dry_run_makes_no_journal(cli, made, tmp_path):
    done = cli("import", "sw.db", "--dry-run")
    assert done.code == 0
    assert "nothing was written" in done.out
    assert "recorded     5 " in done.out
    assert {each.name for each in tmp_path.iterdir()} == {"sw.db"}
    assert made.path.exists()


def test_a_dry_run_compares_with_the_journal_that_is_there(cli, made):
    cli("import", "sw.db")
    made.stream(9)
    before = cli("export", "--all").out
    dry = cli("import", "sw.db", "--dry-run", "--json").document
    assert dry["recorded"] == {"stream_record": 1}
    assert sum(dry["repeated"].values()) == 5
    assert cli("export", "--all").out == before


def test_refused_rows_are_named_and_fail_the_command(cli, made):
    made.stream(7, record="nope")
    done = cli("import", "sw.db")
    assert done.code == 1
    assert "refused      1  (1 stream_records)" in done.out
    assert one_line(done, "stream_records r 7: ")


def test_of_many_refused_rows_the_first_are_named(cli, made):
    for sequence in range(100, 125):
        made.stream(sequence, record="nope")
    done = cli("import", "sw.db")
    assert done.err.count("stream_records r 1") == 20
    assert done.err.endswith("runjournal: 25 rows were refused in all; --json names more of them\n")


def test_what_is_not_mapped_is_listed_with_the_reason(cli, made):
    made.insert("replay_snapshots", "x", {}, TIME)
    done = cli("import", "sw.db")
    assert done.code == 0
    assert "\nnot mapped\n        1 replay_snapshots  " in done.out


@pytest.mark.parametrize("name", ["missing.db", ".", "runs.db"])
def test_what_cannot_be_imported_makes_no_journal(cli, tmp_path, name):
    if name == "runs.db":
        with Journal.open(tmp_path / name):
            pass
    done = cli("import", name)
    assert done.code == 1
    assert one_line(done, f"cannot import {name}: ")
    assert not (tmp_path / "runjournal.db").exists()


def test_hostile_text_cannot_reach_the_terminal(cli, made):
    evil = "\x1b[31mx\u202e"
    made.run(evil, number=2, record="nope")
    made.stream(0, evil)
    done = cli("import", "sw.db")
    assert "\x1b" not in done.out + done.err
    assert "\u202e" not in done.out + done.err
    made.execute(f'CREATE TABLE "{evil}" (a)')
    assert one_line(cli("import", "sw.db"), "is unknown")


@pytest.mark.usefixtures("made")
def test_a_long_import_shows_its_progress(cli, attach, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    terminal = attach()
    assert cli("import", "sw.db").code == 0
    assert "import" in terminal.getvalue()
    assert "%" in terminal.getvalue()


def test_help_names_the_command(cli):
    assert "\n  import " in cli("--help").out
    assert "Usage: runjournal import " in cli("import", "--help").out
    assert cli("import").code == 2
