"""`approvals` lists what waits for a person; `approve` and `deny` record a decision, once."""

import getpass
import json
import os
import pwd
import socket
import sys

import pytest

from journal import Journal
from journal.account import current_operator
from tests import samples
from tests.cli.conftest import one_line

USER = pwd.getpwuid(os.getuid()).pw_name
HOST = socket.gethostname()


@pytest.fixture
def waiting(tmp_path):
    """Run r waits with a record of its approval, run q without."""
    path = tmp_path / "runjournal.db"
    with Journal.open(path) as opened:
        with opened.run("r", session_id="s", conversation_id="c") as run:
            run.approval(samples.approval(reviewed_arguments={"to": "prod"}))
            run.suspend("a person must decide")
        with opened.run("q", session_id="t", conversation_id="c") as run:
            demand = {
                "tool_call_id": "call-2",
                "name": "drop_table",
                "content": "",
                "is_error": True,
                "metadata": {"control_flow": "approval_required", "approval": {"risk": "high"}},
            }
            taken = samples.checkpoint(
                "k", "q", status="waiting", pending_approval_tool_returns=[demand]
            )
            run.checkpoint(taken)
    return path


def names(path, run_id):
    with Journal.open(path, create=False) as opened:
        return [event.name for event in opened.reader.run_events(run_id)]


def test_what_waits_is_listed_with_all_that_is_known(waiting, cli):
    asked, recorded = cli("approvals").out.split("\n\n")
    assert recorded.splitlines()[0] == "a1  pending"
    fields = dict(line.split(maxsplit=1) for line in recorded.splitlines()[1:])
    assert fields["run"] == "r  waiting"
    assert fields["session"] == "s"
    assert fields["action"] == 'deploy(to="prod")'
    assert fields["request"] == '{"risk":"high"}'
    assert asked.splitlines()[0] == "approval_q_call-2  pending"
    assert "asked by     the tool; the run has made no record of it yet" in asked


def test_the_list_is_chosen_by_run_and_session(waiting, cli):
    def listed(*args):
        return [item["approval_id"] for item in cli("approvals", "--json", *args).documents]

    assert listed() == ["approval_q_call-2", "a1"]
    assert listed("--run", "r") == ["a1"]
    assert listed("--session", "t") == ["approval_q_call-2"]
    assert cli("approve", "a1").code == 0
    assert listed() == ["approval_q_call-2"]
    assert listed("--all") == ["a1", "approval_q_call-2"]
    assert cli("deny", "approval_q_call-2").code == 0
    assert cli("approvals").out == "no approvals\n"


def test_a_decision_is_printed_and_recorded_and_nothing_is_run(waiting, cli):
    done = cli("approve", "a1", "--by", "Ann", "--reason", "it is safe")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "a1  approved"
    assert f"decided by   Ann ({USER}@{HOST}) at 20" in done.out
    assert "\nreason       it is safe\n" in done.out
    assert "nothing was run" in done.out
    assert names(waiting, "r") == [
        "run.opened.v1",
        "approval.requested.v1",
        "run.suspended.v1",
        "approval.decided.v1",
    ]
    assert cli("runs", "--json").documents[1]["status"] == "waiting"


def test_the_json_of_a_decision(waiting, cli):
    document = cli("deny", "a1", "--by", "Ann", "--reason", "no", "--json").document
    record = document.pop("record")
    assert record["request"] == {"risk": "high"}
    moment = record["updated_at"]
    assert document.pop("recorded_at") >= moment
    assert document == {
        "schema": "runjournal.approval",
        "schema_version": 1,
        "approval_id": "a1",
        "run_id": "r",
        "session_id": "s",
        "run_status": "waiting",
        "status": "denied",
        "action_name": "deploy",
        "imported": False,
        "derived": False,
        "inherited": False,
        "decision": {
            "status": "denied",
            "decided_by": "Ann",
            "decided_at": moment,
            "reason": "no",
            "user": USER,
            "host": HOST,
        },
        "error": None,
        "repeated": False,
    }
    assert cli("deny", "a1", "--by", "Ann", "--reason", "no", "--json").document["repeated"]


def test_a_decision_is_made_once(waiting, cli):
    assert cli("approve", "a1", "--by", "Ann", "--reason", "safe").code == 0
    for args in (
        ["deny", "a1", "--by", "Bob", "--reason", "no"],
        ["approve", "a1", "--by", "Bob", "--reason", "safe"],
        ["approve", "a1", "--by", "Ann", "--reason", "another"],
    ):
        done = cli(*args)
        assert (done.code, done.out) == (1, "")
        assert one_line(done, f"was approved already by Ann ({USER}@{HOST}) at 20", ": safe")
    again = cli("approve", "a1", "--by", "Ann", "--reason", "safe")
    assert (again.code, again.err) == (0, "")
    assert "recorded before" in again.out
    assert names(waiting, "r").count("approval.decided.v1") == 1


