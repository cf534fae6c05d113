"""`snapshots` and `snapshots drop`: what they print, and that they change no answer."""

from contextlib import closing

import pytest

from tests.cli.conftest import one_line
from tests.unit.view_files import connect, fill, open_beside, views_of


@pytest.fixture
def filled(recorded):
    with closing(open_beside(recorded)) as views:
        fill(views, "run:r")
    return recorded


def test_the_status_as_a_page_and_as_json(cli, filled):
    done = cli("snapshots")
    assert (done.code, done.err) == (0, "")
    assert "runjournal.db.views" in done.out
    assert "1 stream, 2 pages, 1 chunk, 1 document" in done.out
    status = cli("snapshots", "--json").document
    assert status == {
        "schema": "runjournal.snapshots",
        "schema_version": 1,
        "location": "runjournal.db",
        "file": str(views_of(filled)),
        "bytes": views_of(filled).stat().st_size,
        "problem": None,
        "streams": 1,
        "pages": 2,
        "chunks": 1,
        "documents": 1,
    }


def test_dropping_them_changes_no_answer(cli, recorded):
    questions = (["replay", "r"], ["log", "r"], ["replay", "r", "--at", "stream:3", "--json"])
    before = [cli(*each).out for each in questions]
    done = cli("snapshots", "drop")
    assert (done.code, done.err) == (0, "")
    assert "dropped" in done.out
    assert not views_of(recorded).exists()
    assert [cli(*each).out for each in questions] == before
    assert cli("doctor").code == 0


def test_dropping_twice_is_no_failure(cli, filled):
    size = views_of(filled).stat().st_size
    for bytes_ in (size, 0):
        dropped = cli("snapshots", "drop", "--json").document
        assert dropped == {
            "schema": "runjournal.snapshots_dropped",
            "schema_version": 1,
            "location": "runjournal.db",
            "file": str(views_of(filled)),
            "bytes": bytes_,
        }
    assert "nothing" in cli("snapshots", "drop").out
    assert "no file" in cli("snapshots").out


def test_damage_is_told_by_the_doctor_and_gone_after_its_advice(cli, filled):
    with connect(views_of(filled)) as db:
        db.execute("UPDATE documents SET root = x'00'")
        db.execute("UPDATE streams SET version = 14")
    done = cli("doctor")
    assert done.code == 1
    assert "wrong   run r: snapshots: damaged rows of documents: 1" in done.out
    assert "snapshots drop" in done.out
    assert cli("replay", "r").code == 0
    assert cli("snapshots", "drop").code == 0
    assert cli("doctor").code == 0


def test_what_is_no_file_of_snapshots_is_told_and_left(cli, recorded):
    views_of(recorded).write_bytes(b"mine" * 100)
    status = cli("snapshots")
    assert status.code == 0
    assert "not used" in status.out
    assert "holds" not in status.out
    done = cli("snapshots", "drop")
    assert (done.code, done.out) == (1, "")
    assert one_line(done, "cannot remove", "not a file of snapshots")
    assert views_of(recorded).read_bytes() == b"mine" * 100


@pytest.mark.parametrize(
    "args",
    [
        ["--db", "b.db", "--json", "snapshots", "drop"],
        ["snapshots", "--db", "b.db", "drop", "--json"],
        ["snapshots", "drop", "--json", "--db=b.db"],
        ["snapshots", "--json", "--db=b.db"],
    ],
)
def test_global_options_may_stand_anywhere(cli, recorded, tmp_path, args):
    recorded.rename(tmp_path / "b.db")
    assert cli(*args).document["location"] == "b.db"


def test_help_tells_of_drop(cli):
    done = cli("snapshots", "--help")
    assert done.code == 0
    assert "drop" in done.out
    assert "--db URL and --json may stand here" in cli("snapshots", "drop", "--help").out
