"""A journal of four days and its archive of four segments, to damage and to ask."""

from contextlib import ExitStack, contextmanager

from journal.stores.audit import Wanted
from projections import replay
from projections.archive.opened import open_archive
from tests.unit.archive_files import DAY, NOON, Clock, archive, journal_at, segments, tell

LIMITS = {"rows": 1000, "seconds": 20, "megabytes": 512}
"""Of a statement."""


def four_days(path, monkeypatch):
    """A journal in which `long` goes on over three days, the other runs are of one each."""
    clock = Clock(NOON)
    with journal_at(path, monkeypatch, clock) as journal:
        at = 0
        for day in range(4):
            with journal.run(f"day-{day}", session_id="s") as run:
                tell(run, text=f"said on day {day}")
            if day < 3:
                with journal.run("long", session_id="s") as run:
                    at = tell(run, at)
            clock.now += DAY
    return path


def archived(path):
    """Archive it whole beside itself."""
    archive(path, path.parent / "archive")
    return path.parent / "archive"


@contextmanager
def opener(place):
    """Lend what opens the archive, as often as wanted; each is closed at the end."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(open_archive(place))


def file_of(place, number, kind):
    return place / segments(place)[number - 1].file(kind).path


def flip(path, at=-200):
    content = bytearray(path.read_bytes())
    content[at] ^= 0xFF
    path.write_bytes(content)


def on_day(day):
    return Wanted(since=NOON + day * DAY - DAY // 2, until=NOON + day * DAY + DAY // 2)


def reads(archive, run_id):
    return replay(archive, run_id).to_json()["run_id"] == run_id
