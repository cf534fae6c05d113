"""Each row of a Starweaver database becomes an event, or it is told why not."""

import json
import sqlite3
from contextlib import closing

import pytest

from journal import Journal
from journal.events import (
    ApprovalDecided,
    CheckpointTaken,
    CursorSaved,
    DeferredToolResolved,
    ResumeClaimed,
    ResumeStarted,
    RunCommitted,
    RunOpened,
    RunSaved,
    StreamRecorded,
)
from journal.hosts.starweaver_import import import_database, importer, tables
from journal.json_door import MAX_BYTES
from journal.times import parse_time
from projections import run_record, session_record
from tests import samples
from tests.unit.record_store_samples import APPROVAL, CLAIM, CURSOR, DEFERRED
from tests.unit.starweaver_files import SCHEMA, TIME, StarweaverFile, enveloped, small_file


@pytest.fixture
def made(tmp_path):
    return small_file(tmp_path / "sw.db")


@pytest.fixture
def imported():
    with Journal.open("memory://") as journal:
        yield journal


def events(journal, *names):
    return list(journal.reader.run_events("r", names=names or None))


def refused(result):
    return [(row.table, row.key, row.reason) for row in result.refused_rows]


def test_a_small_database_is_told_in_the_order_it_happened(made, imported):
    result = import_database(imported, made.path)
    assert result.recorded == {"session": 1, "run": 1, "stream_record": 2, "checkpoint": 1}
    assert not result.refused
    assert not result.not_mapped
    assert [event.name for event in events(imported)] == [
        RunOpened.NAME, StreamRecorded.NAME, CheckpointTaken.NAME, StreamRecorded.NAME, RunSaved.NAME,
    ]  # fmt: skip


def test_events_are_marked_and_keep_the_time_of_the_source(made, imported):
    import_database(imported, made.path)
    assert all(event.imported for event in events(imported))
    by_name = {event.name: event for event in events(imported)}
    for name in (RunOpened.NAME, CheckpointTaken.NAME, RunSaved.NAME):
        assert by_name[name].recorded_at == parse_time(TIME)
    # The table of stream records keeps no time, and this run was not committed.
    assert by_name[StreamRecorded.NAME].recorded_at > parse_time(TIME)


def test_a_run_is_opened_with_its_number(made, imported):
    made.run("late", number=7)
    import_database(imported, made.path)
    [opened] = imported.reader.run_events("late", names=(RunOpened.NAME,))
    assert opened.data["sequence_no"] == 7
    assert opened.data["conversation_id"] == "c"


def test_a_run_saved_by_its_checkpoints_only_has_no_input(made, imported):
    import_database(imported, made.path)
    assert "input" not in imported.run_record("r")


def test_committed_evidence_seals_the_run(made, imported):
    made.seal()
    made.publication(archive=True, replay=False)
    made.display(0, type="RUN_STARTED")
    made.display(1, type="RUN_FINISHED")
    made.insert(
        "replay_events", "run:r", 0, {"scope": "run:r", "event": {"kind": "heartbeat"}}, TIME
    )
    snapshot = enveloped("stream.replay_snapshot", {"scope": "run:r", "revision": 1})
    made.insert("display_snapshot_records", "run:r", snapshot, TIME)
    result = import_database(imported, made.path)
    [sealed] = events(imported, RunCommitted.NAME)
    assert imported.is_committed("r")
    assert sealed.data["sha256"] == "ab" * 32
    assert sealed.data["revision"] == 3
    assert sealed.data["rest"] == {
        "display_messages": [
            {"sequence": 0, "type": "RUN_STARTED"},
            {"sequence": 1, "type": "RUN_FINISHED"},
        ],
        "replay_events": [{"scope": "run:r", "event": {"kind": "heartbeat"}}],
        "display_snapshot": {"scope": "run:r", "revision": 1},
        "publication_targets": {"archive": True, "replay": False},
    }
    assert not events(imported, RunSaved.NAME)
    assert [one.what for one in result.not_mapped] == ["run_evidence_commits.digest"]
    first = events(imported, StreamRecorded.NAME)[0]
    assert first.recorded_at == parse_time(TIME)


def test_evidence_from_before_seals_seals_the_run_too(made, imported):
    made.seal("legacy-unsealed:v1")
    import_database(imported, made.path)
    assert imported.is_committed("r")


def test_more_than_fits_beside_a_commit_is_told(made, imported, monkeypatch):
    monkeypatch.setattr(importer, "MOST_REST", 10)
    made.seal()
    made.display(0, type="RUN_STARTED")
    result = import_database(imported, made.path)
    assert events(imported, RunCommitted.NAME)[0].data["rest"] == {}
    assert result.to_json()["not_mapped"][0] == {
        "what": "display_message_records",
        "count": 1,
        "reason": "with others of its run over 10 bytes",
    }