def test_what_only_the_tool_told_of_is_decided_with_its_request(waiting, cli):
    assert cli("approve", "approval_q_call-2", "--by", "Ann").code == 0
    assert names(waiting, "q")[-2:] == ["approval.requested.v1", "approval.decided.v1"]


def test_while_the_run_is_written_its_evidence_comes_first(waiting, cli):
    with Journal.open(waiting) as opened, opened.run("q"):
        assert len(cli("approvals", "--run", "q", "--json").documents) == 1
        done = cli("approve", "approval_q_call-2")
        assert (done.code, done.out) == (1, "")
        assert one_line(done, "still writing", "wait until the run waits")
    assert cli("approve", "approval_q_call-2").code == 0


def test_an_id_of_several_runs_needs_the_run(waiting, cli):
    assert cli("fork", "r", "--as", "f").code == 0
    done = cli("approve", "a1")
    assert done.code == 1
    assert one_line(done, "'a1' is in the runs", "'r'", "'f'", "--run RUN")
    assert cli("approve", "a1", "--run", "f").code == 0
    assert {item["run_id"] for item in cli("approvals", "--json").documents} == {"q", "r"}


@pytest.mark.parametrize(
    ("args", "parts"),
    [
        (["approve", "zz"], ["no approval 'zz' in this journal", "runjournal approvals --all"]),
        (["deny", "a1", "--run", "q"], ["no approval 'a1' in run 'q'"]),
        (["approve", "a1", "--run", "nope"], ["no run 'nope'"]),
        (["approvals", "--run", "nope"], ["no run 'nope'"]),
    ],
)
def test_what_is_not_there_is_said_in_one_line(waiting, cli, args, parts):
    done = cli(*args)
    assert (done.code, done.out) == (1, "")
    assert one_line(done, *parts)


def test_wrong_usage_ends_with_2(waiting, cli):
    assert cli("approve").code == 2
    assert cli("deny", "a1", "--because", "x").code == 2


def test_a_decision_that_came_by_ingest_is_marked(waiting, cli):
    assert cli("approve", "a1", "--by", "Ann").code == 0
    lines = cli("export", "r").out.encode()
    assert cli("ingest", "-", "--db", "copy.db", stdin=lines).code == 0
    [item] = cli("approvals", "--all", "--db", "copy.db", "--json").documents
    assert (item["imported"], item["status"]) == (True, "approved")
    shown = cli("approvals", "--all", "--db", "copy.db").out
    assert "imported     from another journal: resumes nothing without --trust-imported" in shown
    done = cli("approve", "a1", "--by", "Ann", "--db", "copy.db")
    assert done.code == 1
    assert one_line(done, "runjournal resume r --trust-imported")


def test_a_decision_travels_to_another_journal(waiting, cli):
    assert cli("approve", "a1", "--by", "Ann", "--reason", "safe").code == 0
    lines = cli("export", "r").out
    assert json.dumps({"runjournal.user": USER}, separators=(",", ":"))[1:-1] in lines
    assert cli("ingest", "-", "--db", "copy.db", stdin=lines.encode()).code == 0
    assert cli("export", "r", "--db", "copy.db").out == lines


def test_the_user_is_the_systems_whatever_the_environment_says(monkeypatch):
    for name in ("USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "somebody-else")
    assert getpass.getuser() == "somebody-else"
    assert current_operator("Ann").model_dump() == {"user": USER, "host": HOST, "name": "Ann"}


def test_a_user_without_a_name_is_told_by_number(monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)
    assert current_operator().user == f"uid {2**31 - 7}"


def test_where_the_system_has_no_such_users_the_environment_is_asked(monkeypatch):
    monkeypatch.setitem(sys.modules, "pwd", None)
    for name in ("LOGNAME", "USER"):
        monkeypatch.setenv(name, "ann")
    assert current_operator().user == "ann"


def test_hostile_text_is_printed_escaped(tmp_path, cli):
    evil = "\x1b[31m[red]"
    with Journal.open(tmp_path / "runjournal.db") as opened:
        run = opened.run("r", session_id="s")
        run.approval(samples.approval(approval_id=evil, action_name=evil, request={evil: evil}))
    done = cli("approve", evil, "--by", evil, "--reason", evil)
    assert done.code == 0
    assert all(one == "\n" or one.isprintable() for one in done.out)
    assert done.out.splitlines()[0] == r"\x1b[31m[red]  approved"
    failed = cli("deny", evil)
    assert failed.code == 1
    assert one_line(failed)


def test_a_real_process_decides(waiting, process):
    done = process("approve", "a1", "--by", "Ann")
    assert (done.code, done.err) == (0, "")
    assert process("deny", "a1").code == 1
