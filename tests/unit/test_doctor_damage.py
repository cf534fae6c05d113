"""Every kind of damage becomes a finding that says where it is and what to do."""

import sqlite3
from contextlib import closing

import pytest

from journal import Journal
from journal.doctor import examine
from journal.findings import LISTED, Severity
from journal.stores import NewEvent, open_store, sqlite_page
from tests import samples
from tests.unit.care_files import behind_the_guards, rewrite, write_journal

RECORDS = 20
WRITTEN = RECORDS + 7
"""Events in the journal: run and session, the records, five checkpoints."""

LAST = "position = (SELECT max(position) FROM events)"


@pytest.fixture
def path(tmp_path):
    return write_journal(tmp_path / "runs.db", records=RECORDS)


def found(path, **options):
    """The findings, each as its code and place."""
    report = examine(path, **options)
    assert report.is_sound is not any(each.severity is Severity.WRONG for each in report.findings)
    return [(each.code, each.run_id or each.session_id, each.version) for each in report.findings]


def delete(path, stream, version):
    deleted = behind_the_guards(
        path,
        "DELETE FROM events WHERE version = ? "
        "AND stream = (SELECT key FROM streams WHERE name = ?)",
        version,
        stream,
    )
    assert deleted == 1


def continue_run(path, run_id="r", sequence=100):
    with Journal.open(path) as journal, journal.run(run_id, session_id="s") as run:
        run.append(samples.record(sequence))


def store_event(path, name, data=b"{}", stream="run:r"):
    with closing(open_store(path, create=False)) as store:
        store.append([NewEvent(stream, store.head(stream) + 1, name, data)], now=1)


@pytest.mark.parametrize("quick", [False, True])
def test_a_damaged_event(path, flip, quick):
    flip(path, "run:r", 5)
    assert found(path, quick=quick) == [("event.damaged", "r", 5)]
    [finding] = examine(path).findings
    assert finding.what == "its checksum does not match"
    assert f"`runjournal --db {path} replay --at version:4 r`" in finding.advice
    assert "put a copy of a backup in its place" in finding.advice


def test_a_damaged_checkpoint_and_all_that_builds_on_it(path, flip):
    flip(path, "run:r", 23)  # the second of five
    assert found(path) == [("event.damaged", "r", 23), ("document.broken", "r", 24)]
    broken = examine(path).findings[1]
    assert "and 2 after it" in broken.what
    assert found(path, quick=True) == [("event.damaged", "r", 23)]


def test_a_checkpoint_whose_difference_does_not_fit(path):
    data = (
        b'{"checkpoint_id":"k1","conversation_id":"c","node":"run_start","status":"running",'
        b'"step":0,"messages":2,"stream_cursor":1,"base_version":22,"chain_bytes":0,'
        b'"delta":[["nonsense"]]}'
    )
    rewrite(path, "run:r", 23, codec=0, data=data)
    assert found(path) == [("document.broken", "r", 23)]
    assert found(path, quick=True) == []


@pytest.mark.parametrize(
    "data", [b"{nonsense", b"[1]", b"\xff", b'{"run_id":7}', b'{"imported":3}', b"{}"]
)
def test_an_event_whose_json_is_none_or_does_not_fit_its_name(path, data):
    rewrite(path, "run:r", 1, codec=0, data=data)
    assert found(path) == [("event.damaged", "r", 1)]


@pytest.mark.parametrize(("codec", "data"), [(1, b"\1\2\3"), (99, b"{}")])
def test_an_event_that_does_not_unpack(path, codec, data):
    rewrite(path, "run:r", 3, codec=codec, data=data)
    assert found(path) == [("event.damaged", "r", 3)]


def test_events_that_repeat_a_value_of_a_damaged_one(tmp_path, flip):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal, journal.run("r", session_id="s") as run:
        for at in range(3):
            run.append(samples.delta(at, "a long value " * 50))
    flip(path, "run:r", 2)
    assert found(path) == [("event.damaged", "r", version) for version in (2, 3, 4)]
    assert "it repeats values of version 2" in examine(path).findings[1].what


@pytest.mark.parametrize(
    "change", ["DELETE FROM dictionaries", "UPDATE dictionaries SET data = x'00'"]
)
def test_a_dictionary_without_which_nothing_is_read(path, change):
    behind_the_guards(path, change)
    assert {code for code, _, _ in found(path)} == {"event.unreadable"}
    assert "its dictionary 2 is" in examine(path).findings[-1].what


