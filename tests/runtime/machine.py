"""A journal, a log of what a tool did, and processes that use them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import journal as package
from journal import Journal
from journal.account import current_operator
from projections import decide_approval, list_runs, pending_approvals

ROOTS = (Path(package.__file__).parents[1], Path(__file__).parents[2])
"""Where the package under test is, a checkout or an installation; and where the tests are."""
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(map(str, ROOTS)),
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
}


class Machine:
    """Each call of `agent`, `run` and `shell` is a process."""

    def __init__(self, folder):
        self.db = folder / "runs.db"
        self.log = folder / "deployed.log"

    def agent(self, verb, what, *flags):
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.runtime.deploying", verb),
                *(str(self.db), str(self.log), what, *flags),
            ],
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, verb, what, *flags, killed=False):
        return self.end(self.agent(verb, what, *flags), killed=killed)

    def end(self, process, *, killed=False):
        out, err = process.communicate(timeout=60)
        assert process.returncode == (-signal.SIGKILL if killed else 0), err
        return None if killed else json.loads(out)

    def shell(self, *command):
        done = subprocess.run(
            ["runjournal", "--db", str(self.db), "--json", *command],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    @property
    def deployed(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def open(self):
        return Journal.open(self.db, create=False)

    def statuses(self):
        """The status of each run as it stands now, by its id, newest first."""
        with self.open() as journal:
            return {each.run_id: each.status for each in list_runs(journal)}

    def only_run(self):
        [run_id] = self.statuses()
        return run_id

    def approve(self, status="approved", **told):
        """Decide about the only approval that waits; give its run."""
        with self.open() as journal:
            [asked] = pending_approvals(journal)
            decide_approval(journal, asked.id, status, current_operator("ann"), **told)
            return asked.run_id
