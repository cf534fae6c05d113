"""Programs that drop archived runs, and die or write meanwhile."""

import os
import signal
import sqlite3

from journal import Journal
from journal.stores import sqlite_drop
from projections.archive.dropping import drop_archived
from tests import samples
from tests.crash.receipts import ReceiptFile

SMALL = 5000
"""Packed bytes deleted by one transaction, so that there are many."""


class Mortal(sqlite3.Connection):
    """Kills its process before a commit."""

    left = -1

    def execute(self, sql, *args):
        if sql == "COMMIT" and Mortal.left >= 0 and self.in_transaction:
            if not Mortal.left:
                os.kill(os.getpid(), signal.SIGKILL)
            Mortal.left -= 1
        return super().execute(sql, *args)


def drop(path, place, dies_before=-1):
    """Drop all that may go; die before a commit of the journal or its views, from 0."""
    connect = sqlite3.connect
    sqlite3.connect = lambda *args, **rest: connect(*args, **{"factory": Mortal, **rest})
    sqlite_drop.BYTES = SMALL
    with Journal.open(path) as journal:
        Mortal.left = dies_before
        drop_archived(journal, place)


def write_on(path, receipts, session_id, first):
    """Open runs after the others of a session, each with documents, until killed."""
    log = ReceiptFile(receipts)
    with Journal.open(path) as journal:
        for number in range(first, first + 10**6):
            run_id = f"w{number}"
            with journal.run(run_id, session_id=session_id) as run:
                messages = [samples.user(f"{run_id} {at} " * 20) for at in range(8)]
                for step in range(2):
                    run.checkpoint(
                        samples.checkpoint(
                            f"k{step}", run_id, messages=messages[: 7 + step], step=step
                        )
                    )
            log.note(run_id)
