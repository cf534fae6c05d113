"""What every storage engine promises of leases and fences; each engine runs the whole suite."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from journal.errors import IdentityTaken, InvalidRecord, LeaseMoved, VersionConflict
from tests.contract.events import ODD_NAMES, event, fill, lease, versions


@pytest.fixture
def leased(store):
    """A store whose run:1 has two events and generation 1, and whose run:2 has no lease."""
    store.append([event(), event(version=2), event("run:2")], now=1, leases=[lease()])
    return store


class TestLeases:
    def test_a_stream_has_none_until_one_is_taken(self, store):
        assert store.lease("run:1") is None
        fill(store, "run:1", 1)
        assert store.lease("run:1") is None
        assert store.leases() == []

    def test_it_comes_back_as_it_was_stored(self, store):
        taken = lease(owner="ü 🜂\0", expires_at=2**62)._replace(process=-1, started="")
        store.append([event()], now=1, leases=[taken])
        assert store.lease("run:1") == taken
        assert store.leases() == [taken]

    @pytest.mark.parametrize("name", ODD_NAMES)
    def test_a_stream_of_any_name_may_have_one(self, store, name):
        store.append([event(name)], now=1, leases=[lease(name)])
        assert store.lease(name) == lease(name)
        assert store.renew([lease(name, expires_at=9)]) == []
        assert store.lease(name).expires_at == 9

    def test_a_later_one_takes_its_place(self, leased):
        later = lease(generation=2, owner="two")
        leased.append([event(version=3)], now=1, leases=[later])
        assert leased.lease("run:1") == later
        assert leased.leases() == [later]

    def test_generations_may_be_skipped(self, leased):
        leased.append([event(version=3)], now=1, leases=[lease(generation=2**63 - 1)])
        assert leased.lease("run:1").generation == 2**63 - 1

    def test_the_same_generation_may_be_stored_again(self, leased):
        leased.append([event(version=3)], now=1, leases=[lease(expires_at=200)])
        assert leased.lease("run:1").expires_at == 200

    def test_a_generation_never_falls(self, leased):
        leased.append([event(version=3)], now=1, leases=[lease(generation=3)])
        with pytest.raises(LeaseMoved) as moved:
            leased.append([event(version=4)], now=1, leases=[lease(generation=2)])
        assert (moved.value.stream, moved.value.expected, moved.value.found) == ("run:1", 2, 3)
        assert leased.lease("run:1").generation == 3
        assert leased.head("run:1") == 3

    def test_a_generation_never_falls_within_an_append(self, leased):
        with pytest.raises(LeaseMoved):
            leased.append(
                [event(version=3)], now=1, leases=[lease(generation=3), lease(generation=2)]
            )
        assert leased.lease("run:1").generation == 1

    def test_a_stream_without_events_cannot_have_one(self, store):
        with pytest.raises(ValueError, match="has no event"):
            store.append([event()], now=1, leases=[lease("run:2")])
        assert store.last_position() == 0

    def test_released_ones_are_not_listed_but_found(self, leased):
        leased.append([event("run:2", 2)], now=1, leases=[lease("run:2", expires_at=0)])
        assert leased.leases() == [lease()]
        assert leased.lease("run:2") == lease("run:2", expires_at=0)

    def test_they_are_listed_by_the_age_of_their_streams(self, store):
        for name in ("run:b", "run:a", "run:c"):
            fill(store, name, 1)
        for name in ("run:c", "run:b", "run:a"):
            store.append([event(name, 2)], now=1, leases=[lease(name)])
        assert [one.stream for one in store.leases()] == ["run:b", "run:a", "run:c"]

    @pytest.mark.parametrize("refused", [{"version": 9}, {"version": 3, "identity": 5}])
    def test_one_of_a_refused_append_is_not_stored(self, leased, refused):
        leased.append([event("run:1", 3, identity=5)], now=1)
        before = leased.lease("run:1")
        with pytest.raises(VersionConflict):
            leased.append([event(**refused)], now=1, leases=[lease(generation=2)])
        assert leased.lease("run:1") == before

    @pytest.mark.parametrize(
        "wrong",
        [
            {"owner": "\ud800"},
            {"host": "\ud800"},
            {"started": "\ud800"},
            {"stream": "run:\ud800"},
            {"generation": 0},
            {"generation": 2**63},
            {"process": 2**63},
            {"expires_at": -(2**63)},
        ],
    )
    def test_one_that_cannot_be_stored_is_refused(self, leased, wrong):
        with pytest.raises(InvalidRecord):
            leased.append([event(version=3)], now=1, leases=[lease()._replace(**wrong)])
        with pytest.raises(InvalidRecord):
            leased.renew([lease()._replace(**wrong)])
        assert leased.lease("run:1") == lease()
        assert leased.head("run:1") == 2
        assert leased.lease("run:\ud800") is None


class TestRenew:
    def test_only_the_expiry_changes(self, leased):
        asked = lease(owner="another", expires_at=500)._replace(process=99)
        assert leased.renew([asked]) == []
        assert leased.lease("run:1") == lease(expires_at=500)

    def test_zero_releases_and_forgets_the_owner(self, leased):
        leased.renew([lease(expires_at=0)])
        assert leased.leases() == []
        assert leased.lease("run:1") == ("run:1", 1, "", "", 0, "", 0)

    def test_one_that_has_moved_is_left_alone_and_given(self, leased):
        later = lease(generation=2, owner="two", expires_at=300)
        leased.append([event(version=3), event("run:2", 2)], now=1, leases=[later, lease("run:2")])
        asked = [lease(expires_at=900), lease("run:2", expires_at=900)]
        assert leased.renew(asked) == [later]
        assert leased.leases() == [later, lease("run:2", expires_at=900)]

    def test_what_was_never_taken_is_not_made(self, leased):
        assert leased.renew([lease("run:2"), lease("run:none")]) == []
        assert leased.renew([]) == []
        assert leased.leases() == [lease()]

    def test_it_is_no_event(self, leased):
        leased.renew([lease(expires_at=900)])
        assert leased.last_position() == 3
        assert leased.append([event(version=3)], now=1)[0].position == 4


class TestFences:
    def test_the_right_generation_is_let_through(self, leased):
        leased.append([event(version=3)], now=1, fences={"run:1": 1})
        leased.append([event("run:2", 2)], now=1, fences={"run:2": 0, "run:1": 1})
        leased.append([event("run:new")], now=1, fences={"run:new": 0})
        assert leased.last_position() == 6

    @pytest.mark.parametrize("generation", [0, 2, -1, 2**64])
    def test_another_generation_is_not(self, leased, generation):
        with pytest.raises(LeaseMoved) as moved:
            leased.append(
                [event("run:2", 2), event(version=3)], now=1, fences={"run:1": generation}
            )
        assert (moved.value.stream, moved.value.expected, moved.value.found) == (
            "run:1",
            generation,
            1,
        )
        assert leased.last_position() == 3

    @pytest.mark.parametrize("stream", ["run:2", "run:none"])
    def test_a_lease_never_taken_is_generation_zero(self, leased, stream):
        with pytest.raises(LeaseMoved) as moved:
            leased.append([event(version=3)], now=1, fences={stream: 1})
        assert moved.value.found == 0
        assert leased.append([event(version=3)], now=1, fences={stream: 0})[0].version == 3

    def test_one_on_a_name_that_no_stream_can_have_is_refused(self, leased):
        with pytest.raises(InvalidRecord):
            leased.append([event(version=3)], now=1, fences={"run:\ud800": 0})

    def test_a_fence_is_checked_before_versions_and_identities(self, leased):
        leased.append([event(version=3, identity=7)], now=1)
        for wrong in (event(version=9), event(version=4, identity=7)):
            with pytest.raises(LeaseMoved):
                leased.append([wrong], now=1, fences={"run:1": 2})
            with pytest.raises(VersionConflict):
                leased.append([wrong], now=1, fences={"run:1": 1})

    def test_a_takeover_stops_the_one_before(self, leased):
        leased.append([event(version=3)], now=1, fences={"run:1": 1})
        taken = lease(generation=2, owner="two")
        leased.append([event(version=4)], now=1, fences={"run:1": 1}, leases=[taken])
        with pytest.raises(LeaseMoved) as moved:
            leased.append([event(version=5)], now=1, fences={"run:1": 1})
        assert moved.value.found == 2
        leased.append([event(version=5)], now=1, fences={"run:1": 2})
        assert versions(leased.read_stream("run:1")) == [1, 2, 3, 4, 5]

    def test_a_release_stops_nobody(self, leased):
        leased.renew([lease(expires_at=0)])
        leased.append([event(version=3)], now=1, fences={"run:1": 1})

    def test_after_a_refused_append_the_same_fence_holds(self, leased):
        taken = lease(generation=2)
        with pytest.raises(IdentityTaken):
            leased.append(
                [event(version=3, identity=1), event(version=4, identity=1)],
                now=1,
                fences={"run:1": 1},
                leases=[taken],
            )
        leased.append([event(version=3)], now=1, fences={"run:1": 1})

    def test_of_many_who_take_over_one_generation_one_does(self, leased):
        def take(who):
            try:
                leased.append(
                    [event("run:2", 2, data=b"%d" % who)],
                    now=1,
                    fences={"run:2": 0},
                    leases=[lease("run:2", 1, f"owner {who}")],
                )
            except (LeaseMoved, VersionConflict):
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            taken = [*pool.map(take, range(8))]
        assert sum(taken) == 1
        assert leased.lease("run:2").owner == f"owner {taken.index(True)}"
