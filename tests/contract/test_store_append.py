"""What every storage engine promises of appending; each engine runs the whole suite."""

import os

import pytest

from journal.errors import IdentityTaken, InvalidRecord, VersionConflict
from journal.ids import Position, StreamId, Version
from journal.stores import StoredEvent
from tests.contract.events import ODD_NAMES, event, fill, positions, versions


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
