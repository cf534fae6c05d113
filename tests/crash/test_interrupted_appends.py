"""SIGINT in the middle of an append, while other threads write, loses and doubles nothing."""

import os
import random
import signal
import time

from journal import Journal
from tests.crash.check import Found, engine_finds_no_fault
from tests.crash.fork_server import ForkServer
from tests.crash.receipts import PATIENCE, Receipts, wait_for

INTERRUPTS = 600


def test_what_was_interrupted_can_be_written_again(tmp_path):
    path, log = tmp_path / "runs.db", tmp_path / "log"
    chance = random.Random(1)
    with ForkServer("tests.crash.owners") as server:
        pid = server.start("interrupted", path=path, receipts=log, threads=3, interrupts=INTERRUPTS)
        wait_for(log, lambda left: left.notes)
        give_up = time.monotonic() + PATIENCE
        while "ended" not in Receipts.read(log).notes:
            assert time.monotonic() < give_up, "it hangs"
            for _ in range(50):
                os.kill(pid, signal.SIGINT)
                time.sleep(chance.uniform(0, 0.003))
        assert server.wait(pid) == 0
    left = Receipts.read(log)
    with Journal.open(path, create=False) as journal:
        found = Found(journal)
    found.holds(left.got)
    # What was written is what was receipted, in order, once each.
    for run_id in ("main", "r0", "r1", "r2"):
        there = [number for run, number in found.numbers if run == run_id]
        got = [one.number for one in left.got if one.run_id == run_id]
        assert there[: len(got)] == got == [*range(len(got))]
        assert len(there) - len(got) <= (run_id == "main")
        assert got
    engine_finds_no_fault(path)
