"""Whatever ends a process that drops runs, each run is here or in the archive, as it was."""

import shutil
import signal
import time
from contextlib import closing

import pytest

from journal import Journal
from journal.doctor import examine
from journal.errors import RunIsArchived
from journal.export import export_run
from journal.ids import run_stream
from projections import LATEST, list_runs, replay, session_record
from projections.archive.dropping import drop_archived
from projections.archive.opened import open_archive
from projections.archive.union import with_archive
from projections.archive.writing import write_archive
from tests import samples
from tests.crash.check import engine_finds_no_fault
from tests.crash.fork_server import ForkServer
from tests.crash.receipts import wait_for
from tests.dropped import history, write_run

MOST = 200
"""Commits of one dropping, at most."""


@pytest.fixture(scope="module")
def server():
    with ForkServer("tests.crash.droppers") as server:
        yield server


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A journal with runs that may go, one that builds on them, and its archive."""
    folder = tmp_path_factory.mktemp("made")
    with Journal.open(folder / "runs.db") as journal:
        write_run(journal, "a", records=30, messages=4)
        write_run(journal, "b", records=3, messages=5)
        fork = journal.fork(replay(journal, "b", LATEST), "f")
        fork.append(samples.record(40))
        fork.release()
        journal.set_status("f", "completed")
        write_run(journal, "stays", messages=6, status=None)
        journal.save_session(samples.session_record(state=samples.context(history(7))))
        write_archive(journal, folder / "archive", before=2**62)
    return folder


@pytest.fixture
def path(made, tmp_path):
    shutil.copy(made / "runs.db", tmp_path / "runs.db")
    return tmp_path / "runs.db"


def view(journal, run_id):
    shown = replay(journal, run_id, LATEST)
    return shown.messages, shown.checkpoint, [*shown.tail], shown.live.status


def state(journal):
    """All that can be told of the runs and their session."""
    runs = {run.run_id: view(journal, run.run_id) for run in list_runs(journal)}
    return runs, session_record(journal, "s")


def lines(journal):
    ids = [run.run_id for run in list_runs(journal)]
    return {run_id: [*export_run(journal.reader, run_id)] for run_id in ids}


@pytest.fixture(scope="module")
def wanted(made):
    with Journal.open(made / "runs.db") as journal:
        return state(journal), lines(journal)


def check(path, place, wanted):
    """Nothing is lost: neither here, nor with the archive."""
    engine_finds_no_fault(path)
    assert examine(path).is_sound
    runs, exported = wanted[0][0], wanted[1]
    with Journal.open(path) as journal:
        assert session_record(journal, "s") == wanted[0][1]
        for run_id, shown in runs.items():
            try:
                assert view(journal, run_id) == shown
            except RunIsArchived:
                assert run_id != "stays"
        with open_archive(place) as archive, closing(with_archive(journal, archive)) as both:
            assert state(both) == wanted[0]
            found = lines(both)
            for run_id, before in exported.items():
                kept = [line for line in found[run_id] if line.get("name") != "document.copied.v1"]
                assert kept == before


def finish(path, place):
    with Journal.open(path) as journal:
        drop_archived(journal, place)
        for run_id in ("a", "b", "f"):
            assert [e.name for e in journal._store.read_stream(run_stream(run_id))] == [
                "run.archived.v1"
            ]


def test_a_dropping_killed_before_any_commit_loses_nothing(server, made, path, wanted):
    place = made / "archive"
    for dies_before in range(0, MOST, 6):
        shutil.copy(made / "runs.db", path)
        for left in path.parent.glob("runs.db?*"):
            left.unlink()
        ended = server.wait(server.start("drop", path=path, place=place, dies_before=dies_before))
        assert ended in (0, -signal.SIGKILL)
        check(path, place, wanted)
        finish(path, place)
        check(path, place, wanted)
        if not ended:
            break
    assert 10 < dies_before < MOST


def test_two_who_drop_at_once_and_one_who_writes_lose_nothing(server, made, path, wanted, tmp_path):
    place = made / "archive"
    for round_ in range(4):
        receipts = tmp_path / f"receipts{round_}"
        shutil.copy(made / "runs.db", path)
        for left in path.parent.glob("runs.db?*"):
            left.unlink()
        writer = server.start(
            "write_on", path=path, receipts=receipts, session_id="s", first=100 * round_
        )
        wait_for(receipts, lambda left: left.notes)
        droppers = [server.start("drop", path=path, place=place) for _ in range(2)]
        assert [server.wait(pid) for pid in droppers] == [0, 0]
        written = len(wait_for(receipts, lambda left: left.notes).notes)
        wait_for(receipts, lambda left, written=written: len(left.notes) > written)
        server.kill(writer)
        time.sleep(0.01)
        finish(path, place)
        assert examine(path).is_sound
        with Journal.open(path) as journal:
            assert view(journal, "stays") == wanted[0][0]["stays"]
            for run_id in wait_for(receipts, lambda left: left.notes).notes:
                messages = replay(journal, run_id, LATEST).messages
                assert [each["parts"][0]["content"] for each in messages] == [
                    f"{run_id} {at} " * 20 for at in range(8)
                ]
