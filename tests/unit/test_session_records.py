"""A session's record follows its runs: heads, state, environment, cursors and revision."""

import json
import shutil
from pathlib import Path

import pytest

from journal import Journal
from journal.errors import BrokenBase, CorruptEvent, SessionNotFound
from journal.export import export_all
from journal.ingest import Ingest
from journal.json_door import dumps, equal
from projections import list_run_records, resume_snapshot, run_record, session_record
from projections.session_at import SessionAt
from tests import samples

OLD = Path(__file__).parents[1] / "fixtures" / "journals"
WHEN = "2026-11-30T00:00:00Z"
HEADS = ("head_run_id", "head_success_run_id", "active_run_id")


def cursor(sequence, run_id="r", family="raw_runtime"):
    position = {"family": family, "scope": f"run:{run_id}", "sequence": sequence}
    return {"position": position, "created_at": "2026-01-01T00:00:00Z"}


def heads(journal, **at):
    record = session_record(journal, "s", **at)
    return tuple(record.get(key) for key in HEADS)


def checkpoint(run_id, checkpoint_id="k1", **fields):
    return samples.checkpoint(checkpoint_id, run_id, **fields)


def commit(journal, run_id, status="completed", **items):
    run = items.pop("run", {})
    state = samples.context(metadata={"of": run_id})
    made = samples.bundle(
        samples.run_record(run_id, status=status, **run), context_state=state, **items
    )
    return journal.commit_run_evidence(made)


def test_a_session_that_nobody_saved_is_what_its_first_run_makes_of_it(journal):
    receipt = journal.commit_checkpoint("s", samples.checkpoint())
    found = session_record(journal, "s")
    created_at = found.pop("created_at")
    assert found.pop("updated_at") == created_at
    assert found == {
        "session_id": "s",
        "namespace_id": "local",
        "deletion_fence": {"state": "stable"},
        "status": "active",
        "state": {"agent_id": "main", "started_at": created_at},
        "head_run_id": "r",
        "active_run_id": "r",
        "revision": 2,
    }
    with pytest.raises(SessionNotFound):
        session_record(journal, "s", until=receipt.position - 3)
    with pytest.raises(SessionNotFound):
        session_record(journal, "nobody")


def test_a_saved_session_comes_back_as_it_was_saved(journal):
    saved = samples.session_record(revision=9, title=None, **{"x-host": [1, 1.0]})
    journal.save_session(saved)
    assert equal(session_record(journal, "s"), saved)
    journal.save_session(saved | {"title": "T"})
    found = session_record(journal, "s")
    assert (found["title"], found["revision"]) == ("T", 10)
    assert found["updated_at"] > saved["updated_at"]


def test_what_was_set_last_counts_whoever_set_it(journal):
    reference = {"provider": "p", "reference": "late"}
    journal.save_session(samples.session_record())
    journal.set_session_status("s", "archived")
    journal.save_environment("s", reference)
    journal.save_context("s", samples.context(conversation_id="c"))
    found = session_record(journal, "s")
    assert (found["status"], found["environment_state"]) == ("archived", reference)
    assert (found["state"], found["revision"]) == (samples.context(conversation_id="c"), 4)
    journal.save_session({**found, "status": "active", "state": {"agent_id": "other"}})
    found = session_record(journal, "s")
    assert (found["status"], found["state"]) == ("active", {"agent_id": "other"})
    assert (found["environment_state"], found["revision"]) == (reference, 5)


def test_heads_follow_the_runs(journal):
    journal.commit_checkpoint("s", checkpoint("r1"))
    assert heads(journal) == ("r1", None, "r1")
    journal.save_run(samples.run_record("r2", status="running"))
    assert heads(journal) == ("r2", None, "r2")
    journal.commit_checkpoint("s", checkpoint("r1", "k2", step=1))
    assert heads(journal) == ("r1", None, "r1")
    journal.set_status("r2", "completed")
    assert heads(journal) == ("r2", "r2", "r1")
    commit(journal, "r1", "waiting")
    assert heads(journal) == ("r1", "r2", "r1")
    journal.set_status("r1", "failed")
    assert heads(journal) == ("r1", "r2", None)