def test_decisions_cursors_and_claims_come_as_they_stand(made, imported):
    made.run("x", number=2)
    made.approval(run_id="x")
    made.deferred_tool(run_id="x")
    made.execute("DELETE FROM run_records WHERE run_id = 'r'")
    cursor = {**CURSOR, "position": {**CURSOR["position"], "scope": "run:r"}}
    made.run("r", stream_cursors=[cursor])
    made.claim("started")
    result = import_database(imported, made.path)
    assert not result.refused
    x = {event.name: event.data for event in imported.reader.run_events("x")}
    assert x[ApprovalDecided.NAME]["record"] == {**APPROVAL, "run_id": "x"}
    assert x[DeferredToolResolved.NAME]["record"] == {**DEFERRED, "run_id": "x"}
    r = {event.name: event.data for event in events(imported)}
    assert r[CursorSaved.NAME]["cursor"] == cursor
    assert r[ResumeClaimed.NAME]["claim"] == {**CLAIM, "state": "started"}
    assert r[ResumeStarted.NAME]["claim_id"] == CLAIM["claim_id"]


HUGE = '{"pad": "' + "x" * (MAX_BYTES + 100_000) + '"}'


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ("nope", "not JSON"),
        ('{"sequence": 5, "sequence": 5}', "is there twice in one object"),
        ('{"sequence": NaN}', "NaN"),
        ('"text"', "expected an object, found str"),
        (b"\xff\xfe", "its record is no text, but blob"),
        (b'{"a": 1}', "its record is no text, but blob"),
        (json.dumps(samples.record(6)), "6, but the row's own column says '5'"),
        (json.dumps({**samples.record(5), "sequence": True}), "True, but the row's own column says '5'"),
        (json.dumps({"sequence": 5, "event": {"kind": "run_start"}}), "invalid stream record"),
        (json.dumps(enveloped("runtime.checkpoint", samples.record(5))), "starweaver.runtime.checkpoint"),
        (json.dumps(enveloped("runtime.stream_record", samples.record(5), 2)), "version 2"),
        (HUGE, "over the limit"),
    ],
    ids=["text", "twice", "nan", "string", "bytes", "blob", "other", "bool", "fields", "schema", "newer", "huge"],
)  # fmt: skip
def test_a_bad_row_is_named_and_the_others_are_taken(made, imported, record, reason):
    made.stream(5, record=record)
    made.stream(6)
    result = import_database(imported, made.path)
    assert [(table, key) for table, key, _ in refused(result)] == [("stream_records", "r 5")]
    assert reason in result.refused_rows[0].reason
    assert result.recorded["stream_record"] == 3
    assert result.recorded["run"] == 1


def test_a_sequence_that_is_no_number_is_refused(made, imported):
    made.stream("first", record=samples.record(0))
    result = import_database(imported, made.path)
    assert [row.key for row in result.refused_rows] == ["r first"]
    assert result.recorded["stream_record"] == 2


def test_a_refused_row_of_sealed_evidence_is_told_each_time(made, imported):
    made.stream(5, record="nope")
    made.seal()
    for _ in range(2):
        result = import_database(imported, made.path)
        assert [row.key for row in result.refused_rows] == ["r 5"]
    assert result.repeated["stream_record"] == 2
    assert result.repeated["checkpoint"] == 1


def test_text_that_is_no_utf8_is_a_matter_of_its_row(made, imported):
    made.execute(
        "UPDATE stream_records SET record = CAST(x'7b22ff227d' AS TEXT) WHERE sequence_no = 1"
    )
    result = import_database(imported, made.path)
    assert [row.key for row in result.refused_rows] == ["r 1"]
    assert result.recorded["stream_record"] == 1


@pytest.mark.parametrize(
    ("table", "insert"),
    [
        ("session_records", lambda made: made.session("s2", record={"session_id": "s"})),
        ("run_records", lambda made: made.run("r2", number=2, record={"run_id": "r"})),
        ("checkpoint_records", lambda made: made.checkpoint("k2", record=samples.checkpoint("k3"))),
        (
            "checkpoint_records",
            lambda made: made.checkpoint("k2", record=samples.checkpoint("k2", "elsewhere")),
        ),
        (
            "approval_records",
            lambda made: made.insert("approval_records", "s", "r", "a", {**APPROVAL, "run_id": "q"}, TIME),
        ),
    ],
)  # fmt: skip
def test_a_record_that_names_another_owner_than_its_row_is_refused(made, imported, table, insert):
    insert(made)
    result = import_database(imported, made.path)
    assert result.refused == {table: 1}
    assert not imported.reader.has_run("elsewhere")
    assert not imported.reader.has_run("q")


def test_a_run_whose_record_is_bad_keeps_the_rest(made, imported):
    made.execute("UPDATE run_records SET record = 'nope'")
    result = import_database(imported, made.path)
    assert refused(result)[0][:2] == ("run_records", "r")
    assert result.recorded == {"session": 1, "stream_record": 2, "checkpoint": 1}


