"""What every storage engine promises; each engine runs the whole suite."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from journal.errors import (
    IdentityTaken,
    InvalidRecord,
    JournalClosed,
    VersionConflict,
)
from journal.ids import Position, StreamId, Version
from journal.stores import NewEvent, Store, StoredEvent, open_store

ENGINES = {
    "memory": lambda tmp_path: "memory://",
    "sqlite": lambda tmp_path: tmp_path / "runs.db",
}

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


@pytest.fixture(params=ENGINES)
def engine(request, tmp_path):
    """A function that opens an empty store, and the same store again where it lasts."""
    opened = []

    def start() -> Store:
        store = open_store(ENGINES[request.param](tmp_path), create=True)
        opened.append(store)
        return store

    yield start
    for store in opened:
        store.close()


@pytest.fixture
def store(engine):
    return engine()


def event(stream="run:1", version=1, name="noted.v1", data=b"{}", identity=None):
    return NewEvent(StreamId(stream), Version(version), name, data, identity)


def fill(store, stream, count, *, now=1, name="noted.v1", first=1):
    return store.append(
        [event(stream, version, name, b"%d" % version) for version in range(first, first + count)],
        now=now,
    )


def versions(page):
    return [found.version for found in page]


def positions(page):
    return [found.position for found in page]


class TestAppend:
    def test_first_event_is_version_one_at_position_one(self, store):
        assert store.append([event(data=b'{"a":1}')], now=7) == [
            StoredEvent(Position(1), StreamId("run:1"), Version(1), "noted.v1", 7, b'{"a":1}')
        ]

    def test_what_append_returns_is_what_is_read(self, store):
        stored = store.append(
            [event("run:1", 1, "a.v1", b"[1]"), event("run:2", 1, "b.v1", b"[2]", 5)],
            now=9,
        )
        assert store.read_all() == stored
        assert [*store.read_stream("run:1"), *store.read_stream("run:2")] == stored

    def test_events_of_several_streams_keep_the_order_given(self, store):
        store.append(
            [event("b", 1), event("a", 1), event("b", 2), event("c", 1), event("a", 2)],
            now=1,
        )
        store.append([event("a", 3), event("b", 3)], now=1)
        assert [(e.stream, e.version) for e in store.read_all()] == [
            ("b", 1),
            ("a", 1),
            ("b", 2),
            ("c", 1),
            ("a", 2),
            ("a", 3),
            ("b", 3),
        ]
        assert positions(store.read_all()) == [1, 2, 3, 4, 5, 6, 7]

    @pytest.mark.parametrize("wrong", [-1, 0, 1, 2, 4, 2**63, 2**64])
    def test_only_the_next_version_is_taken(self, store, wrong):
        fill(store, "run:1", 2)
        with pytest.raises(VersionConflict) as refused:
            store.append([event(version=wrong)], now=1)
        assert (
            refused.value.stream,
            refused.value.expected,
            refused.value.actual,
        ) == ("run:1", wrong - 1, 2)
        assert versions(store.read_stream("run:1")) == [1, 2]

    @pytest.mark.parametrize("order", [(1, 3, 2), (1, 3), (2, 1), (1, 1), (1, 2, 2)])
    def test_versions_within_one_append_must_rise_by_one(self, store, order):
        with pytest.raises(VersionConflict):
            store.append([event(version=version) for version in order], now=1)
        assert store.last_position() == 0
        assert store.read_stream("run:1") == []

    def test_a_conflict_in_the_middle_leaves_nothing(self, store):
        fill(store, "run:1", 3)
        before = store.read_all()
        with pytest.raises(VersionConflict) as refused:
            store.append(
                [event("run:1", 4), event("run:new", 1), event("run:1", 6), event("run:2", 1)],
                now=1,
            )
        assert (refused.value.expected, refused.value.actual) == (5, 4)
        assert store.read_all() == before
        assert store.streams(prefix="") == [("run:1", 1)]

    def test_positions_have_no_gap_after_a_refused_append(self, store):
        fill(store, "run:1", 1)
        with pytest.raises(VersionConflict):
            store.append([event("run:2", 1), event("run:1", 1)], now=1)
        with pytest.raises(IdentityTaken):
            store.append([event("run:2", 1, identity=1), event("run:2", 2, identity=1)], now=1)
        assert positions(fill(store, "run:3", 2)) == [2, 3]

    def test_a_refused_append_takes_no_identity_and_no_name(self, store):
        with pytest.raises(VersionConflict):
            store.append([event("run:1", 1, "odd.v1", identity=5), event("run:2", 7)], now=1)
        assert store.find("run:1", 5) is None
        store.append([event("run:1", 1, "even.v1"), event("run:1", 2, "odd.v1", b"", 5)], now=1)
        assert store.find("run:1", 5).name == "odd.v1"

    def test_an_append_of_nothing_is_a_mistake(self, store):
        with pytest.raises(ValueError, match="at least one"):
            store.append([], now=1)

    @pytest.mark.parametrize(
        "data", [b"", b"\0", bytes(range(256)), b'{"text":"%s"}' % (b"word " * 50), b"x" * 119]
    )
    def test_data_comes_back_byte_for_byte(self, store, data):
        store.append([event(data=data, identity=0)], now=1)
        assert store.read_stream("run:1")[0].data == data
        assert store.read_all()[0].data == data
        assert store.find("run:1", 0).data == data

    @pytest.mark.parametrize("make", [os.urandom, lambda size: b"ab" * (size // 2)])
    def test_a_megabyte_comes_back(self, store, make):
        data = make(1_000_000)
        store.append([event(data=data)], now=1)
        assert store.read_stream("run:1")[0].data == data

    @pytest.mark.parametrize("name", ODD_NAMES)
    def test_a_stream_may_have_any_name(self, store, name):
        store.append([event(name, 1, identity="id")], now=1)
        assert store.head(name) == 1
        assert store.read_stream(name)[0].stream == name
        assert store.read_all()[0].stream == name
        assert store.find(name, "id").stream == name
        assert store.streams(prefix=name) == [(name, 1)]

    def test_a_text_utf8_cannot_hold_is_refused_and_never_found(self, store):
        for bad in (event("run:\ud800"), event(identity="\udfff")):
            with pytest.raises(InvalidRecord):
                store.append([bad], now=1)
        assert store.head("run:\ud800") == 0
        assert store.read_stream("run:\ud800") == []
        assert store.find("run:\ud800", 1) is None
        assert store.find("run:1", "\udfff") is None
        assert store.streams(prefix="run:\ud800") == []
        assert store.last_position() == 0


class TestRecordedTime:
    def test_it_is_the_clock_given(self, store):
        fill(store, "run:1", 1, now=1_764_000_000_000_001)
        assert store.read_all()[0].recorded_at == 1_764_000_000_000_001

    def test_it_never_goes_back_when_the_clock_does(self, store):
        for now in (50, 40, 60, 10, 60, 61):
            fill(store, f"run:{store.last_position()}", 1, now=now)
        assert [e.recorded_at for e in store.read_all()] == [50, 50, 60, 60, 60, 61]

    def test_it_is_one_for_all_events_of_an_append(self, store):
        fill(store, "run:1", 1, now=5)
        stored = store.append([event("run:1", 2), event("run:2", 1)], now=3)
        assert [e.recorded_at for e in stored] == [5, 5]

    def test_a_refused_append_does_not_move_it(self, store):
        fill(store, "run:1", 1, now=5)
        with pytest.raises(VersionConflict):
            store.append([event("run:1", 1)], now=900)
        assert fill(store, "run:2", 1, now=6)[0].recorded_at == 6


class TestIdentity:
    @pytest.mark.parametrize(
        "identity",
        [0, 1, 127, 2**31, 2**63 - 1, 2**63, 2**64 - 1, "", "checkpoint:1", "é" * 400, "0", "\0"],
    )
    def test_an_event_is_found_by_its_identity(self, store, identity):
        store.append(
            [event(version=1), event(version=2, identity=identity), event("run:2", 1)], now=1
        )
        assert store.find("run:1", identity).version == 2
        assert store.find("run:2", identity) is None
        assert store.find("run:none", identity) is None

    @pytest.mark.parametrize("identity", [0, 2**64 - 1, "checkpoint:1"])
    def test_an_identity_is_taken_once_in_a_stream(self, store, identity):
        store.append([event(identity=identity), event(version=2)], now=1)
        before = store.read_all()
        with pytest.raises(IdentityTaken) as refused:
            store.append([event("run:2"), event(version=3, identity=identity)], now=1)
        assert isinstance(refused.value, VersionConflict)
        assert (refused.value.stream, refused.value.expected, refused.value.actual) == (
            "run:1",
            2,
            1,
        )
        assert refused.value.identity == identity
        assert store.read_all() == before

    def test_an_identity_is_taken_once_within_an_append(self, store):
        with pytest.raises(IdentityTaken) as refused:
            store.append([event(identity=4), event(version=2), event(version=3, identity=4)], now=1)
        assert refused.value.actual == 1
        assert store.last_position() == 0

    def test_other_streams_may_have_the_same_identity(self, store):
        store.append([event("run:1", identity=1), event("run:2", identity=1)], now=1)
        assert store.find("run:2", 1).stream == "run:2"

    def test_a_number_and_its_text_are_two_identities(self, store):
        store.append([event(identity=1), event(version=2, identity="1")], now=1)
        assert store.find("run:1", 1).version == 1
        assert store.find("run:1", "1").version == 2

    def test_the_two_ends_of_64_bits_are_different(self, store):
        edges = [0, 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1]
        store.append(
            [event(version=at, identity=identity) for at, identity in enumerate(edges, 1)],
            now=1,
        )
        assert [store.find("run:1", identity).version for identity in edges] == [*range(1, 8)]

    def test_many_events_may_have_none(self, store):
        store.append([event(version=1), event(version=2)], now=1)
        assert versions(store.read_stream("run:1")) == [1, 2]

    @pytest.mark.parametrize("identity", [-1, 2**64])
    def test_a_number_outside_64_bits_is_refused_and_never_found(self, store, identity):
        with pytest.raises(InvalidRecord):
            store.append([event(identity=identity)], now=1)
        assert store.find("run:1", identity) is None


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


class TestThreads:
    def test_each_may_append_to_its_own_stream(self, store):
        def work(name):
            for version in range(1, 21):
                store.append([event(name, version, identity=version)], now=1)

        names = [f"run:{at}" for at in range(8)]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, names))
        for name in names:
            assert versions(store.read_stream(name)) == [*range(1, 21)]
        assert positions(store.read_all()) == [*range(1, 161)]

    def test_exactly_one_wins_a_version(self, store):
        ready = threading.Barrier(8)

        def work(who):
            won, lost = [], []
            for version in range(1, 16):
                ready.wait()
                try:
                    store.append([event(version=version, data=b"%d" % who)], now=1)
                    won.append((version, who))
                except VersionConflict as error:
                    lost.append((version, error.expected, error.actual))
            assert lost == [(version, version - 1, version) for version, _, _ in lost]
            return won

        with ThreadPoolExecutor(8) as pool:
            won = sorted(pair for pairs in pool.map(work, range(8)) for pair in pairs)
        assert [version for version, _who in won] == [*range(1, 16)]
        assert [(e.version, int(e.data)) for e in store.read_stream("run:1")] == won

    def test_reads_while_writing_see_whole_appends(self, store):
        done = threading.Event()

        def write():
            for at in range(60):
                fill(store, "run:1", 5, first=5 * at + 1)
            done.set()

        def read():
            seen = 0
            while not done.is_set():
                found = versions(store.read_stream("run:1"))
                assert found == [*range(1, len(found) + 1)]
                assert len(found) % 5 == 0
                assert len(found) >= seen
                assert store.head("run:1") >= len(found)
                assert store.last_position() >= len(found)
                seen = len(found)
            return seen

        with ThreadPoolExecutor(4) as pool:
            readers = [pool.submit(read) for _ in range(3)]
            pool.submit(write).result()
            for reader in readers:
                reader.result()
        assert versions(store.read_stream("run:1")) == [*range(1, 301)]


CALLS = [
    lambda store: store.append([event()], now=1),
    lambda store: store.head("run:1"),
    lambda store: store.read_stream("run:1"),
    lambda store: store.read_all(),
    lambda store: store.find("run:1", 1),
    lambda store: store.streams(prefix=""),
    lambda store: store.last_position(),
]


class TestClose:
    @pytest.mark.parametrize("call", CALLS)
    def test_every_call_afterwards_says_so(self, store, call):
        fill(store, "run:1", 1)
        store.close()
        with pytest.raises(JournalClosed) as refused:
            call(store)
        assert refused.value.location == store.location

    def test_closing_twice_does_nothing(self, store):
        store.close()
        store.close()

    def test_another_thread_may_close(self, store):
        fill(store, "run:1", 1)
        store.read_all()
        thread = threading.Thread(target=store.close)
        thread.start()
        thread.join()
        with pytest.raises(JournalClosed):
            store.read_all()

    def test_closing_under_load_lets_calls_end_in_one_way_or_the_other(self, store):
        started = threading.Barrier(5)

        def work(at):
            started.wait()
            version = 0
            try:
                while True:
                    store.append([event(f"run:{at}", version + 1)], now=1)
                    version += 1
                    store.read_stream(f"run:{at}")
            except JournalClosed:
                return version

        with ThreadPoolExecutor(4) as pool:
            working = [pool.submit(work, at) for at in range(4)]
            started.wait()
            store.close()
            assert all(one.result() >= 0 for one in working)
