"""Journals whose first half is in an archive, to be read live, archived and as one."""

import random
from contextlib import ExitStack, contextmanager

from journal import Journal
from journal.errors import JournalError
from journal.export import export_run
from journal.times import format_time
from projections import log, parse_cursor, replay
from projections.archive.opened import open_archive
from projections.archive.union import with_archive
from projections.archive.writing import write_archive
from tests.unit.archive_files import EVER, HOUR, NOON, journal_at


class Ticking:
    """A clock that goes on by an hour each time it is looked at: segments stay small."""

    def __init__(self, step=HOUR):
        self.now = NOON
        self._step = step

    def __call__(self):
        self.now += self._step
        return self.now


@contextmanager
def ways(path, monkeypatch, fill, *, step=HOUR):
    """Give ways to read what a function records: live, archived, and half of it archived."""
    with journal_at(path, monkeypatch, Ticking(step)) as journal:
        fill(journal)
    folder = path.parent
    with Journal.open(path, create=False) as journal, ExitStack() as stack:
        events = list(journal.reader.all_events())
        times = sorted({each.stored_at for each in events})
        middle = events[len(events) // 2].stored_at
        # What is stored at once is archived at once.
        before = middle if middle > times[0] else [*times, EVER][1]
        write_archive(journal, folder / "whole", before=EVER)
        write_archive(journal, folder / "half", before=before)
        whole = stack.enter_context(open_archive(folder / "whole"))
        half = stack.enter_context(open_archive(folder / "half"))
        assert whole.last_position == len(events)
        assert (half.last_position < len(events)) is (len(times) > 1)
        union = with_archive(journal, half)
        stack.callback(union.close)
        yield {"live": journal, "archived": whole, "half": union}


def cursors_of(journal, run_id, count, seed=1):
    """Choose cursors of every kind, some of them out of range."""
    events = list(journal.reader.run_events(run_id))
    anchors = [each.anchor for each in log(journal, run_id)]
    checkpoints = [e.data["checkpoint_id"] for e in events if e.name == "checkpoint.taken.v1"]
    messages = max(
        (e.data["messages"] for e in events if e.name == "checkpoint.taken.v1"), default=0
    )
    chosen = random.Random(seed)
    ways = [
        lambda: "latest",
        lambda: f"stream:{max(0, chosen.choice([*anchors, max(anchors) + 1]))}",
        lambda: f"message:{chosen.randint(0, messages + 2)}",
        lambda: f"message:{chosen.randint(0, messages + 1)}@{chosen.randint(1, 2)}",
        lambda: f"checkpoint:{chosen.choice([*checkpoints, 'none'])}",
        lambda: f"step:{chosen.randint(0, 12)}",
        lambda: f"version:{chosen.randint(1, len(events) + 1)}",
        lambda: f"time:{format_time(chosen.choice(events).recorded_at)}",
    ]
    return [chosen.choice(ways)() for _ in range(count)]


def view(reading, run_id, cursor):
    """What a replay gives, or the error of it."""
    try:
        return replay(reading, run_id, at=parse_cursor(cursor)).to_json()
    except JournalError as error:
        return [type(error).__name__, error.message]


def whole(reading, run_id):
    """A run's log and its interchange lines."""
    entries = [each.to_json() for each in log(reading, run_id)]
    return entries, list(export_run(reading.reader, run_id))
