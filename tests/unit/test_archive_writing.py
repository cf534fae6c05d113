"""An archive holds a journal's oldest events, whole and in order, however often it goes on."""

import os
from contextlib import closing
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from journal import Journal
from journal.export import export_all
from journal.ids import StreamId, Version
from journal.ingest import Ingest
from journal.json_door import dumps
from journal.stores import open_store
from journal.stores.audit import LARGEST, AuditRow, RunFacts
from journal.stores.interface import NewEvent
from projections.archive import past_facts, pieces
from projections.archive.layout import DAY
from projections.archive.schema import ROW_SCHEMA, RUN_SCHEMA, SCHEMAS, SPAN_FIELDS
from projections.archive.writing import write_archive
from projections.audit import maker
from tests import samples
from tests.unit import archive_files
from tests.unit.archive_files import (
    EVER,
    HOUR,
    NOON,
    Clock,
    archive,
    archived,
    archived_facts,
    archived_rows,
    journal_at,
    made_at_once,
    segments,
    stored,
    table,
    tell,
    three_days,
)


@pytest.fixture
def path(tmp_path, monkeypatch):
    return three_days(tmp_path / "runs.db", monkeypatch)


@pytest.fixture
def to(tmp_path):
    return tmp_path / "archive"


def small_segments(monkeypatch, events, rest=0, size=None):
    monkeypatch.setattr(pieces, "SEGMENT_EVENTS", events)
    monkeypatch.setattr(pieces, "REST", rest)
    if size is not None:
        monkeypatch.setattr(pieces, "SEGMENT_BYTES", size)


def test_events_are_archived_byte_for_byte(path, to):
    written = archive(path, to)
    events = stored(path)
    assert archived(to) == events
    assert written.events == len(events) == written.last_position
    assert written.rows == len(archived_rows(to)) > 0
    assert written.segments == segments(to)


def test_rows_and_facts_are_those_of_the_journal(path, to):
    archive(path, to)
    rows, facts = made_at_once(path)
    assert archived_rows(to) == rows
    assert archived_facts(to) == facts


@pytest.mark.parametrize("events", [7, 60])
def test_however_it_is_cut_the_rows_and_facts_are_the_same(path, to, monkeypatch, events):
    small_segments(monkeypatch, events)
    monkeypatch.setattr(past_facts, "KEPT", 1)
    monkeypatch.setattr(maker, "HELD", 1)
    clock, last = Clock(NOON - 6 * HOUR), 0
    while clock.now < NOON + 4 * DAY:
        written = archive(path, to, clock.now)
        assert written.last_position >= last
        last = written.last_position
        clock.now += 5 * HOUR
    assert archived(to) == stored(path)
    rows, facts = made_at_once(path)
    assert archived_rows(to) == rows
    assert archived_facts(to) == facts
    assert max(each.events for each in segments(to)) <= events


def test_what_was_stored_before_a_time_is_archived_and_nothing_else(path, to):
    events = stored(path)
    moment = events[100].recorded_at
    before = [each for each in events if each.recorded_at < moment]
    written = archive(path, to, moment)
    assert archived(to) == before
    assert written.last_position == before[-1].position < len(events)
    archive(path, to, moment + 1)
    assert archived(to) == [each for each in events if each.recorded_at <= moment]


def test_archiving_again_adds_nothing(path, to):
    archive(path, to)
    before = archive_files.files(to)
    again = archive(path, to)
    assert (again.segments, again.events, again.rows, again.bytes) == ((), 0, 0, 0)
    assert again.last_position == len(stored(path))
    assert archive_files.files(to) == before


def test_nothing_is_made_of_nothing(tmp_path, to):
    with Journal.open(tmp_path / "empty.db") as journal:
        written = write_archive(journal, to, before=EVER)
    assert (written.segments, written.last_position) == ((), 0)
    assert archive_files.files(to) == {}


def test_a_segment_is_of_one_day_and_its_folders_name_it(path, to):
    archive(path, to)
    days = [each.day for each in segments(to)]
    assert days == ["2024-10-04", "2024-10-05", "2024-10-06"]
    for each in segments(to):
        stored_at = (each.first_stored_at, each.last_stored_at)
        assert {str(datetime.fromtimestamp(at / 1e6, UTC).date()) for at in stored_at} == {each.day}
    assert sorted(archive_files.files(to)) == sorted(
        [f"segments/{number:08}.json" for number in (1, 2, 3)]
        + [
            f"{kind}/day={day}/{number:08}.parquet"
            for kind in ("events", "rows", "runs")
            for number, day in enumerate(days, 1)
        ]
    )


