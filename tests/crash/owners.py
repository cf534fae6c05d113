"""Programs that own a run for a while, fight for it, or lose it."""

import itertools
import os
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from journal import Journal
from journal.errors import RunIsLeased, StaleWriter
from tests import samples
from tests.crash.receipts import ReceiptFile
from tests.crash.writers import SESSION


def mark(sequence, generation):
    """Make a record that says who wrote it, and under which lease."""
    who = {"process": os.getpid(), "generation": generation}
    return samples.record(sequence, "custom", event={"kind": "note", "payload": who})


def fight(path, receipts, first, seed, seconds):
    """Open the run again and again, and write until it is taken away or given back."""
    fighter = Fighter(ReceiptFile(receipts), random.Random(seed), first)
    give_up = time.monotonic() + seconds
    with Journal.open(path) as journal:
        while time.monotonic() < give_up:
            fighter.turn(journal)


class Fighter:
    """One of the processes that want the run."""

    def __init__(self, receipts, chance, first):
        self._receipts = receipts
        self._chance = chance
        self._numbers = itertools.count(first)

    def turn(self, journal):
        """Take the run, write, and give it back; every refusal is noted."""
        try:
            run = journal.run("r", **SESSION, takeover=self._chance.random() < 0.2)
        except RunIsLeased:
            self._receipts.note("leased")
            time.sleep(self._chance.uniform(0, 0.005))
            return
        try:
            for _ in range(self._chance.randint(1, 60)):
                self._write(run)
        except StaleWriter as refused:
            self._still_refused(run)
            self._receipts.note(f"stale {refused.generation} {refused.current}")
        finally:
            run.release()

    def _write(self, run):
        count = self._chance.choice([1, 1, 1, 5])
        records = [mark(next(self._numbers), run.generation) for _ in range(count)]
        first = records[0]["sequence"]
        self._receipts.begin("r", first, count)
        self._receipts.got("r", run.append_many(records), records, first)

    def _still_refused(self, run):
        for refused in (
            lambda: run.append(mark(next(self._numbers), run.generation)),
            lambda: run.checkpoint(samples.checkpoint(f"k{next(self._numbers)}")),
            lambda: run.set_status("failed"),
        ):
            try:
                refused()
            except StaleWriter:
                continue
            raise AssertionError("a fenced writer was not refused")


def own(path, receipts, lease_seconds, clock_off=0):
    """Own the run until somebody takes it.

    Args:
        lease_seconds: the lease's time to live.
        clock_off: seconds by which this process' clock is ahead.
    """
    right = time.time_ns
    time.time_ns = lambda: right() + clock_off * 1_000_000_000
    log = ReceiptFile(receipts)
    with Journal.open(path, lease_seconds=lease_seconds) as journal:
        run = journal.run("r", **SESSION)
        log.note("owns")
        try:
            for number in range(1_000_000):
                log.begin("r", number)
                record = mark(number, run.generation)
                log.got("r", [run.append(record)], [record], number)
                time.sleep(0.02)
        except StaleWriter as refused:
            log.note(f"stale {refused.generation} {refused.current}")


def interrupted(path, receipts, threads, interrupts):
    """Write in the main thread, interrupted by SIGINT, while other threads write, too.

    What was interrupted is written again.
    """
    log = ReceiptFile(receipts)
    enough = threading.Event()
    exposed = False

    def on_signal(*_):
        nonlocal exposed
        if exposed:
            exposed = False
            raise KeyboardInterrupt

    def load(run):
        for number in itertools.count():
            if enough.is_set():
                return
            _append(log, run, number)

    def write(journal, pool):
        nonlocal exposed, interrupts
        runs = [journal.run(f"r{at}", **SESSION) for at in range(threads)]
        loads = [pool.submit(load, run) for run in runs]
        mine = journal.run("main", **SESSION)
        log.note("started")
        number = 0
        while interrupts and not any(load.done() for load in loads):
            record = mark(number, mine.generation)
            try:
                exposed = True
                receipt = mine.append(record)
                exposed = False
            except KeyboardInterrupt:
                interrupts -= 1
                continue
            log.begin("main", number)
            log.got("main", [receipt], [record], number)
            number += 1
        enough.set()
        for each in loads:
            each.result()

    signal.signal(signal.SIGINT, on_signal)
    try:
        with Journal.open(path) as journal, ThreadPoolExecutor(threads) as pool:
            write(journal, pool)
    finally:
        log.note("ended")


def _append(log, run, number):
    record = mark(number, run.generation)
    log.begin(run.run_id, number)
    log.got(run.run_id, [run.append(record)], [record], number)
