"""A run is read and replayed from an archive, alone or with its journal, as from the journal."""

from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from journal import Journal
from journal.codec import decode
from journal.errors import JournalClosed, ReadOnly
from journal.json_door import dumps, equal
from journal.stores.interface import NewEvent
from projections.archive.opened import open_archive
from projections.archive.writing import write_archive
from tests import corpus, samples
from tests.laws.random_runs import runs
from tests.laws.test_random_runs import hand_in
from tests.recorded import FILES
from tests.unit.archive_files import EVER, HOUR, journal_at
from tests.unit.archived_runs import Ticking, cursors_of, view, ways, whole

CURSORS = {"session": 200}
"""Random cursors of a recorded session; there are three runs in this one."""
FEWER = 3
"""Of the others."""


@pytest.fixture(params=[2048, 3], ids=["whole", "in short stretches"])
def stretch(request, monkeypatch):
    monkeypatch.setattr("projections.archive.stretches.EVENTS_AT_ONCE", request.param)
    if request.param == 3:
        monkeypatch.setattr("projections.archive.events.TOGETHER", 2)
        monkeypatch.setattr("projections.archive.events.AHEAD", 4)
        monkeypatch.setattr("projections.archive.events.BYTES_AT_ONCE", 2000)
        monkeypatch.setattr("projections.archive.stretches.ROOM", 5000)


@pytest.mark.parametrize("name", FILES)
def test_recorded_runs_are_the_same_from_everywhere(tmp_path, monkeypatch, name):
    calls = corpus.Calls(name)
    step = HOUR // (40 if name == "long" else 4)
    with ways(tmp_path / "runs.db", monkeypatch, calls.give, step=step) as readings:
        live = readings["live"]
        count = CURSORS.get(name, FEWER) // len(calls.run_ids) + 1
        for run_id in calls.run_ids:
            expected = whole(live, run_id)
            for cursor in cursors_of(live, run_id, count):
                seen = [view(each, run_id, cursor) for each in readings.values()]
                assert equal(seen[0], seen[1]), cursor
                assert equal(seen[0], seen[2]), cursor
            for reading in readings.values():
                assert equal(whole(reading, run_id), expected)


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(run=runs(longest=20), seed=st.integers(0, 1000))
def test_random_runs_are_the_same_from_everywhere(tmp_path_factory, run, seed):
    folder = tmp_path_factory.mktemp("runs")
    with (
        pytest.MonkeyPatch.context() as patch,
        ways(folder / "runs.db", patch, lambda made: hand_in(made, run, as_text=False)) as readings,
    ):
        for cursor in cursors_of(readings["live"], "r", 10, seed):
            live, archived, half = [view(each, "r", cursor) for each in readings.values()]
            assert equal(live, archived), cursor
            assert equal(live, half), cursor
        expected = whole(readings["live"], "r")
        assert all(equal(whole(each, "r"), expected) for each in readings.values())


@pytest.fixture
def stores(tmp_path, monkeypatch):
    """The store of a journal, of an archive of all of it, and of both with half archived."""

    def fill(journal):
        for name in ("tools", "subagent", "approval", "session"):
            corpus.Calls(name).give(journal)
        with journal.run("own", session_id="s") as run:
            asked = samples.approval(run_id="own", session_id="s")
            run.approval(asked)
            decision = {
                "status": "approved",
                "decided_by": "ann",
                "decided_at": "2026-11-29T10:00:00Z",
            }
            run.approval(asked | {"status": "approved", "decision": decision})
            waiting = samples.deferred_tool(run_id="own", session_id="s")
            run.deferred_tool(waiting)
            run.deferred_tool(waiting | {"status": "completed", "response": 1})

    with ways(tmp_path / "runs.db", monkeypatch, fill) as readings:
        yield [each.reader.store for each in readings.values()]


