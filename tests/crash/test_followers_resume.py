"""A follower that is killed goes on behind the last line it printed: every event comes once."""

import json
import random
import subprocess
import sys
import threading

import pytest

from journal import Journal
from tests import samples

KILLS = 5
RUNS = ["r0", "r1"]
GROUPS = 150
PATIENCE = 60
TAIL = "from journal.cli.main import main; main()"


SIZES = [1 + group % 9 for group in range(GROUPS)]


def write(path):
    """Append groups of records to the runs in turn; the last one is of the last run."""
    with Journal.open(path) as journal:
        runs = [journal.run(run, session_id="s") for run in RUNS]
        for group, size in enumerate(SIZES):
            runs[group % 2].append_many(
                [samples.delta(10 * group + at, "x" * 200 * at) for at in range(size)]
            )


def follow(path, run_id, after, lines, end):
    """Follow for so many lines, or to the end, and kill it.

    Returns:
        The positions of what it printed; a last line that is not whole does not count.
    """
    named = [] if run_id is None else [run_id]
    command = ["tail", "--db", str(path), "--json", "--follow", "--after", str(after), *named]
    process = subprocess.Popen([sys.executable, "-c", TAIL, *command], stdout=subprocess.PIPE)
    give_up = threading.Timer(PATIENCE, process.kill)
    give_up.start()
    seen = []
    with process:
        for line in process.stdout:
            if not line.endswith(b"\n"):
                break
            seen.append(json.loads(line)["position"])
            if len(seen) == lines or seen[-1] == end:
                process.kill()
    assert give_up.is_alive(), f"nothing came for {PATIENCE} s"
    give_up.cancel()
    return seen


@pytest.mark.parametrize("run_id", [None, "r1"], ids=["all", "run"])
def test_every_event_comes_exactly_once(tmp_path, run_id):
    path = tmp_path / "runs.db"
    chance = random.Random(3)
    with Journal.open(path) as journal:
        for run in RUNS:
            journal.run(run, session_id="s").release()
        leases = len(RUNS)
        end = journal.reader.last_position() + leases + sum(SIZES)
        writer = threading.Thread(target=write, args=(path,))
        writer.start()
        seen = [0]
        for lines in [*(chance.randrange(1, 40) for _ in range(KILLS)), None]:
            if seen[-1] < end:
                seen += follow(path, run_id, seen[-1], lines, end)
        writer.join()
        reader = journal.reader
        events = list(reader.all_events() if run_id is None else reader.run_events(run_id))
    assert seen[1:] == [event.position for event in events]
    assert seen[-1] == end
