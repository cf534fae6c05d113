"""A dropped run goes, and nothing else: no document, no number, no version, no position."""

import pytest

from journal import Journal
from journal.codec import decode
from journal.errors import LeaseMoved, RunIsArchived, RunIsLeased, StateConflict
from journal.events import RunArchived
from journal.ids import Version, run_stream
from journal.lineage import Lineage
from projections import LATEST, list_runs, list_sessions, pending_approvals, replay
from projections.run_log import log
from tests import samples
from tests.dropped import SEGMENTS, drop, history, in_archive, write_run


@pytest.fixture(params=["memory", "file"])
def journal(request, tmp_path):
    place = "memory://" if request.param == "memory" else tmp_path / "runs.db"
    with Journal.open(place) as opened:
        yield opened


def test_its_events_are_gone_and_one_tells_where_they_are(journal):
    head = write_run(journal, "r")
    before = journal.reader.last_position()
    [dropped] = drop(journal, "r")
    assert dropped == (head, 0)
    [left] = journal._store.read_stream(run_stream("r"))
    event = decode(left)
    assert (event.name, event.version, event.position) == (RunArchived.NAME, head + 1, before + 1)
    told = event.event
    assert told.through_version == head
    assert (told.status, told.session_id, told.run_id) == ("completed", "s", "r")
    assert told.segments == list(SEGMENTS)
    assert told.archive == "an-archive"


