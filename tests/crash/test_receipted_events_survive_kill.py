"""SIGKILL at any moment loses no receipted event and leaves nothing that needs a repair.

`RUNJOURNAL_KILLS` sets the number of kills of each test (40), `RUNJOURNAL_SEED` the moments.
`pytest -rP` prints what was counted.
"""

import itertools
import os
import random
import time
from collections import Counter

import pytest

from journal import Journal
from tests.crash import content
from tests.crash.check import Found, doctor_finds_no_fault, engine_finds_no_fault
from tests.crash.fork_server import ForkServer
from tests.crash.receipts import Receipts, wait_for

KILLS = int(os.environ.get("RUNJOURNAL_KILLS", "12"))
SEED = os.environ.get("RUNJOURNAL_SEED", "1")
STEP = 1_000_000
"""Numbers set apart for each writer."""

LONGEST = {"first open": 0.02, "load": 0.06, "reopen": 0.04, "idle": 0.02}
"""Seconds within which the kill comes: from the start, or from the first receipt."""

PLAN = ["first open", "load", "reopen", "first open", "load", "idle", "load", "load"]
"""Moments of the kills, again and again; a `first open` begins a new file."""


@pytest.fixture(scope="module")
def server():
    with ForkServer("tests.crash.writers") as server:
        yield server


class Fray:
    """Writers of one journal after another, killed one by one."""

    def __init__(self, server, folder, program, durability="full"):
        self.server = server
        self.folder = folder
        self.program = program
        self.options = {"durability": durability}
        self.chance = random.Random(f"{SEED}/{folder.name}")
        self.counts = Counter()
        self.new_file()

    def new_file(self):
        self.counts["files"] += 1
        self.path = self.folder / f"runs{self.counts['files']}.db"
        self.receipted = []
        self.logs = []

    def start(self, pace, run_id="r"):
        """Start a writer; returns its process id and its receipt file."""
        self.counts["writers"] += 1
        log = self.folder / f"receipts{self.counts['writers']}"
        pid = self.server.start(
            "write",
            program=self.program,
            path=self.path,
            receipts=log,
            run_id=run_id,
            first=self.counts["writers"] * STEP,
            seed=self.chance.random(),
            pace=pace,
            options=self.options,
        )
        self.logs.append(log)
        return pid, log

    def kill_after(self, longest, pid):
        """Kill a writer at a random moment within so many seconds."""
        time.sleep(self.chance.uniform(0, longest))
        self.server.kill(pid)
        self.counts["kills"] += 1

    def check(self):
        """Check what is there, and write on at once what no receipt came for."""
        left = [Receipts.read(log) for log in self.logs]
        self.logs = []
        self.receipted += [one for each in left for one in each.got]
        if self.receipted:
            doctor_finds_no_fault(self.path)
        # Without a receipt there may be no journal yet.
        with Journal.open(self.path, create=not self.receipted) as journal:
            found = Found(journal)
            found.are_as_made()
            found.holds(self.receipted)
            for each in left:
                self.counts["receipts"] += len(each.got)
                self.receipted += self.ask_again(journal, found, each.open)
            Found(journal).holds(self.receipted)
        engine_finds_no_fault(self.path)

    def ask_again(self, journal, found, calls):
        """Write what a dead writer got no receipt for; yields the receipts."""
        runs = {}
        for (run_id, first), size in calls.items():
            there = (run_id, first) in found.numbers
            self.counts["asked again"] += 1
            self.counts["were there"] += there
            run = runs.get(run_id) or journal.run(run_id, session_id="s", conversation_id="c")
            runs[run_id] = run
            if size:
                values = content.batch_of(run_id, first, size)
                receipts = run.append_many(values)
            elif there and content.kind(first) not in {"record", "checkpoint"}:
                continue  # a repeat of these is not told apart, once others followed
            else:
                values = [content.payload(run_id, first)]
                receipts = [content.write(run, first)]
            assert {receipt.repeated for receipt in receipts} == {there}
            yield from content.receipted(run_id, receipts, values, first)


@pytest.mark.parametrize(
    ("program", "durability"),
    [("singles", "full"), ("batches", "full"), ("tasks", "full"), ("singles", "relaxed")],
)
def test_one_process(server, tmp_path, program, durability):
    fray = Fray(server, tmp_path, program, durability)
    moments = itertools.cycle(PLAN)
    while fray.counts["kills"] < KILLS:
        moment = next(moments)
        if moment == "first open":
            fray.new_file()
        pid, log = fray.start(moment if moment in {"idle", "reopen"} else "load")
        if moment == "idle":
            wait_for(log, lambda left: left.notes)
        elif moment != "first open":
            wait_for(log, lambda left: left.got)
        fray.kill_after(LONGEST[moment], pid)
        fray.check()
    report(fray)


def test_two_processes(server, tmp_path):
    fray = Fray(server, tmp_path, "singles")
    while fray.counts["kills"] < KILLS:
        if fray.counts["kills"] % 10 == 0:
            fray.new_file()
        (one, _), (other, log) = fray.start("load", "one"), fray.start("load", "other")
        if fray.chance.random() < 0.5:
            wait_for(log, lambda left: left.got)
        fray.kill_after(LONGEST["load"], one)
        more = len(Receipts.read(log).got) + 3
        wait_for(log, lambda left, more=more: len(left.got) >= more)
        fray.kill_after(LONGEST["load"], other)
        fray.check()
    report(fray)


def report(fray):
    assert fray.counts["receipts"] > fray.counts["kills"]
    print(dict(fray.counts))  # noqa: T201 - for whoever asks, with -rP
