"""Events for a store, and what is read of it."""

from journal.ids import StreamId, Version
from journal.stores.interface import Lease, NewEvent

ODD_NAMES = [
    "run:50%_off",
    "run:a_b",
    "run:a%b",
    "run:it's",
    'run:"quoted"',
    "run:back\\slash",
    "run:with space/slash:colon",
    "run:line\nbreak\ttab",
    "run:nul\0inside",
    "run:naïve 東京 🜂",
    "run:\U0010ffff",
    "run:*?[a]",
    "run:" + "x" * 500,
    "run:" + "é" * 500,
]


def event(stream="run:1", version=1, name="noted.v1", data=b"{}", identity=None):
    return NewEvent(StreamId(stream), Version(version), name, data, identity)


def fill(store, stream, count, *, now=1, name="noted.v1", first=1):
    return store.append(
        [event(stream, version, name, b"%d" % version) for version in range(first, first + count)],
        now=now,
    )


def lease(stream="run:1", generation=1, owner="one", expires_at=100):
    return Lease(StreamId(stream), generation, owner, "host", 7, "then", expires_at)


def versions(page):
    return [found.version for found in page]


def positions(page):
    return [found.position for found in page]
