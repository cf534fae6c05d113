"""`archive --drop` deletes what the archive has, and says what stays and why."""

import pytest

from journal import Journal
from tests.dropped import write_run


@pytest.fixture
def path(tmp_path):
    with Journal.open(tmp_path / "runjournal.db") as journal:
        write_run(journal, "goes")
        write_run(journal, "stays", status=None)
    return tmp_path / "runjournal.db"


def archive(cli, *options):
    return cli("archive", "--before", "2100-01-01", "--to", "a", *options)


def test_without_it_nothing_is_dropped(cli, path):
    assert "dropped" not in archive(cli).out
    assert cli("replay", "goes").code == 0


def test_what_goes_and_what_stays_is_said(cli, path):
    done = archive(cli, "--drop")
    assert done.code == 0
    assert "dropped      1 run, 6 events\n" in done.out
    assert "stay         1 run not ended, such as stays: it is running\n" in done.out
    told = archive(cli, "--drop", "--json").document
    assert told["schema"] == "runjournal.archive.written"
    assert told["dropped"]["runs"] == []
    assert told["dropped"]["gone"] == 1
    assert told["dropped"]["left"] == {"not_ended": 1}


def test_a_dropped_run_is_listed_and_read_with_its_archive_only(cli, path):
    before = cli("replay", "goes", "--json").document
    archive(cli, "--drop")
    listed = {run["run_id"]: run for run in cli("runs", "--json").documents}
    assert listed["goes"]["archived"] is True
    assert listed["goes"]["status"] == "completed"
    assert listed["goes"]["messages"] is None
    assert "completed, archived" in cli("runs").out
    asked = cli("audit", "usage", "--json")
    assert asked.code == 0
    assert "1 run is in an archive only, and not in this answer" in asked.err
    assert cli("audit", "usage", "--json", "--archive", "a").err == ""
    assert cli("audit", "tools", "--run", "goes").code == 1
    for command in (["replay", "goes"], ["log", "goes"], ["export", "goes"], ["export", "--all"]):
        refused = cli(*command)
        assert refused.code != 0
        assert "--archive" in refused.err
    after = cli("replay", "goes", "--archive", "a", "--json").document
    assert after["messages"] == before["messages"]
    assert cli("doctor").code == 0
