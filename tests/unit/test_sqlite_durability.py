"""What each durability asks of SQLite, and what every connection is set to."""

from contextlib import closing

import pytest

from journal.errors import InvalidLocation
from journal.stores import open_store
from tests.unit.sqlite_files import event, three_runs


def settings(connection, *names):
    return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]


@pytest.mark.parametrize(("durability", "synchronous"), [("full", 2), ("relaxed", 1)])
def test_it_says_when_the_disk_is_waited_for(tmp_path, durability, synchronous):
    with closing(open_store(tmp_path / "runs.db", create=True, durability=durability)) as store:
        store.append([event()], now=1)
        with store._recorder.datastore.writing() as connection:
            asked = settings(connection, "synchronous", "fullfsync", "foreign_keys", "temp_store")
            assert asked == [synchronous, 1, 1, 2]
            assert settings(connection, "journal_mode", "mmap_size") == ["wal", 0]
            assert settings(connection, "wal_autocheckpoint") == [64 * 2**20 // 4096]


def test_full_is_the_default(tmp_path):
    with (
        closing(open_store(tmp_path / "runs.db", create=True)) as store,
        store._recorder.datastore.writing() as connection,
    ):
        assert settings(connection, "synchronous") == [2]


def test_readers_cannot_write_and_trust_no_schema(tmp_path):
    path = three_runs(tmp_path / "runs.db")
    with (
        closing(open_store(path, create=False)) as store,
        store._recorder.datastore.reading() as connection,
    ):
        assert settings(connection, "query_only", "trusted_schema", "mmap_size") == [1, 0, 0]


@pytest.mark.parametrize("durability", ["full", "relaxed"])
def test_in_memory_it_means_nothing(durability):
    with closing(open_store("memory://", create=True, durability=durability)) as store:
        store.append([event()], now=1)


@pytest.mark.parametrize("location", ["memory://", "runs.db"])
@pytest.mark.parametrize("durability", ["FULL", "", "normal", None, 2])
def test_another_is_refused(tmp_path, monkeypatch, location, durability):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidLocation, match="durability is to be 'full' or 'relaxed'"):
        open_store(location, create=True, durability=durability)
    assert not [*tmp_path.iterdir()]
