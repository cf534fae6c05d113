"""OpenTelemetry's SDK sees what the journal's metrics say."""

import gc
import subprocess
import sys
import weakref
from contextlib import closing

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from journal import Journal
from journal.errors import JournalClosed
from journal.metrics import BATCH_BOUNDS, SYNC_BOUNDS
from journal.telemetry import observe
from tests import samples

UNITS = {
    "runjournal.batch.events": "{event}",
    "runjournal.bytes": "By",
    "runjournal.commits": "{commit}",
    "runjournal.events": "{event}",
    "runjournal.failed": "{call}",
    "runjournal.lease.failures": "{attempt}",
    "runjournal.lease.renewals": "{lease}",
    "runjournal.queue.bytes": "By",
    "runjournal.queue.callers": "{caller}",
    "runjournal.queue.events": "{event}",
    "runjournal.repeated": "{event}",
    "runjournal.sync.duration": "s",
    "runjournal.wait.longest": "s",
    "runjournal.writes": "{call}",
}


class Provider:
    """The real SDK, read by hand."""

    def __init__(self):
        self.reader = InMemoryMetricReader()
        self.provider = MeterProvider([self.reader], shutdown_on_exit=False)

    def close(self):
        self.provider.shutdown()

    def metrics(self):
        data = self.reader.get_metrics_data()
        scopes = data.resource_metrics[0].scope_metrics if data else []
        return {metric.name: metric for scope in scopes for metric in scope.metrics}

    def points(self, name):
        """The points of an instrument, by location."""
        metric = self.metrics().get(name)
        points = metric.data.data_points if metric else []
        return {point.attributes["runjournal.location"]: point for point in points}

    def value(self, name, location):
        return self.points(name)[str(location)].value


@pytest.fixture
def sdk():
    with closing(Provider()) as provider:
        yield provider


def write(journal, run_id="r", batches=(1, 10)):
    with journal.run(run_id, session_id="s") as run:
        at = 0
        for size in batches:
            run.append_many([samples.record(at + n) for n in range(size)])
            at += size


def test_every_metric_is_an_instrument_with_its_unit(sdk, tmp_path):
    with Journal.open(tmp_path / "j.db") as journal:
        observe(journal, sdk.provider)
        write(journal)
        assert {name: metric.unit for name, metric in sdk.metrics().items()} == UNITS


def test_the_sdk_sees_what_the_snapshot_says(sdk, tmp_path):
    with Journal.open(tmp_path / "j.db") as journal:
        observe(journal, sdk.provider)
        write(journal)
        found = journal.metrics()
        for name, field in (
            ("runjournal.events", "events"),
            ("runjournal.commits", "commits"),
            ("runjournal.writes", "writes"),
            ("runjournal.bytes", "bytes"),
            ("runjournal.queue.events", "queue_events"),
            ("runjournal.wait.longest", "longest_wait_seconds"),
        ):
            assert sdk.value(name, journal.location) == getattr(found, field)
        [batches] = sdk.points("runjournal.batch.events").values()
        [syncs] = sdk.points("runjournal.sync.duration").values()
    assert batches.explicit_bounds == BATCH_BOUNDS
    assert batches.bucket_counts == found.batch_events.counts
    assert (batches.sum, batches.max) == (found.batch_events.sum, found.batch_events.max)
    assert syncs.explicit_bounds == SYNC_BOUNDS
    assert syncs.bucket_counts == found.sync_seconds.counts
    assert syncs.sum == pytest.approx(found.sync_seconds.sum)


def test_journals_are_told_apart_by_their_location(sdk, tmp_path):
    with Journal.open(tmp_path / "a.db") as a, Journal.open(tmp_path / "b.db") as b:
        observe(a, sdk.provider)
        observe(b, sdk.provider)
        write(a, batches=(3,))
        write(b, batches=(5,))
        counted = {at: point.value for at, point in sdk.points("runjournal.events").items()}
        assert counted == {a.location: a.metrics().events, b.location: b.metrics().events}
        assert b.metrics().events - a.metrics().events == 2


