"""Export and ingest carry a whole journal; bad lines are named and leave nothing."""

import json

import pytest

from journal import Journal
from journal.errors import CorruptEvent, InvalidLine, RunNotFound
from journal.export import export_all, export_run
from journal.ingest import Ingest
from journal.json_door import dumps
from tests import samples


def lines(source):
    return [dumps(line) for line in export_all(source.reader)]


def everything(journal):
    """Every event but its store time, documents rebuilt."""
    found = []
    for event in journal.reader.all_events():
        data = {k: v for k, v in event.data.items() if k != "imported"}
        if "delta" in data:
            data = {"document": journal.reader.document(event)}
        found.append((event.stream, event.version, event.name, event.recorded_at, data))
    return found


@pytest.fixture
def full(journal):
    journal.save_session(samples.session_record())
    run = journal.run("r", session_id="s", conversation_id="c")
    run.append_many([samples.record(n) for n in range(5)])
    history = [samples.user("hi")]
    run.checkpoint(samples.checkpoint("k1", messages=history))
    run.checkpoint(samples.checkpoint("k2", messages=[*history, samples.answer("yes")]))
    run.export_context(samples.context(history))
    run.export_environment({"provider_id": "e", "metadata": {"provider_kind": "virtual"}})
    run.approval(samples.approval())
    run.approval(samples.approval("approved"))
    run.deferred_tool(samples.deferred_tool())
    run.save_cursor(samples.stream_cursor())
    run.set_status("waiting", reason="x")
    run.set_status("running", reason="x")
    run.set_status("waiting", reason="x")
    run.suspend("why")
    claim = samples.resume_claim()
    journal.claim_resume(claim)
    journal.release_resume("r", "x")
    run.resume()
    journal.save_run(samples.run_record(status="running"))
    journal.commit_run_evidence(samples.bundle(stream_records=[samples.record(9)]))
    other = journal.run("r2", session_id="s", conversation_id="c")
    other.checkpoint(samples.checkpoint("k1", "r2", messages=history))
    journal.save_session(samples.session_record(revision=2))
    return journal


def test_an_exported_journal_ingested_elsewhere_is_the_same(full, tmp_path):
    exported = lines(full)
    with Journal.open(tmp_path / "copy.db") as copy:
        counts = Ingest(copy).read(exported)
        assert counts.lines == len(exported)
        assert sum(counts.recorded.values()) == len(exported)
        assert everything(copy) == everything(full)
        assert lines(copy) == exported
        assert all(event.imported for event in copy.reader.all_events())
        assert copy.commit_run_evidence(samples.bundle(stream_records=[samples.record(9)])).repeated


def test_ingesting_the_same_lines_again_adds_nothing(full, tmp_path):
    exported = lines(full)
    with Journal.open(tmp_path / "copy.db") as copy:
        Ingest(copy).read(exported)
        before = everything(copy)
        counts = Ingest(copy).read(exported)
        assert everything(copy) == before
        assert sum(counts.repeated.values()) == len(exported)
        assert not counts.recorded
    Ingest(full).read(exported)
    assert lines(full) == exported


def test_a_single_run_travels_alone(full, tmp_path):
    exported = [dumps(line) for line in export_run(full.reader, "r2")]
    assert len(exported) == 2
    with Journal.open(tmp_path / "copy.db") as copy:
        Ingest(copy).read(exported)
        [event] = [e for e in copy.reader.run_events("r2") if "delta" in e.data]
        assert copy.reader.document(event)["run_id"] == "r2"
    with pytest.raises(RunNotFound):
        next(export_run(full.reader, "nope"))


def test_lines_of_a_host_need_neither_version_nor_time(journal):
    given = [
        {"type": "session", "session": samples.session_record()},
        {"type": "run", "run": samples.run_record(status="running")},
        {"type": "stream_record", "session_id": "s", "run_id": "r", "record": samples.record(0)},
        {"type": "stream_record", "session_id": "s", "run_id": "new", "record": samples.record(0)},
        {"type": "checkpoint", "session_id": "s", "checkpoint": samples.checkpoint(run_id="n2")},
        {"type": "context_state", "session_id": "s", "state": samples.context()},
        {"type": "context_state", "session_id": "s", "run_id": "r", "state": samples.context()},
        {"type": "environment_state", "session_id": "s", "state": {"provider_id": "e"}},
        {"type": "approval", "record": samples.approval()},
        {"type": "deferred_tool", "record": samples.deferred_tool()},
        {
            "type": "stream_cursor",
            "session_id": "s",
            "run_id": "r",
            "cursor": samples.stream_cursor(),
        },
        {"type": "run_evidence", "commit": samples.bundle(samples.run_record("n3"))},
        {"type": "event", "run_id": "r", "name": "run.resumed.v1", "data": {}},
    ]
    text = [b"\n", *(json.dumps(line).encode() + b"\r\n" for line in given), b"  \n"]
    counts = Ingest(journal).read(text)
    assert counts.lines == len(given)
    assert sum(counts.recorded.values()) == len(given)
    assert sorted(journal.reader.run_ids()) == ["n2", "n3", "new", "r"]


