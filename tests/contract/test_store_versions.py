"""Events are read by their versions, whatever order is asked for; each engine runs this."""

import os
from contextlib import closing
from uuid import UUID

import pytest

from journal.errors import CorruptEvent, JournalClosed
from journal.stores import open_store, sqlite_page
from tests.contract.events import ODD_NAMES, event, fill, versions


class TestReadVersions:
    @pytest.fixture
    def filled(self, store):
        for version in range(1, 11):
            store.append([event("run:other", version), event("run:1", version)], now=version)
        return store

    def test_they_come_in_rising_order_and_once(self, filled):
        assert versions(filled.read_versions("run:1", [7, 2, 9, 2])) == [2, 7, 9]
        assert versions(filled.read_versions("run:1", {10, 1})) == [1, 10]

    def test_they_are_the_events_that_other_reads_give(self, filled):
        found = filled.read_versions("run:1", range(1, 11))
        assert found == filled.read_stream("run:1")
        assert {each.stream for each in found} == {"run:1"}

    def test_those_that_do_not_exist_are_left_out(self, filled):
        asked = [-(2**70), -1, 0, 3, 11, 2**63, 2**70]
        assert versions(filled.read_versions("run:1", asked)) == [3]
        assert filled.read_versions("run:1", []) == []
        assert filled.read_versions("run:none", [1]) == []
        assert filled.read_versions("run:\ud800", [1]) == []

    def test_a_thousand_at_once(self, store):
        fill(store, "run:1", 1500)
        asked = list(range(1500, 500, -1))
        assert versions(store.read_versions("run:1", asked)) == sorted(asked)

    @pytest.mark.parametrize("stream", ODD_NAMES)
    def test_of_a_stream_of_any_name(self, store, stream):
        fill(store, stream, 3)
        assert [each.data for each in store.read_versions(stream, [3, 1])] == [b"1", b"3"]

    def test_repeated_values_come_back_whole(self, store):
        text = os.urandom(3000).hex()
        data = [b'{"text":"%b","at":%d}' % (text.encode(), at) for at in range(1, 6)]
        store.append([event("run:1", at, data=one) for at, one in enumerate(data, 1)], now=1)
        assert [each.data for each in store.read_versions("run:1", [4, 5])] == data[3:]

    def test_not_after_closing(self, store):
        store.close()
        with pytest.raises(JournalClosed):
            store.read_versions("run:1", [1])


def test_the_rest_of_a_page_of_large_ones_is_asked_for_again(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_page, "PAGE_BYTES", 1_000)
    with closing(open_store(tmp_path / "runs.db", create=True)) as store:
        store.append([event("run:1", at, data=os.urandom(400)) for at in range(1, 31)], now=1)
        left, found = list(range(2, 31, 2)), []
        while page := store.read_versions("run:1", left):
            assert len(page) <= 3
            found += versions(page)
            left = [version for version in left if version > found[-1]]
        assert found == list(range(2, 31, 2))


def test_a_damaged_event_is_told_and_the_others_are_read(tmp_path, flip):
    with closing(open_store(tmp_path / "runs.db", create=True)) as store:
        fill(store, "run:1", 5)
        flip(tmp_path / "runs.db", "run:1", 3)
        assert versions(store.read_versions("run:1", [2, 4])) == [2, 4]
        with pytest.raises(CorruptEvent):
            store.read_versions("run:1", [3])


class TestWhoseItIs:
    def test_each_journal_has_an_id_of_its_own(self, store):
        assert str(UUID(store.journal_id)) == store.journal_id
        assert store.journal_id == store.journal_id
        with closing(open_store("memory://", create=True)) as other:
            assert other.journal_id != store.journal_id
        store.close()
        with pytest.raises(JournalClosed):
            _ = store.journal_id

    def test_a_file_is_told_where_there_is_one(self, store, tmp_path):
        assert store.file in {None, tmp_path / "runs.db"}
        assert (store.file is None) == (store.location == "memory://")