def test_journals_at_one_location_are_added_up(sdk, tmp_path):
    with Journal.open(tmp_path / "j.db") as one, Journal.open(tmp_path / "j.db") as other:
        observe(one, sdk.provider)
        observe(other, sdk.provider)
        write(one, "r1")
        write(other, "r2")
        both = one.metrics().events + other.metrics().events
        assert sdk.value("runjournal.events", one.location) == both


def test_what_a_closed_journal_counted_stays_and_is_added_to(sdk, tmp_path):
    with Journal.open(tmp_path / "j.db") as journal:
        observe(journal, sdk.provider)
        write(journal)
    first = journal.metrics().events
    assert sdk.value("runjournal.events", journal.location) == first
    assert sdk.points("runjournal.queue.events") == {}
    with Journal.open(tmp_path / "j.db") as journal:
        observe(journal, sdk.provider)
        write(journal, "r2")
        again = journal.metrics().events
        assert sdk.value("runjournal.events", journal.location) == first + again


def test_observing_twice_counts_once(sdk, tmp_path):
    with Journal.open(tmp_path / "j.db") as journal:
        observe(journal, sdk.provider)
        observe(journal, sdk.provider)
        write(journal)
        [batches] = sdk.points("runjournal.batch.events").values()
        assert batches.count == journal.metrics().commits
        assert sdk.value("runjournal.events", journal.location) == journal.metrics().events


def test_two_providers_may_observe_one_journal(sdk, tmp_path):
    with closing(Provider()) as other, Journal.open(tmp_path / "j.db") as journal:
        observe(journal, sdk.provider)
        observe(journal, other.provider)
        write(journal)
        assert sdk.value("runjournal.events", journal.location) == journal.metrics().events
        assert other.value("runjournal.events", journal.location) == journal.metrics().events


def test_a_closed_journal_is_not_kept_alive_and_a_provider_neither(tmp_path):
    sdk = Provider()
    journal = Journal.open(tmp_path / "j.db")
    observe(journal, sdk.provider)
    write(journal)
    journal.close()
    gone = weakref.ref(journal)
    del journal
    gc.collect()
    assert gone() is None
    assert len(sdk.points("runjournal.events")) == 1
    sdk.close()
    gone = weakref.ref(sdk.provider)
    del sdk
    gc.collect()
    assert gone() is None


def test_a_closed_journal_is_refused(sdk):
    with Journal.open("memory://") as journal:
        pass
    with pytest.raises(JournalClosed):
        observe(journal, sdk.provider)


def run_program(program):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False
    )


def test_the_process_provider_may_be_set_before_or_afterwards(tmp_path):
    program = f"""
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from journal import Journal
from journal.telemetry import observe

reader = InMemoryMetricReader()
with Journal.open({str(tmp_path / "a.db")!r}) as a, Journal.open({str(tmp_path / "b.db")!r}) as b:
    observe(a)
    metrics.set_meter_provider(MeterProvider([reader]))
    observe(b)
    observe(b, metrics.get_meter_provider())
    a.run("r", session_id="s")
    b.run("r", session_id="s")
    found = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
    for metric in found:
        if metric.name in ("runjournal.events", "runjournal.batch.events"):
            assert len(metric.data.data_points) == 2, metric
print("seen")
"""
    done = run_program(program)
    assert (done.stdout, done.stderr, done.returncode) == ("seen\n", "", 0)


def test_without_the_extra_the_import_says_what_to_install():
    done = run_program("import sys; sys.modules['opentelemetry'] = None; import journal.telemetry")
    assert done.returncode == 1
    assert "ImportError" in done.stderr
    assert "needs pip install 'runjournal[otel]'" in done.stderr


def test_the_journal_itself_never_imports_it():
    done = run_program(
        "import sys, journal; from journal import Journal; Journal.open('memory://').close();"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
