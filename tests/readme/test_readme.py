"""Everything the README shows was run, and runs again here."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from journal import AsyncJournal, AsyncRun, Journal, Run

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)
SHOWN = (
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{3})?",
    r"(run_|conv_|ckpt_)[0-9a-f]{8}-[0-9a-f-]{27}",
    r"sw-tool-[0-9a-f]{32}",
    r"demo-[0-9a-f]{8}",
    r"version \d+",
    r"(?<=^ {4}\d\d) +\d+(?=  <shown>)",
    r"process \d+ on \S+",
    r"\(\S+@\S+\) at \S+Z",
    r"[\d.]+ k?B\b",
    r"(?<=^days {9})\S.*",
    r"(?<=^journal {6})[0-9a-f-]{36}",
)
"""What differs from run to run: times, ids that are made up, order of arrival, processes, and
the sizes of what holds them."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("readme")


@pytest.fixture(scope="module")
def environment():
    folder = Path(sys.executable).parent
    return {
        **os.environ,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
        "TZ": "UTC",
    }


def plain(text):
    for pattern in SHOWN:
        text = re.sub(pattern, "<shown>", text, flags=re.MULTILINE)
    return [line.rstrip() for line in text.splitlines()]


def execute(command, folder, environment):
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        shell=isinstance(command, str),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def waiting(command, folder, environment):
    """Name the approval that waits here in place of the one that waited there."""
    shown = re.search(r"runjournal (--db \S+) approve (approval_run_\S+)", command)
    if shown is None:
        return command
    done = execute(f"runjournal {shown[1]} --json approvals", folder, environment)
    return command.replace(shown[2], json.loads(done.stdout)["approval_id"])


@pytest.mark.xdist_group("readme")
def test_every_block_of_the_readme_runs_and_prints_what_it_shows(folder, environment):
    ran = 0
    demo_run = re.search(r"runjournal log (run_[0-9a-f-]{36})", README)[1]
    ids = (demo_run, demo_run)
    for language, text in BLOCKS:
        if language == "python":
            done = execute([sys.executable, "-c", text], folder, environment)
            killed = -signal.SIGKILL if "SIGKILL" in text else 0
            assert done.returncode == killed, done.stderr
            ran += 1
        elif language == "shell" and "runjournal demo" in text:
            done = execute("runjournal demo", folder, environment)
            assert done.returncode == 0, done.stderr
            _, line = execute("runjournal runs --json", folder, environment).stdout.splitlines()
            ids = (demo_run, json.loads(line)["run_id"])  # the other one is its fork
            ran += 1
        elif language == "console":
            for command, expected in re.findall(
                r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE
            ):
                here = waiting(command.replace(*ids), folder, environment)
                done = execute(here, folder, environment)
                assert done.returncode == 0, done.stderr
                assert plain(done.stdout or done.stderr) == plain(expected), command
                ran += 1
    assert ran == 38


def test_the_promises_name_tests_that_exist():
    table = README.split("## Promises")[1].split("\n## ")[0]
    named = re.findall(r"`(tests/[^`]+)`", table)
    assert len(named) >= 10
    for name in named:
        assert (ROOT / name).is_file(), name


def test_the_verbs_the_readme_names_exist():
    [sentence] = re.findall(r"^Hosts of any kind write the same verbs: (.*)$", README, re.MULTILINE)
    on_run, on_journal = sentence.split("and on the journal")
    for text, kinds in ((on_run, (Run, AsyncRun)), (on_journal, (Journal, AsyncJournal))):
        for verb in re.findall(r"`([a-z_]+)`", text):
            for kind in kinds:
                assert callable(getattr(kind, verb))