def test_a_run_over_several_days_is_in_the_catalogue_of_each(path, to):
    archive(path, to)
    spans = {}
    for run in table(to, "runs").to_pylist():
        spans.setdefault(run["run_id"], []).append((run["first_version"], run["last_version"]))
    assert len(spans) == 4
    for run_id, each in spans.items():
        assert len(each) == 3
        assert [first for first, _ in each] == [1, *(last + 1 for _, last in each[:-1])]
        assert each[-1][1] == archived_facts(to)[run_id].version


def test_the_catalogue_tells_the_times_of_a_run_in_the_segment(path, to):
    archive(path, to)
    events = table(to, "events").to_pylist()
    for number, segment in enumerate(segments(to)):
        [file] = [each for each in segment.files if each.path.startswith("runs/")]
        runs = [
            each
            for each in table(to, "runs").to_pylist()
            if segment.first_position <= each["position"] <= segment.last_position
        ]
        assert len(runs) == file.rows == segment.runs, number
        for run in runs:
            own = [
                event["recorded_at"]
                for event in events
                if event["run_id"] == run["run_id"]
                and segment.first_position <= event["position"] <= segment.last_position
            ]
            assert (run["first_recorded"], run["last_recorded"]) == (min(own), max(own))


def test_late_arrivals_take_their_place_in_logical_order(tmp_path, to, monkeypatch):
    with (
        journal_at(tmp_path / "runs.db", monkeypatch, Clock()) as journal,
        journal.run("r", session_id="s") as run,
    ):
        for sequence in (5, 9, 2, 2**64 - 1, 2**63, 2**63 - 1, 0):
            run.append(samples.delta(sequence, f"text {sequence}"))
    archive(tmp_path / "runs.db", to)
    events = [each for each in table(to, "events").to_pylist() if each["rank"] == 0]
    assert [each["anchor"] for each in events] == [0, 2, 5, 9, LARGEST, LARGEST, LARGEST]
    assert [each["version"] for each in events[4:]] == sorted(
        each["version"] for each in events[4:]
    )
    assert archived(to) == stored(tmp_path / "runs.db")


def test_a_fact_after_a_segments_end_has_the_anchor_of_the_records_before_it(
    tmp_path, to, monkeypatch
):
    clock = Clock()
    with journal_at(tmp_path / "runs.db", monkeypatch, clock) as journal:
        with journal.run("r", session_id="s") as run:
            run.append(samples.delta(41, "a"))
        clock.now += DAY
        with journal.run("r", session_id="s") as run:
            run.set_status("waiting")
    archive(tmp_path / "runs.db", to, clock.now - 1)
    archive(tmp_path / "runs.db", to)
    events = table(to, "events").to_pylist()
    last = [each for each in events if each["run_id"] and each["stored_at"] == clock.now]
    assert {(each["anchor"], each["rank"]) for each in last} == {(41, 1)}


def test_files_are_sorted_by_run_and_logical_place_and_sessions_come_last(path, to):
    archive(path, to)
    for segment in segments(to):
        events = [
            each
            for each in table(to, "events").to_pylist()
            if segment.first_position <= each["position"] <= segment.last_position
        ]
        keys = [
            (each["run_id"] is None, each["run_id"] or each["session_id"], each["anchor"],
             each["rank"], each["version"])
            for each in events
        ]  # fmt: skip
        assert keys == sorted(keys)
    every = table(to, "events").to_pylist()
    own = {each["session_id"] for each in every if each["run_id"] is None}
    assert own == {
        each.stream.partition(":")[2] for each in stored(path) if each.stream.startswith("session:")
    }
    assert {each["session_id"] for each in every} == {"s0", "s1"}


def test_segments_end_at_their_limits_and_with_the_day(path, to, monkeypatch):
    small_segments(monkeypatch, 50, rest=20)
    archive(path, to)
    days = {}
    for each in segments(to):
        days.setdefault(each.day, []).append(each.events)
    for counts in days.values():
        assert counts[:-1] == [50] * (len(counts) - 1)
        assert counts[-1] > 20
        assert counts[-1] <= 70
    assert archived(to) == stored(path)