def test_an_event_of_no_stream(path):
    behind_the_guards(path, "UPDATE events SET stream = 999 WHERE position = 7")
    assert set(found(path)) >= {("event.damaged", None, 6), ("stream.gap", "r", 6)}
    assert "position 7 is of no stream" in examine(path).findings[0].what


def test_an_event_of_no_name(path):
    behind_the_guards(path, "UPDATE events SET name = 77 WHERE position = 7")
    assert found(path) == [("event.damaged", "r", 6)]


def test_an_event_in_the_middle_was_deleted(path):
    delete(path, "run:r", 6)
    assert found(path) == [("event.missing", None, None), ("stream.gap", "r", 6)]
    missing, gap = examine(path).findings
    assert missing.what == "position 7: no event, so it was deleted"
    assert gap.what == "no event, so it was deleted"
    assert "replay --at version:5 r" in gap.advice


def test_several_events_in_the_middle_were_deleted(path):
    for version in (6, 7, 8):
        delete(path, "run:r", version)
    assert found(path) == [("event.missing", None, None), ("stream.gap", "r", 6)]
    missing, gap = examine(path).findings
    assert missing.what == "positions 7 to 9: no event, so it was deleted"
    assert gap.what == "no event up to version 8, so it was deleted"


def test_the_advice_goes_by_the_first_damage_of_a_run(path, flip):
    delete(path, "run:r", 6)
    flip(path, "run:r", 23)
    found = [each for each in examine(path).findings if each.run_id == "r"]
    assert [each.version for each in found] == [23, 6, 24]
    for each in found:
        assert "replay --at version:5 r" in each.advice


def test_the_last_events_of_a_run_were_deleted_but_others_came_after(path):
    continue_run(path, "other")
    delete(path, "run:r", 26)
    delete(path, "run:r", 25)
    assert found(path) == [("event.missing", None, None)]
    assert examine(path).findings[0].what == "positions 26 to 27: no event, so it was deleted"


def test_the_first_event_of_a_run_was_deleted(path):
    delete(path, "run:r", 1)
    assert ("stream.gap", "r", 1) in found(path)


def test_the_last_run_of_all_was_deleted(path):
    continue_run(path, "other")
    behind_the_guards(path, f"DELETE FROM events WHERE position > {WRITTEN}")
    assert found(path) == [("stream.empty", "other", None)]


def test_a_run_was_deleted_that_its_session_names(path):
    continue_run(path, "other")
    behind_the_guards(path, "DELETE FROM events WHERE stream = 28")
    behind_the_guards(path, "DELETE FROM streams WHERE key = 28")
    assert ("run.missing", "other", None) in found(path)
    assert ("event.missing", None, None) in found(path)


def test_the_last_event_of_all_was_deleted_and_its_name_is_left(path):
    with Journal.open(path) as journal, journal.run("r") as run:
        run.export_context(samples.context())
    behind_the_guards(path, f"DELETE FROM events WHERE {LAST}")
    assert found(path) == [("name.unused", None, None)]
    assert "context.exported.v1" in examine(path).findings[0].what


def test_the_last_event_of_all_was_deleted_and_its_lease_is_left(path):
    for _ in range(2):
        with Journal.open(path) as journal:
            journal.run("r").release()
    behind_the_guards(path, f"DELETE FROM events WHERE {LAST}")
    assert found(path) == [("run.end", "r", None)]


def test_an_event_of_a_session_was_deleted(path):
    continue_run(path, "other")
    delete(path, "session:s", 1)
    assert set(found(path)) == {
        ("event.missing", None, None),
        ("session.lacks_run", "s", None),
        ("stream.gap", "s", 1),
    }


def test_a_document_was_deleted_that_another_run_builds_on(path):
    with Journal.open(path) as journal, journal.run("other", session_id="s") as run:
        messages = [samples.user(f"question {each} " * 50) for each in range(6)]
        run.checkpoint(samples.checkpoint("o", "other", messages=messages))
    delete(path, "run:r", 26)
    assert found(path) == [("event.missing", None, None), ("document.broken", "other", 2)]
    assert "it builds on 'run:r'" in examine(path).findings[1].what


def test_a_run_that_does_not_begin_with_its_opening(path):
    store_event(path, "run.sealed.v1", stream="run:other")
    assert found(path) == [("run.opening", "other", 1)]


