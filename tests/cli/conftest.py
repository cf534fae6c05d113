"""The command line, called in this process or as a process of its own."""

import io
import json
import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

import journal
from journal import Journal
from journal.cli.main import main
from projections.audit import catch_up
from tests import samples

PACKAGES = Path(journal.__file__).parents[1]
"""Where this process found the package under test: a checkout or an installation."""

CLEAN = ("RUNJOURNAL_DB", "RUNJOURNAL_TRACEBACK", "COLUMNS", "FORCE_COLOR", "NO_COLOR")
"""Variables of the environment that change the output."""


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def documents(self):
        """The output as JSON, a document a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def document(self):
        [document] = self.documents
        return document


def console_script():
    """The installed `runjournal`, or from a bare checkout what its entry point names."""
    installed = Path(sys.executable).with_name("runjournal")
    if installed.exists():
        return [str(installed)]
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    module, function = project["project"]["scripts"]["runjournal"].split(":")
    return [sys.executable, "-c", f"from {module} import {function}; {function}()"]


def environment(**variables):
    kept = {name: value for name, value in os.environ.items() if name not in CLEAN}
    return {**kept, "PYTHONPATH": str(PACKAGES), "PYTHONWARNINGS": "error", **variables}


@pytest.fixture
def process(tmp_path):
    """Run the command as a process in an empty directory."""

    def run(*args, stdin=b"", env=None, **options):
        done = subprocess.run(
            [*console_script(), *args],
            input=stdin,
            capture_output=not options,
            cwd=tmp_path,
            env=environment(**(env or {})),
            check=False,
            **options,
        )
        return Done(done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode())

    return run


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Call the command in this process, in an empty directory."""
    monkeypatch.chdir(tmp_path)
    for name in CLEAN:
        monkeypatch.delenv(name, raising=False)

    def call(*args, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["runjournal", *args])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        printed = capsys.readouterr()
        return Done(ended.value.code or 0, printed.out, printed.err)

    return call


def one_line(done, *parts):
    """Assert that the standard error is one line of ours, with no traceback, and holds `parts`."""
    assert done.err.startswith("runjournal: ")
    assert done.err.endswith("\n")
    assert done.err.count("\n") == 1
    assert done.err[:-1].isprintable()
    for part in parts:
        assert part in done.err
    return True


def call(name, **arguments):
    return {"id": f"call-{name}", "name": name, "arguments": arguments}


def record_a_run(opened, run_id="r", session_id="s"):
    """Journal a run that asked for two tools, got one return, and streams an answer."""
    weather, train = call("get_weather", city="Paris"), call("book_train", to="Kyoto")
    messages = [
        {
            "kind": "request",
            "parts": [
                {"kind": "instruction", "text": "Be short."},
                {"kind": "instruction", "text": "Be kind."},
                {"kind": "user_prompt", "content": [{"kind": "text", "text": "Where to?"}]},
            ],
        },
        {
            "kind": "response",
            "parts": [{"kind": "thinking", "text": "hm"}, *({"kind": "tool_call", **one} for one in (weather, train))],
            "usage": samples.ZERO,
        },
    ]  # fmt: skip
    answer = {
        "tool_call_id": weather["id"],
        "name": "get_weather",
        "content": {"celsius": 11},
        "is_error": False,
    }
    usage = {**samples.ZERO, "requests": 1, "input_tokens": 1200}
    with opened.run(run_id, session_id=session_id, conversation_id="c") as run:
        run.append(samples.record(0, "run_start", run_id=run_id, conversation_id="c"))
        run.checkpoint(samples.checkpoint("k0", run_id, stream_cursor=0))
        run.append_many([samples.record(1, "model_request", step=0), samples.record(2)])
        run.checkpoint(
            samples.checkpoint(
                "k2", run_id, stream_cursor=2, messages=messages, step=1, node="model_response",
                pending_tool_calls=[weather, train],
            )
        )  # fmt: skip
        run.append(samples.record(3, "tool_call", step=1, call=weather))
        run.append(samples.record(4, "tool_return", step=1, tool_return=answer))
        run.append(samples.record(5, "model_request", step=1))
        run.append(samples.delta(6, "Kyoto is ", step=1))
        run.append(samples.delta(7, "warm.", step=1))
        response = {"parts": [{"kind": "text", "text": "Kyoto is warm."}], "usage": usage}
        run.append(samples.record(8, "model_response", step=2, response=response))
        run.append(samples.record(9, "run_complete", run_id=run_id, output="Kyoto is warm."))


@pytest.fixture(scope="session")
def audited_once(tmp_path_factory):
    """A journal of `audit_runs` whose rows were taken in, made once and only read."""
    from tests.cli.audit_runs import record_runs  # noqa: PLC0415 - which is made of this module

    path = tmp_path_factory.mktemp("audited") / "runjournal.db"
    with Journal.open(path) as opened:
        record_runs(opened)
        catch_up(opened)
    return path


@pytest.fixture
def audited(audited_once, tmp_path):
    """A copy of it where the commands look for it by default."""
    return copied(audited_once, tmp_path)


def copied(path, folder):
    """Copy a closed journal and its views into a folder."""
    for file in path.parent.glob(f"{path.name}*"):
        shutil.copy(file, folder)
    return folder / path.name


@pytest.fixture
def recorded(tmp_path):
    """A journal with that run, where the commands look for it by default."""
    path = tmp_path / "runjournal.db"
    with Journal.open(path) as opened:
        record_a_run(opened)
    return path


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def attach(monkeypatch):
    """Make the standard error a terminal; called within the test, as pytest sets it before."""

    def to_terminal():
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "80")
        made = Terminal()
        monkeypatch.setattr(sys, "stderr", made)
        return made

    return to_terminal