def identities(store):
    """Every identity of an event that has one, with its stream."""
    found = []
    for stored in everything(store):
        data = decode(stored).data
        match stored.name:
            case "stream.recorded.v1":
                found.append((stored, data["record"]["sequence"]))
            case "checkpoint.taken.v1":
                found.append((stored, f"checkpoint:{data['checkpoint_id']}"))
            case "approval.requested.v1":
                found.append((stored, f"approval.requested:{data['record']['approval_id']}"))
            case "approval.decided.v1":
                found.append((stored, f"approval.decided:{data['record']['approval_id']}"))
            case "deferred_tool.requested.v1":
                record = data["record"]
                name = f"deferred_tool.requested.{record['status']}:{record['deferred_id']}"
                found.append((stored, name))
            case "deferred_tool.resolved.v1":
                found.append((stored, f"deferred_tool.resolved:{data['record']['deferred_id']}"))
            case "cursor.saved.v1":
                at = data["cursor"]
                at = at.get("position", at)
                found.append((stored, f"cursor:{at['family']}:{at['sequence']}"))
    return found


def everything(store):
    found, after = [], 0
    while page := store.read_all(after=after, limit=7):
        found += page
        after = page[-1].position
    return found


def stream_of(store, stream, **asked):
    """Read a stream to its end, in pages."""
    found = []
    newest_first = asked.get("newest_first", False)
    while page := store.read_stream(stream, limit=5, **asked):
        assert len(page) <= 5
        found += page
        if newest_first:
            asked["upto"] = page[-1].version - 1
        else:
            asked["after"] = page[-1].version
        if asked.get("upto") == 0:
            break
    return found


def streams_of(store, prefix):
    found, before = [], None
    while page := store.streams(prefix=prefix, before=before, limit=2):
        found += page
        before = page[-1][1]
    return found


