"""A batch that fails at any of its rows leaves the state before it."""

import os
from contextlib import closing, contextmanager

import pytest

from journal import Journal
from journal.errors import IdentityTaken, StorageFailed
from journal.stores import open_store, sqlite_insert
from tests import samples
from tests.unit.sqlite_files import connect, event, three_runs, versions

BATCH = 2 * sqlite_insert.TOGETHER + 5
"""Rows: some of them in full statements, some in a shorter one."""


@contextmanager
def failing_at(store, position, how):
    """Refuse the insert of the row at a position, on the connection that writes."""
    writing = store._recorder.datastore.writing
    with writing() as connection:
        connection.execute(
            f"CREATE TEMP TRIGGER fault BEFORE INSERT ON main.events "
            f"WHEN NEW.position = {position} BEGIN SELECT RAISE({how}, 'injected'); END"
        )
    try:
        yield
    finally:
        with writing() as connection:
            connection.execute("DROP TRIGGER temp.fault")


def state(path):
    """Everything that stands in the file."""
    with connect(path) as connection:
        return [
            connection.execute(f"SELECT * FROM {table}").fetchall()
            for table in ("events", "streams", "names", "leases")
        ]


@pytest.mark.parametrize("how", ["FAIL", "ABORT", "ROLLBACK"])
@pytest.mark.parametrize("size", [10, 35_000], ids=["together", "one by one"])
def test_through_the_store(tmp_path, how, size):
    path = three_runs(tmp_path / "runs.db")
    count = BATCH if size < 100 else sqlite_insert.TOGETHER + 2
    batch = [
        event(version, "run:new", os.urandom(size), version) for version in range(1, count + 1)
    ]
    with closing(open_store(path, create=True)) as store:
        before = state(path)
        for at in range(1, count + 1):
            with failing_at(store, 12 + at, how), pytest.raises(StorageFailed, match="injected"):
                store.append(batch, now=9)
            assert state(path) == before
        assert store.streams(prefix="run:new") == []
        assert [e.position for e in store.append(batch, now=9)] == [*range(13, 13 + count)]
        assert versions(store.read_stream("run:new")) == [*range(1, count + 1)]


def test_through_a_run(tmp_path):
    path = tmp_path / "runs.db"
    records = [samples.record(sequence) for sequence in range(BATCH)]
    with Journal.open(path) as journal:
        run = journal.run("r", session_id="s")
        last = journal._store.last_position()
        before = state(path)
        for at in range(1, BATCH + 1):
            with failing_at(journal._store, last + at, "FAIL"), pytest.raises(StorageFailed):
                run.append_many(records)
            assert state(path) == before
        receipts = run.append_many(records)
        assert [receipt.position - last for receipt in receipts] == [*range(1, BATCH + 1)]
        assert not any(receipt.repeated for receipt in receipts)
        assert all(receipt.repeated for receipt in run.append_many(records))


STORED, EARLIER = 2, 15
"""Identities of an event stored before the batch, and of row 10 of the batch."""


@pytest.mark.parametrize(
    ("at", "taken"),
    [
        *((at, STORED) for at in (0, 1, 31, 32, 33, BATCH - 1)),
        *((at, EARLIER) for at in (11, 31, 32, 64, BATCH - 1)),
    ],
)
def test_an_identity_taken_at_any_row_is_named(tmp_path, at, taken):
    path = three_runs(tmp_path / "runs.db")
    batch = [event(version, identity=version) for version in range(5, 5 + BATCH)]
    batch[at] = batch[at]._replace(identity=taken)
    with closing(open_store(path, create=True)) as store:
        before = state(path)
        with pytest.raises(IdentityTaken) as refused:
            store.append(batch, now=9)
        assert (refused.value.identity, refused.value.actual) == (taken, taken)
        assert refused.value.expected == batch[at].version - 1
        assert state(path) == before
