"""`suspend` asks a run to stop; `resume` tells how one goes on, and records what is allowed."""

import os
import pwd
import socket
import subprocess
import sys

import pytest

from journal import Journal
from projections import resume
from tests import samples
from tests.cli.conftest import call, environment, one_line, record_a_run

USER = pwd.getpwuid(os.getuid()).pw_name
HOST = socket.gethostname()


def events(path, run_id, name):
    with Journal.open(path, create=False) as opened:
        return [event for event in opened.reader.run_events(run_id) if event.name == name]


def opening(run, **state):
    """Record a run up to a tool call that has no answer."""
    run.append(samples.record(0, "run_start", run_id=run.run_id, conversation_id="c"))
    pending = [call("deploy", to="prod"), call("look")]
    run.checkpoint(
        samples.checkpoint("k", run.run_id, stream_cursor=0, step=1, node="tool_call",
                           pending_tool_calls=pending, **state)
    )  # fmt: skip


@pytest.fixture
def crashed(tmp_path):
    """Run r, which ended with two open tool calls and without a word."""
    path = tmp_path / "runjournal.db"
    with Journal.open(path) as opened, opened.run("r", session_id="s", conversation_id="c") as run:
        opening(run)
    return path


@pytest.fixture
def suspended(tmp_path):
    """Run r, which was suspended before it called its tools."""
    path = tmp_path / "runjournal.db"
    with Journal.open(path) as opened, opened.run("r", session_id="s", conversation_id="c") as run:
        opening(run)
        run.suspend("over budget")
    return path


def test_runs_shows_what_crashed_and_lists_what_is_unfinished(crashed, cli):
    with Journal.open(crashed) as opened:
        record_a_run(opened, "ended")
        with opened.run("waits", session_id="s") as run:
            run.append(samples.record(0))
            run.suspend("over budget")
        opened.run("at work", session_id="s").append(samples.record(0))
        listed = {run["run_id"]: run["status"] for run in cli("runs", "--json").documents}
        assert listed == {
            "at work": "running",
            "waits": "waiting",
            "ended": "completed",
            "r": "crashed",
        }
        unfinished = cli("runs", "--unfinished", "--json").documents
        assert [(run["run_id"], run["recorded_status"]) for run in unfinished] == [
            ("waits", "waiting"),
            ("r", "running"),
        ]
    titles, *rows = cli("runs", "--unfinished").out.splitlines()
    assert titles.endswith("  WAITS FOR")
    assert [row.split("  ")[0] for row in rows] == ["at work", "waits", "r"]  # its owner is gone
    assert rows[1].endswith("  over budget")
    assert [run["run_id"] for run in cli("runs", "--status", "crashed", "--json").documents] == [
        "at work",
        "r",
    ]
    assert cli("runs", "--unfinished", "--session", "none").out == "no unfinished runs\n"


def test_a_request_to_suspend_is_recorded_whoever_writes_the_run(tmp_path, cli):
    path = tmp_path / "runjournal.db"
    with Journal.open(path) as opened, opened.run("r", session_id="s") as run:
        run.append(samples.record(0))
        done = cli("suspend", "r", "--reason", "look at it first", "--by", "Ann")
        assert (done.code, done.err) == (0, "")
        assert "\nstops        at its next boundary, and then waits\n" in done.out
        assert f"asked by     Ann ({USER}@{HOST})" in done.out
        asked = run.suspend_requested()
        assert (asked.reason, asked.operator.name) == ("look at it first", "Ann")
    [event] = events(path, "r", "run.suspend_requested.v1")
    assert event.data["operator"] == {"user": USER, "host": HOST, "name": "Ann"}


def test_a_request_says_when_a_run_stops_that_nobody_is_writing(crashed, cli):
    asked = ["suspend", "r", "--reason", "look first"]
    assert "after somebody resumed it: nobody is writing it now" in cli(*asked).out
    assert "recorded before" in cli(*asked).out
    assert len(events(crashed, "r", "run.suspend_requested.v1")) == 1
    with Journal.open(crashed) as opened:
        opened.set_status("r", "waiting")
    assert "it waits already" in cli("suspend", "r", "--reason", "another").out


