"""SIGKILL at any moment leaves a fork whole or absent, and forking again is the same.

`RUNJOURNAL_SEED` sets the moments.
"""

import os
import random
import time

import pytest

from journal import Journal
from journal.export import export_run
from journal.ids import run_stream
from journal.lineage import Lineage
from projections import VersionCursor, replay
from tests.crash.check import Found, doctor_finds_no_fault, engine_finds_no_fault
from tests.crash.fork_server import ForkServer
from tests.crash.receipts import Receipts, wait_for

KILLS = 15
SEED = os.environ.get("RUNJOURNAL_SEED", "1")
STEP = 1_000_000


@pytest.fixture(scope="module")
def server():
    with ForkServer("tests.crash.forkers") as server:
        yield server


def test_a_fork_is_whole_or_absent(server, tmp_path):
    path, chance = tmp_path / "runs.db", random.Random(f"{SEED}/forks")
    receipted, forked = [], []
    for kill in range(1, KILLS + 1):
        log = tmp_path / f"receipts{kill}"
        pid = server.start(
            "fork_on", path=path, receipts=log, first=kill * STEP, seed=chance.random()
        )
        wait_for(log, lambda left: left.notes)
        time.sleep(chance.uniform(0, 0.05))
        server.kill(pid)
        left = Receipts.read(log)
        receipted += left.got
        forked += left.notes
        doctor_finds_no_fault(path)
        with Journal.open(path, create=False) as journal:
            found = Found(journal)
            found.are_as_made()
            found.holds(receipted)
            for run_id, source, version in forked:
                are_as_asked(journal, run_id, source, version)
            for run_id, _ in left.open:
                if run_id != "r" and journal.reader.has_run(run_id):
                    ask_again(journal, run_id)
            Found(journal).holds(receipted)
        engine_finds_no_fault(path)
    assert len(forked) >= KILLS
    with Journal.open(path, create=False) as journal:
        assert [*export_run(journal.reader, forked[-1][0])]


def are_as_asked(journal, run_id, source, version):
    first = journal.reader.event(run_stream(run_id), 1)
    lineage = Lineage.of(first.stream, first.data)
    assert lineage == replay(journal, source, at=VersionCursor(version)).lineage


def ask_again(journal, run_id):
    """Fork once more under an id whose fork got no answer, and is there."""
    first = journal.reader.event(run_stream(run_id), 1)
    lineage = Lineage.of(first.stream, first.data)
    view = replay(journal, lineage.forked, at=lineage.cursor)
    before = journal.reader.last_position()
    with journal.fork(view, run_id) as again:
        assert again.generation > 1
    [taken] = journal.reader.all_events(after=before)
    assert taken.name == "run.lease_taken.v1"