def test_a_run_id_in_two_sessions_is_imported_once(made, imported):
    made.session("t")
    made.run("r", "t")
    made.stream(0, "r", "t")
    made.seal(run_id="r", session_id="t")
    result = import_database(imported, made.path)
    assert result.refused == {"run_records": 1, "stream_records": 1, "run_evidence_commits": 1}
    assert "run ids are unique" in result.refused_rows[0].reason
    assert {event.data.get("session_id", "s") for event in events(imported, RunOpened.NAME)} == {
        "s"
    }
    assert not imported.is_committed("r")
    assert imported.session_record("t")["session_id"] == "t"


def test_runs_of_a_session_without_record_are_imported(made, imported):
    made.execute("DELETE FROM session_records")
    result = import_database(imported, made.path)
    assert result.recorded["run"] == 1
    assert imported.session_record("s") is None


def test_what_belongs_to_no_run_is_counted(made, imported):
    made.stream(0, "ghost")
    made.display(0, "elsewhere")
    result = import_database(imported, made.path)
    assert {one.what: (one.count, one.reason) for one in result.not_mapped} == {
        "stream_records": (1, "of no run that run_records has"),
        "display_message_records": (
            1,
            "of no run whose evidence was committed, or of no run at all",
        ),
    }


def test_what_the_journal_has_no_place_for_is_counted(made, imported):
    made.insert("replay_snapshots", "x", {}, TIME)
    made.insert("checkpoints", "s", "r", 0, "k", {}, TIME)
    made.insert("checkpoints", "s", "r", 0, "gone", {}, TIME)
    result = import_database(imported, made.path)
    found = {one.what: one for one in result.not_mapped}
    assert found["replay_snapshots"].count == 1
    assert found["checkpoints"].count == 1, "the other one was copied to checkpoint_records"
    assert "older version" in found["checkpoints"].reason


def test_every_table_is_mapped_told_or_bookkeeping():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        known = {
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        }
    mapped = {
        one.name for one in (tables.SESSIONS, tables.RUNS, *tables.OF_RUNS, *tables.OF_SCOPES)
    }
    groups = [
        mapped,
        {tables.COMMITS, tables.OUTBOX},
        {*tables.NOT_MAPPED},
        {*tables.LEGACY},
        {*tables.BOOKKEEPING},
    ]
    assert set().union(*groups) == known
    assert sum(map(len, groups)) == len(known)


def test_an_empty_database_is_an_empty_import(tmp_path, imported):
    made = StarweaverFile(tmp_path / "empty.db")
    result = import_database(imported, made.path)
    assert not result.recorded
    assert imported.reader.last_position() == 0


def test_only_the_first_refused_rows_are_told_one_by_one(made, imported, monkeypatch):
    monkeypatch.setattr("journal.hosts.starweaver_import.result.MOST_REFUSED", 2)
    for sequence in range(10, 15):
        made.stream(sequence, record="nope")
    result = import_database(imported, made.path)
    assert result.refused == {"stream_records": 5}
    assert len(result.refused_rows) == 2


@pytest.mark.parametrize("status", ["running", "completed"])
def test_a_run_that_went_on_here_stays_as_it_is(made, imported, status):
    import_database(imported, made.path)
    imported.set_status("r", status)
    changed = {"session_id": "s", "run_id": "r", "sequence_no": 1, "status": "waiting"}
    record = {**changed, "conversation_id": "c", "revision": 4, "created_at": TIME}
    text = json.dumps(enveloped("session.run_record", {**record, "updated_at": TIME}, 2))
    made.execute(f"UPDATE run_records SET record = '{text}'")
    result = import_database(imported, made.path)
    assert result.refused == {"run_records": 1}
    assert "journal" in result.refused_rows[0].reason
    assert run_record(imported, "r")["status"] == status


def retitled(made, title):
    path = "'$.payload.title'"
    made.execute(f"UPDATE session_records SET record = json_set(record, {path}, '{title}')")


def test_what_was_said_of_a_session_here_stays(made, imported):
    import_database(imported, made.path)
    imported.save_session({**session_record(imported, "s"), "title": "ours"})
    imported.set_session_status("s", "archived")
    later = "2026-11-30T01:00:00+00:00"
    made.execute(f"UPDATE session_records SET updated_at = '{later}'")
    result = import_database(imported, made.path)
    assert (result.repeated["session"], result.refused) == (1, {})
    retitled(made, "theirs")
    result = import_database(imported, made.path)
    assert result.refused == {"session_records": 1}
    assert "went on in this journal" in result.refused_rows[0].reason
    held = session_record(imported, "s")
    assert (held["title"], held["status"]) == ("ours", "archived")


def test_a_session_of_which_nothing_was_said_here_goes_on(made, imported):
    for hour, title in enumerate(("one", "two", "one")):
        made.execute(f"UPDATE session_records SET updated_at = '2026-11-30T0{hour}:00:00+00:00'")
        retitled(made, title)
        assert import_database(imported, made.path).recorded["session"] == 1
        assert session_record(imported, "s")["title"] == title