class TestAnswersOfAStore:
    def test_all_events_come_in_order(self, stores, stretch):
        live, *others = stores
        for store in others:
            assert everything(store) == everything(live)
            assert store.last_position() == live.last_position()
            assert store.journal_id == live.journal_id
            assert store.read_all(after=live.last_position()) == []
            assert store.read_all(limit=0) == []

    def test_streams_are_listed_newest_first(self, stores):
        live, *others = stores
        for store in others:
            for prefix in ("run:", "session:", "", "none"):
                assert streams_of(store, prefix) == streams_of(live, prefix)

    def test_streams_are_read_by_version_both_ways(self, stores, stretch):
        live, *others = stores
        names = {"checkpoint.taken.v1", "run.opened.v1"}
        for stream, _ in streams_of(live, ""):
            head = live.head(stream)
            for store in others:
                assert store.head(stream) == head
                for asked in (
                    {},
                    {"newest_first": True},
                    {"after": 2, "upto": head - 1},
                    {"after": 2, "upto": head - 1, "newest_first": True},
                    {"names": names},
                    {"names": names, "newest_first": True},
                    {"names": []},
                    {"after": head + 5},
                ):
                    assert stream_of(store, stream, **asked) == stream_of(live, stream, **asked)

    def test_versions_are_picked(self, stores, stretch):
        live, *others = stores
        for stream, _ in streams_of(live, ""):
            head = live.head(stream)
            for store in others:
                wanted, found = {1, 3, head // 2, head, head + 4, 2**70}, []
                while page := store.read_versions(stream, wanted):
                    found += page
                    wanted = {each for each in wanted if each > page[-1].version}
                assert found == live.read_versions(stream, {1, 3, head // 2, head})

    def test_events_are_counted_by_name(self, stores):
        live, *others = stores
        names = {"stream.recorded.v1", "checkpoint.taken.v1"}
        for stream, _ in streams_of(live, ""):
            for store in others:
                assert store.count(stream, names) == live.count(stream, names)
                assert store.count(stream, []) == 0

    def test_events_are_found_by_identity(self, stores):
        live, *others = stores
        known = identities(live)
        kinds = {str(identity).partition(":")[0] for _, identity in known}
        assert {"checkpoint", "approval.requested", "approval.decided", "cursor"} <= kinds
        assert {"deferred_tool.requested.waiting", "deferred_tool.resolved"} <= kinds
        for stored, identity in known:
            assert live.find(stored.stream, identity) == stored
            for store in others:
                assert store.find(stored.stream, identity) == stored
        for store in others:
            for identity in (2**64 - 1, 10**9, "checkpoint:", "checkpoint:%", "other:x", "\ud800"):
                assert store.find(known[0][0].stream, identity) is None

    def test_nothing_is_known_of_a_stream_that_is_not_there(self, stores):
        for store in stores[1:]:
            for stream in (
                "run:none",
                "session:none",
                "run:\ud800",
                "other",
                "",
                "run:' OR 1=1 --",
            ):
                assert store.head(stream) == 0
                assert store.read_stream(stream) == []
                assert store.read_versions(stream, [1]) == []
                assert store.count(stream, ["run.opened.v1"]) == 0
                assert store.find(stream, 1) is None

    def test_events_are_summed_by_name(self, stores):
        live, *others = stores
        expected = {each.name: each.events for each in live.sizes()}
        for store in others:
            assert {each.name: each.events for each in store.sizes()} == expected
            assert {each.name for each in store.sizes(after=live.last_position())} == set()

    def test_nothing_is_written(self, stores):
        event = NewEvent("run:x", 1, "run.opened.v1", b"{}")
        for store in stores[1:]:
            with pytest.raises(ReadOnly):
                store.append([event], now=1)
            with pytest.raises(ReadOnly):
                store.renew([])
            with pytest.raises(ReadOnly):
                store.drop("run:x", 1)

    def test_nothing_comes(self, stores):
        _, archived, both = stores
        last = archived.last_position()
        for store in (archived, both):
            assert store.wait_for(last - 1, 0)
            assert not store.wait_for(last, 0.01)


def test_an_identity_that_needs_escapes_is_found(tmp_path, monkeypatch):
    odd = 'a "quoted" \\ kéy\n'
    with journal_at(tmp_path / "runs.db", monkeypatch, Ticking()) as journal:
        with journal.run("r", session_id="s") as run:
            run.checkpoint(samples.checkpoint(odd, "r"))
            run.append(samples.record(2**64 - 1))
            run.append(samples.record(2**63 + 5))
        write_archive(journal, tmp_path / "archive", before=EVER)
        with open_archive(tmp_path / "archive") as archive:
            for identity in (f"checkpoint:{odd}", 2**64 - 1, 2**63 + 5):
                expected = journal.reader.find("r", identity)
                assert expected is not None
                assert archive.reader.find("r", identity) == expected
            assert archive.reader.find("r", 2**63 + 6) is None


def test_only_the_files_of_a_run_are_opened(tmp_path, monkeypatch):
    with journal_at(tmp_path / "runs.db", monkeypatch, Ticking(86_400_000_000)) as journal:
        for number in range(5):
            with journal.run(f"run-{number}", session_id="s") as run:
                run.append(samples.record(0))
        write_archive(journal, tmp_path / "archive", before=EVER)
        with open_archive(tmp_path / "archive") as archive:
            spans = archive.catalogue.spans("run:run-2")
            kept = {span.part.number for span in spans}
            for part in archive.catalogue.parts:
                if part.number not in kept:
                    (tmp_path / "archive" / part.paths["events"]).unlink()
            assert len(kept) < len(archive.segments)
            assert dumps(view(archive, "run-2", "latest")) == dumps(
                view(journal, "run-2", "latest")
            )


def test_a_closed_archive_says_so(tmp_path, monkeypatch):
    with ExitStack() as stack:
        journal = stack.enter_context(journal_at(tmp_path / "runs.db", monkeypatch, Ticking()))
        with journal.run("r", session_id="s") as run:
            run.append(samples.record(0))
        write_archive(journal, tmp_path / "archive", before=EVER)
        archive = open_archive(tmp_path / "archive")
        archive.close()
        archive.close()
        with pytest.raises(JournalClosed):
            archive.reader.event("run:r", 1)
        assert isinstance(journal, Journal)
