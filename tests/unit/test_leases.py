"""One owner writes a run at a time, and one that was taken over can write nothing more."""

import subprocess
import sys
import time

import pytest

from journal import Journal, facts, times
from journal.errors import JournalBusy, RunIsLeased, StaleWriter
from journal.events import RunLeaseTaken
from journal.export import export_all
from journal.ids import run_stream
from journal.ingest import Ingest
from journal.json_door import dumps
from journal.leases import LEASE_SECONDS, SKEW
from journal.pending import Write
from journal.stores import open_store
from tests import samples


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is moved, in seconds."""
    now = [1_000_000_000_000_000]
    monkeypatch.setattr(times, "now", lambda: now[0])

    def move(seconds):
        now[0] += int(seconds * 1e6)

    return move


def taken(journal, run_id="r"):
    events = journal.reader.run_events(run_id, names=(RunLeaseTaken.NAME,))
    return [(event.data["generation"], event.data["taken"]) for event in events]


def stored(path, run_id="r"):
    store = open_store(path, create=False)
    try:
        return store.lease(run_stream(run_id))
    finally:
        store.close()


def test_a_second_owner_is_refused_while_the_first_is_alive(path):
    with Journal.open(path) as one, Journal.open(path) as two:
        run = one.run("r", session_id="s")
        assert run.generation == 1
        with pytest.raises(RunIsLeased, match="generation 1") as refused:
            two.run("r")
        assert 0 < refused.value.seconds_left <= LEASE_SECONDS
        run.append(samples.record(0))
        assert taken(one) == []


def test_a_released_run_is_free_and_taking_it_is_an_event(path):
    with Journal.open(path) as one, Journal.open(path) as two:
        with one.run("r", session_id="s"):
            pass
        with two.run("r") as run:
            assert run.generation == 2
        one.run("r").release()
        assert taken(one) == [(2, "released"), (3, "released")]


def test_a_closed_journal_leaves_its_runs_free(path):
    with Journal.open(path) as journal:
        journal.run("r", session_id="s")
    with Journal.open(path) as journal:
        assert journal.run("r").generation == 2
        assert taken(journal) == [(2, "released")]


def test_handles_of_one_journal_share_the_lease_until_the_last_is_released(path):
    with Journal.open(path) as one, Journal.open(path) as two:
        first, second = one.run("r", session_id="s"), one.run("r")
        assert first.generation == second.generation == 1
        first.release()
        first.release()
        second.append(samples.record(0))
        with pytest.raises(RunIsLeased):
            two.run("r")
        second.release()
        assert two.run("r").generation == 2


def test_a_takeover_fences_the_old_owner_off(path):
    with Journal.open(path) as one, Journal.open(path) as two:
        old = one.run("r", session_id="s", conversation_id="c")
        old.append(samples.record(0))
        new = two.run("r", takeover=True)
        new.append(samples.record(1))
        for call in (
            lambda: old.append(samples.record(2)),
            lambda: old.append_many([samples.record(2), samples.record(3)]),
            lambda: old.checkpoint(samples.checkpoint()),
            lambda: old.set_status("failed"),
            lambda: old.suspend("x"),
            lambda: one.commit_checkpoint("s", samples.checkpoint()),
            lambda: one.commit_run_evidence(samples.bundle()),
        ):
            with pytest.raises(StaleWriter, match="has generation 1, the run's is 2") as refused:
                call()
            assert (refused.value.generation, refused.value.current) == (1, 2)
        assert taken(two) == [(2, "takeover")]
        assert one.reader.head("r") == 4
        old.release()
        new.append(samples.record(2))


def test_a_journal_can_take_a_run_over_from_itself(path):
    with Journal.open(path) as journal:
        old = journal.run("r", session_id="s")
        new = journal.run("r", takeover=True)
        assert new.generation == 2
        with pytest.raises(StaleWriter):
            old.append(samples.record(0))
        new.append(samples.record(0))


def test_a_lease_that_was_taken_over_can_be_taken_back(path):
    with Journal.open(path) as one, Journal.open(path) as two:
        old = one.run("r", session_id="s")
        with two.run("r", takeover=True):
            with pytest.raises(RunIsLeased):
                one.run("r")
            with pytest.raises(StaleWriter):
                old.append(samples.record(0))
        assert one.run("r").generation == 3


def test_an_expired_lease_may_be_taken_once_the_clocks_surely_agree(path, clock):
    with Journal.open(path) as one, Journal.open(path) as two:
        old = one.run("r", session_id="s")
        clock(LEASE_SECONDS + SKEW - 1)
        with pytest.raises(RunIsLeased) as refused:
            two.run("r")
        assert refused.value.seconds_left == 0
        old.append(samples.record(0))  # nobody took it: its owner goes on, and renews it
        clock(LEASE_SECONDS + SKEW - 1)
        with pytest.raises(RunIsLeased):
            two.run("r")
        clock(2)
        assert two.run("r").generation == 2
        assert taken(two) == [(2, "expired")]
        with pytest.raises(StaleWriter):
            old.append(samples.record(1))


def test_appends_renew_the_lease_and_write_no_event_for_it(path, clock):
    with Journal.open(path) as journal:
        run = journal.run("r", session_id="s")
        first = stored(path).expires_at
        run.append(samples.record(0))
        assert stored(path).expires_at == first
        clock(LEASE_SECONDS / 3)
        run.append(samples.record(1))
        assert stored(path).expires_at == first + LEASE_SECONDS / 3 * 1e6
        assert journal.reader.head("r") == 3


def test_an_idle_run_is_renewed_by_heartbeats(path):
    with Journal.open(path, lease_seconds=0.3) as journal:
        journal.run("r", session_id="s")
        first = stored(path).expires_at
        while not journal.metrics().renewals:
            time.sleep(0.01)
        assert stored(path).expires_at > first
        assert journal.reader.head("r") == 1


def test_the_owner_of_a_process_that_is_gone_stands_in_nobodys_way(path):
    code = (
        "import os, sys; from journal import Journal; journal = Journal.open(sys.argv[1]); "
        "journal.run('r', session_id='s'); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, path], check=False)
    with Journal.open(path) as journal:
        assert journal.run("r").generation == 2
        assert taken(journal) == [(2, "gone")]


def test_a_host_without_a_handle_is_refused_while_another_owner_writes(path):
    with Journal.open(path) as one, Journal.open(path) as two:
        run = one.run("r", session_id="s", conversation_id="c")
        for call in (
            lambda: two.commit_checkpoint("s", samples.checkpoint()),
            lambda: two.save_run(samples.run_record()),
            lambda: two.commit_run_evidence(samples.bundle()),
        ):
            with pytest.raises(RunIsLeased):
                call()
        one.commit_checkpoint("s", samples.checkpoint())
        run.release()
        two.commit_checkpoint("s", samples.checkpoint("k2"))


def test_operators_and_other_runs_need_no_lease(path):
    with Journal.open(path) as one, Journal.open(path) as two:
        run = one.run("r", session_id="s")
        two.approval(samples.approval())
        two.deferred_tool(samples.deferred_tool())
        two.set_status("r", "waiting", reason="asked to")
        two.claim_resume(samples.resume_claim())
        run.append(samples.record(0))
        assert two.reader.head("r") == 6


def test_a_lease_taken_in_another_journal_counts_after_ingest(path, tmp_path):
    with Journal.open(path) as journal:
        journal.run("r", session_id="s").release()
        journal.run("r").release()
        lines = [dumps(line) for line in export_all(journal.reader)]
    with Journal.open(tmp_path / "copy.db") as copy:
        Ingest(copy).read(lines)
        assert taken(copy) == [(2, "released")]
        assert copy.run("r").generation == 3
        assert taken(copy) == [(2, "released"), (3, "unowned")]


def test_an_owner_that_only_offers_again_keeps_its_lease():
    with Journal.open("memory://") as journal:
        run = journal.run("run_1", session_id="s1")
        run.append(samples.record(0))
        clock, passed = journal._leases._clock, 0
        journal._leases._clock = lambda: clock() + passed * 1_000_000
        for _ in range(8):
            passed += 5
            assert run.append(samples.record(0)).repeated
            if passed % 10 == 0:
                journal._leases.renew_due()
        assert journal._store.lease(run_stream("run_1")).expires_at > journal._leases._clock()


def test_a_release_that_failed_does_not_lock_the_journal_out_of_its_run(monkeypatch):
    def busy(_):
        raise JournalBusy("memory://", 5.0)

    with Journal.open("memory://") as journal:
        run = journal.run("run_1", session_id="s1")
        with monkeypatch.context() as patch:
            patch.setattr(journal._store, "renew", busy)
            with pytest.raises(JournalBusy):
                run.release()
        assert journal.run("run_1").generation == 2


def test_a_run_that_could_not_be_opened_is_not_held(monkeypatch):
    def busy(_):
        raise JournalBusy("memory://", 5.0)

    with Journal.open("memory://") as journal:
        journal.run("run_1", session_id="s1").release()
        with monkeypatch.context() as patch:
            patch.setattr(journal._openings, "known", busy)
            with pytest.raises(JournalBusy):
                journal.run("run_1")
        assert not journal._store.leases()


def test_a_host_that_was_taken_over_is_stale_until_it_gives_its_handle_back(path):
    line = dumps(
        {"type": "stream_record", "session_id": "s", "run_id": "r", "record": samples.record(5)}
    )
    with Journal.open(path) as one, Journal.open(path) as two:
        old = one.run("r", session_id="s")
        new = two.run("r", takeover=True)
        for _ in range(2):
            with pytest.raises(StaleWriter):
                Ingest(one).read([line])
            new.release()
        old.release()
        assert Ingest(one).read([line]).recorded["stream_record"] == 1


def test_a_released_lease_stays_released_whatever_was_on_its_way(path):
    with Journal.open(path) as journal:
        run = journal.run("r", session_id="s")
        lease = stored(path)
        run.release()
        journal._store.renew([lease])
        assert stored(path).expires_at == 0
        fact = facts.fact(run_stream("r"), "run.resumed.v1", {})
        journal._writer.write(Write([fact], leases=(lease,)))
        assert stored(path).expires_at == 0
