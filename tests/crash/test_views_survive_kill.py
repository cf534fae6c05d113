"""Whatever ends a process that writes views, what is left is one whole state of each stream."""

import os
import signal
import subprocess
import sys
import time
import warnings
from contextlib import closing, contextmanager, suppress

import pytest

from journal.ids import StreamId
from journal.stores.views import ViewsUnusable
from tests.crash.views_writer import look, put
from tests.unit.view_files import journal_file, open_beside, views_of

A, B = StreamId("run:a"), StreamId("run:b")


@pytest.fixture
def path(tmp_path):
    return journal_file(tmp_path / "runs.db")


@contextmanager
def writer(path, *streams):
    command = [sys.executable, "-m", "tests.crash.views_writer", path, *streams]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(process, count):
    """Read so many lines of a writer; each is one state it wrote, or why it could not."""
    found = [process.stdout.readline().decode().strip() for _ in range(count)]
    assert all(found), process.stderr.read().decode()
    return found


@pytest.mark.parametrize("after", [1, 2, 5, 40])
def test_a_killed_writer_leaves_whole_states(path, after):
    for _ in range(3):
        with writer(path, A, B) as process:
            lines(process, after)
            time.sleep(0.003)
            process.send_signal(signal.SIGKILL)
        with closing(open_beside(path)) as views:
            reached = look(views, A), look(views, B)
            assert min(reached) >= after
            assert put(views, A, 1) == look(views, A) == reached[0] + 1


def test_a_writer_killed_while_it_makes_the_file_leaves_nothing_in_the_way(path):
    for delay in range(0, 30, 3):
        for name in ("", "-wal", "-shm", "-journal"):
            views_of(path).with_name(f"runs.db.views{name}").unlink(missing_ok=True)
        with warnings.catch_warnings():
            # Python 3.12 warns of threads, and this process may have some.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            try:
                with closing(open_beside(path)) as views:
                    for version in range(1, 10**6):
                        put(views, A, version)
            finally:
                os._exit(1)
        time.sleep(delay / 2000)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with closing(open_beside(path)) as views:
            reached = look(views, A) or 0
            assert put(views, A, 1) == look(views, A) == reached + 1


def test_two_processes_write_the_same_streams(path):
    with writer(path, A, B) as one, writer(path, A, B) as two:
        told = lines(one, 60) + lines(two, 60)
        with closing(open_beside(path)) as views:
            for _ in range(20):
                assert put(views, A, 1) <= look(views, A)
    assert not [each for each in told if each.startswith("away")]
    with closing(open_beside(path)) as views:
        assert look(views, A) >= 60
        assert look(views, B) >= 60


def test_whoever_removes_the_file_stops_nobody(path):
    with writer(path, A) as one, writer(path, B) as two:
        lines(one, 3), lines(two, 3)
        for _ in range(8):
            for name in ("", "-wal", "-shm"):
                views_of(path).with_name(f"runs.db.views{name}").unlink(missing_ok=True)
            time.sleep(0.02)
            with suppress(ViewsUnusable), closing(open_beside(path)) as views:
                look(views, A), look(views, B)
        told = lines(one, 80) + lines(two, 80)
    assert {each.split(maxsplit=1)[-1] for each in told if each.startswith("away")} <= {
        "the file was removed or replaced",
        "the file was removed",
        "the file was replaced",
        "unable to open database file (SQLITE_CANTOPEN)",  # removed while SQLite opened it
    }
