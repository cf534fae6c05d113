"""A power cut loses nothing receipted under `full`, and only the last commits under `relaxed`.

The cut is simulated: what SQLite wrote and did not sync is dropped, in part or as a whole.
`RUNJOURNAL_CUTS` sets the number of cuts of each recording (40), `RUNJOURNAL_SEED` where.
"""

import itertools
import os
import random
import shutil
from pathlib import Path

import pytest

from journal import Journal
from journal.errors import JournalError
from tests import samples
from tests.crash import content
from tests.crash.check import Found, engine_finds_no_fault
from tests.crash.power_cut import Disk
from tests.crash.recording_disk import Noted, recording
from tests.crash.writers import PROGRAMS, Job

CUTS = int(os.environ.get("RUNJOURNAL_CUTS", "12"))
OLD = Path(__file__).parents[1] / "fixtures" / "journals" / "format-1.journal"
SEED = os.environ.get("RUNJOURNAL_SEED", "1")


class Receipts:
    """Takes a writer's receipts into the log of the disk, in order."""

    def __init__(self, disk):
        self._disk = disk

    def begin(self, *_):
        pass

    def got(self, run_id, receipts, values, first):
        for one in content.receipted(run_id, receipts, values, first):
            self._disk.note(one)


class Recorded:
    """What a program wrote, and the disk's log of it."""

    def __init__(self, path, write):
        self.path = path
        with recording() as disk:
            write(path, disk)
        self.log = disk.log
        with Journal.open(path, create=False) as journal:
            self.events = [*journal.reader.all_events()]

    def first_receipt(self):
        return next(at for at, step in enumerate(self.log) if isinstance(step, Noted))

    def points(self, count, within=None):
        """Choose points to cut at."""
        steps = within or range(len(self.log))
        return random.Random(f"{SEED}/{len(self.log)}").sample(steps, min(count, len(steps)))

    def cut(self, points, folder, *, obeys_syncs=True):
        """Cut the power at points; yields each time what is left, and what was receipted."""
        chance = random.Random(f"{SEED}/{folder.name}")
        disk = Disk(self.log, obeys_syncs=obeys_syncs)
        for number, point in enumerate(sorted(points)):
            disk.run_to(point)
            left = folder / str(number)
            left.mkdir(parents=True)
            disk.cut_into(left, chance)
            yield left / self.path.name, disk.noted
            shutil.rmtree(left)

    def lost(self, path, receipted):
        """Open what a cut left and check it.

        Returns:
            The number of receipted events that are lost; all others are before them.
        """
        with Journal.open(path) as journal:
            found = Found(journal)
            there = len(found.events)
            assert found.events == self.events[:there]
            found.holds([one for one in receipted if one.position <= there])
            with journal.run("after", session_id="s") as run:
                run.append(content.payload("after", 0))
            assert len([*journal.reader.all_events()]) > there
        engine_finds_no_fault(path)
        return sum(one.position > there for one in receipted)


def twice(program, **options):
    """Let a program write, close the journal, open it and write again."""

    def write(path, disk):
        chance = random.Random(f"{SEED}/{program}")
        PROGRAMS[program](Job(path, Receipts(disk), "twice", chance, options=options))

    return write


def until_the_log_was_moved(path, disk):
    """Write until SQLite moved its log into the file while the journal was open."""
    chance = random.Random(SEED)
    receipts = Receipts(disk)

    def some(run, numbers):
        for first in numbers:
            mark = {"first": first, "size": 5}
            values = [
                {**samples.delta(at, chance.randbytes(20_000).hex()), "batch": mark}
                for at in range(first, first + 5)
            ]
            receipts.got(run.run_id, run.append_many(values), values, first)

    with Journal.open(path) as journal, journal.run("r", session_id="s") as run:
        numbers = itertools.count(0, 5)
        begun = len(disk.log)
        while not disk.wrote(path, since=begun):
            some(run, itertools.islice(numbers, 1))
            assert path.with_name("runs.db-wal").stat().st_size < 200e6, "it is never moved"
        some(run, itertools.islice(numbers, 20))


@pytest.fixture(scope="module", params=PROGRAMS)
def full(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return Recorded(folder / "runs.db", twice(request.param))


def test_full_loses_nothing(full, tmp_path):
    for left, receipted in full.cut(full.points(CUTS), tmp_path):
        assert full.lost(left, receipted) == 0


def test_the_first_open_may_be_cut_anywhere(full, tmp_path):
    for left, receipted in full.cut(range(full.first_receipt()), tmp_path):
        assert full.lost(left, receipted) == 0


def test_full_loses_nothing_while_the_log_is_moved(tmp_path):
    recorded = Recorded(tmp_path / "runs.db", until_the_log_was_moved)
    file = recorded.log[0].file
    moving = [at for at, step in enumerate(recorded.log) if getattr(step, "file", 0) == file]
    points = {*recorded.points(CUTS // 4), *recorded.points(CUTS // 4, moving)}
    for left, receipted in recorded.cut(points, tmp_path / "cuts"):
        assert recorded.lost(left, receipted) == 0


def test_the_first_open_of_an_old_file_may_be_cut_anywhere(tmp_path):
    path = tmp_path / "runs.db"
    shutil.copyfile(OLD, path)
    with Journal.open(path, create=False) as journal:
        old = len([*journal.reader.all_events()])

    def write(path, disk):
        with Journal.open(path) as journal, journal.run("r") as run:
            for number in range(1000, 1010):
                disk.note(run.append(samples.record(number)).position)

    recorded = Recorded(path, write)
    assert len(recorded.events) >= old + 10
    for left, receipted in recorded.cut(range(1, len(recorded.log)), tmp_path / "cuts"):
        with Journal.open(left) as journal:
            events = [*journal.reader.all_events()]
            assert events == recorded.events[: len(events)]
            assert len(events) >= max([old, *receipted])
            assert journal.run("r").append(samples.record(2000))
        engine_finds_no_fault(left)


@pytest.mark.parametrize("program", PROGRAMS)
def test_relaxed_loses_the_last_commits_at_most(program, tmp_path):
    relaxed = Recorded(tmp_path / "runs.db", twice(program, durability="relaxed"))
    lost = [
        relaxed.lost(left, receipted)
        for left, receipted in relaxed.cut(relaxed.points(CUTS), tmp_path / "cuts")
    ]
    print("lost by", len(lost), "cuts:", lost)  # noqa: T201 - for -rP


def test_a_disk_that_ignores_syncs_loses_receipted_events(full, tmp_path):
    """The check bites: with such a disk it fails."""
    points = full.points(12, range(full.first_receipt(), len(full.log)))
    failed = 0
    for left, receipted in full.cut(points, tmp_path, obeys_syncs=False):
        try:
            failed += full.lost(left, receipted) > 0
        except (AssertionError, JournalError):
            failed += 1
    assert failed > 6
