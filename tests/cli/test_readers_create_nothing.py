"""Commands that read never create a database."""

import pytest

from tests.cli.conftest import one_line


@pytest.mark.parametrize(
    "args",
    [
        ["runs"],
        ["sessions"],
        ["log", "r"],
        ["tail"],
        ["tail", "r", "--follow"],
        ["replay", "r"],
        ["evidence", "r"],
        ["diff", "r", "latest", "latest"],
        ["export", "--all"],
        ["export", "r"],
        ["snapshots"],
        ["snapshots", "drop"],
        ["approvals"],
        ["approve", "a1"],
        ["deny", "a1"],
        ["deferred"],
        ["deferred", "complete", "d1", "--response", "1"],
        ["suspend", "r", "--reason", "x"],
        ["resume", "r"],
        ["resume", "r", "--accept-rerun"],
    ],
    ids=lambda args: args[0],
)
@pytest.mark.parametrize("db", ["new.db", "sqlite:///new.db"])
def test_a_reader_refuses_a_journal_that_is_not_there(cli, tmp_path, args, db):
    done = cli(*args, "--db", db)
    assert (done.code, done.out) == (1, "")
    assert one_line(done, "no journal at new.db", "--db or RUNJOURNAL_DB")
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_reads_creates_nothing(process, tmp_path):
    assert process("runs").code == 1
    assert list(tmp_path.iterdir()) == []


def test_a_missing_input_creates_nothing_either(cli, tmp_path):
    assert cli("ingest", "missing.jsonl").code == 1
    assert list(tmp_path.iterdir()) == []


def test_reading_leaves_the_events_as_they_are(recorded, cli):
    before = recorded.read_bytes()
    for args in (["runs"], ["sessions"], ["log", "r"], ["replay", "r"], ["export", "--all"]):
        assert cli(*args).code == 0
    assert recorded.read_bytes() == before


def test_what_ingest_creates_only_its_owner_may_read(cli, tmp_path):
    assert cli("ingest", "-").code == 0
    assert (tmp_path / "runjournal.db").stat().st_mode & 0o077 == 0