READS = {
    "replay": lambda j: replay(j, "r", LATEST),
    "log": lambda j: [*log(j, "r")],
    "events": lambda j: [*j.reader.run_events("r")],
    "events by name": lambda j: [*j.reader.run_events("r", names=["run.sealed.v1"])],
    "the first": lambda j: j.reader.event(run_stream("r"), Version(1)),
    "some": lambda j: j.reader.events(run_stream("r"), [1, 3]),
    "by identity": lambda j: j.reader.find("r", 1),
    "a checkpoint": lambda j: j.reader.checkpoint_event("r", "k-r"),
    "the newest": lambda j: [*j.reader.newest_run_events("r", ["stream.recorded.v1"])],
    "the last": lambda j: j.reader.last_run_event("r", ["stream.recorded.v1"]),
    "approvals": lambda j: pending_approvals(j, run="r"),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_reading_it_names_the_archive(journal, read):
    write_run(journal, "r")
    drop(journal, "r")
    with pytest.raises(RunIsArchived, match=r"'r' is archived, in segments 1 to 2.*--archive"):
        read(journal)


def fork_of(journal):
    return Lineage("r", Version(2), None, None, "r", "version:2")


WRITES = {
    "open": lambda j: j.run("r"),
    "open by session": lambda j: j.run("r", session_id="s"),
    "take over": lambda j: j.run("r", takeover=True),
    "status": lambda j: j.set_status("r", "failed"),
    "save": lambda j: j.save_run(samples.run_record("r")),
    "commit": lambda j: j.commit_run_evidence(samples.bundle(samples.run_record("r"))),
    "checkpoint": lambda j: j.commit_checkpoint("s", samples.checkpoint("k9", "r")),
    "the same checkpoint": lambda j: j.commit_checkpoint(
        "s", samples.checkpoint("k-r", "r", messages=history(2), stream_cursor=2, step=1)
    ),
    "records": lambda j: j.append_records("s", "r", [samples.record(9)]),
    "the same record": lambda j: j.append_records("s", "r", [samples.record(1)]),
    "approval": lambda j: j.approval(samples.approval(run_id="r")),
    "cursor": lambda j: j.save_cursor("s", "r", samples.stream_cursor(9)),
    "claim": lambda j: j.claim_resume(samples.resume_claim(run_id="r")),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_it_takes_nothing_more(journal, write):
    write_run(journal, "r")
    drop(journal, "r")
    before = journal.reader.last_position()
    with pytest.raises(RunIsArchived):
        write(journal)
    assert journal.reader.last_position() == before


def test_a_handle_from_before_takes_nothing_more(tmp_path):
    with Journal.open(tmp_path / "runs.db", lease_seconds=0.01) as journal:
        write_run(journal, "r")
        run = journal.run("r")
        journal.set_status("r", "completed")
        with Journal.open(tmp_path / "runs.db") as other, pytest.raises(RunIsLeased):
            drop(other, "r")
        run.release()
        with Journal.open(tmp_path / "runs.db") as other:
            drop(other, "r")
        before = journal.reader.last_position()
        with pytest.raises(RunIsArchived):
            journal.set_status("r", "failed")
        with pytest.raises(RunIsArchived):
            journal.append_records("s", "r", [samples.record(77)])
        assert journal.reader.last_position() == before


@pytest.mark.parametrize("status", [None, "waiting", "running"])
def test_one_that_has_not_ended_stays(journal, status):
    head = write_run(journal, "r", status=status)
    with pytest.raises(StateConflict):
        drop(journal, "r")
    assert journal.reader.head("r") == head
    assert len([*journal.reader.run_events("r")]) == head


def test_one_that_goes_on_after_the_archive_stays(journal):
    write_run(journal, "r")
    held = in_archive(journal, "r")
    journal.append_records("s", "r", [samples.record(50)])
    with pytest.raises(StateConflict, match="the archive"):
        journal.dropping(["r"]).drop("r", held)
    assert journal.reader.dropped("r") is None


def test_one_with_a_fork_stays_until_the_fork_is_dropped(journal):
    write_run(journal, "r")
    with journal.fork(replay(journal, "r", LATEST), "f") as fork:
        fork.append(samples.record(9))
    journal.set_status("f", "completed")
    with pytest.raises(StateConflict, match="fork"):
        drop(journal, "r")
    assert replay(journal, "f", LATEST).checkpoint is not None
    drop(journal, "f", "r")
    assert journal.reader.dropped("f").data["forked_from"] == "r"
    with pytest.raises(RunIsArchived):
        replay(journal, "f", LATEST)


def test_documents_that_build_on_it_stay(journal):
    write_run(journal, "r", messages=5)
    write_run(journal, "next", messages=6)
    write_run(journal, "last", messages=7)
    journal.save_session(samples.session_record(state=samples.context(history(9))))
    shown = {run: replay(journal, run, LATEST) for run in ("next", "last")}
    session = [*journal.reader.session_events("s", names=["session.saved.v1"])]
    saved = [journal.reader.document(event) for event in session]
    before = {run: journal.reader.head(run) for run in ("next", "last")}
    assert any("base_stream" in event.data for event in session)
    [first] = drop(journal, "r")
    assert first.copies >= 1
    [second] = drop(journal, "next")
    assert second.copies >= 1
    assert [journal.reader.document(event) for event in session] == saved
    again = replay(journal, "last", LATEST)
    assert again.messages == shown["last"].messages
    assert again.checkpoint == shown["last"].checkpoint
    assert journal.reader.head("last") == before["last"] + 1
    more = samples.checkpoint("k9", "last", messages=history(8), stream_cursor=9, step=2)
    with journal.run("last") as run:
        run.checkpoint(more)
    assert replay(journal, "last", LATEST).messages == tuple(history(8))


def test_what_comes_next_builds_on_nothing_that_is_gone(journal):
    write_run(journal, "r", messages=5)
    with journal.run("open", session_id="s") as run:
        drop(journal, "r")
        run.checkpoint(samples.checkpoint("k", "open", messages=history(6)))
    write_run(journal, "later", messages=7)
    assert replay(journal, "open", LATEST).messages == tuple(history(6))
    assert replay(journal, "later", LATEST).messages == tuple(history(7))
    for run_id in ("open", "later"):
        for event in journal.reader.run_events(run_id):
            assert event.data.get("base_stream") != "run:r"


def test_lists_tell_of_it_as_it_was(journal):
    write_run(journal, "a")
    write_run(journal, "r", status="failed")
    write_run(journal, "z")
    was = {run.run_id: run for run in list_runs(journal)}
    sessions = [*list_sessions(journal)]
    drop(journal, "r")
    now = {run.run_id: run for run in list_runs(journal)}
    assert [*now] == [*was]
    told = now["r"].to_json()
    assert told["archived"] is True
    assert now["a"].to_json()["archived"] is False
    for key in ("run_id", "session_id", "status", "opened_at", "updated_at", "events"):
        assert told[key] == was["r"].to_json()[key]
    assert now["a"] == was["a"]
    assert [*list_sessions(journal)] == sessions
    assert [run.run_id for run in list_runs(journal, status="failed")] == ["r"]
    assert pending_approvals(journal) == []


def test_numbers_positions_and_versions_go_on(journal):
    write_run(journal, "r")
    write_run(journal, "s2")
    position = journal.reader.last_position()
    drop(journal, "s2", "r")
    assert journal.reader.last_position() == position + 2
    journal.save_run(samples.run_record("new", status="running"))
    [*events] = journal.reader.all_events()
    positions = [event.position for event in events]
    assert positions == sorted(set(positions))
    with pytest.raises(StateConflict, match="'new' is number 3"):
        journal.save_run(samples.run_record("new", status="running", sequence_no=1))


def in_between(journal, action):
    """Do something once, right before the next append of a journal reaches its store."""
    real = journal._store.append

    def append(*args, **rest):
        journal._store.append = real
        action()
        return real(*args, **rest)

    journal._store.append = append


@pytest.fixture
def two(tmp_path):
    with Journal.open(tmp_path / "runs.db") as one, Journal.open(tmp_path / "runs.db") as other:
        yield one, other


def test_a_document_planned_before_and_stored_after_builds_on_nothing_that_is_gone(two):
    journal, other = two
    write_run(journal, "r", messages=5)
    run = journal.run("next", session_id="s")
    in_between(journal, lambda: drop(other, "r"))
    run.checkpoint(samples.checkpoint("k", "next", messages=history(6)))
    assert other.reader.dropped("r") is not None
    assert replay(journal, "next", LATEST).messages == tuple(history(6))
    assert replay(other, "next", LATEST).messages == tuple(history(6))


def test_a_session_record_planned_before_and_stored_after_builds_on_nothing_gone(two):
    journal, other = two
    write_run(journal, "r", messages=5)
    record = samples.session_record(state=samples.context(history(6)))
    in_between(journal, lambda: drop(other, "r"))
    journal.save_session(record)
    [event] = other.reader.session_events("s", names=["session.saved.v1"])
    assert other.reader.document(event) == record


def test_a_fork_planned_before_and_stored_after_is_refused(two):
    journal, other = two
    write_run(journal, "r", messages=5)
    point = replay(journal, "r", LATEST)
    in_between(journal, lambda: drop(other, "r"))
    with pytest.raises(RunIsArchived):
        journal.fork(point, "f")
    assert not other.reader.has_run("f")


def test_what_is_written_just_before_keeps_the_run(two):
    journal, other = two
    write_run(journal, "r")
    in_between(other, lambda: journal.append_records("s", "r", [samples.record(50)]))
    with pytest.raises(StateConflict, match="the archive"):
        drop(other, "r")
    assert journal.reader.archived("r") is None
    assert [*journal.reader.run_events("r")][-1].version == journal.reader.head("r")


def test_who_takes_the_run_just_before_keeps_it(two):
    journal, other = two
    write_run(journal, "r")
    in_between(other, lambda: journal.run("r"))
    with pytest.raises((LeaseMoved, RunIsLeased)):
        drop(other, "r")
    assert journal.reader.archived("r") is None


def test_another_open_journal_learns_that_it_takes_nothing_more(two):
    journal, other = two
    write_run(journal, "r")
    drop(other, "r")
    for write in WRITES.values():
        with pytest.raises(RunIsArchived):
            write(journal)


def test_readers_that_were_at_it_are_told(two):
    journal, other = two
    write_run(journal, "r", records=1500)
    events = journal.reader.run_events("r")
    assert next(events).version == 1
    drop(other, "r")
    with pytest.raises(RunIsArchived):
        list(events)


def test_who_follows_it_gets_the_end_and_who_is_behind_is_told(journal):
    write_run(journal, "r")
    with journal.subscribe(run_id="r") as at_end, journal.subscribe(run_id="r") as behind:
        seen = [next(at_end) for _ in range(journal.reader.head("r"))]
        assert next(behind).version == 1
        end = journal.reader.last_position()
        drop(journal, "r")
        assert next(at_end).name == RunArchived.NAME
        assert [each.version for each in seen] == [*range(1, len(seen) + 1)]
    with journal.subscribe(after=end) as everything:
        assert next(everything).name == RunArchived.NAME
    with pytest.raises(RunIsArchived):
        next(journal.subscribe(run_id="r"))
    with journal.subscribe() as whole:
        positions = [next(whole).position for _ in range(2)]
    assert positions == sorted(positions)
