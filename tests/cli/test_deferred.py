"""`deferred` lists the tool calls that wait for a worker; its commands record how they ended."""

import json

import pytest

from journal import Journal
from tests import samples
from tests.cli.conftest import one_line


@pytest.fixture
def waiting(tmp_path):
    """Run r waits with records of two deferred tool calls, run q without one."""
    path = tmp_path / "runjournal.db"
    with Journal.open(path) as opened:
        with opened.run("r", session_id="s", conversation_id="c") as run:
            run.deferred_tool(samples.deferred_tool(request={"queue": "default"}))
            run.deferred_tool(
                samples.deferred_tool("running", deferred_id="d2", tool_call_id="call-2")
            )
            run.suspend("waits for workers")
        with opened.run("q", session_id="t", conversation_id="c") as run:
            demand = {
                "tool_call_id": "call-3",
                "name": "collect",
                "content": "",
                "is_error": True,
                "metadata": {"control_flow": "call_deferred", "deferred": {"queue": "slow"}},
            }
            taken = samples.checkpoint("k", "q", status="waiting", deferred_tool_returns=[demand])
            run.checkpoint(taken)
    return path


def statuses(cli, *args):
    items = cli("deferred", "--json", *args).documents
    return {item["deferred_id"]: item["status"] for item in items}


def test_what_waits_is_listed(waiting, cli):
    assert statuses(cli) == {"deferred_q_call-3": "waiting", "d2": "running", "d1": "waiting"}
    assert statuses(cli, "--run", "q") == {"deferred_q_call-3": "waiting"}
    assert statuses(cli, "--session", "s") == {"d2": "running", "d1": "waiting"}
    first = cli("deferred").out.split("\n\n")[-1]
    assert first.splitlines()[0] == "d1  waiting"
    fields = dict(line.split(maxsplit=1) for line in first.splitlines()[1:])
    assert (fields["tool"], fields["request"]) == ("lookup", '{"queue":"default"}')


def test_a_call_is_completed_with_any_json(waiting, cli):
    done = cli(
        "deferred", "complete", "d1", "--response", '{"rows":[1,2.0,true]}', "--by", "Ann", "--json"
    )
    assert (done.code, done.err) == (0, "")
    assert repr(done.document["record"]["response"]) == "{'rows': [1, 2.0, True]}"
    assert done.document["decision"]["decided_by"] == "Ann"
    assert statuses(cli) == {"deferred_q_call-3": "waiting", "d2": "running"}
    assert statuses(cli, "--all")["d1"] == "completed"
    shown = cli("deferred", "--all", "--run", "r").out
    assert '\nresponse     {"rows":[1,2.0,true]}\n' in shown


def test_a_call_that_only_the_tool_told_of_ends_too(waiting, cli):
    assert cli("deferred", "complete", "deferred_q_call-3", "--response", '"done"').code == 0
    assert statuses(cli, "--run", "q", "--all") == {"deferred_q_call-3": "completed"}


@pytest.mark.parametrize(
    "response", ["null", "false", "0", '""', "[]", "{}"], ids=lambda text: f"response={text}"
)
def test_a_call_may_return_any_json(waiting, cli, response):
    done = cli("deferred", "complete", "d1", "--response", response, "--json")
    assert (done.code, done.document["status"]) == (0, "completed")
    returned = done.document["record"].get("response")
    assert json.dumps(returned) == response
    again = cli("deferred", "complete", "d1", "--response", response, "--json")
    assert (again.code, again.document["repeated"]) == (0, True)


def test_a_failure_tells_the_agent_why(waiting, cli):
    done = cli("deferred", "fail", "d1", "--reason", "no worker", "--json")
    assert done.document["status"] == "failed"
    assert done.document["record"]["response"] == {"error": "no worker"}
    assert done.document["decision"]["reason"] == "no worker"


def test_a_call_can_be_cancelled(waiting, cli):
    done = cli("deferred", "cancel", "d1", "--by", "Ann", "--json")
    assert (done.document["status"], done.document["record"].get("response")) == ("cancelled", None)


def test_a_call_ends_once(waiting, cli):
    complete = ["deferred", "complete", "d1", "--response"]
    assert cli(*complete, "1", "--by", "Ann").code == 0
    for args in ([*complete, "2", "--by", "Ann"], ["deferred", "fail", "d1", "--reason", "x"]):
        done = cli(*args)
        assert (done.code, done.out) == (1, "")
        assert one_line(done, "was completed already by Ann")
    again = cli(*complete, "1", "--by", "Ann", "--json")
    assert (again.code, again.document["repeated"]) == (0, True)


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["complete", "d1", "--response", '{"a":1,"a":2}'], "a"),
        (["complete", "d1", "--response", "[NaN]"], "NaN"),
        (["complete", "d1", "--response", "rows"], "JSON"),
        (["complete", "d1"], "--response"),
        (["fail", "d1"], "--reason"),
        (["mend", "d1"], "mend"),
    ],
)
def test_wrong_usage_ends_with_2_and_changes_nothing(waiting, cli, args, part):
    done = cli("deferred", *args)
    assert (done.code, done.out) == (2, "")
    assert part in done.err
    assert "Traceback" not in done.err
    assert statuses(cli)["d1"] == "waiting"


def test_what_is_not_there_is_said_in_one_line(waiting, cli):
    done = cli("deferred", "complete", "zz", "--response", "1")
    assert (done.code, done.out) == (1, "")
    assert one_line(done, "no deferred tool call 'zz'", "runjournal deferred --all")


def test_the_same_id_in_a_fork_needs_the_run(waiting, cli):
    assert cli("fork", "r", "--as", "f").code == 0
    done = cli("deferred", "cancel", "d1")
    assert done.code == 1
    assert one_line(done, "--run RUN")
    assert cli("deferred", "cancel", "d1", "--run", "f").code == 0
    assert statuses(cli, "--run", "r")["d1"] == "waiting"
