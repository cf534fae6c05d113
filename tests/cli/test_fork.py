"""`fork` makes a run of another's beginning; `runs --tree` shows the families."""

import pytest

from journal import Journal
from tests import samples
from tests.cli.conftest import one_line, record_a_run


@pytest.fixture
def forked(cli, recorded):
    done = cli("fork", "r", "--at", "stream:4", "--as", "f")
    assert (done.code, done.err) == (0, "")
    return done.out


def test_it_tells_what_the_fork_is_of_and_inherits(forked, cli):
    lines = dict(line.split(maxsplit=1) for line in forked.splitlines()[:2])
    assert lines == {"run": "f", "session": "s"}
    assert "\nforked from  r  stream:4\n" in forked
    assert "\ninherits     2 messages, events of r up to version 8\n" in forked
    assert "\ncheckpoint   k2\n" in forked
    assert "\nstatus       running at model_response, step 1\n" in forked
    assert forked.endswith('  book_train(to="Kyoto") call-book_train\n')


def test_a_fork_begins_as_its_run_was(forked, cli):
    was, now = (cli("replay", run, "--json", "--at", at).document for run, at in VIEWS)
    for same in ("session_id", "conversation_id", "checkpoint", "evidence", "messages", "tail"):
        assert now[same] == was[same]
    assert now["live"]["open_tool_calls"] == was["live"]["open_tool_calls"]
    assert cli("diff", "r", "stream:4", "latest", "--json").document["same"] is False


VIEWS = [("r", "stream:4"), ("f", "latest")]


def test_it_is_ready_to_be_resumed(forked, recorded, cli):
    with Journal.open(recorded) as opened, opened.run("f") as run:
        run.append(samples.record(5, "run_complete", run_id="f", output="Paris it is."))
    live = cli("replay", "f", "--json").document["live"]
    assert (live["status"], live["output"]) == ("completed", "Paris it is.")
    assert cli("replay", "r", "--json").document["live"]["output"] == "Kyoto is warm."


def test_with_json_it_is_one_document_and_the_same_fork_again_is_the_same(cli, recorded):
    first, again = (cli("fork", "r", "--as", "f", "--session", "s2", "--json") for _ in range(2))
    document = first.document
    cursor = document.pop("cursor")
    assert (cursor["requested"], cursor["message"]) == ("latest", 3)
    assert document == {
        "schema": "runjournal.fork",
        "schema_version": 1,
        "run_id": "f",
        "session_id": "s2",
        "conversation_id": "c",
        "forked_from": {"run_id": "r", "cursor": "latest"},
        "source": {"run_id": "r", "version": 13},
        "status": "completed",
        "messages": 3,
        "open_tool_calls": ["call-book_train"],
    }
    assert (again.code, again.document) == (0, first.document)
    assert len(cli("runs", "--json").documents) == 2


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("r", "--as", "r"), "run 'r' exists with origin 'no fork'"),
        (("r", "--as", "f"), "run 'f' exists with origin 'fork of r at stream:4"),
        (("nobody", "--as", "g"), "no run 'nobody'"),
        (("r", "--as", ""), "run id"),
        (("r", "--as", "g", "--at", "stream:99"), "stream:99"),
        (("r", "--as", "g", "--at", "message:1"), "cannot be forked at message:1"),
    ],
)
def test_what_cannot_be_forked_is_said_in_one_line(forked, cli, args, said):
    done = cli("fork", *args)
    assert done.code == 1
    assert one_line(done, said)
    assert {run["run_id"] for run in cli("runs", "--json").documents} == {"r", "f"}


def test_wrong_usage_ends_with_2(recorded, cli):
    assert cli("fork", "r").code == 2
    assert cli("fork", "r", "--as", "f", "--at", "yesterday").code != 0


def test_a_fork_travels_with_what_it_inherits(forked, cli):
    lines = cli("export", "f").out
    assert cli("ingest", "-", "--db", "copy.db", stdin=lines.encode()).code == 0
    for command in (("replay", "f", "--json"), ("log", "f"), ("evidence", "f")):
        copied = cli(*command, "--db", "copy.db").out.replace("* ", "  ")  # it is imported
        assert copied == cli(*command).out
    assert cli("export", "f", "--db", "copy.db").out == lines


@pytest.fixture
def families(forked, recorded, cli):
    """Of r: f (and of that g) and later h; a run of its own that came after them."""
    assert cli("fork", "f", "--as", "g", "--session", "s2").code == 0
    assert cli("fork", "r", "--as", "h", "--at", "checkpoint:k0").code == 0
    with Journal.open(recorded) as opened:
        record_a_run(opened, "alone")


def test_the_tree_shows_each_fork_below_its_run_with_its_cursor(families, cli):
    head, *rows = cli("runs", "--tree").out.splitlines()
    assert head.split()[:4] == ["RUN", "FORKED", "AT", "SESSION"]
    assert [row[:24].rstrip() for row in rows] == [
        "alone",
        "r",
        "├─ h     checkpoint:k0",
        "└─ f     stream:4",
        "   └─ g  latest",
    ]


def test_a_fork_of_a_run_that_is_not_listed_names_it(families, cli):
    [_, row] = cli("runs", "--tree", "--session", "s2").out.splitlines()
    assert row.startswith("g    latest of f  s2")
    assert cli("runs", "--tree", "--session", "none").out == "no runs\n"


def test_the_tree_as_json_is_the_list_in_the_order_of_the_families(families, cli):
    documents = cli("runs", "--tree", "--json").documents
    assert [(each["run_id"], each["forked_from"]) for each in documents] == [
        ("alone", None),
        ("r", None),
        ("h", {"run_id": "r", "cursor": "checkpoint:k0"}),
        ("f", {"run_id": "r", "cursor": "stream:4"}),
        ("g", {"run_id": "f", "cursor": "latest"}),
    ]
    listed = cli("runs", "--json").documents
    assert sorted(documents, key=repr) == sorted(listed, key=repr)


def test_ids_and_cursors_are_shown_escaped(recorded, cli):
    with Journal.open(recorded) as opened, opened.run("r") as run:
        run.checkpoint(samples.checkpoint("k\x1b[31m", "r", stream_cursor=9))
    assert cli("fork", "r", "--as", "f\x1b[31m", "--at", "checkpoint:k\x1b[31m").code == 0
    for command in (("runs", "--tree"), ("runs", "--tree", "--json")):
        assert "\x1b" not in cli(*command).out