def test_the_json_of_a_request_to_suspend(suspended, cli):
    document = cli("suspend", "r", "--reason", "why not", "--json").document
    assert document.pop("recorded_at").endswith("Z")
    assert document == {
        "schema": "runjournal.suspend_request",
        "schema_version": 1,
        "run_id": "r",
        "run_status": "waiting",
        "reason": "why not",
        "operator": {"user": USER, "host": HOST, "name": None},
        "version": 5,
        "repeated": False,
    }


@pytest.mark.parametrize(
    ("args", "code", "parts"),
    [
        (["suspend", "nope", "--reason", "x"], 1, ["no run 'nope'"]),
        (["suspend", "r", "--reason", "x"], 1, ["run 'r'", "completed"]),
        (["resume", "nope"], 1, ["no run 'nope'"]),
        (["resume", "r", "--accept-rerun"], 1, ["run 'r'", "completed"]),
        (["resume", "r", "--trust-imported"], 1, ["run 'r'", "completed"]),
    ],
)
def test_what_cannot_be_is_said_in_one_line_and_not_recorded(recorded, cli, args, code, parts):
    before = len(cli("log", "r", "--json").documents)
    done = cli(*args)
    assert (done.code, done.out) == (code, "")
    assert one_line(done, *parts)
    assert len(cli("log", "r", "--json").documents) == before


@pytest.mark.parametrize("args", [["suspend", "r"], ["resume"], ["resume", "r", "call-look"]])
def test_wrong_usage_ends_with_2(crashed, cli, args):
    assert cli(*args).code == 2


def test_calls_that_may_have_run_are_shown_as_unknown(crashed, cli):
    done = cli("resume", "r")
    assert (done.code, done.err) == (0, "")
    assert "\nstatus       crashed\n" in done.out
    assert '\n  unknown_after_crash deploy(to="prod")  call-deploy\n' in done.out
    document = cli("resume", "r", "--json").document
    calls = document.pop("open_tool_calls")
    assert [(one["id"], one["state"]) for one in calls] == [
        ("call-deploy", "unknown_after_crash"),
        ("call-look", "unknown_after_crash"),
    ]
    assert document == {
        "schema": "runjournal.resume",
        "schema_version": 1,
        "run_id": "r",
        "session_id": "s",
        "status": "crashed",
        "recorded_status": "running",
        "suspended": None,
        "attempt": 2,
        "checkpoint_id": "k",
        "messages": 0,
        "decisions": [],
        "waiting": [],
        "can_resume": True,
        "obstacles": [],
    }


def states(cli):
    calls = cli("resume", "r", "--json").document["open_tool_calls"]
    return {one["id"]: one["state"] for one in calls}


def test_showing_records_nothing(crashed, cli):
    before = crashed.read_bytes()
    assert cli("resume", "r").code == 0
    assert crashed.read_bytes() == before


def test_all_open_calls_are_accepted_to_run_again_by_id(crashed, cli):
    done = cli("resume", "r", "--accept-rerun", "--by", "Ann", "--reason", "both are harmless")
    assert (done.code, done.err) == (0, "")
    [allowed] = events(crashed, "r", "resume.allowed.v1")
    assert allowed.data == {
        "operator": {"user": USER, "host": HOST, "name": "Ann"},
        "rerun": ["call-deploy", "call-look"],
        "reason": "both are harmless",
    }
    assert states(cli) == {"call-deploy": "accepted_rerun", "call-look": "accepted_rerun"}
    with Journal.open(crashed) as opened, resume(opened, "r").run:
        pass
    assert set(states(cli).values()) == {"unknown_after_crash"}  # it held for one resume


def test_only_the_named_calls_are_accepted(crashed, cli):
    assert cli("resume", "r", "--accept-rerun", "call-look").code == 0
    assert states(cli) == {"call-deploy": "unknown_after_crash", "call-look": "accepted_rerun"}
    done = cli("resume", "r", "--accept-rerun", "call-nope")
    assert (done.code, done.out) == (1, "")
    assert one_line(done, "no open tool call 'call-nope'", "'call-deploy', 'call-look'")


