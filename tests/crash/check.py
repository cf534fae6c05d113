"""What must hold of a journal whose writers died: nothing receipted is lost, nothing is half."""

import sqlite3
from collections import defaultdict
from contextlib import closing

from journal.doctor import examine
from journal.events import OPENINGS
from journal.ids import run_stream
from tests.crash import content


class Found:
    """Everything a journal holds, read without repair, and checked by itself.

    Args:
        journal: an open one.
    """

    def __init__(self, journal):
        self.events = list(journal.reader.all_events())
        """By position."""
        self.numbers = {}
        """Position of each run's numbers."""
        self._digests = {}
        self._journal = journal
        self._read()
        self._positions_and_versions_have_no_gap()
        self._openings_are_whole()
        self._batches_are_whole()

    def holds(self, receipted):
        """Check that every receipted event is there, where it was said to be, and equal.

        Returns:
            How many there were.
        """
        for one in receipted:
            assert one.position <= len(self.events), f"lost: {one}"
            event = self.events[one.position - 1]
            assert (event.stream, event.version) == (run_stream(one.run_id), one.version), one
            assert self.numbers[one.run_id, one.number] == one.position, one
            assert self._digests[one.position] == one.digest, one
        return len(receipted)

    def are_as_made(self):
        """Check that every event is what `content` makes of its number, receipted or not."""
        for (run_id, number), position in self.numbers.items():
            _, value = content.recorded(self._journal, self.events[position - 1])
            wanted = content.digest(content.expected(run_id, number, value))
            assert self._digests[position] == wanted, f"altered: {number} of {run_id}"

    def _read(self):
        for event in self.events:
            if event.name not in content.NOTED:
                continue
            number, value = content.recorded(self._journal, event)
            run_id = event.run_id
            assert (run_id, number) not in self.numbers, f"twice: {number} of {run_id}"
            self.numbers[run_id, number] = event.position
            self._digests[event.position] = content.digest(value)

    def _positions_and_versions_have_no_gap(self):
        assert [event.position for event in self.events] == [*range(1, len(self.events) + 1)]
        streams = defaultdict(list)
        for event in self.events:
            streams[event.stream].append(event.version)
        for stream, versions in streams.items():
            assert versions == [*range(1, len(versions) + 1)], stream
        for run_id in self._journal.reader.run_ids():
            by_run = [event.position for event in self._journal.reader.run_events(run_id)]
            stream = run_stream(run_id)
            assert by_run == [event.position for event in self.events if event.stream == stream]
        times = [event.recorded_at for event in self.events]
        assert times == sorted(times)

    def _openings_are_whole(self):
        opened = {e.run_id for e in self.events if e.name in OPENINGS}
        added = {e.data["run_id"] for e in self.events if e.name == "session.run_added.v1"}
        assert opened == added

    def _batches_are_whole(self):
        batches = defaultdict(list)
        for event in self.events:
            record = event.data.get("record", {})
            if "batch" in record:
                mark = record["batch"]
                held = batches[event.stream, mark["first"], mark["size"]]
                held.append((record["sequence"], event.version, event.position))
        for (stream, first, size), held in batches.items():
            _, version, position = held[0]
            whole = [(first + at, version + at, position + at) for at in range(size)]
            assert held == whole, f"a part of the batch {first} of {stream}"


def doctor_finds_no_fault(path):
    """Let the doctor look at the file as it was left, before anybody opens it."""
    report = examine(path, quick=True)
    assert report.is_sound, report.findings


def engine_finds_no_fault(path):
    """Let SQLite compare its indexes with its tables."""
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