def test_segments_hold_no_more_json_than_they_may(path, to, monkeypatch):
    small_segments(monkeypatch, 1000, size=4000)
    archive(path, to)
    assert archived(to) == stored(path)
    sizes = {each.position: len(each.data) for each in stored(path)}
    for each in segments(to):
        size = sum(sizes[at] for at in range(each.first_position, each.last_position + 1))
        assert size <= 4000 or each.events == 1


def test_events_that_come_meanwhile_are_left_for_the_next_time(path, to):
    before = stored(path)

    def interrupt(what, done, total):
        if done == total:
            return
        with Journal.open(path) as other, other.run(f"late-{done}", session_id="s9") as run:
            tell(run)

    with Journal.open(path) as journal, journal.run("first-page", session_id="s9") as run:
        for at in range(3):
            tell(run, at * 1500, 300)
    before = stored(path)
    written = archive(path, to, progress=interrupt)
    assert written.last_position == len(before) < len(stored(path))
    assert archived(to) == before
    archive(path, to)
    assert archived(to) == stored(path)


def test_progress_tells_how_many_events_are_done(path, to):
    told = []
    archive(path, to, progress=lambda *each: told.append(each))
    assert told[-1] == ("archive", len(stored(path)), len(stored(path)))
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_a_failure_of_whoever_is_told_stops_it_and_leaves_whole_segments(path, to):
    def fail(_what, done, _total):
        if done > 250:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        archive(path, to, progress=fail)
    assert archived(to) == stored(path)[: len(archived(to))]
    archive(path, to)
    assert archived(to) == stored(path)


def test_imported_events_keep_their_own_times(tmp_path, to, path, monkeypatch):
    with (
        Journal.open(path, create=False) as source,
        journal_at(tmp_path / "copy.db", monkeypatch, Clock(NOON + 30 * DAY)) as journal,
    ):
        Ingest(journal).read([dumps(line) for line in export_all(source.reader)])
    archive(tmp_path / "copy.db", to)
    [segment] = segments(to)
    own = [each.recorded_at for each in stored(path)]
    assert segment.first_recorded_at == min(own)
    assert segment.day == "2024-11-03"
    assert archived(to) == stored(tmp_path / "copy.db")


def test_files_are_for_their_owner_only_and_no_name_holds_an_id(path, to):
    archive(path, to)
    for each in to.rglob("*"):
        assert each.stat().st_mode & 0o077 == 0
        assert "run-" not in each.name
    assert to.stat().st_mode & 0o077 == 0


def test_the_columns_are_those_of_the_rows_and_facts():
    assert tuple(ROW_SCHEMA.names) == AuditRow._fields
    assert tuple(RUN_SCHEMA.names) == RunFacts._fields + SPAN_FIELDS
    for schema in SCHEMAS.values():
        whole = {each.type for each in schema if pa.types.is_integer(each.type)}
        assert whole <= {pa.int64(), pa.int8()}
        assert [each.name for each in schema if each.type == pa.int8()] in ([], ["rank"])


def test_an_unknown_event_is_archived_as_it_is(tmp_path, to):
    with closing(open_store(tmp_path / "runs.db", create=True)) as store:
        stream = StreamId("run:r")
        first = NewEvent(
            stream, Version(1), "run.opened.v1", b'{"run_id":"r","session_id":"s"}', "opened"
        )
        other = NewEvent(stream, Version(2), "of.the.future.v9", b'{"a":[1.0,1,true,-0.0]}')
        store.append([first, other], now=NOON)
    archive(tmp_path / "runs.db", to)
    assert archived(to)[1].data == b'{"a":[1.0,1,true,-0.0]}'
    assert archived(to) == stored(tmp_path / "runs.db")


def test_one_large_event_has_a_segment_to_itself(tmp_path, to, monkeypatch):
    small_segments(monkeypatch, 1000, size=3000)
    with (
        journal_at(tmp_path / "runs.db", monkeypatch, Clock()) as journal,
        journal.run("r", session_id="s") as run,
    ):
        for at, size in enumerate((10, 9000, 10)):
            run.append(samples.delta(at, os.urandom(size // 2).hex()))
    archive(tmp_path / "runs.db", to)
    assert [each.events for each in segments(to)].count(1) >= 1
    assert archived(to) == stored(tmp_path / "runs.db")
