"""The demo journals a real agent without network and shows what a journal is good for."""

import asyncio
import shlex
import signal
import subprocess
import sys

import pytest

from journal import Journal
from journal.cli.demo_agent import ignore_late_answers
from journal.cli.failures import told
from projections import list_runs, log
from tests.cli.conftest import console_script, environment


@pytest.fixture
def shown(cli):
    done = cli("demo")
    assert (done.code, done.err) == (0, "")
    return done.out


def parts(shown):
    """The page's parts by the first word of their titles."""
    return {part.split(maxsplit=1)[0]: part for part in shown.split("\n\n")[1:]}


def test_it_shows_a_run_three_cursors_its_evidence_and_the_way_on(shown, tmp_path, cli):
    assert {run["status"] for run in cli("runs", "--json").documents} == {"completed"}
    live, *moments, evidence = shown.split("\n\n")[1:6]
    further = parts(shown)["look"]
    assert live.count("call        ") == live.count("return      ") == 3
    heads = [moment.splitlines()[0].split()[0] for moment in moments]
    assert heads == ["stream:20", "message:3", "latest"]
    assert moments[0].count("  open call  get_weather(") == 2
    assert evidence.startswith("resume evidence at latest\n")
    assert "cursor.message_cursor" in evidence
    assert str(tmp_path / "runjournal.db") in further


def test_it_ends_in_a_fork_and_its_diff(shown, cli):
    run, fork = cli("runs", "--tree", "--json").documents
    assert run["forked_from"] is None
    assert fork["forked_from"] == {"run_id": run["run_id"], "cursor": "message:3"}
    said = parts(shown)
    assert said["fork"].count("call        ") == said["fork"].count("return      ") == 1
    assert 'book_train(day="Saturday", to="Paris")' in said["fork"]
    assert f"- {run['run_id']}  latest\n+ {fork['run_id']}  latest" in said["diff"]
    assert '- 4 call book_train(day="Saturday", to="Kyoto")' in " ".join(said["messages"].split())
    assert [*said][-1] == "look"
    ends = [cli("replay", each["run_id"], "--json").document for each in (run, fork)]
    assert len({end["live"]["output"] for end in ends}) == 2
    assert all("leaves on Saturday" in end["live"]["output"] for end in ends)


def test_every_command_it_names_works(shown, cli):
    commands = [line.strip() for line in shown.splitlines() if line.startswith("  runjournal ")]
    assert [line.split()[1] for line in commands] == ["runs", "log", "replay", "diff", "evidence"]
    for line in commands:
        done = cli(*shlex.split(line)[1:])
        assert (done.code, done.err) == (0, "")
        assert done.out


def test_its_run_was_journaled_live(shown, tmp_path):
    with Journal.open(tmp_path / "runjournal.db", create=False) as opened:
        [_, run] = list_runs(opened)
        entries = sorted(log(opened, run.run_id), key=lambda entry: entry.version)
    names = [entry.name for entry in entries]
    assert names.index("stream.recorded.v1") < names.index("run.committed.v1")
    calls = [entry.version for entry in entries if entry.kind == "tool_call"]
    assert len(calls) == 3
    assert max(calls) < names.index("run.committed.v1")


def test_with_json_it_is_one_document_and_each_time_a_new_run(cli):
    first, second = cli("demo", "--json", "--db", "a b.db"), cli("--json", "demo", "--db", "a b.db")
    assert (first.code, first.err, second.code) == (0, "", 0)
    document = first.document
    assert (document["schema"], document["schema_version"]) == ("runjournal.demo", 1)
    assert [view["cursor"]["requested"] for view in document["views"]] == [
        "stream:20",
        "message:3",
        "latest",
    ]
    assert [len(view["live"]["open_tool_calls"]) for view in document["views"]] == [2, 0, 0]
    assert document["evidence"]["evidence"] == document["views"][2]["evidence"]
    assert all("--db 'a b.db'" in command for command in document["commands"])
    assert document["fork"]["cursor"] == "message:3"
    assert document["diff"]["a"]["run_id"] == document["run_id"]
    assert document["diff"]["b"]["run_id"] == document["fork"]["run_id"]
    runs = cli("runs", "--db", "a b.db", "--json").documents
    made = [run_id for done in (document, second.document) for run_id in ids_of(done)]
    assert sorted(run["run_id"] for run in runs) == sorted(made)


def ids_of(document):
    return [document["run_id"], document["fork"]["run_id"]]


def test_four_processes_at_a_time_end_with_code_0(tmp_path):
    together = [
        subprocess.Popen(
            [*console_script(), "demo", "--db", f"{at}.db"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=environment(),
        )
        for at in range(4)
    ]
    answers = []
    for process in together:
        out, err = process.communicate()
        answers.append((process.returncode, err, b"look further" in out))
    assert answers == [(0, b"", True)] * 4


SLOW_TRAIN = """
import asyncio, sys
from journal.cli import demo_agent
from journal.cli.main import main

async def book_train(to: str, day: str) -> None:
    print("waiting", flush=True)
    await asyncio.sleep(3600)

demo_agent.book_train = book_train
sys.argv = ["runjournal", "demo"]
main()
"""


def test_an_interrupted_demo_leaves_quietly_and_keeps_what_it_journaled(tmp_path, cli):
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_TRAIN],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
    ) as running:
        while running.stdout.readline() != b"waiting\n":
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        _, err = running.communicate()
    assert (running.returncode, err) == (130, b"")
    [run] = cli("runs", "--json").documents
    assert run["events"] > 10
    assert run["error"] is None


def test_an_answer_that_comes_after_ctrl_c_is_no_error(capsys):
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(ignore_late_answers)
    loop.call_exception_handler({"message": "late", "exception": asyncio.InvalidStateError()})
    assert capsys.readouterr().err == ""
    loop.close()


def test_any_other_error_of_the_loop_is_reported(caplog):
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(ignore_late_answers)
    loop.call_exception_handler({"message": "what went wrong", "exception": OSError()})
    loop.close()
    assert "what went wrong" in caplog.text


def test_a_journal_in_memory_serves_too(cli):
    assert cli("demo", "--json", "--db", "memory://").document["location"] == "memory://"


def test_the_journal_named_by_the_environment_needs_no_option(cli, monkeypatch):
    monkeypatch.setenv("RUNJOURNAL_DB", "env.db")
    done = cli("demo", "--json")
    assert done.document["commands"][0] == "runjournal runs --tree"


def test_what_an_extra_says_is_told_as_it_is():
    assert told(ImportError("x needs pip install 'y'")) == "x needs pip install 'y'"


def test_without_the_extra_it_says_what_to_install(tmp_path):
    program = (
        "import sys\n"
        "sys.modules['starweaver'] = None\n"
        "sys.argv = ['runjournal', 'demo']\n"
        "from journal.cli.main import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(),
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "needs pip install 'runjournal[starweaver]'" in done.stderr
    assert list(tmp_path.iterdir()) == []