def test_a_run_that_ends_frees_the_slot_that_it_took_with_a_checkpoint(journal):
    journal.commit_checkpoint("s", checkpoint("r1"))
    journal.commit_checkpoint("s", checkpoint("r2"))
    journal.commit_checkpoint("s", checkpoint("r1", "k2", step=1))
    assert heads(journal)[2] == "r1"
    commit(journal, "r1")
    assert heads(journal) == ("r1", "r1", None)
    journal.commit_checkpoint("s", checkpoint("r2", "k2", step=1))
    commit(journal, "r3")
    assert heads(journal) == ("r3", "r3", "r2")


def test_the_state_is_that_of_the_run_committed_last(journal):
    journal.save_session(
        samples.session_record(state={"agent_id": "main", "session_id": "affinity"})
    )
    cursors = {"stream_cursors": [cursor(3, "r1")]}
    reference = {"provider": "p", "reference": "run:r1"}
    commit(journal, "r1", run={"environment_state": reference}, **cursors)
    first = session_record(journal, "s")
    assert first["state"]["metadata"] == {"of": "r1"}
    assert first["environment_state"] == reference
    assert first["stream_cursors"] == [cursor(3, "r1")]
    with journal.run("r1") as run:
        run.export_context(samples.context(metadata={"of": "later"}))
    assert session_record(journal, "s")["state"] == first["state"]
    commit(journal, "r2")
    second = session_record(journal, "s")
    assert second["state"]["metadata"] == {"of": "r2"}
    assert not second.keys() & {"environment_state", "stream_cursors"}


def test_cursors_are_those_of_the_last_commit_and_what_runs_saved_since(journal):
    journal.save_session(samples.session_record())
    commit(journal, "r1", stream_cursors=[cursor(3, "r1")])
    journal.save_run(samples.run_record("r2", status="running"))
    for one in (cursor(1, "r2"), cursor(9, "r1"), cursor(2, "r2"), cursor(1, "r1", "display")):
        journal.save_cursor("s", one["position"]["scope"].removeprefix("run:"), one)
    found = session_record(journal, "s")["stream_cursors"]
    assert found == [cursor(9, "r1"), cursor(2, "r2"), cursor(1, "r1", "display")]


def test_the_revision_counts_the_session_and_its_runs_but_no_cursors(journal):
    journal.save_session(samples.session_record())
    journal.commit_checkpoint("s", checkpoint("r1"))
    journal.commit_checkpoint("s", checkpoint("r1", "k2", step=1))
    journal.save_cursor("s", "r1", cursor(1, "r1"))
    assert session_record(journal, "s")["revision"] == 3
    more = [checkpoint("r1", "k3", step=2, stream_cursor=9)]
    commit(journal, "r1", "waiting", checkpoints=more, stream_cursors=[cursor(9, "r1")])
    assert session_record(journal, "s")["revision"] == 4
    journal.set_status("r1", "cancelled")
    journal.save_session(session_record(journal, "s") | {"title": "T"})
    assert session_record(journal, "s")["revision"] == 6


def test_a_record_saved_late_takes_nothing_back_from_the_runs(journal):
    journal.save_session(samples.session_record())
    journal.commit_checkpoint("s", checkpoint("r1"))
    loaded = session_record(journal, "s")
    commit(journal, "r1")
    commit(journal, "r2", "waiting")
    journal.save_session(loaded | {"title": "T"})
    assert heads(journal) == ("r2", "r1", "r2")
    assert session_record(journal, "s")["title"] == "T"
    journal.save_session(samples.session_record(title="T2"))
    assert heads(journal) == ("r2", "r1", "r2")


def test_a_record_that_knows_how_the_session_stands_is_told_as_it_is(journal):
    commit(journal, "r1")
    commit(journal, "r2")
    told = samples.session_record(revision=40, head_run_id="r1", updated_at="2026-01-02T03:04:05Z")
    journal.save_session(told)
    assert equal(session_record(journal, "s"), told)
    journal.commit_checkpoint("s", checkpoint("r3"))
    found = session_record(journal, "s")
    assert found["revision"] == 41
    assert heads(journal) == ("r3", None, "r3")


def test_an_imported_session_keeps_its_record(tmp_path):
    told = samples.session_record(revision=4, head_run_id="r", x=1)
    lines = [
        {"type": "run", "run": samples.run_record(revision=3)},
        {"type": "session", "session": told},
    ]
    for order in (lines, lines[:1] + lines[1:] * 2, lines[1:]):
        with Journal.open("memory://") as journal:
            raw = [json.dumps(line | {"recorded_at": WHEN}).encode() for line in order]
            Ingest(journal).read(raw)
            assert equal(session_record(journal, "s"), told)


