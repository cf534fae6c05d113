"""What a writer was about to do and what it got, in a file that survives its death.

A line is written before each call and one after each receipt, before the next call. Each is
one `write` to the kernel, so it stands even if the process dies right afterwards.
"""

import json
import os
import time
from dataclasses import dataclass, field

from tests.crash import content

PATIENCE = 60
"""Seconds after which something hangs."""


class ReceiptFile:
    """The writer's end."""

    def __init__(self, path):
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def begin(self, run_id, first, size=0):
        """Say what is about to be written: one number, or a batch of `size` records."""
        self._line(["begin", run_id, first, size])

    def got(self, run_id, receipts, values, first):
        """Say which receipts the numbers from `first` on got."""
        self._line(["got", content.receipted(run_id, receipts, values, first)])

    def note(self, what):
        """Say anything else, for whoever waits for it."""
        self._line(["note", what])

    def _line(self, value):
        os.write(self._file, json.dumps(value).encode() + b"\n")


@dataclass
class Receipts:
    """The reader's end: what one writer left behind."""

    got: list[content.Receipted] = field(default_factory=list)
    open: dict[tuple[str, int], int] = field(default_factory=dict)
    """Run and first number of calls without receipt, and the size of each batch."""
    notes: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, path):
        """Read a file; a last line that is cut off was never told to anyone."""
        left = cls()
        text = path.read_bytes() if path.exists() else b""
        for line in text[: text.rfind(b"\n") + 1].splitlines():
            what, *rest = json.loads(line)
            if what == "begin":
                run_id, first, size = rest
                left.open[run_id, first] = size
            elif what == "got":
                rows = [content.Receipted(*row) for row in rest[0]]
                left.open.pop((rows[0].run_id, rows[0].number))
                left.got += rows
            else:
                left.notes += rest
        return left


def wait_for(path, ready):
    """Wait until a receipt file says something; gives what it says."""
    give_up = time.monotonic() + PATIENCE
    while not ready(left := Receipts.read(path)):
        assert time.monotonic() < give_up, f"nothing happened for {PATIENCE} s"
        time.sleep(0.001)
    return left
