"""Small journal files, and the reads of a store."""

import sqlite3
from contextlib import closing, contextmanager

from journal.ids import StreamId, Version
from journal.stores import NewEvent, open_store

READS = {
    "head": lambda store: store.head("run:1"),
    "read_stream": lambda store: store.read_stream("run:1", limit=2),
    "newest_first": lambda store: store.read_stream("run:1", newest_first=True, limit=1),
    "names": lambda store: store.read_stream("run:1", names={"noted.v1"}, limit=1),
    "read_all": lambda store: store.read_all(limit=2),
    "find": lambda store: store.find("run:1", 1),
    "streams": lambda store: store.streams(prefix="run:", limit=1),
    "last_position": lambda store: store.last_position(),
}
"""Each way to read a store, by name."""


def connect(path):
    return closing(sqlite3.connect(path, isolation_level=None))


def event(version=1, stream="run:1", data=b"{}", identity=None):
    return NewEvent(StreamId(stream), Version(version), "noted.v1", data, identity)


def versions(page):
    return [found.version for found in page]


def three_runs(path):
    """A journal of run:1, run:2 and run:3 with four events each, stored in turns."""
    with closing(open_store(path, create=True)) as store:
        for version in range(1, 5):
            store.append(
                [event(version, f"run:{at}", identity=version) for at in (1, 2, 3)], now=version
            )
    return path


@contextmanager
def stalled(path):
    """Let nobody commit to the file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
