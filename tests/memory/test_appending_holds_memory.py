"""A process that only appends does not grow, however much it appends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import journal

ROOT = Path(__file__).parents[2]
PACKAGES = Path(journal.__file__).parents[1]
BOUND = 150
"""Megabytes."""


@pytest.mark.parametrize(("records", "batch"), [(200_000, 100), (10_000, 1)])
def test_memory_stays_where_it_was_after_the_first_tenth(records, batch):
    done = subprocess.run(
        [
            sys.executable,
            "benchmarks/soak.py",
            "--json",
            f"--records={records}",
            f"--batch={batch}",
            "--durability=relaxed",
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(PACKAGES)},
        capture_output=True,
        text=True,
        check=True,
    )
    rows = json.loads(done.stdout)["rows"]
    assert rows[-1]["records"] == records
    memory = [row["memory MB"] for row in rows]
    assert max(memory) < BOUND
    assert memory[-1] < memory[0] * 1.2
