"""What an archive has as a whole is dropped, and nothing else; it is read there as it was."""

import json
from contextlib import closing

import pytest

from journal import Journal
from journal.doctor import examine
from journal.errors import ArchiveOfAnotherJournal, RunIsArchived
from journal.export import export_all, export_run
from journal.ids import run_stream
from journal.ingest import Ingest
from journal.json_door import dumps
from projections import LATEST, list_run_records, list_runs, replay, resume_snapshot, session_record
from projections.archive.dropping import drop_archived
from projections.archive.opened import open_archive
from projections.archive.union import with_archive
from projections.archive.writing import write_archive
from tests import samples
from tests.dropped import history, write_run

EVERYTHING = 2**62


@pytest.fixture
def journal(tmp_path):
    with Journal.open(tmp_path / "runs.db") as opened:
        yield opened


@pytest.fixture
def place(tmp_path):
    return tmp_path / "archive"


def archive(journal, place):
    write_archive(journal, place, before=EVERYTHING)
    return drop_archived(journal, place)


def commit(journal, run_id, number, *, session="s", **fields):
    record = samples.run_record(run_id, session, **fields)
    bundle = samples.bundle(
        record,
        context_state=samples.context(history(number + 2, "commit")),
        stream_records=[samples.record(each) for each in range(3)],
        stream_cursors=[samples.stream_cursor(2, run_id)],
    )
    return journal.commit_run_evidence(bundle)


def shown(reading, run_id):
    view = replay(reading, run_id, LATEST)
    return view.messages, view.checkpoint, view.live.status, [*view.tail]


def test_ended_runs_go_and_the_others_stay_with_their_reasons(journal, place):
    write_run(journal, "done")
    write_run(journal, "open", status=None)
    write_run(journal, "asks")
    journal.approval(samples.approval(run_id="asks"))
    journal.set_status("asks", "completed")
    write_run(journal, "forked")
    fork = journal.fork(replay(journal, "forked", LATEST), "fork")
    fork.release()
    held = journal.run("done", session_id="s")
    held.release()
    write_run(journal, "held")
    with journal.run("held"):
        journal.set_status("held", "completed")
        write_archive(journal, place, before=EVERYTHING)
        write_run(journal, "late")
        dropped = drop_archived(journal, place)
    assert dropped.runs == ("done",)
    assert {each.run_id: each.reason for each in dropped.left} == {
        "open": "not_ended",
        "asks": "waiting",
        "forked": "forked",
        "fork": "not_ended",
        "held": "leased",
        "late": "not_archived",
    }
    assert dropped.to_json()["left"]["not_ended"] == 2
    again = drop_archived(journal, place)
    assert (again.runs, again.gone) == (("held",), 1)
    assert {each.run_id for each in again.left} == {"open", "asks", "forked", "fork", "late"}
    last = archive(journal, place)
    assert (last.runs, last.gone) == (("late",), 2)


def test_they_are_read_from_the_archive_as_they_were(journal, place):
    for number in range(3):
        write_run(journal, f"r{number}", messages=number + 3)
        commit(journal, f"c{number}", number)
    before = {run.run_id: shown(journal, run.run_id) for run in list_runs(journal)}
    lines = {run_id: [*export_run(journal.reader, run_id)] for run_id in before}
    dropped = archive(journal, place)
    assert set(dropped.runs) == set(before)
    for run_id in before:
        with pytest.raises(RunIsArchived):
            replay(journal, run_id, LATEST)
        with pytest.raises(RunIsArchived):
            next(export_run(journal.reader, run_id))
    with open_archive(place) as opened, closing(with_archive(journal, opened)) as both:
        for run_id, was in before.items():
            assert shown(both, run_id) == was
            assert [*export_run(both.reader, run_id)] == lines[run_id]
        listed = {run.run_id: run.to_json() for run in list_runs(both)}
        assert all(run["archived"] for run in listed.values())
        assert [*export_all(both.reader)]


def test_a_session_record_is_the_same_when_its_runs_are_gone(journal, place):
    journal.save_session(samples.session_record(state=samples.context(history(3))))
    for number in range(3):
        commit(journal, f"c{number}", number)
    write_run(journal, "plain")
    journal.set_status("plain", "failed")
    record = session_record(journal, "s")
    records = list_run_records(journal, "s")
    assert record["state"] == samples.context(history(4, "commit"))
    dropped = archive(journal, place)
    assert len(dropped.runs) == 4
    assert session_record(journal, "s") == record
    assert list_run_records(journal, "s") == records
    with pytest.raises(RunIsArchived):
        resume_snapshot(journal, "s", "c1")
    commit(journal, "more", 9)
    assert session_record(journal, "s")["state"] == samples.context(history(11, "commit"))
    assert [each["sequence_no"] for each in list_run_records(journal, "s")] == [1, 2, 3, 4, 5]
    again = archive(journal, place)
    assert again.runs == ("more",)
    assert session_record(journal, "s")["state"] == samples.context(history(11, "commit"))


