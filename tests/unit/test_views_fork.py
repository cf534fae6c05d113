"""A forked child may use the views, and does no harm to its parent's."""

import signal
import threading
from contextlib import closing

import pytest

from journal.stores import open_store, open_views, sqlite_views_file
from journal.stores.views import ViewsUnusable
from tests.unit.test_sqlite_fork import in_child
from tests.unit.view_files import RUN, fill, journal_file, open_beside, views_of

TOLD = {
    "what was in memory is gone",
    "this process was forked while its parent used the file",
}
"""What a child is told that did not get the views in order."""


@pytest.fixture(autouse=True)
def _look_always(monkeypatch):
    monkeypatch.setattr("journal.stores.sqlite_file.LOOK_EVERY", 0)


@pytest.fixture
def path(tmp_path):
    return journal_file(tmp_path / "runs.db")


@pytest.fixture(params=[False, True], ids=["file", "memory"])
def views(request, path):
    with (
        closing(open_store(path, create=True)) as store,
        closing(open_views(store, 1, in_memory=request.param)) as views,
    ):
        yield views


def version(views):
    with views.reading() as rows:
        return rows.tracked(RUN).version


def in_time(work):
    def limited():
        signal.alarm(20)  # a child that waits for ever ends without an answer
        return work()

    return in_child(limited)


def test_a_child_reads_and_writes_and_closes(views):
    fill(views, version=5)

    def work():
        before = version(views)
        fill(views, version=6)
        views.close()
        return before

    assert in_time(work) == "5"
    assert version(views) == (5 if views.location == "memory" else 6)
    fill(views, version=7)
    assert version(views) == 7


def test_a_parent_keeps_its_locks(path):
    with closing(open_beside(path)) as views:
        fill(views, version=5)
        for at in range(3):
            assert in_time(lambda: version(views)) == "5"
            assert version(views) == 5
            with closing(open_beside(path)) as other:
                assert version(other) == 5
            assert views_of(path).with_name("runs.db.views-wal").exists(), at


def test_a_fork_within_a_transaction_leaves_it_to_the_parent(views, monkeypatch):
    monkeypatch.setattr(sqlite_views_file, "WAIT", 0.05)
    fill(views, version=5)

    def work():
        try:
            return version(views)
        except ViewsUnusable as error:
            return error.reason

    with views.writing() as rows:
        rows.put_document(RUN, 99, b"root")
        answer = in_time(work)
    assert answer in TOLD
    with views.reading() as rows:
        assert rows.document(RUN, 99) == (99, b"root")


def test_a_fork_while_another_thread_writes(views, monkeypatch):
    monkeypatch.setattr(sqlite_views_file, "WAIT", 0.05)
    fill(views, version=5)
    begun, forked = threading.Event(), threading.Event()

    def write():
        with views.writing() as rows:
            rows.put_document(RUN, 99, b"root")
            begun.set()
            forked.wait(20)

    def work():
        try:
            return version(views)
        except ViewsUnusable as error:
            return error.reason

    thread = threading.Thread(target=write)
    thread.start()
    begun.wait(20)
    answer = in_time(work)
    forked.set()
    thread.join(20)
    assert answer in TOLD
    with views.reading() as rows:
        assert rows.document(RUN, 99) == (99, b"root")


def test_a_child_that_finds_another_file_does_not_mix_them(path):
    with closing(open_beside(path)) as views:
        fill(views)

        def work():
            try:
                return version(views)
            except ViewsUnusable as error:
                return error.reason

        for name in ("runs.db.views", "runs.db.views-wal", "runs.db.views-shm"):
            path.with_name(name).unlink()
        with closing(open_beside(path)) as new:
            fill(new, version=7)
            assert in_time(work) == "the file was replaced"
            with pytest.raises(ViewsUnusable, match="replaced"):
                version(views)
            assert version(new) == 7
        views_of(path).unlink()
        assert in_time(work) == "the file was removed"
