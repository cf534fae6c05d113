"""Whenever an archiver is killed, whole segments are left, and the next one goes on."""

import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from journal.errors import ArchiveNotFound
from journal.findings import Severity
from projections.archive import pieces
from projections.archive.verify import verify
from tests.unit import archive_files
from tests.unit.archive_files import archive, archived, segments, stored, three_days

ROOT = Path(__file__).parents[2]
EVENTS = 25
"""Of a segment, so that there are many to be killed in."""


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "SEGMENT_EVENTS", EVENTS)
    monkeypatch.setattr(pieces, "REST", 0)
    return three_days(tmp_path / "runs.db", monkeypatch)


@contextmanager
def archiver(path, to):
    """An archiver at work."""
    command = [sys.executable, "-m", "tests.crash.archivers", path, to, str(EVENTS)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        try:
            assert process.stdout.readline() == b"begins\n", process.stderr.read().decode()
            yield process
        finally:
            process.kill()


def look(to, events):
    """See that what is left is a whole beginning; give how many events it has."""
    try:
        verified = verify(to)
    except ArchiveNotFound:
        return 0
    assert [each for each in verified.findings if each.severity is Severity.WRONG] == []
    assert {each.code for each in verified.findings} <= {"file.left"}
    assert archived(to) == events[: verified.events]
    return verified.events


def test_killed_at_any_moment_it_goes_on_to_the_same_archive(path, tmp_path):
    events = stored(path)
    undisturbed = tmp_path / "undisturbed"
    archive(path, undisturbed)
    to, reached, killed = tmp_path / "archive", 0, 0
    chance = random.Random(7)
    for _ in range(6):
        with archiver(path, to) as process:
            time.sleep(chance.random() * 0.1)
            process.send_signal(signal.SIGKILL)
            done = process.communicate()[0] == b"done\n"
        killed += not done
        now = look(to, events)
        assert now >= reached
        reached = now
        if done:
            break
    assert killed
    archive(path, to)
    assert archived(to) == events
    assert archive_files.without_times(to) == archive_files.without_times(undisturbed)
    for kind in ("events", "rows", "runs"):
        for one, other in zip(segments(to), segments(undisturbed), strict=True):
            assert one.file(kind) == other.file(kind)
    assert {*archive_files.files(to)} == {*archive_files.files(undisturbed)}
    assert list((to / ".tmp").iterdir()) == []


@pytest.mark.parametrize("after", [1, 3, 4, 6])
def test_killed_after_any_file_it_goes_on(path, tmp_path, after):
    """Killed by itself right after it made so many files, as nobody's timing could."""
    events, to = stored(path), tmp_path / "archive"
    script = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from tests.crash import archivers\n"
        "from projections.archive import local_place\n"
        f"left = [{after}]\n"
        "def count(function):\n"
        "    def made(*args, **kwargs):\n"
        "        given = function(*args, **kwargs)\n"
        "        left[0] -= 1\n"
        "        if not left[0]:\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
        "        return given\n"
        "    return made\n"
        "Path.replace = count(Path.replace)\n"
        "local_place._put = count(local_place._put)\n"
        f"archivers.main({str(path)!r}, {str(to)!r}, {EVENTS})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, cwd=ROOT, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert look(to, events) == after // 4 * EVENTS
    left = {"file.left"} if after % 4 else set()
    if after >= 4:
        assert {each.code for each in verify(to).findings} == left
    archive(path, to)
    assert verify(to).findings == ()
    assert archived(to) == events


def test_two_archivers_at_once_make_one_archive(path, tmp_path):
    events, to = stored(path), tmp_path / "archive"
    with archiver(path, to) as one, archiver(path, to) as two:
        outcomes = [(process.communicate(), process.returncode) for process in (one, two)]
    assert any(code == 0 for _, code in outcomes)
    for (_, error), code in outcomes:
        assert code == 0 or b"ArchiveBusy" in error
    assert archived(to) == events
    assert verify(to).findings == ()