def record_line(sequence, run_id="r", **fields):
    return {
        "type": "stream_record",
        "session_id": "s",
        "run_id": run_id,
        "record": samples.record(sequence),
        **fields,
    }


BAD = [
    (b"{", "not JSON"),
    (b"[]", "expected an object"),
    (b'{"type":"stream_record","type":"x"}', "twice"),
    ({"type": "poem"}, "none of"),
    ({}, "none of"),
    ({"type": "stream_record", "run_id": "r", "record": samples.record(9)}, "session_id: missing"),
    (record_line(9, run_id=""), "non-empty"),
    (record_line(9, colour="red"), "colour"),
    (record_line(9) | {"record": {"sequence": 9}}, "event"),
    (record_line(9) | {"record": samples.record(9) | {"x": 1e999}}, "too large"),
    (record_line(9, recorded_at="yesterday"), "recorded_at"),
    (record_line(9, recorded_at="2026-01-01T00:00:00"), "zone"),
    (record_line(9, recorded_at=5), "recorded_at"),
    (record_line(9, version=0), "version"),
    (record_line(9, version=True), "version"),
    (record_line(9, version=99), "lines before this one are missing"),
    (record_line(9, version=2), "already recorded as version 2"),
    (record_line(0) | {"record": samples.delta(0, "x")}, "already recorded"),
    (record_line(9) | {"session_id": "other"}, "session"),
    ({"type": "checkpoint", "session_id": "s", "checkpoint": {"run_id": "r"}}, "checkpoint"),
    ({"type": "checkpoint", "session_id": "s", "checkpoint": 5}, "expected an object"),
    ({"type": "run_evidence", "commit": {"run": 5}}, "run"),
    ({"type": "event", "run_id": "r", "name": "os.system", "data": {}}, "does not travel"),
    ({"type": "event", "run_id": "r", "name": "stream.recorded.v1", "data": {}}, "not travel"),
    ({"type": "event", "run_id": "r", "name": "run.sealed.v1", "data": {"x": 1}}, "x"),
    ({"type": "event", "run_id": "r", "name": "run.sealed.v1", "data": 5}, "data"),
    (
        {
            "type": "event",
            "run_id": "r",
            "name": "run.committed.v1",
            "data": {"run": {}, "rest": {}, "sha256": "00"},
        },
        "run at",
    ),
    (
        {
            "type": "event",
            "run_id": "r",
            "name": "run.committed.v1",
            "data": {"run": samples.run_record(), "rest": {}, "sha256": "zz"},
        },
        "sha256",
    ),
    (
        {"type": "event", "run_id": "r", "name": "run.status_changed.v1", "data": {"status": "x"}},
        "none of",
    ),
    (
        {"type": "event", "run_id": "r", "name": "resume.claimed.v1", "data": {"claim": {}}},
        "claim",
    ),
    (
        {
            "type": "event",
            "run_id": "q",
            "name": "run.opened.v1",
            "data": {"run_id": "r", "session_id": "s"},
        },
        "of run 'r'",
    ),
]


@pytest.mark.parametrize(("bad", "reason"), BAD)
def test_a_bad_line_is_named_and_nothing_of_it_is_kept(journal, bad, reason):
    raw = bad if isinstance(bad, bytes) else json.dumps(bad).encode().replace(b"Infinity", b"1e999")
    good = [dumps(record_line(n)) for n in range(2)]
    late = dumps(record_line(5))
    with pytest.raises(InvalidLine, match=reason) as error:
        Ingest(journal).read([*good, b"", raw, late])
    assert error.value.line == 4
    held = [
        e.data["record"]["sequence"] for e in journal.reader.run_events("r") if "record" in e.data
    ]
    assert held == [0, 1]
    counts = Ingest(journal, keep_going=True).read([*good, b"", raw, late])
    assert [refused.line for refused in counts.refused] == [4]
    assert counts.recorded == {"stream_record": 1}
    assert counts.repeated == {"stream_record": 2}
    assert list(journal.reader.run_ids()) == ["r"]


def test_a_bad_line_among_many_stops_exactly_there(journal):
    given = [dumps(record_line(n)) for n in range(1200)]
    given[700] = dumps(record_line(3) | {"record": samples.delta(3, "x")})
    with pytest.raises(InvalidLine) as error:
        Ingest(journal).read(given)
    assert error.value.line == 701
    held = [e for e in journal.reader.run_events("r") if "record" in e.data]
    assert [e.data["record"]["sequence"] for e in held] == list(range(700))


def test_a_missing_event_stops_the_export(tmp_path, tamper):
    path = tmp_path / "j.db"
    with Journal.open(path) as journal:
        journal.run("r", session_id="s").append_many([samples.record(n) for n in range(4)])
    tamper(path, "run:r", 3, "DELETE FROM events")
    with Journal.open(path) as journal:
        for lines_of in (export_all(journal.reader), export_run(journal.reader, "r")):
            with pytest.raises(CorruptEvent, match="missing") as error:
                list(lines_of)
            assert (error.value.stream, error.value.version) == ("run:r", 3)


def test_progress_is_told(journal):
    seen = []
    Ingest(journal).read([dumps(record_line(n)) for n in range(3)], seen.append)
    assert seen == [1, 2, 3]
