"""With --json the standard output holds JSON only, each object with its schema."""

import json

import pytest

from journal import Journal
from projections import LATEST, StreamCursor, replay, run_diff
from tests import samples
from tests.cli.conftest import one_line


@pytest.mark.parametrize(
    ("args", "schema", "documents"),
    [
        (["sessions"], "runjournal.session", 1),
        (["runs"], "runjournal.run", 1),
        (["log", "r"], "runjournal.log_entry", 13),
        (["tail"], "runjournal.tail_event", 10),
        (["replay", "r"], "runjournal.view", 1),
        (["evidence", "r"], "runjournal.evidence", 1),
        (["diff", "r", "stream:3", "latest"], "runjournal.diff", 1),
        (["ingest", "-"], "runjournal.ingest", 1),
        (["snapshots"], "runjournal.snapshots", 1),
        (["snapshots", "drop"], "runjournal.snapshots_dropped", 1),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_each_object_names_its_schema(recorded, cli, args, schema, documents):
    done = cli(*args, "--json")
    assert (done.code, done.err) == (0, "")
    found = [(one["schema"], one["schema_version"]) for one in done.documents]
    assert found == [(schema, 1)] * documents


@pytest.mark.parametrize(
    ("args", "schema"),
    [
        (["resume", "w"], "runjournal.resume"),
        (["suspend", "w", "--reason", "x"], "runjournal.suspend_request"),
        (["approvals"], "runjournal.approval"),
        (["approve", "a1"], "runjournal.approval"),
        (["deny", "a1"], "runjournal.approval"),
        (["deferred"], "runjournal.deferred_tool"),
        (["deferred", "complete", "d1", "--response", "1"], "runjournal.deferred_tool"),
        (["deferred", "fail", "d1", "--reason", "x"], "runjournal.deferred_tool"),
        (["deferred", "cancel", "d1"], "runjournal.deferred_tool"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_so_does_each_object_about_what_waits(recorded, cli, args, schema):
    with Journal.open(recorded) as opened, opened.run("w", session_id="s") as run:
        run.append(samples.record(0))
        if args[0] != "resume":
            run.approval(samples.approval(run_id="w"))
            run.deferred_tool(samples.deferred_tool(run_id="w"))
    done = cli(*args, "--json")
    assert (done.code, done.err) == (0, "")
    assert (done.document["schema"], done.document["schema_version"]) == (schema, 1)


def test_a_process_prints_the_same_json(recorded, process, cli):
    done = process("log", "r", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.out == cli("log", "r", "--json").out


def test_replay_prints_what_the_library_answers(recorded, cli):
    with Journal.open(recorded, create=False) as opened:
        view = replay(opened, "r", at=StreamCursor(3))
        later = replay(opened, "r", at=LATEST)
    assert cli("replay", "r", "--at", "stream:3", "--json").document == view.to_json()
    assert (
        cli("diff", "r", "stream:3", "latest", "--json").document == run_diff(view, later).to_json()
    )
    assert cli("evidence", "r", "--at", "stream:3", "--json").document == {
        "schema": "runjournal.evidence",
        "schema_version": 1,
        "run_id": "r",
        "cursor": view.cursor.to_json(),
        "evidence": view.evidence,
    }


def test_no_evidence_is_null_and_exit_code_1(recorded, cli):
    done = cli("evidence", "r", "--at", "version:1", "--json")
    assert done.code == 1
    assert done.document["evidence"] is None
    assert one_line(done, "no checkpoint at version:1")


def test_errors_leave_the_output_empty(recorded, cli):
    done = cli("replay", "nope", "--json")
    assert (done.code, done.out) == (1, "")
    assert one_line(done, "no run 'nope'")


def test_an_empty_list_prints_nothing(cli, tmp_path):
    Journal.open(tmp_path / "runjournal.db").close()
    for command in ("runs", "sessions"):
        done = cli(command, "--json")
        assert (done.code, done.out, done.err) == (0, "", "")


def test_times_are_rfc3339_in_utc_with_microseconds(recorded, cli, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    [entry, *_] = cli("log", "r", "--json").documents
    assert entry["recorded_at"].endswith("Z")
    assert len(entry["recorded_at"]) == len("2026-11-29T22:22:00.304000Z")


def test_integers_and_floats_keep_their_type(cli, tmp_path):
    odd = {"big": 2**64 - 1, "one": 1.0, "true": True, "minus": -0.0}
    with Journal.open(tmp_path / "runjournal.db") as opened:
        event = {"kind": "run_complete", "run_id": "r", "output": "x", **odd}
        opened.run("r", session_id="s").append({"sequence": 0, "event": event})
    [record] = cli("replay", "r", "--json").document["tail"]
    assert json.dumps(record["event"]) == json.dumps(event)
