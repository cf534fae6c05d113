"""What every storage engine promises to threads, and of closing; each runs the whole suite."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from journal.errors import JournalClosed, VersionConflict
from tests.contract.events import event, fill, lease, positions, versions


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
    lambda store: store.lease("run:1"),
    lambda store: store.leases(),
    lambda store: store.renew([lease()]),
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