def test_a_suspended_run_says_why_and_has_nothing_to_accept(suspended, cli):
    done = cli("resume", "r")
    assert done.code == 0
    assert "\nstatus       waiting: over budget\n" in done.out
    assert set(states(cli).values()) == {"pending"}
    refused = cli("resume", "r", "--accept-rerun")
    assert refused.code == 1
    assert one_line(refused, "no tool call that may have run already")
    assert events(suspended, "r", "resume.allowed.v1") == []


def test_what_nobody_decided_stands_in_the_way(suspended, cli):
    with Journal.open(suspended) as opened:
        opened.approval(samples.approval())
    done = cli("resume", "r")
    assert done.code == 1
    assert one_line(done, "waits for approval 'a1'")
    assert "\nwaits for\na1  pending\n" in done.out
    assert cli("approve", "a1").code == 0
    done = cli("resume", "r", "--json")
    assert (done.code, done.document["can_resume"]) == (0, True)
    [decision] = done.document["decisions"]
    assert (decision["approval_id"], decision["status"]) == ("a1", "approved")


def test_a_run_that_somebody_writes_is_not_resumed(crashed, cli):
    with Journal.open(crashed) as opened, opened.run("r"):
        done = cli("resume", "r", "--json")
        assert (done.code, done.document["can_resume"]) == (1, False)
        assert one_line(done, "is being written by process")
        refused = cli("resume", "r", "--accept-rerun")
        assert (refused.code, refused.out) == (1, "")
    assert events(crashed, "r", "resume.allowed.v1") == []


def test_imported_decisions_are_trusted_only_by_an_operator(suspended, cli):
    with Journal.open(suspended) as opened:
        opened.approval(samples.approval())
    assert cli("approve", "a1", "--by", "Ann").code == 0
    refused = cli("resume", "r", "--trust-imported")
    assert refused.code == 1
    assert one_line(refused, "no decision that came from another journal")
    lines = cli("export", "r").out.encode()
    copy = ("--db", "copy.db")
    assert cli("ingest", "-", *copy, stdin=lines).code == 0
    done = cli("resume", "r", *copy)
    assert done.code == 1
    assert one_line(done, "another journal", "'a1'", "--trust-imported")
    assert "resumes nothing without --trust-imported" in done.out
    done = cli("resume", "r", "--trust-imported", "--by", "Eve", "--reason", "asked Ann", *copy)
    assert (done.code, done.err) == (0, "")
    [allowed] = events(suspended.with_name("copy.db"), "r", "resume.allowed.v1")
    assert allowed.data == {
        "operator": {"user": USER, "host": HOST, "name": "Eve"},
        "trust_imported": True,
        "reason": "asked Ann",
    }
    assert cli("resume", "r", "--json", *copy).document["can_resume"] is True


LOOPS = """
import sys
from journal import Journal
from tests import samples
with Journal.open("runjournal.db") as opened, opened.run("r", session_id="s") as run:
    step = 0
    while run.suspend_requested() is None:
        run.checkpoint(samples.checkpoint(f"k{step}", "r", stream_cursor=step))
        print(step, flush=True)
        sys.stdin.readline()
        step += 1
    run.suspend(run.suspend_requested().message, checkpoint_id=f"k{step - 1}")
"""


def test_a_loop_in_another_process_stops_at_its_next_boundary(tmp_path, process):
    path = environment()["PYTHONPATH"]
    with subprocess.Popen(
        [sys.executable, "-c", LOOPS],
        cwd=tmp_path,
        env=environment(PYTHONPATH=os.pathsep.join([path, *sys.path])),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as host:
        assert host.stdout.readline() == "0\n"
        print(file=host.stdin, flush=True)
        assert host.stdout.readline() == "1\n"
        assert process("suspend", "r", "--reason", "enough", "--by", "Ann").code == 0
        assert host.communicate("\n")[0] == ""  # no further step
    assert host.returncode == 0
    [run] = process("runs", "--unfinished", "--json").documents
    assert (run["status"], run["checkpoint_id"]) == ("waiting", "k1")
    assert run["suspended"] == {"reason": f"operator Ann ({USER}@{HOST}) asked: enough"}
    assert process("resume", "r").code == 0
