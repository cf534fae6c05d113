"""Events below the one that lets them go are deleted, the newest first, and no number again."""

import pytest

from journal.errors import VersionConflict
from journal.ids import Position, StreamId, Version
from journal.stores import memory, sqlite_drop
from journal.stores.interface import LETS_GO, Lease, NewEvent

RUN, OTHER = StreamId("run:r"), StreamId("run:o")


def event(version, stream=RUN, name="one.v1", identity=None, data=b"{}"):
    return NewEvent(stream, Version(version), name, data, identity)


def fill(store, count=5, *, last=LETS_GO):
    store.append([event(1, OTHER)], now=1)
    store.append([event(n, identity=n) for n in range(1, count + 1)], now=2)
    store.append([event(2, OTHER)], now=3)
    if last:
        store.append([event(count + 1, name=last)], now=4)


def drop(store, upto, stream=RUN):
    total = 0
    while some := store.drop(stream, Version(upto)):
        total += some
    return total


def test_what_stands_below_goes_and_the_rest_stays(store):
    fill(store)
    assert drop(store, 5) == 5
    assert [(e.stream, e.version) for e in store.read_all()] == [(OTHER, 1), (OTHER, 2), (RUN, 6)]
    assert [e.version for e in store.read_stream(RUN)] == [6]
    assert [e.version for e in store.read_stream(RUN, newest_first=True)] == [6]
    assert store.read_stream(RUN, upto=Version(5)) == []
    assert store.read_versions(RUN, [Version(1), Version(6)])[0].version == 6
    assert store.find(RUN, 3) is None
    assert store.count(RUN, ["one.v1"]) == 0
    assert store.count(RUN, [LETS_GO]) == 1
    assert drop(store, 5) == 0


def test_positions_versions_and_times_go_on(store):
    fill(store)
    drop(store, 5)
    assert store.head(RUN) == 6
    assert store.last_position() == 8
    assert store.streams(prefix="run:") == [(RUN, 2), (OTHER, 1)]
    assert store.streams(prefix="run:", before=Position(2)) == [(OTHER, 1)]
    with pytest.raises(VersionConflict):
        store.append([event(1)], now=9)
    [stored] = store.append([event(3, OTHER)], now=0)
    assert (stored.position, stored.recorded_at) == (9, 4)


def test_a_lease_of_what_is_dropped_stays(store):
    fill(store)
    lease = Lease(RUN, 3, "me", "here", 1, "", 99)
    store.append([event(3, OTHER)], now=5, leases=[lease])
    drop(store, 5)
    assert store.lease(RUN) == lease
    assert store.leases() == [lease]


def test_the_newest_go_first_so_that_the_rest_can_be_read(store, monkeypatch):
    monkeypatch.setattr(memory, "PIECE", 2)
    monkeypatch.setattr(sqlite_drop, "BYTES", 3)
    fill(store)
    assert store.drop(RUN, Version(5)) in (1, 2)
    left = [e.version for e in store.read_stream(RUN)]
    assert left[-1] == 6
    assert left[:-1] == list(range(1, len(left)))
    assert drop(store, 5) == len(left) - 1


def test_only_up_to_the_version_asked_for(store):
    fill(store)
    assert drop(store, 2) == 2
    assert [e.version for e in store.read_stream(RUN)] == [3, 4, 5, 6]


@pytest.mark.parametrize("last", [None, "other.v1"])
def test_nothing_goes_where_nothing_lets_it_go(store, last):
    fill(store, last=last)
    before = store.read_all()
    with pytest.raises(ValueError, match=r"run\.archived"):
        store.drop(RUN, Version(3))
    assert store.read_all() == before


@pytest.mark.parametrize("upto", [6, 7, 2**70])
def test_what_lets_go_stays(store, upto):
    fill(store)
    with pytest.raises(ValueError, match=r"run\.archived"):
        store.drop(RUN, Version(upto))
    assert len(store.read_all()) == 8


def test_a_stream_that_is_not_there_is_refused(store):
    with pytest.raises(ValueError, match=r"run\.archived"):
        store.drop(StreamId("run:x"), Version(1))


def test_an_identity_in_another_stream_stays(store):
    store.append([event(1, OTHER, identity=3)], now=1)
    store.append([event(1, identity=3), event(2, name=LETS_GO)], now=2)
    drop(store, 1)
    assert store.find(OTHER, 3).version == 1
