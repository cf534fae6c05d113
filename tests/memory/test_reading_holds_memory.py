"""A process that reads a run holds as much memory for a long one as for a short one.

What arrives late counts, too: the second half of the records comes first.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import journal
from journal import Journal
from tests import samples

ROOT = Path(__file__).parents[2]
PACKAGES = Path(journal.__file__).parents[1]
SHORT, LONG = 5_000, 20_000
"""Records, all after the only checkpoint."""
BLOCK = 1_000
GROWTH = 7_000_000
"""Bytes. The events themselves take four times as much in memory."""

MEASURED = """
import sys
from journal.cli.main import main
from memory import peak_bytes
try:
    main()
finally:
    print(peak_bytes(), file=sys.stderr)
"""


def record(path, blocks):
    with Journal.open(path, durability="relaxed") as opened:
        run = opened.run("r", session_id="s", conversation_id="c")
        run.append(samples.delta(0, "word "))
        run.checkpoint(samples.checkpoint(stream_cursor=0))
        for first in blocks:
            run.append_many([samples.delta(n, f"word {n} ") for n in range(first, first + BLOCK)])


@pytest.fixture(scope="module", params=["in order", "late"])
def files(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for records in (SHORT, LONG):
        blocks = list(range(1, records, BLOCK))
        if request.param == "late":
            blocks = blocks[len(blocks) // 2 :] + blocks[: len(blocks) // 2]
        record(folder / f"{records}.db", blocks)
    return folder


def peak(path, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "--db", str(path), *arguments],
        env={**os.environ, "PYTHONPATH": f"{PACKAGES}{os.pathsep}{ROOT / 'benchmarks'}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stderr.split()[-1])


@pytest.mark.parametrize(
    "command",
    [
        ["export", "r"],
        ["log", "r"],
        ["--json", "replay", "r", "--no-tail"],
        ["replay", "r", "--tail", "50"],
    ],
    ids=" ".join,
)
def test_memory_does_not_grow_with_the_run(files, command):
    short, long = (peak(files / f"{records}.db", *command) for records in (SHORT, LONG))
    assert long < short + GROWTH
