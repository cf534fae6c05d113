"""A journal's first open may be raced, or killed at any step: the next one succeeds."""

import multiprocessing
import os
import signal
import sqlite3
import warnings
from contextlib import closing

from journal.errors import NotAJournal
from journal.stores import open_store
from tests.unit.sqlite_files import event

RACERS, ROUNDS = 16, 4


def test_racing_first_opens_all_succeed(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(RACERS)
    processes = [context.Process(target=race, args=(tmp_path, ready, who)) for who in range(RACERS)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * RACERS
    for at in range(ROUNDS):
        with closing(open_store(tmp_path / f"{at}.db", create=False)) as store:
            found = store.read_all()
            assert [e.position for e in found] == [*range(1, RACERS + 1)]
            assert sorted(e.stream for e in found) == sorted(f"run:{at}" for at in range(RACERS))
    assert len([*tmp_path.iterdir()]) == ROUNDS


def race(directory, ready, who):
    for at in range(ROUNDS):
        ready.wait(120)
        with closing(open_store(directory / f"{at}.db", create=True, busy_timeout=60)) as store:
            store.append([event(stream=f"run:{who}")], now=1)


class Mortal(sqlite3.Connection):
    """Kills its process before the statement whose turn has come."""

    steps = 0
    last = 0

    def execute(self, *args):
        if Mortal.steps == Mortal.last:
            os.kill(os.getpid(), signal.SIGKILL)
        Mortal.steps += 1
        return super().execute(*args)


def killed_at(step, work, path):
    """Work in a child that is killed at a step; tells whether it came that far."""
    with warnings.catch_warnings():
        # Python 3.12 warns of threads, and this process may have some.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            Mortal.steps, Mortal.last = 0, step
            connect = sqlite3.connect
            sqlite3.connect = lambda *args, **rest: connect(*args, factory=Mortal, **rest)
            work(path)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def first_open(path):
    with closing(open_store(path, create=True)) as store:
        store.append([event()], now=1)


def test_a_first_open_killed_at_any_step_is_completed_by_the_next(tmp_path):
    step = 0
    while killed_at(step, first_open, path := tmp_path / f"{step}.db"):
        if path.exists():
            try:
                with closing(open_store(path, create=False)) as store:
                    assert store.head("run:1") in {0, 1}
            except NotAJournal:
                pass  # it was not made yet
        # At once: the lock of the one that was killed is gone.
        with closing(open_store(path, create=True, busy_timeout=0)) as store:
            done = store.head("run:1")
            store.append([event(done + 1)], now=1)
            assert [e.version for e in store.read_all()] == [*range(1, done + 2)]
        step += 1
    assert step > 40
