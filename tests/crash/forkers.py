"""A program that forks runs, forks of forks among them, until it is killed."""

import itertools
import random

from journal import Journal
from projections import VersionCursor, replay
from tests.crash import content
from tests.crash.receipts import ReceiptFile
from tests.crash.writers import SESSION


def fork_on(path, receipts, first, seed):
    """Fork at a random version of a random run, write a little to the fork, and go on."""
    log, chance = ReceiptFile(receipts), random.Random(seed)
    runs = ["r"]
    with Journal.open(path) as journal:
        log.begin("r", first)
        with journal.run("r", **SESSION) as run:
            _write(run, log, first)
        for number in itertools.count(first + 1):
            source = chance.choice(runs[-5:])
            version = chance.randint(1, journal.reader.head(source))
            view = replay(journal, source, at=VersionCursor(version))
            log.begin(f"f{number}", number)
            with journal.fork(view, f"f{number}") as fork:
                log.note([fork.run_id, source, version])
                _write(fork, log, number)
            runs.append(fork.run_id)


def _write(run, log, number):
    receipt = content.write(run, number)
    log.got(run.run_id, [receipt], [content.payload(run.run_id, number)], number)