def test_no_run_becomes_the_active_one_because_the_one_after_it_is_gone(journal, place):
    write_run(journal, "open", status=None)
    write_run(journal, "done")
    record = session_record(journal, "s")
    assert "active_run_id" not in record
    dropped = archive(journal, place)
    assert dropped.runs == ("done",)
    assert session_record(journal, "s") == record


def test_a_session_whose_runs_are_gone_goes_on(journal, place):
    commit(journal, "c0", 0)
    archive(journal, place)
    write_run(journal, "next", messages=4)
    assert shown(journal, "next")[0] == tuple(history(4))
    assert examine(journal.location).is_sound


def test_the_file_is_sound_afterwards_and_its_views_hold_nothing_of_them(journal, place):
    write_run(journal, "r", messages=9)
    write_run(journal, "stays", messages=10, status=None)
    replay(journal, "r", LATEST)
    was = shown(journal, "stays")
    dropped = archive(journal, place)
    assert dropped.runs == ("r",)
    report = examine(journal.location)
    assert [finding.code for finding in report.findings if finding.code != "lease.orphaned"] == []
    assert shown(journal, "stays") == was
    backup = journal.backup(place.with_name("backup.db"))
    assert examine(backup.target).is_sound
    with Journal.open(backup.target) as copy, pytest.raises(RunIsArchived):
        replay(copy, "r", LATEST)


def test_a_copy_travels_and_the_run_is_equal_elsewhere(journal, place, tmp_path):
    write_run(journal, "r", messages=5)
    write_run(journal, "stays", messages=6, status="waiting")
    dropped = archive(journal, place)
    assert dropped.copies >= 1
    with journal.run("stays") as run:
        run.append(samples.record(9))
    was = shown(journal, "stays")
    lines = [dumps(line) for line in export_run(journal.reader, "stays")]
    assert any(b"document.copied" in line for line in lines)
    with Journal.open(tmp_path / "other.db") as other:
        Ingest(other).read(lines)
        assert shown(other, "stays") == was
        assert [dumps(line) for line in export_run(other.reader, "stays")] == lines
        counts = Ingest(other).read(lines)
        assert not counts.recorded
        head = other.reader.head("stays")
    assert head == journal.reader.head("stays")
    counts = Ingest(journal).read(lines)
    assert not counts.recorded
    plain = [json.loads(line) for line in lines]
    for line in plain:
        line.pop("version")
    with Journal.open(tmp_path / "anew.db") as anew:
        Ingest(anew).read([dumps(line) for line in plain])
        assert shown(anew, "stays")[0] == was[0]


def test_exporting_everything_names_a_run_that_would_be_missing(journal, place):
    write_run(journal, "r")
    write_run(journal, "stays", status=None)
    archive(journal, place)
    with pytest.raises(RunIsArchived, match="--archive"):
        next(export_all(journal.reader))


def test_lines_of_a_dropped_run_are_refused(journal, place):
    write_run(journal, "r")
    lines = [dumps(line) for line in export_run(journal.reader, "r")]
    archive(journal, place)
    before = journal.reader.last_position()
    counts = Ingest(journal, keep_going=True).read(lines)
    assert len(counts.refused) == len(lines)
    assert all("archived" in each.reason for each in counts.refused)
    assert journal.reader.last_position() == before


def test_the_archive_of_another_journal_drops_nothing(journal, place, tmp_path):
    write_run(journal, "r")
    with Journal.open(tmp_path / "other.db") as other:
        write_run(other, "r")
        write_archive(other, place, before=EVERYTHING)
    with pytest.raises(ArchiveOfAnotherJournal):
        drop_archived(journal, place)
    assert journal.reader.dropped("r") is None


@pytest.mark.parametrize("kind", ["events", "rows", "runs"])
def test_a_run_in_a_damaged_segment_stays(journal, place, kind):
    write_run(journal, "r")
    write_archive(journal, place, before=EVERYTHING)
    [file] = (place / kind).rglob("*.parquet")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    dropped = drop_archived(journal, place)
    assert dropped.runs == ()
    assert [each.reason for each in dropped.left] == ["damaged"]
    assert len([*journal.reader.run_events("r")]) == journal.reader.head("r")


def test_a_dropping_that_was_cut_short_is_ended(journal, place):
    write_run(journal, "r", records=40)
    write_archive(journal, place, before=EVERYTHING)
    real = journal._store.drop
    journal._store.drop = lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        drop_archived(journal, place)
    journal._store.drop = real
    assert len([*journal.reader.run_events("r")]) == journal.reader.head("r")
    dropped = drop_archived(journal, place)
    assert dropped.runs == ("r",)
    assert len(journal._store.read_stream(run_stream("r"))) == 1
