"""What every storage engine promises of reading; each engine runs the whole suite."""

import pytest

from journal.ids import Position, Version
from tests.contract.events import ODD_NAMES, event, fill, positions, versions


class TestReadStream:
    @pytest.fixture
    def filled(self, store):
        for version in range(1, 11):
            name = "even.v1" if version % 2 == 0 else "odd.v1"
            store.append([event("run:other", version), event("run:1", version, name)], now=1)
        return store

    def test_an_unknown_stream_is_empty(self, filled):
        assert filled.read_stream("run:none") == []
        assert filled.head("run:none") == 0

    def test_events_come_by_version(self, filled):
        assert versions(filled.read_stream("run:1")) == [*range(1, 11)]
        assert {e.stream for e in filled.read_stream("run:1")} == {"run:1"}

    def test_newest_first_is_the_reverse(self, filled):
        assert versions(filled.read_stream("run:1", newest_first=True)) == [*range(10, 0, -1)]

    @pytest.mark.parametrize("after", [-(2**70), -5, 0, 3, 10, 11, 2**63, 2**70])
    @pytest.mark.parametrize("upto", [None, -(2**70), -1, 0, 3, 4, 10, 2**63, 2**70])
    def test_bounds_are_exclusive_below_and_inclusive_above(self, filled, after, upto):
        wanted = [v for v in range(1, 11) if v > after and (upto is None or v <= upto)]
        found = filled.read_stream("run:1", after=Version(after), upto=upto)
        assert versions(found) == wanted
        back = filled.read_stream("run:1", after=Version(after), upto=upto, newest_first=True)
        assert versions(back) == wanted[::-1]

    @pytest.mark.parametrize("limit", [-(2**70), -1, 0, 1, 3, 10, 11, 2**70])
    def test_a_page_holds_at_most_its_limit(self, filled, limit):
        wanted = [*range(1, 11)][: max(limit, 0)]
        assert versions(filled.read_stream("run:1", limit=limit)) == wanted
        newest = filled.read_stream("run:1", newest_first=True, limit=limit)
        assert versions(newest) == [11 - version for version in wanted]

    def test_names_choose(self, filled):
        def read(*names, **rest):
            return versions(filled.read_stream("run:1", names=names, **rest))

        assert read("even.v1") == [2, 4, 6, 8, 10]
        assert read("odd.v1", "even.v1") == [*range(1, 11)]
        assert read("odd.v1", "never.v1") == [1, 3, 5, 7, 9]
        assert read("never.v1") == []
        assert read() == []
        assert read("even.v1", limit=2, newest_first=True) == [10, 8]
        assert read("even.v1", after=2, upto=7) == [4, 6]

    def test_a_name_first_seen_later_is_found(self, filled):
        assert filled.read_stream("run:1", names={"late.v1"}) == []
        filled.append([event("run:1", 11, "late.v1")], now=1)
        assert versions(filled.read_stream("run:1", names={"late.v1"})) == [11]

    @pytest.mark.parametrize("size", [1, 2, 7, 23, 24])
    def test_pages_give_every_event_once(self, store, size):
        fill(store, "run:1", 23)
        found, after = [], Version(0)
        while page := store.read_stream("run:1", after=after, limit=size):
            found += versions(page)
            after = page[-1].version
        assert found == [*range(1, 24)]

    def test_the_default_page_is_a_thousand(self, store):
        fill(store, "run:1", 1001)
        assert versions(store.read_stream("run:1")) == [*range(1, 1001)]
        assert positions(store.read_all()) == [*range(1, 1001)]


class TestReadAll:
    def test_an_empty_store_has_nothing(self, store):
        assert store.read_all() == []
        assert store.last_position() == 0
        assert store.streams(prefix="") == []

    @pytest.mark.parametrize("after", [-(2**70), -3, 0, 1, 4, 5, 99, 2**63, 2**70])
    @pytest.mark.parametrize("limit", [-1, 0, 1, 2, 10, 2**70])
    def test_pages_come_by_position(self, store, after, limit):
        for at in range(5):
            fill(store, f"run:{at}", 1)
        wanted = [p for p in range(1, 6) if p > after][: max(limit, 0)]
        assert positions(store.read_all(after=Position(after), limit=limit)) == wanted

    def test_the_last_position_counts_the_events(self, store):
        fill(store, "run:1", 3)
        assert store.last_position() == 3
        fill(store, "run:2", 1)
        assert store.last_position() == 4


class TestStreams:
    def test_newest_stream_comes_first_by_its_first_event(self, store):
        store.append([event("run:a"), event("run:b"), event("run:a", 2)], now=1)
        store.append([event("run:c"), event("run:b", 2)], now=1)
        assert store.streams(prefix="run:") == [("run:c", 4), ("run:b", 2), ("run:a", 1)]

    def test_pages_give_every_stream_once(self, store):
        for at in range(10):
            fill(store, f"run:{at}", 2)
        found, before = [], None
        while page := store.streams(prefix="run:", before=before, limit=3):
            assert len(page) <= 3
            found += [stream for stream, _position in page]
            before = page[-1][1]
        assert found == [f"run:{at}" for at in reversed(range(10))]

    def test_before_is_exclusive(self, store):
        fill(store, "run:a", 3)
        fill(store, "run:b", 1)
        assert store.streams(prefix="", before=Position(4)) == [("run:a", 1)]
        assert store.streams(prefix="", before=Position(5)) == [("run:b", 4), ("run:a", 1)]
        assert store.streams(prefix="", before=Position(1)) == []
        assert len(store.streams(prefix="", before=Position(2**70))) == 2
        assert store.streams(prefix="", before=Position(-(2**70))) == []
        assert store.streams(prefix="", limit=0) == []
        assert len(store.streams(prefix="", limit=2**70)) == 2

    def test_a_prefix_is_plain_text(self, store):
        for name in ODD_NAMES:
            fill(store, name, 1)
        for prefix in {name[:end] for name in ODD_NAMES for end in range(len(name) + 1)}:
            wanted = [name for name in reversed(ODD_NAMES) if name.startswith(prefix)]
            found = [stream for stream, _position in store.streams(prefix=prefix)]
            assert found == wanted, prefix

    def test_sessions_and_runs_are_told_apart(self, store):
        store.append([event("session:1"), event("run:1"), event("session:2")], now=1)
        assert store.streams(prefix="session:") == [("session:2", 3), ("session:1", 1)]
        assert store.streams(prefix="sess%") == []
