"""A process that ends right after a run exits with code 0, also on a busy machine."""

import os
import subprocess
import sys
from pathlib import Path

import journal

TESTS = Path(__file__).parents[1]
PACKAGES = Path(journal.__file__).parents[1]
"""Where this process found the package under test: a checkout or an installation."""
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (PACKAGES, TESTS)))}

PROGRAM = """
import asyncio
from journal import Journal
from journal.hosts.starweaver import JournalSessionStore, graceful_shutdown
from runtime.scenarios import text

async def main():
    async with graceful_shutdown():
        [outcome] = await text(JournalSessionStore(Journal.open("memory://")))
        assert outcome.status == "completed"

asyncio.run(main())
"""
# Nothing stands between the end of the run and the end of the process: without the block,
# two of three such processes abort when four run at once on two cores.


def test_four_processes_at_a_time_end_with_code_0():
    together = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    answers = [(*process.communicate(), process.returncode) for process in together]
    assert answers == [("", "", 0)] * 4


def test_without_the_extra_the_import_says_what_to_install():
    program = "import sys; sys.modules['starweaver'] = None; import journal.hosts.starweaver"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "ImportError" in done.stderr
    assert "needs pip install 'runjournal[starweaver]'" in done.stderr