def test_records_are_the_same_after_export_and_ingest(journal):
    journal.commit_checkpoint("s", checkpoint("r1"))
    journal.save_session(session_record(journal, "s") | {"title": "T"})
    journal.save_run(samples.run_record("r2", status="running"))
    journal.save_cursor("s", "r2", cursor(4, "r2"))
    commit(journal, "r1", "waiting", stream_cursors=[cursor(3, "r1")])
    journal.set_status("r2", "failed")
    journal.save_context("s", samples.context(conversation_id="c"))
    journal.commit_checkpoint("s", checkpoint("r3", status="completed"))
    with Journal.open("memory://") as copy:
        Ingest(copy).read(map(dumps, export_all(journal.reader)))
        assert equal(session_record(copy, "s"), session_record(journal, "s"))
        assert equal(list_run_records(copy, "s"), list_run_records(journal, "s"))


def test_a_session_is_told_as_of_every_position(journal):
    journal.save_session(samples.session_record())
    seen = {}
    for step in (
        lambda: journal.commit_checkpoint("s", checkpoint("r1")),
        lambda: journal.save_run(samples.run_record("r2", status="queued")),
        lambda: journal.save_cursor("s", "r2", cursor(4, "r2")),
        lambda: commit(journal, "r1", stream_cursors=[cursor(3, "r1")]),
        lambda: journal.set_status("r2", "completed", output_preview="o"),
        lambda: journal.save_context("s", samples.context(conversation_id="c")),
        lambda: journal.commit_checkpoint("s2", samples.checkpoint(run_id="other")),
        lambda: journal.set_status("r1", "waiting"),
    ):
        receipt = step()
        seen[receipt.position] = session_record(journal, "s")
    for position, expected in seen.items():
        assert equal(session_record(journal, "s", until=position), expected)


def test_the_events_of_a_session_that_a_run_began_are_told_with_it(journal):
    receipt = journal.commit_checkpoint("s", checkpoint("r1", status="completed"))
    whole = session_record(journal, "s", until=receipt.position)
    assert heads(journal, until=receipt.position) == ("r1", "r1", None)
    opening = journal.reader.events("run:r1", [1])[0]
    begun = session_record(journal, "s", until=opening.position)
    assert (begun["head_run_id"], begun["revision"], whole["revision"]) == ("r1", 1, 2)


def test_of_its_runs_only_those_that_went_on_are_read(journal):
    for run_id in ("r1", "r2", "r3"):
        journal.commit_checkpoint("s", checkpoint(run_id))
        commit(journal, run_id)
    journal.commit_checkpoint("s", checkpoint("r4"))
    journal.append_records("s", "r2", [samples.record(0)])
    assert SessionAt(journal, "s").news.keys() == {"r2", "r4"}


def test_a_damaged_run_leaves_its_session_readable(tmp_path, flip):
    path = tmp_path / "runs.db"
    with Journal.open(path) as journal:
        journal.save_session(samples.session_record())
        commit(journal, "r1")
        journal.commit_checkpoint("s", checkpoint("r2"))
    flip(path, "run:r2", 2)
    with Journal.open(path, create=False) as journal:
        with pytest.raises((BrokenBase, CorruptEvent)):
            run_record(journal, "r2")
        assert heads(journal) == ("r1", "r1", None)


@pytest.mark.parametrize("name", ["format-1", "format-2"])
def test_sessions_of_old_files_follow_their_runs(tmp_path, name):
    path = tmp_path / "old.db"
    shutil.copyfile(OLD / f"{name}.journal", path)
    with Journal.open(path) as journal:
        for session_id in journal.reader.session_ids():
            record = session_record(journal, session_id)
            assert record["revision"] >= 1
            for run in list_run_records(journal, session_id):
                snapshot = resume_snapshot(journal, session_id, run["run_id"])
                assert equal(snapshot.run, run)
                assert equal(snapshot.session, record)
        found = session_record(journal, "s")
        committed = [run for run in journal.reader.run_ids() if journal.is_committed(run)]
        assert found["head_success_run_id"] in committed
        assert found["state"]["agent_id"] == "main"
        commit(journal, "new")
        assert heads(journal)[:2] == ("new", "new")