def test_a_version_that_is_there_twice(path):
    behind_the_guards(path, "UPDATE events SET version = 5 WHERE version = 22 AND stream = 1")
    twice = [each for each in examine(path).findings if each.what == "its version is there twice"]
    assert [(each.code, each.run_id, each.version) for each in twice] == [("stream.gap", "r", 5)]


def test_events_that_changed_places(path):
    for before, after in ((7, 1007), (8, 7), (1007, 8)):
        behind_the_guards(path, f"UPDATE events SET position = {after} WHERE position = {before}")
    assert ("stream.gap", "r", 7) in found(path)
    assert "at a lower position" in examine(path).findings[2].what


def test_a_stream_whose_key_is_not_the_position_of_its_first_event(path):
    behind_the_guards(path, "UPDATE streams SET key = 500 WHERE key = 1")
    behind_the_guards(path, "UPDATE events SET stream = 500 WHERE stream = 1")
    [gap] = [each for each in examine(path).findings if each.code == "stream.gap"]
    assert (gap.run_id, gap.version) == ("r", 1)
    assert "position, 500, but 1" in gap.what


def test_times_that_go_back(path):
    rewrite(path, "run:r", 9, recorded_at=1)
    assert found(path) == [("event.time", "r", 9)]


def test_pages_that_end_early_are_no_end(path, monkeypatch):
    monkeypatch.setattr(sqlite_page, "PAGE_BYTES", 500)
    report = examine(path)
    assert report.findings == ()
    assert (report.counts["events"], report.counts["documents"]) == (WRITTEN, 5)


def test_events_of_a_newer_version_are_a_notice(path):
    for _ in range(3):
        store_event(path, "later.v9")
    report = examine(path)
    assert report.is_sound
    [finding] = report.findings
    assert (finding.severity, finding.code) == (Severity.NOTICE, "event.unknown")
    assert "later.v9, of which there are 3" in finding.what


def test_guards_that_were_dropped_or_changed(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TRIGGER events_delete_guard")
        db.execute("DROP INDEX events_by_identity")
        db.execute("CREATE TABLE mine (x)")
    report = examine(path)
    [finding] = report.findings
    assert finding.code == "schema.changed"
    for each in ("trigger events_delete_guard", "index events_by_identity", "table mine"):
        assert each in finding.what
    assert "FORMAT.md" in finding.advice
    assert report.counts["events"] == WRITTEN


def test_an_index_that_is_missing_does_not_stop_it(path, flip):
    flip(path, "run:r", 5)
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP INDEX events_by_version")
    assert {code for code, _, _ in found(path)} >= {"schema.changed", "event.damaged"}


@pytest.mark.parametrize("table", ["events", "streams", "names"])
def test_a_table_that_is_missing(path, table):
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"DROP TABLE {table}")
    assert found(path)[0] == ("schema.changed", None, None)


@pytest.mark.parametrize("quick", [False, True])
def test_an_index_that_disagrees_with_its_table(path, quick):
    hidden = "name IN ('events_by_version', 'events_delete_guard')"
    with closing(sqlite3.connect(path)) as db, db:
        rows = db.execute(f"SELECT * FROM sqlite_schema WHERE {hidden}").fetchall()
        db.execute("PRAGMA writable_schema = ON")
        db.execute(f"DELETE FROM sqlite_schema WHERE {hidden}")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM events WHERE position = 7")
        db.execute("PRAGMA writable_schema = ON")
        db.executemany("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", rows)
    codes = [code for code, _, _ in found(path, quick=quick)]
    assert codes == [*([] if quick else ["file.damaged"]), "event.missing", "index.damaged"]


def test_a_reference_to_nothing(path):
    behind_the_guards(path, "DELETE FROM streams WHERE name = 'run:r'")
    assert ("file.reference", None, None) in found(path)


def test_of_many_findings_of_a_kind_the_first_are_listed_and_the_rest_counted(tmp_path):
    path = write_journal(tmp_path / "many.db", records=3 * LISTED)
    behind_the_guards(path, f"UPDATE events SET checksum = 0 WHERE version <= {2 * LISTED}")
    findings = examine(path).findings
    damaged = [each for each in findings if each.code == "event.damaged"]
    assert len(damaged) == LISTED + 1
    assert damaged[-1].what == f"{LISTED + 1} more of these"
    assert damaged[-1].advice
