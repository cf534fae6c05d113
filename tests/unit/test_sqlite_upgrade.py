"""A file of format 1 is read as it is, and brought to format 3 when it is written."""

import os
import shutil
import signal
import sqlite3
import threading
import warnings
from contextlib import closing
from pathlib import Path

import pytest

from journal.errors import GuardsMissing, JournalBusy, JournalError
from journal.ids import StreamId
from journal.stores import open_store, sqlite_schema
from journal.stores.interface import Lease
from tests.unit.sqlite_files import connect, event

FIXTURE = Path(__file__).parents[1] / "fixtures" / "journals" / "format-1.journal"
RUN = StreamId("run:r")
LEASE = Lease(RUN, 1, "owner", "host", 7, "", 500)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "old.db"
    shutil.copyfile(FIXTURE, path)
    return path


@pytest.fixture
def events(path):
    with closing(open_store(path, create=False)) as store:
        return store.read_all()


def file_format(path):
    with connect(path) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def test_it_is_read_without_a_change(path, events):
    before = path.read_bytes()
    with closing(open_store(path, create=False)) as store:
        assert store.read_all() == events
        assert len(events) > 10
        assert store.lease(RUN) is None
        assert store.leases() == []
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["old.db"]


def test_it_is_upgraded_when_it_is_opened_to_be_made(path, events):
    with closing(open_store(path, create=True)) as store:
        assert store.read_all() == events
    assert file_format(path) == 3
    with connect(path) as connection:
        meta = dict(connection.execute("SELECT key, value FROM meta"))
    assert meta["format"] == 1, "the one it was made with"


@pytest.mark.parametrize(
    "write",
    [
        lambda store, head: store.append([event(head + 1, RUN)], now=1),
        lambda store, head: store.append([event(head + 1, RUN)], now=1, fences={RUN: 0}),
        lambda store, head: store.append([event(head + 1, RUN)], now=1, leases=[LEASE]),
        lambda store, head: store.renew([LEASE]),
    ],
)
def test_it_is_upgraded_by_the_first_write(path, events, write):
    with closing(open_store(path, create=False)) as store:
        write(store, store.head(RUN))
        assert store.read_all()[: len(events)] == events
    assert file_format(path) == 3
    open_store(path, create=False).close()


def test_a_reader_notices_that_another_upgraded_it(path, events):
    with closing(open_store(path, create=False)) as reader:
        assert reader.lease(RUN) is None
        with closing(open_store(path, create=True)) as writer:
            writer.append([event(writer.head(RUN) + 1, RUN)], now=1, leases=[LEASE])
            assert reader.lease(RUN) == LEASE
            assert reader.leases() == [LEASE]
            assert reader.read_all()[: len(events)] == events
        reader.append([event(reader.head(RUN) + 1, RUN)], now=1, fences={RUN: 1})


def test_many_may_upgrade_it_at_once(path, events):
    ready = threading.Barrier(8)
    failed = []

    def work(who):
        ready.wait()
        try:
            with closing(open_store(path, create=who % 2 == 0, busy_timeout=30)) as store:
                store.append([event(1, f"run:new{who}")], now=1)
        except JournalError as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with closing(open_store(path, create=False)) as store:
        assert store.read_all()[: len(events)] == events
        assert len(store.read_all()) == len(events) + 8


def test_one_that_cannot_be_upgraded_now_stays_readable(path, events):
    with connect(path) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(open_store(path, create=False, busy_timeout=0.05)) as store:
            with pytest.raises(JournalBusy):
                store.append([event(store.head(RUN) + 1, RUN)], now=1)
            assert store.read_all() == events
            other.execute("ROLLBACK")
            store.append([event(store.head(RUN) + 1, RUN)], now=1)
    assert file_format(path) == 3


def test_one_whose_guards_are_missing_is_not_upgraded(path):
    with connect(path) as connection:
        connection.execute("DROP TRIGGER events_update_guard")
    before = path.read_bytes()
    for create in (True, False):
        with pytest.raises(GuardsMissing):
            open_store(path, create=create)
    assert path.read_bytes() == before


def test_guards_lost_since_it_was_opened_stop_the_upgrade(path):
    with closing(open_store(path, create=False)) as store:
        with connect(path) as connection:
            connection.execute("DROP TRIGGER events_update_guard")
        with pytest.raises(GuardsMissing):
            store.append([event(store.head(RUN) + 1, RUN)], now=1)
    assert file_format(path) == 1


STEPS = len([*sqlite_schema.statements(after=1)])


class Mortal(sqlite3.Connection):
    """Kills its process before a statement of the upgrade, or before its commit."""

    left = 0

    def execute(self, sql, *args):
        if "CREATE" in sql or "DROP TRIGGER" in sql or "user_version = " in sql or sql == "COMMIT":
            if not Mortal.left:
                os.kill(os.getpid(), signal.SIGKILL)
            Mortal.left -= 1
        return super().execute(sql, *args)


@pytest.mark.parametrize("step", range(STEPS + 1))
def test_one_killed_at_any_step_leaves_every_event(path, events, step):
    with warnings.catch_warnings():
        # Python 3.12 warns of threads, and this process may have some.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            Mortal.left = step + 1  # a reading transaction looks at the file before
            connect = sqlite3.connect
            sqlite3.connect = lambda *args, **rest: connect(*args, factory=Mortal, **rest)
            open_store(path, create=True)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    with closing(open_store(path, create=False)) as store:
        assert store.read_all() == events
    assert file_format(path) == 1
    with closing(open_store(path, create=True, busy_timeout=0)) as store:
        assert store.read_all() == events
    assert file_format(path) == 3
