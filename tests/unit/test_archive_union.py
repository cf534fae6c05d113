"""A journal and its archive read as one: dropped runs are whole, and nothing comes twice."""

import pytest

from journal import Journal
from journal.errors import ArchiveOfAnotherJournal, DamagedArchive, RunIsArchived
from journal.export import export_all, export_run
from projections import list_runs, log, replay
from projections.archive.dropping import _Drop, drop_archived
from projections.archive.opened import open_archive
from projections.archive.union import with_archive
from projections.archive.writing import write_archive
from tests.dropped import write_run
from tests.unit.archive_files import DAY, EVER, NOON, Clock, archive, journal_at, tell


@pytest.fixture
def clock():
    return Clock(NOON)


@pytest.fixture
def journal(tmp_path, monkeypatch, clock):
    with journal_at(tmp_path / "runs.db", monkeypatch, clock) as opened:
        yield opened


@pytest.fixture
def place(tmp_path):
    return tmp_path / "archive"


def lines(reading, run_id):
    return list(export_run(reading.reader, run_id))


def entries(reading, run_id):
    return [each.to_json() for each in log(reading, run_id)]


def test_a_dropped_run_is_whole_again(journal, place):
    write_run(journal, "gone")
    expected = lines(journal, "gone"), entries(journal, "gone")
    seen = replay(journal, "gone").to_json()
    write_archive(journal, place, before=EVER)
    assert drop_archived(journal, place).runs
    with pytest.raises(RunIsArchived):
        lines(journal, "gone")
    with open_archive(place) as archived:
        both = with_archive(journal, archived)
        assert lines(archived, "gone") == expected[0]
        assert entries(archived, "gone") == expected[1]
        assert lines(both, "gone")[: len(expected[0])] == expected[0]
        assert entries(both, "gone")[: len(expected[1])] == expected[1]
        assert [each["name"] for each in entries(both, "gone")[len(expected[1]) :]] == [
            "run.archived.v1"
        ]
        for reading in (archived, both):
            again = replay(reading, "gone").to_json()
            for name in ("messages", "checkpoint", "live", "tail"):
                assert again[name] == seen[name]
        both.close()


def test_runs_are_listed_once_newest_first(journal, place, clock):
    write_run(journal, "first")
    write_run(journal, "second", status=None)
    clock.now += DAY
    write_archive(journal, place, before=clock.now - DAY // 2)
    drop_archived(journal, place)
    clock.now += DAY
    write_run(journal, "third")
    with journal.run("second", session_id="s") as run:
        tell(run, 10)
    with open_archive(place) as archived:
        both = with_archive(journal, archived)
        assert list(both.reader.run_ids()) == ["third", "second", "first"]
        assert list(both.reader.session_ids()) == ["s"]
        found = {each.run_id: each for each in list_runs(both)}
        assert found["first"].status == "completed"
        assert found["second"].events == journal.reader.head("second")
        assert found["first"].error is None
        positions = [each.position for each in both.reader.all_events()]
        assert positions == list(range(1, journal.reader.last_position() + 1))
        names = {line["type"] for line in export_all(both.reader)}
        assert "checkpoint" in names


def test_a_run_that_goes_on_is_read_across_the_border(journal, place, clock):
    with journal.run("r", session_id="s") as run:
        at = tell(run)
    clock.now += DAY
    write_archive(journal, place, before=clock.now)
    with journal.run("r", session_id="s") as run:
        tell(run, at)
    with open_archive(place) as archived:
        both = with_archive(journal, archived)
        border = archived.reader.head("r")
        assert 0 < border < journal.reader.head("r") == both.reader.head("r")
        assert lines(both, "r") == lines(journal, "r")
        assert both.reader.lease("r") == journal.reader.lease("r")
        for after in range(border - 2, border + 3):
            stream, store = "run:r", journal.reader.store
            expected = store.read_stream(stream, after=after, limit=3)
            assert both.reader.events(stream, [e.version for e in expected]) == (
                journal.reader.events(stream, [e.version for e in expected])
            )


def test_what_is_recorded_meanwhile_is_seen(journal, place):
    write_run(journal, "r", status=None)
    write_archive(journal, place, before=EVER)
    with open_archive(place) as archived:
        both = with_archive(journal, archived)
        before = both.reader.last_position()
        journal.set_status("r", "completed")
        assert both.reader.wait_for(before, 0)
        assert both.reader.last_position() == journal.reader.last_position() > before
        assert replay(both, "r").live.status == "completed"


def test_an_older_copy_of_the_journal_is_filled_up_from_the_archive(
    tmp_path, monkeypatch, place, clock
):
    path = tmp_path / "runs.db"
    with journal_at(path, monkeypatch, clock) as journal:
        write_run(journal, "r", status=None)
        journal.backup(tmp_path / "copy.db")
        journal.set_status("r", "completed")
        expected = lines(journal, "r")
    archive(path, place)
    with Journal.open(tmp_path / "copy.db") as copy, open_archive(place) as archived:
        both = with_archive(copy, archived)
        assert lines(both, "r") == expected
        assert both.reader.last_position() == archived.last_position
        assert [each.position for each in both.reader.all_events()][-1] == archived.last_position


def test_the_archive_of_another_journal_is_refused(journal, place, tmp_path):
    with Journal.open(tmp_path / "other.db") as other:
        write_run(other, "r")
        write_archive(other, place, before=EVER)
    with open_archive(place) as archived, pytest.raises(ArchiveOfAnotherJournal) as raised:
        with_archive(journal, archived)
    assert raised.value.journal == journal.reader.journal_id


def test_a_lost_end_of_the_archive_is_said_where_events_are_missing(journal, place, clock):
    with journal.run("gone", session_id="s") as run:
        at = tell(run)
    clock.now += DAY
    with journal.run("gone", session_id="s") as run:
        tell(run, at)
    journal.set_status("gone", "completed")
    write_run(journal, "here", status=None)
    write_archive(journal, place, before=EVER)
    drop_archived(journal, place)
    (place / "segments/00000002.json").write_bytes(b"{}")
    with open_archive(place) as archived:
        both = with_archive(journal, archived)
        with pytest.raises(DamagedArchive) as raised:
            lines(both, "gone")
        assert raised.value.segment == 2


def test_a_dropping_goes_on_where_another_one_dropped_a_run_of_the_session(
    journal, place, monkeypatch
):
    write_run(journal, "first")
    write_run(journal, "second")
    write_archive(journal, place, before=EVER)
    look, met = _Drop._for_session, []

    def look_while_another_drops(self, run_id):
        if not met:
            met.append(run_id)
            raise RunIsArchived("first", "another", (1,))
        return look(self, run_id)

    monkeypatch.setattr(_Drop, "_for_session", look_while_another_drops)
    assert set(drop_archived(journal, place).runs) == {"first", "second"}
    assert met == ["second"]
