"""Interchange lines on the command line."""

import json

import pytest

from journal import Journal
from tests import samples
from tests.cli.conftest import one_line
from tests.corpus import Calls


def line(**fields):
    return json.dumps(fields).encode() + b"\n"


def record_line(sequence, run_id="r"):
    record = samples.record(sequence)
    return line(type="stream_record", session_id="s", run_id=run_id, record=record)


GOOD = record_line(0) + record_line(1)


def test_it_prints_what_it_did(cli):
    done = cli("ingest", "-", stdin=GOOD + b"\n" + GOOD)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "        4 lines read",
        "        2 recorded (2 stream_record)",
        "        2 repeated (2 stream_record)",
        "        0 refused",
    ]


def test_a_file_is_read_like_the_standard_input(cli, tmp_path):
    (tmp_path / "lines.jsonl").write_bytes(GOOD)
    assert cli("ingest", "lines.jsonl", "--json").document == {
        "schema": "runjournal.ingest",
        "schema_version": 1,
        "lines": 2,
        "recorded": {"stream_record": 2},
        "repeated": {},
        "refused": [],
    }


BAD = [
    (b"not json\n", "not JSON"),
    (b"[]\n", "expected an object"),
    (b'{"type":"nope"}\n', "$.type"),
    (b'{"type":"run","type":"run"}\n', "twice"),
    (line(type="stream_record", session_id="s", run_id="", record=samples.record(0)), "empty"),
    (line(type="stream_record", session_id="s", run_id="r"), "$.record"),
    (
        b'{"type":"stream_record","session_id":"s","run_id":"r","record":' + b"[" * 300 + b"\n",
        "nested deeper",
    ),
    (b'{"type":"\xff"}\n', "JSON"),
]


@pytest.mark.parametrize(("bad", "part"), BAD, ids=range(len(BAD)))
def test_a_bad_line_stops_it_and_is_named(cli, bad, part):
    done = cli("ingest", "-", stdin=GOOD + bad + record_line(2))
    assert done.code == 1
    assert one_line(done, "line 3: ", part)
    assert done.out.splitlines()[-1] == "        1 refused"
    assert [one["stream"] for one in cli("log", "r", "--json").documents] == [None, 0, 1]


@pytest.mark.parametrize(("bad", "part"), BAD, ids=range(len(BAD)))
def test_keep_going_passes_over_it_and_reports(cli, bad, part):
    done = cli("ingest", "-", "--keep-going", "--json", stdin=GOOD + bad + record_line(2))
    assert done.code == 1
    assert one_line(done, "line 3: ", part)
    assert done.document["recorded"] == {"stream_record": 3}
    [refused] = done.document["refused"]
    assert refused["line"] == 3
    assert part in refused["reason"]


def test_every_refused_line_is_reported(cli):
    done = cli("ingest", "-", "--keep-going", stdin=b"x\n" + GOOD + b"y\n")
    assert [each.split(": ")[:2] for each in done.err.splitlines()] == [
        ["runjournal", "line 1"],
        ["runjournal", "line 4"],
    ]


def test_a_conflict_names_the_line(cli):
    other = line(
        type="stream_record",
        session_id="s",
        run_id="r",
        record=samples.record(1, "model_request", step=7),
    )
    done = cli("ingest", "-", stdin=GOOD + other)
    assert done.code == 1
    assert one_line(done, "line 3: ", "already recorded")


def test_an_empty_journal_exports_nothing(cli, tmp_path):
    Journal.open(tmp_path / "runjournal.db").close()
    done = cli("export", "--all")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_one_run_can_be_exported(recorded, cli):
    with Journal.open(recorded) as opened:
        opened.run("other", session_id="s")
    lines = cli("export", "r").documents
    assert len(lines) == 13
    assert {one.get("run_id", "r") for one in lines} == {"r"}
    assert {one["type"] for one in lines} == {"event", "stream_record", "checkpoint"}


def test_export_to_a_terminal_prints_the_same(recorded, cli, monkeypatch):
    lines = cli("export", "--all").out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert cli("export", "--all").out == lines


def cursors(document):
    yield "latest"
    for sequence in range(document["live"]["last_sequence"] + 1):
        yield f"stream:{sequence}"
    for version in range(1, document["cursor"]["version"], 5):
        yield f"version:{version}"
    for message in range(document["cursor"]["message"] + 1):
        yield f"message:{message}"


@pytest.mark.parametrize("source", ["made", "approval"])
def test_a_copy_gives_the_same_answers(cli, recorded, source):
    if source != "made":
        with Journal.open(recorded) as opened:
            Calls(source).give(opened)
    lines = cli("export", "--all").out.encode()
    assert cli("--db", "copy.db", "ingest", "-", stdin=lines).code == 0
    run_id = cli("runs", "--limit", "1", "--json").document["run_id"]
    for cursor in cursors(cli("replay", run_id, "--json").document):
        args = ("replay", run_id, "--at", cursor, "--json")
        assert cli(*args).out == cli(*args, "--db", "copy.db").out, cursor
    for args in (["sessions"], ["runs"], ["log", run_id], ["evidence", run_id]):
        for one, other in zip(
            cli(*args, "--json").documents, cli(*args, "--json", "--db", "copy.db").documents, strict=True
        ):  # fmt: skip
            assert without_import(one) == without_import(other)
    assert cli("export", "--all", "--db", "copy.db").out.encode() == lines


def without_import(document):
    """Leave out what tells the copy from the original: where and when it was written."""
    data = {key: value for key, value in document.get("data", {}).items() if key != "imported"}
    return {**document, "position": 0, "imported": False, "data": data}


def test_export_into_ingest_works_between_processes(recorded, process, cli):
    exported = process("export", "--all")
    done = process("--db", "copy.db", "ingest", "-", stdin=exported.out.encode())
    assert (done.code, done.err) == (0, "")
    assert cli("replay", "r", "--json").out == cli("replay", "r", "--json", "--db", "copy.db").out
