"""One process writes a run at a time, whoever fights for it, stops, dies or has a wrong clock.

`RUNJOURNAL_FIGHT` sets for how many seconds two processes fight (10).
"""

import os
import signal
import time
from collections import Counter

import pytest

from journal import Journal
from journal.errors import JournalBusy, RunIsLeased
from tests.crash import owners
from tests.crash.check import Found, engine_finds_no_fault
from tests.crash.fork_server import ForkServer
from tests.crash.receipts import PATIENCE, Receipts, wait_for

SECONDS = float(os.environ.get("RUNJOURNAL_FIGHT", "6"))


@pytest.fixture(scope="module")
def server():
    with ForkServer("tests.crash.owners") as server:
        yield server


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


def reigns(found):
    """Check that only the owner's records stand under each lease.

    Returns:
        For each lease who wrote under it, how it came by it, and how many records it wrote.
    """
    generation, owner, taken, count = 1, None, "opened", 0
    ended = []
    for event in found.events:
        if event.name == "run.lease_taken.v1":
            ended.append((owner, taken, count))
            assert event.data["generation"] == generation + 1
            generation, owner = event.data["generation"], event.data["process"]
            taken, count = event.data["taken"], 0
        elif event.name == "stream.recorded.v1":
            writer = event.data["record"]["event"]["event"]["payload"]
            owner = owner or writer["process"]
            assert writer == {"process": owner, "generation": generation}
            count += 1
    return [*ended, (owner, taken, count)]


def look(path, *logs):
    """Check what is there and what was receipted, and give the reigns."""
    with Journal.open(path, create=False) as journal:
        found = Found(journal)
    for log in logs:
        found.holds(Receipts.read(log).got)
    engine_finds_no_fault(path)
    return reigns(found)


def test_two_processes_fight_for_a_run(server, path, tmp_path):
    logs = tmp_path / "one", tmp_path / "other"
    fighters = [
        server.start("fight", path=path, receipts=log, first=at * 10**9, seed=at, seconds=SECONDS)
        for at, log in enumerate(logs)
    ]
    assert [server.wait(pid) for pid in fighters] == [0, 0]
    under = look(path, *logs)
    for pid, log in zip(fighters, logs, strict=True):
        left = Receipts.read(log)
        stale = [note.split()[1:] for note in left.notes if note != "leased"]
        assert all(int(own) < int(current) for own, current in stale)
        won = Counter(taken for owner, taken, count in under if owner == pid and count)
        assert stale, "it was never taken over: nothing is proved"
        assert "leased" in left.notes, "it was never refused: nothing is proved"
        assert {"takeover", "released"} <= set(won), "it never won: nothing is proved"
        print(pid, len(left.got), len(stale), len(left.notes), dict(won))  # noqa: T201 - for -rP


def own(server, path, log, **options):
    pid = server.start("own", path=path, receipts=log, **options)
    wait_for(log, lambda left: len(left.got) > 2)
    return pid


def stop(pid, path):
    """Stop a process, but not in the middle of a write: that would stop everybody."""
    while True:
        os.kill(pid, signal.SIGSTOP)
        try:
            with Journal.open(path) as journal:
                journal.run("probe", session_id="p").release()
        except JournalBusy:
            os.kill(pid, signal.SIGCONT)
        else:
            return


def take_when_free(journal):
    """Try until the run is free; gives it, and how often it was not."""
    refused = 0
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            return journal.run("r"), refused
        except RunIsLeased:
            assert time.monotonic() < give_up, "the lease never ends"
            refused += 1
            time.sleep(0.05)


@pytest.mark.parametrize("by_force", [True, False])
def test_an_owner_that_slept_too_long_is_told(server, path, tmp_path, by_force):
    log = tmp_path / "log"
    pid = own(server, path, log, lease_seconds=1)
    stop(pid, path)
    with Journal.open(path) as journal:
        with pytest.raises(RunIsLeased):
            journal.run("r")
        run = journal.run("r", takeover=True) if by_force else take_when_free(journal)[0]
        run.append(owners.mark(10**9, run.generation))
        os.kill(pid, signal.SIGCONT)
        assert server.wait(pid) == 0
        assert Receipts.read(log).notes == ["owns", "stale 1 2"]
        run.append(owners.mark(10**9 + 1, run.generation))
    assert look(path, log)[-1] == (os.getpid(), "takeover" if by_force else "expired", 2)


@pytest.mark.parametrize("clock_off", [-4, 4])
def test_a_clock_some_seconds_off_neither_loses_nor_wins_a_run(server, path, tmp_path, clock_off):
    log = tmp_path / "log"
    pid = own(server, path, log, lease_seconds=2, clock_off=clock_off)
    with Journal.open(path) as journal:
        give_up = time.monotonic() + 3  # longer than the lease: it lives by being renewed
        while time.monotonic() < give_up:
            with pytest.raises(RunIsLeased):
                journal.run("r")
            time.sleep(0.02)
        run = journal.run("r", takeover=True)
        run.append(owners.mark(10**9, run.generation))
        assert server.wait(pid) == 0
        assert Receipts.read(log).notes == ["owns", "stale 1 2"]
    assert look(path, log)[-1] == (os.getpid(), "takeover", 1)


def test_an_owner_that_was_killed_is_gone_at_once(server, path, tmp_path):
    log = tmp_path / "log"
    pid = own(server, path, log, lease_seconds=3600)
    os.kill(pid, signal.SIGKILL)  # and nobody waits for it yet: it is a zombie
    try:
        with Journal.open(path) as journal:
            run, _ = take_when_free(journal)
            run.append(owners.mark(10**9, run.generation))
    finally:
        server.wait(pid)
    assert look(path, log)[-1] == (os.getpid(), "gone", 1)


@pytest.mark.parametrize("clock_off", [-4, 0])
def test_an_owner_killed_on_another_machine_is_waited_for(path, tmp_path, clock_off):
    log = tmp_path / "log"
    with ForkServer("tests.crash.elsewhere", "tests.crash.owners") as server:
        server.kill(own(server, path, log, lease_seconds=1, clock_off=clock_off))
    with Journal.open(path) as journal:
        run, refused = take_when_free(journal)
        assert refused
        run.append(owners.mark(10**9, run.generation))
    assert look(path, log)[-1] == (os.getpid(), "expired", 1)
