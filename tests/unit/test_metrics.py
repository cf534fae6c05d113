"""A journal counts what it writes, and a snapshot of the counts is plain data."""

import json
import logging
import threading
from dataclasses import FrozenInstanceError
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal import AsyncJournal, Journal
from journal.errors import RecordConflict
from journal.metrics import BATCH_BOUNDS, SYNC_BOUNDS, Meter
from tests import samples


class Ear:
    """A listener that remembers."""

    def __init__(self, fails=False):
        self.heard = []
        self.closings = 0
        self.fails = fails

    def committed(self, events, seconds):
        self.heard.append((events, seconds))
        if self.fails:
            raise RuntimeError("no ear for this")

    def closed(self):
        self.closings += 1
        if self.fails:
            raise RuntimeError("no end to this")


def test_nothing_is_counted_before_something_happens():
    found = Meter().snapshot()
    histograms = {"batch_events", "sync_seconds"}
    numbers = {k: v for k, v in found.to_json().items() if k not in {"schema", "schema_version"}}
    assert all(numbers[name]["count"] == numbers[name]["max"] == 0 for name in histograms)
    assert all(value == 0 for name, value in numbers.items() if name not in histograms)


def test_each_count_is_of_what_it_says():
    meter = Meter()
    meter.queued(10, 1000)
    meter.queued(5, 500)
    meter.taken(10, 1000)
    meter.waiting(3)
    meter.committed(2, 10, 1000, 0.02)
    meter.committed(1, 1, 80, 0.001, waited=0.7)
    meter.repeated(4)
    meter.failed(2)
    meter.renewed(6)
    meter.renewal_failed()
    found = meter.snapshot()
    assert (found.queue_events, found.queue_bytes, found.waiting) == (5, 500, 3)
    assert (found.commits, found.writes, found.events, found.bytes) == (2, 3, 11, 1080)
    assert (found.repeated, found.failed) == (4, 2)
    assert (found.renewals, found.renewal_failures) == (6, 1)
    assert found.longest_wait_seconds == 0.7
    assert (found.batch_events.sum, found.batch_events.max) == (11, 10)
    assert found.sync_seconds.sum == pytest.approx(0.021)
    assert found.sync_seconds.max == 0.02


@given(st.lists(st.integers(min_value=1, max_value=10**6)))
def test_every_batch_is_in_the_bucket_whose_bounds_hold_it(sizes):
    meter = Meter()
    for size in sizes:
        meter.committed(1, size, 0, 0.0)
    found = meter.snapshot().batch_events
    lowest = (0, *BATCH_BOUNDS)
    highest = (*BATCH_BOUNDS, float("inf"))
    assert found.counts == tuple(
        sum(low < size <= high for size in sizes) for low, high in zip(lowest, highest, strict=True)
    )
    assert (found.count, found.sum, found.max) == (len(sizes), sum(sizes), max(sizes, default=0))


def test_bounds_of_batches_are_powers_of_two_and_those_of_time_rise():
    assert BATCH_BOUNDS[:5] == (1, 2, 4, 8, 16)
    assert list(SYNC_BOUNDS) == sorted(set(SYNC_BOUNDS))
    assert all(a * 2 == b for a, b in pairwise(BATCH_BOUNDS))


def test_a_snapshot_never_changes():
    meter = Meter()
    meter.committed(1, 1, 10, 0.01)
    before = meter.snapshot()
    text = json.dumps(before.to_json())
    meter.committed(1, 1, 10, 0.01)
    assert json.dumps(before.to_json()) == text
    with pytest.raises(FrozenInstanceError):
        before.events = 7


def test_its_json_names_its_schema_and_every_field():
    found = Meter().snapshot()
    assert found.to_json()["schema"] == "runjournal.metrics"
    assert found.to_json()["schema_version"] == 1
    assert set(type(found).__dataclass_fields__) == set(found.to_json()) - {
        "schema",
        "schema_version",
    }


def test_a_listener_that_fails_is_told_of_in_the_log_and_hears_no_more(caplog):
    meter, deaf, good = Meter(), Ear(fails=True), Ear()
    meter.listen(deaf)
    meter.listen(good)
    with caplog.at_level(logging.ERROR):
        meter.committed(1, 2, 10, 0.01)
        meter.committed(1, 3, 10, 0.01)
    assert good.heard == [(2, 0.01), (3, 0.01)]
    assert deaf.heard == [(2, 0.01)]
    assert "no ear for this" in caplog.text
    assert meter.snapshot().commits == 2


def test_listeners_hear_of_the_end_once():
    meter, ear = Meter(), Ear()
    meter.listen(ear)
    assert not meter.closed
    meter.close()
    meter.close()
    assert meter.closed
    assert ear.closings == 1


def test_a_listener_that_fails_at_the_end_keeps_it_from_nobody(caplog):
    meter, deaf, good = Meter(), Ear(fails=True), Ear()
    meter.listen(deaf)
    meter.listen(good)
    with caplog.at_level(logging.ERROR):
        meter.close()
    assert (deaf.closings, good.closings) == (1, 1)
    assert "no end to this" in caplog.text


def test_a_journal_counts_what_it_writes(journal):
    run = journal.run("r", session_id="s")
    before = journal.metrics()
    run.append(samples.record(0))
    run.append_many([samples.record(n) for n in range(1, 11)])
    run.append(samples.record(0))
    with pytest.raises(RecordConflict):
        run.append(samples.delta(0, "x"))
    found = journal.metrics()
    assert found.events - before.events == 11
    assert found.commits - before.commits == found.writes - before.writes == 2
    assert found.batch_events.max >= 10
    assert (found.repeated - before.repeated, found.failed - before.failed) == (1, 1)
    assert found.bytes - before.bytes >= 11 * len('{"record":{"sequence":0,"event":{}}}')
    assert found.sync_seconds.count == found.commits
    assert found.longest_wait_seconds >= found.sync_seconds.max > 0
    assert (found.queue_events, found.queue_bytes, found.waiting) == (0, 0, 0)


def test_calls_of_many_threads_are_all_counted(tmp_path):
    with Journal.open(tmp_path / "j.db") as journal:
        runs = [journal.run(f"r{n}", session_id="s") for n in range(16)]
        before = journal.metrics()

        def append(run):
            for n in range(20):
                run.append(samples.record(n))

        threads = [threading.Thread(target=append, args=(run,)) for run in runs]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            seen = journal.metrics()
            assert 0 <= seen.queue_events <= 16
        for thread in threads:
            thread.join()
        found = journal.metrics()
    assert found.events - before.events == found.writes - before.writes == 320
    assert found.commits - before.commits <= 320
    assert (found.queue_events, found.queue_bytes, found.waiting) == (0, 0, 0)


@pytest.mark.anyio
async def test_calls_of_tasks_are_counted_too():
    async with AsyncJournal.open("memory://") as journal:
        run = await journal.run("r", session_id="s")
        before = journal.sync.metrics()
        await run.append(samples.record(0))
        found = journal.sync.metrics()
    assert (found.events - before.events, found.writes - before.writes) == (1, 1)


def test_closing_the_journal_ends_the_counting(tmp_path):
    with Journal.open(tmp_path / "j.db") as journal:
        journal.run("r", session_id="s").append(samples.record(0))
        assert not journal.meter.closed
    assert journal.meter.closed
    assert journal.metrics().events > 0
