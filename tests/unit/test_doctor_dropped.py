"""What was dropped is no damage, and what was deleted besides is."""

import pytest

from journal import Journal
from journal.doctor import examine
from journal.ids import StreamId, Version
from journal.stores import sqlite_drop
from tests import samples
from tests.dropped import drop, history, in_archive, write_run
from tests.unit.care_files import behind_the_guards


@pytest.fixture
def path(tmp_path):
    """A journal whose run r, between others, was dropped."""
    with Journal.open(tmp_path / "runs.db") as journal:
        write_run(journal, "a")
        write_run(journal, "r", records=30, messages=4)
        write_run(journal, "z", messages=6)
        drop(journal, "r")
    return tmp_path / "runs.db"


def found(path, **options):
    return [
        (each.code, each.run_id or each.session_id) for each in examine(path, **options).findings
    ]


@pytest.mark.parametrize("quick", [False, True])
def test_a_dropped_run_is_no_damage(path, quick):
    report = examine(path, quick=quick)
    assert report.is_sound
    assert found(path, quick=quick) == []
    assert report.counts["runs"] == 3


def test_an_event_deleted_besides_is_missing(path):
    assert behind_the_guards(path, "DELETE FROM events WHERE stream = 1 AND version = 3") == 1
    codes = [code for code, _ in found(path)]
    assert "stream.gap" in codes
    assert "event.missing" in codes


def test_a_stream_deleted_besides_is_missing(path):
    deleted = behind_the_guards(
        path, "DELETE FROM events WHERE stream = (SELECT key FROM streams WHERE name = 'run:z')"
    )
    [missing] = [each for each in examine(path).findings if each.code == "event.missing"]
    assert missing.what.startswith(f"{deleted} events more")


def test_a_gap_without_run_archived_is_damage(path):
    assert behind_the_guards(
        path,
        "DELETE FROM events WHERE name = (SELECT code FROM names WHERE name = 'run.archived.v1')",
    )
    assert ("stream.empty", "r") in found(path)
    assert not examine(path).is_sound


def test_a_deleted_copy_is_damage(path):
    assert behind_the_guards(
        path,
        "DELETE FROM events WHERE name = (SELECT code FROM names WHERE name = 'document.copied.v1')",
    )
    assert ("document.broken", "z") in found(path)


@pytest.mark.parametrize("pieces", [0, 1, 2])
def test_a_dropping_cut_short_is_told_and_no_damage(tmp_path, monkeypatch, pieces):
    monkeypatch.setattr(sqlite_drop, "BYTES", 300)
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        write_run(journal, "r", records=30, messages=4)
        write_run(journal, "z", messages=6)
        held = in_archive(journal, "r")
        dropping = journal.dropping(["r"])
        dropping._delete = lambda *_: 0
        dropping.drop("r", held)
        for _ in range(pieces):
            assert journal._store.drop(StreamId("run:r"), Version(held.through))
        left = len(journal._store.read_stream(StreamId("run:r"), names=None)) - 1
        assert left == held.through if not pieces else 0 < left < held.through
    assert examine(path).is_sound
    assert found(path) == [("run.half_dropped", "r")]
    with Journal.open(path) as journal:
        journal.dropping(["r"]).drop("r", held)
    assert found(path) == []


def test_repeated_values_of_what_is_left_can_be_read_all_the_while(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_drop, "BYTES", 1)
    with Journal.open(tmp_path / "r.db") as j:
        with j.run("r", session_id="s") as run:
            for number in range(6):
                run.checkpoint(
                    _checkpoint(number, history(3) + history(number, "long " * 200)),
                )
        j.set_status("r", "completed")
        held = in_archive(j, "r")
        before = [*j.reader.run_events("r")]
        dropping = j.dropping(["r"])
        dropping._delete = lambda *_: 0
        dropping.drop("r", held)
        while j._store.drop(StreamId("run:r"), Version(held.through)):
            left = j._store.read_stream(StreamId("run:r"), upto=Version(held.through))
            assert [each.version for each in left] == [*range(1, len(left) + 1)]
            assert [each.position for each in left] == [e.position for e in before[: len(left)]]


def _checkpoint(number, messages):

    return samples.checkpoint(f"k{number}", messages=messages, step=number)
