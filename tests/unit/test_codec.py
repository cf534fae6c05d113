"""Events decode without validation, migrate step by step, and never import what a row names."""

import json
from pathlib import Path

import pytest

from journal.codec import Upcasters, decode, encode, encode_record, validate
from journal.errors import CorruptEvent, InvalidRecord, UnknownEvent
from journal.events import EVENTS, Imported, RunStatusChanged, StreamRecorded
from journal.ids import Position, StreamId, Version
from journal.json_door import dumps
from journal.stores.interface import StoredEvent

FIXTURES = Path(__file__).parents[1] / "fixtures" / "events"


def stored(name, data, *, raw=None):
    raw = dumps(data) if raw is None else raw
    return StoredEvent(Position(9), StreamId("run:r"), Version(3), name, 1_000, raw)


FIXTURE_LINES = [
    (path.name, json.loads(line))
    for path in sorted(FIXTURES.glob("*.jsonl"))
    for line in path.read_text().splitlines()
]


def test_every_event_of_this_version_has_a_fixture():
    assert {row["name"] for _, row in FIXTURE_LINES} >= set(EVENTS)


@pytest.mark.parametrize(("file", "row"), FIXTURE_LINES, ids=lambda x: str(x)[:40])
def test_events_of_every_past_version_are_still_read(file, row):
    event = decode(stored(row["name"], row["data"])).event
    assert type(event).NAME in EVENTS
    assert json.loads(encode(event)) == row["reads_as"]


def test_an_unknown_event_is_visible_and_an_error_only_when_asked_for():
    event = decode(stored("os.system.v1", {"cmd": "true"}))
    assert not event.known
    assert event.data == {"cmd": "true"}
    with pytest.raises(UnknownEvent, match=r"os\.system\.v1"):
        _ = event.event


@pytest.mark.parametrize("raw", [b"", b"{", b"[1]", b"\xff", b"null"])
def test_a_row_that_is_no_json_object_is_named(raw):
    with pytest.raises(CorruptEvent) as error:
        decode(stored("run.resumed.v1", None, raw=raw))
    assert (error.value.stream, error.value.version) == ("run:r", 3)


def test_a_row_whose_json_does_not_fit_its_name_is_named():
    with pytest.raises(CorruptEvent, match="status"):
        _ = decode(stored("run.status_changed.v1", {"reason": "x"})).event
    with pytest.raises(CorruptEvent, match="no record"):
        decode(stored("stream.recorded.v1", {}))


def test_old_events_migrate_one_step_at_a_time():
    casters = Upcasters()
    casters.register("run.halted.v1", "run.halted.v2", lambda d: {"status": d["state"]})
    casters.register(
        "run.halted.v2", RunStatusChanged.NAME, lambda d: {**d, "reason": "was halted"}
    )
    event = decode(stored("run.halted.v1", {"state": "failed"}), casters)
    assert event.name == RunStatusChanged.NAME
    assert event.event == RunStatusChanged(status="failed", reason="was halted")


def test_a_migration_is_registered_once_and_never_in_a_circle():
    casters = Upcasters()
    casters.register("a.v1", "a.v2", dict)
    with pytest.raises(ValueError, match="second"):
        casters.register("a.v1", "a.v3", dict)
    with pytest.raises(ValueError, match="circle"):
        casters.register("a.v2", "a.v1", dict)
    with pytest.raises(ValueError, match="second"):
        casters.register(StreamRecorded.NAME, "x.v1", dict)


def test_the_short_way_to_encode_a_record_equals_the_general_way():
    record = {"sequence": 3, "event": {"kind": "run_start", "note": None}}
    assert encode_record(dumps(record)) == encode(StreamRecorded(record=record))


def test_events_are_frozen_and_closed():
    event = RunStatusChanged(status="running")
    with pytest.raises(Exception, match="frozen"):
        event.status = "failed"
    with pytest.raises(InvalidRecord, match=r"\$\.colour"):
        validate(RunStatusChanged.NAME, {"status": "running", "colour": "red"})
    with pytest.raises(InvalidRecord, match=r"not an event"):
        validate("run.vanished.v1", {})


def test_an_imported_event_keeps_the_time_of_its_first_recording():
    data = {"status": "running", "imported": {"recorded_at": 5}}
    event = decode(stored(RunStatusChanged.NAME, data))
    assert (event.recorded_at, event.stored_at, event.imported) == (5, 1_000, True)
    plain = decode(stored(RunStatusChanged.NAME, {"status": "running"}))
    assert (plain.recorded_at, plain.imported) == (1_000, False)
    assert b'"imported":{}' in encode(RunStatusChanged(status="x", imported=Imported()))
